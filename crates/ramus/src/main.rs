//! The command line program.

mod args;
mod commands;
mod completion;
mod config;
mod confirm;
mod demo;
mod env;
mod error;
mod fields;
mod filter;
mod help;
mod mcp;
mod memory;
mod other_process;
mod own_dir;
mod panic;
mod prices;
mod project;
mod scope;
mod send_policy;
mod ui;

use std::process::ExitCode;

use clap::FromArgMatches;
use ramus_app::AddressError;
use ramus_render::table;

fn main() -> ExitCode {
    panic::run_guarded(|| {
        completion::answer_shell();
        let typed = commands::find::move_words_to_end(std::env::args_os().collect());
        let parsed = help::command_with_help().try_get_matches_from(typed);
        let parsed = parsed.and_then(|matches| args::Args::from_arg_matches(&matches));
        let mut args = parsed.unwrap_or_else(|error| {
            let mistyped = args::unknown_option_error().filter(|_| error.use_stderr());
            mistyped.unwrap_or(error).exit()
        });
        let settings = config::Settings::load(&args.global);
        let problem = match settings {
            Ok(settings) => {
                args.global.settings = settings;
                None
            }
            Err(error) => {
                args.global.settings = config::Settings::without_file(&args.global);
                Some(error)
            }
        };
        let mut ui = ui::Ui::new(&args.global);
        let result = match problem.filter(|_| !commands::must_not_fail(&args)) {
            Some(error) if commands::runs_without_settings(&args) => {
                ui.print_warning(&format!("{:#}", error.error));
                commands::run(&mut ui, &args)
            }
            Some(error) => Err(error),
            None => commands::run(&mut ui, &args),
        };
        if let Err(error) = &result
            && let Some(AddressError::UnexpectedOption(_)) = error.error.downcast_ref()
            && let Some(error) = args::unknown_option_error()
        {
            error.exit();
        }
        ui.finish_program(result)
    })
}
