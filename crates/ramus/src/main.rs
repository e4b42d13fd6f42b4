//! The command line: words in, words out.

mod args;
mod commands;
mod confirm;
mod demo;
mod env;
mod error;
mod filter;
mod mcp;
mod memory;
mod panic;
mod prices;
mod project;
mod ui;

use std::process::ExitCode;

use clap::Parser;
use ramus_render::table;

fn main() -> ExitCode {
    panic::run_guarded(|| {
        let args = args::Args::parse();
        let mut ui = ui::Ui::new(&args.global);
        let result = commands::run(&mut ui, &args);
        ui.finish_program(result)
    })
}
