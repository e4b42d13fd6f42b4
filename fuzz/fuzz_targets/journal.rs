//! Any loss in the journal: after recovery the session is still there, with every line that others wrote.
#![no_main]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use ramus_core::resume::ResumeRule;
use ramus_core::time::Time;
use ramus_store::StateDir;
use ramus_store::apply::{apply_plan, recover_operations, set_aside_unfinished};
use ramus_store::journal::Journal;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_store::plan::{self, WritePlan, SessionContext};
use ramus_store::undo;

const ID: &str = "11111111-0000-4000-8000-000000000001";
const SESSION: &str = concat!(
    r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","version":"2.1.325","type":"user","message":{"role":"user","content":"hello"},"uuid":"a","timestamp":"2026-01-01T00:00:00.000Z"}"#,
    "\n"
);

struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn claude(&self) -> PathBuf {
        self.dir.path().join(".claude")
    }

    fn session(&self) -> PathBuf {
        self.claude().join("projects/-app").join(format!("{ID}.jsonl"))
    }

    fn state(&self) -> StateDir {
        StateDir::new(self.dir.path().join("state"))
    }

    fn journal(&self) -> PathBuf {
        self.dir.path().join("state/journal.jsonl")
    }

    /// Plans something for the session, if it is there.
    fn plan(&self, work: impl FnOnce(SessionContext<'_>) -> Option<WritePlan>) -> Option<WritePlan> {
        let place = ClaudeDirs::open(vec![self.claude()]).ok()?;
        let project = place.list_projects().projects.into_iter().next()?;
        let file = project.files.iter().find(|file| file.id == ID)?;
        let history = ramus_store::from_jsonl(&file.path, ResumeRule::Client).ok()?;
        let root = self.claude();
        let (dir, files) = (&*project.dir, &*project.files);
        let (title, short_id) = ("t", &ID[..8]);
        work(SessionContext { root: Some(&root), dir, files, file, history: &history, title, short_id })
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(dir) = tempfile::tempdir() else { return };
    let home = Home { dir };
    fs::create_dir_all(home.session().parent().expect("because it has one")).expect("because it is ours");
    fs::write(home.session(), SESSION).expect("because it is ours");
    let now = Time::parse(b"2026-03-01T12:00:00.000Z").expect("because it is one");
    let mut wrote = 0;
    for pair in data.chunks(2).take(24) {
        let at = usize::from(*pair.last().unwrap_or(&0));
        let text = fs::read(home.journal()).unwrap_or_default();
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        match pair[0] % 10 {
            0 | 1 => {
                let plan = home.plan(|subject| plan::plan_rename(subject, "x", now).ok());
                plan.map(|plan| apply_plan(&home.state(), &plan, true, now));
            }
            2 => {
                let plan = home.plan(|subject| plan::plan_trash(subject).ok());
                plan.map(|plan| apply_plan(&home.state(), &plan, true, now));
            }
            3 => {
                let journal = Journal::read(&home.state()).expect("because it can be read");
                let plan = undo::plan_undo(&journal, None, &[home.claude()]).ok();
                plan.map(|plan| apply_plan(&home.state(), &plan, true, now));
            }
            4 => {
                let journal = Journal::read(&home.state()).expect("because it can be read");
                let plan = undo::plan_restore(&journal, ID, None, &[home.claude()]).ok();
                plan.map(|plan| apply_plan(&home.state(), &plan, true, now));
            }
            5 => {
                wrote += 1;
                let _ = fs::create_dir_all(home.session().parent().unwrap_or(Path::new("")));
                let file = fs::OpenOptions::new().append(true).create(true).open(home.session());
                let _ = file.and_then(|mut file| writeln!(file, "{{\"type\":\"mode\",\"n\":{wrote}}}"));
            }
            6 if !lines.is_empty() => {
                let gone = at % lines.len();
                let kept = lines.iter().enumerate().filter(|(n, _)| *n != gone);
                let _ = fs::write(home.journal(), kept.map(|(_, line)| *line).collect::<Vec<_>>().concat());
            }
            7 => {
                let len = text.len().saturating_sub(at * 4);
                let _ = fs::write(home.journal(), &text[..len]);
            }
            8 => {
                let _ = set_aside_unfinished(&home.state());
            }
            _ => {
                let _ = recover_operations(&home.state());
            }
        }
    }
    recover_operations(&home.state()).expect("because the journal can be read");
    let mut all = Vec::new();
    let mut open = vec![home.dir.path().to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => open.push(entry.path()),
                false => all.push(fs::read_to_string(entry.path()).unwrap_or_default()),
            }
        }
    }
    assert!(all.iter().any(|text| text.starts_with(SESSION)), "the session is gone");
    for n in 1..=wrote {
        let line = format!("{{\"type\":\"mode\",\"n\":{n}}}\n");
        assert!(all.iter().any(|text| text.contains(&line)), "line {n} is gone");
    }
});
