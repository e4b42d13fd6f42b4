//! Compares the client's own totals of a session with ours.

use std::collections::BTreeMap;

use ramus_core::body::{CostState, Metadata, RecordBody};
use ramus_core::title::session_title;
use ramus_core::usage::UsageTotal;
use ramus_render::json::{Client, ClientModel, round_dollars};
use ramus_store::RecordReader;
use ramus_store::ledger::SurveyLedger;

use crate::ui::Ui;

/// Compares every session in which the client stored totals.
pub(super) fn compare_with_client(ui: &mut Ui, ledger: &SurveyLedger<'_>) -> Vec<Client> {
    let mut ours: BTreeMap<u32, BTreeMap<&str, UsageTotal>> = BTreeMap::new();
    for entry in ledger.usage.entries() {
        let models = ours.entry(entry.owner.session).or_default();
        let name = &*ledger.usage.models[usize::from(entry.model)];
        models.entry(name).or_default().add(&entry.total);
    }
    let mut rows = Vec::new();
    for (index, (project, file)) in ledger.files.iter().enumerate() {
        let Some(span) = ledger.accounts[index].usage.cost_state else { continue };
        let bytes =
            RecordReader::open(&file.file.path).and_then(|mut bodies| bodies.read_record(span));
        let state = match bytes {
            Ok(bytes) => RecordBody::parse(&bytes),
            Err(problem) => {
                ui.warn_unreadable(&problem);
                continue;
            }
        };
        let Ok(RecordBody::Metadata(metadata)) = state else { continue };
        let Metadata::CostState(state) = *metadata else { continue };
        let title = session_title(&file.digest, &project.summaries).map(str::to_owned);
        let models = ours.remove(&(index as u32)).unwrap_or_default();
        rows.push(client_row(&file.file.id, title, &state, &models));
    }
    rows
}

fn client_row(
    id: &str,
    title: Option<String>,
    state: &CostState,
    ours: &BTreeMap<&str, UsageTotal>,
) -> Client {
    let cost: f64 = ours.values().map(|sum| sum.cost).sum();
    let mut models: BTreeMap<String, ClientModel> = BTreeMap::new();
    for (model, client) in &state.models {
        let tokens = [
            client.input_tokens,
            client.output_tokens,
            client.cache_read_input_tokens,
            client.cache_creation_input_tokens,
        ];
        let row = model_row(&mut models, model);
        row.client_cost_usd += client.cost_usd;
        row.client_tokens += tokens.into_iter().fold(0, u64::saturating_add);
    }
    for (model, sum) in ours {
        let row = model_row(&mut models, model);
        row.cost_usd = round_dollars(sum.cost);
        row.tokens = sum.tokens.total();
    }
    Client {
        session: id.to_owned(),
        title,
        client_cost_usd: round_dollars(state.total_cost_usd),
        cost_usd: round_dollars(cost),
        difference_usd: round_dollars(cost - state.total_cost_usd),
        client_lacks_prices: state.has_unknown_model_cost,
        models: models.into_values().collect(),
    }
}

/// Returns the row of a model; the client adds the size of the window to some names.
fn model_row<'a>(models: &'a mut BTreeMap<String, ClientModel>, name: &str) -> &'a mut ClientModel {
    let name = name.strip_suffix("[1m]").unwrap_or(name);
    models.entry(name.to_owned()).or_insert_with(|| ClientModel {
        model: name.to_owned(),
        client_cost_usd: 0.0,
        cost_usd: 0.0,
        client_tokens: 0,
        tokens: 0,
    })
}
