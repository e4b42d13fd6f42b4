//! The client's own count of a session, beside ours.

use std::collections::BTreeMap;

use ramus_core::body::{Body, CostState, Metadata};
use ramus_core::title::session_title;
use ramus_core::usage::Sum;
use ramus_render::json::{Client, ClientModel, dollars};
use ramus_store::Bodies;
use ramus_store::ledger::Ledger;

use crate::ui::Ui;

/// Compares every session that holds a count of the client's.
pub(super) fn client(ui: &mut Ui, ledger: &Ledger<'_>) -> Vec<Client> {
    let mut ours: BTreeMap<u32, BTreeMap<&str, Sum>> = BTreeMap::new();
    for post in ledger.books.posts() {
        let models = ours.entry(post.home.session).or_default();
        let name = &*ledger.books.models[usize::from(post.model)];
        models.entry(name).or_default().add(&post.sum);
    }
    let mut rows = Vec::new();
    for (index, (project, file)) in ledger.files.iter().enumerate() {
        let Some(span) = ledger.accounts[index].account.cost_state else { continue };
        let bytes = Bodies::open(&file.file.path).and_then(|mut bodies| bodies.bytes(span));
        let state = match bytes {
            Ok(bytes) => Body::parse(&bytes),
            Err(problem) => {
                ui.warn(&problem);
                continue;
            }
        };
        let Ok(Body::Metadata(metadata)) = state else { continue };
        let Metadata::CostState(state) = *metadata else { continue };
        let title = session_title(&file.digest, &project.summaries).map(str::to_owned);
        let models = ours.remove(&(index as u32)).unwrap_or_default();
        rows.push(row(&file.file.id, title, &state, &models));
    }
    rows
}

fn row(id: &str, title: Option<String>, state: &CostState, ours: &BTreeMap<&str, Sum>) -> Client {
    let cost: f64 = ours.values().map(|sum| sum.cost).sum();
    let mut models: BTreeMap<String, ClientModel> = BTreeMap::new();
    for (model, client) in &state.models {
        let tokens = [
            client.input_tokens,
            client.output_tokens,
            client.cache_read_input_tokens,
            client.cache_creation_input_tokens,
        ];
        let row = named(&mut models, model);
        row.client_cost_usd += client.cost_usd;
        row.client_tokens += tokens.into_iter().fold(0, u64::saturating_add);
    }
    for (model, sum) in ours {
        let row = named(&mut models, model);
        row.cost_usd = dollars(sum.cost);
        row.tokens = sum.tokens.total();
    }
    Client {
        session: id.to_owned(),
        title,
        client_cost_usd: dollars(state.total_cost_usd),
        cost_usd: dollars(cost),
        difference_usd: dollars(cost - state.total_cost_usd),
        client_lacks_prices: state.has_unknown_model_cost,
        models: models.into_values().collect(),
    }
}

/// Returns the row of a model; the client adds the size of the window to some names.
fn named<'a>(models: &'a mut BTreeMap<String, ClientModel>, name: &str) -> &'a mut ClientModel {
    let name = name.strip_suffix("[1m]").unwrap_or(name);
    models.entry(name.to_owned()).or_insert_with(|| ClientModel {
        model: name.to_owned(),
        client_cost_usd: 0.0,
        cost_usd: 0.0,
        client_tokens: 0,
        tokens: 0,
    })
}
