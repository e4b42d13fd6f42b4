//! `archive verify`: verifies all archived data.

use ramus_render::json::{Answer, ArchiveDamage, ArchiveVerify};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};

use super::open_archive;
use crate::args::Global;
use crate::error::CommandError;
use crate::table::bytes;
use crate::ui::Ui;

/// Verify all archived data against its hashes
///
/// If bytes differ, lists each damaged file and exits with code 2.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive verify")]
pub(super) struct VerifyArgs {}

pub(super) fn verify(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    let archive = open_archive(global)?;
    let bar = ui.progress_bar(archive.totals()?.bytes);
    let report = archive.verify(&|read| bar.inc(read));
    bar.finish_and_clear();
    let report = report?;
    let damaged = report.damaged.len();
    if ui.json {
        let damage = report.damaged.into_iter().map(|damaged| ArchiveDamage {
            file: damaged.path.display().to_string(),
            session: damaged.session,
            generation: damaged.number,
            problem: damaged.problem,
        });
        ui.print_json(&Answer::new(
            "ramus.archive.verify/1",
            ArchiveVerify {
                archive: archive.name().to_owned(),
                files: report.files,
                generations: report.generations,
                bytes: report.bytes,
                damaged: damage.collect(),
            },
        ))?;
    } else {
        for damaged in &report.damaged {
            let text = format!("{} generation {}: ", damaged.path.display(), damaged.number);
            ui.print_line(&Line::new(&text, Label::Error).with(&damaged.problem, Label::Plain))?;
        }
        let text = format!(
            "{} with {} and {} read.",
            count_noun(report.files as usize, "file"),
            count_noun(report.generations as usize, "generation"),
            bytes(report.bytes)
        );
        ui.print_line(&Line::plain(&text))?;
    }
    match damaged {
        0 => {
            if !ui.json {
                ui.print_line(&Line::new("All bytes are intact.", Label::Active))?;
            }
            Ok(())
        }
        _ => {
            Err(CommandError::user_error(format!("{} damaged", count_noun(damaged, "generation")))
                .with_hint("other generations and files are not affected"))
        }
    }
}
