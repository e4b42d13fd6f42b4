use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;
use ramus_render::json::{Answer, Pages};

use crate::args::Args;
use crate::error::CommandError;
use crate::ui::Ui;

/// Print the manual page, or write all pages to a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus man | man -l -
  ramus man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write one page per command into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn man(ui: &mut Ui, args: &ManArgs) -> Result<(), CommandError> {
    // `help` has a copy of every command below it.
    let command = Args::command().disable_help_subcommand(true);
    match &args.out {
        Some(dir) => {
            let pages = render_man_pages(command)?;
            ramus_store::new_files::write_new_files(dir, &pages)?;
            if ui.json {
                let files = pages.iter().map(|(name, _)| dir.join(name).display().to_string());
                return ui
                    .print_json(&Answer::new("ramus.man/1", Pages { files: files.collect() }));
            }
            Ok(())
        }
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            ui.print_document("ramus.man/1", &String::from_utf8_lossy(&page))
        }
    }
}

/// Renders the manual page of the program and of every command.
fn render_man_pages(mut command: clap::Command) -> Result<Vec<(String, Vec<u8>)>, CommandError> {
    command.build();
    let mut pages = Vec::new();
    add_pages("ramus", &command, &mut pages)?;
    Ok(pages)
}

fn add_pages(
    name: &str,
    command: &clap::Command,
    pages: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), CommandError> {
    let mut bytes = Vec::new();
    Man::new(command.clone()).title(name).render(&mut bytes)?;
    pages.push((format!("{name}.1"), bytes));
    for command in command.get_subcommands() {
        add_pages(&format!("{name}-{}", command.get_name()), command, pages)?;
    }
    Ok(())
}
