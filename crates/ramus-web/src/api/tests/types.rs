//! Generates the TypeScript types of the web app, `web/src/generated.ts`, from the types of the answers.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use ramus_render::json;
use ts_rs::{Config, TS, TypeVisitor};

use crate::api::{
    act, annotations, archive, diff, enter, events, exchanges, files, list, resume, session, turns,
};
use crate::turn_view::View;

/// Declarations by name, and the type of each name.
struct Declarations {
    config: Config,
    types: BTreeMap<String, (TypeId, String)>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        let Some(_) = T::output_path() else {
            return T::visit_dependencies(self);
        };
        let name = T::ident(&self.config);
        if let Some((seen, _)) = self.types.get(&name) {
            assert_eq!(*seen, TypeId::of::<T>(), "two types are called {name}");
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let declaration = format!("{docs}export {}", T::decl(&self.config));
        let lines = declaration.lines().map(|line| format!("{}\n", line.trim_end()));
        let declaration = lines.collect();
        self.types.insert(name, (TypeId::of::<T>(), declaration));
        T::visit_dependencies(self);
    }
}

/// Declares everything that the page asks with and is answered with.
fn type_declarations() -> String {
    let config = Config::new().with_large_int("number");
    let mut all = Declarations { config, types: BTreeMap::new() };
    all.visit::<act::DoneView>();
    all.visit::<act::Log>();
    all.visit::<act::PlanView>();
    all.visit::<act::Wanted>();
    all.visit::<annotations::WantedAnnotation>();
    all.visit::<diff::DiffView>();
    all.visit::<enter::Let>();
    all.visit::<enter::Ticket>();
    all.visit::<events::Changed>();
    all.visit::<events::Kind>();
    all.visit::<exchanges::AgentSpans>();
    all.visit::<exchanges::Exchanges>();
    all.visit::<files::Shown>();
    all.visit::<json::Annotated>();
    all.visit::<json::DailyUsage>();
    all.visit::<json::Files>();
    all.visit::<json::Hit>();
    all.visit::<json::Outline>();
    all.visit::<json::Projects>();
    all.visit::<json::Sessions>();
    all.visit::<json::Stats>();
    all.visit::<json::Usage>();
    all.visit::<list::Overview>();
    all.visit::<resume::ResumeView>();
    all.visit::<archive::ArchivingView>();
    all.visit::<archive::ArchivedView>();
    all.visit::<session::Detail>();
    all.visit::<session::LineageView>();
    all.visit::<turns::PathView>();
    all.visit::<turns::Turns>();
    all.visit::<View>();
    let types: Vec<String> = all.types.into_values().map(|(_, text)| text).collect();
    format!(
        "// Written from the types of the server by `UPDATE_TYPES=1 cargo nextest run --workspace \
         -E 'test(types_of_the_page)'`.\n\n{}",
        types.join("\n")
    )
}

#[test]
fn types_of_the_page_are_those_of_the_server() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/generated.ts");
    let types = type_declarations();
    if env::var_os("UPDATE_TYPES").is_some() {
        fs::write(&file, &types).expect("the types are written");
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == types,
        "web/src/generated.ts is not what the server sends; UPDATE_TYPES=1 writes it"
    );
}
