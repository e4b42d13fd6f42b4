use ramus_render::json::{Answer, Configuration, ConfiguredValue};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::config::SettingOrigin;
use crate::error::CommandError;
use crate::table::{Table, cell};
use crate::ui::Ui;

/// Show the settings, and where each one comes from
///
/// An option overrides an environment variable, which overrides the file, which overrides the default.
/// The file is `~/.config/ramus/config.toml`, or the one that `RAMUS_CONFIG` names. Its keys:
///
///   theme           `auto`, `always` or `never`: colours
///   screen_colors   `auto`, `terminal`, `dark` or `light`: colours of the screens
///   ascii           `true`: draw with ASCII characters only
///   scope           `project` (of the current directory) or `everywhere`
///   times           `relative` or `absolute`: times in lists on a terminal
///   columns         the fields that `sessions` shows on a terminal: `["id", "title", "cost"]`
///   pager           a program, such as `"less -R"`
///   prices          a file with other prices
///   resume_program  the Claude Code program: a name or a path
///   like_model      the directory of the embedding model for `find --like`
///   `[keys]`        the keys of the screens: `resume = "ctrl-o"`
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:\n  ramus config\n  ramus config --path\n  \"$EDITOR\" \"$(ramus config --path)\""
)]
pub(crate) struct ConfigArgs {
    /// Print only where the file is
    #[arg(long)]
    path: bool,
}

pub(crate) fn config(ui: &mut Ui, global: &Global, args: &ConfigArgs) -> Result<(), CommandError> {
    let settings = &global.settings;
    let file = settings.file.display().to_string();
    if ui.json {
        let value = |(key, value, origin): (&'static str, String, SettingOrigin)| {
            let (from, line, name) = match origin {
                SettingOrigin::Default => ("default", None, None),
                SettingOrigin::File(line) => ("file", Some(line), None),
                SettingOrigin::Environment(name) => ("environment", None, Some(name)),
                SettingOrigin::CommandLine(name) => ("option", None, Some(name)),
            };
            ConfiguredValue { key, value, from, line, name }
        };
        let values = settings.rows().into_iter().map(value).collect();
        let (exists, unknown) = (settings.file_exists, settings.unknown.clone());
        let answer = Configuration { file, exists, settings: values, unknown };
        return ui.print_json(&Answer::new("ramus.config/1", answer));
    }
    if args.path {
        return Ok(writeln!(ui.output_writer(), "{file}")?);
    }
    let missing = if settings.file_exists { "" } else { "  (does not exist)" };
    ui.print_line(&Line::new(&file, Label::Heading).with(missing, Label::Dim))?;
    let mut table = Table::new(&["KEY", "*VALUE", "FROM"]);
    for (key, value, origin) in settings.rows() {
        let from = match origin {
            SettingOrigin::Default => "default".to_owned(),
            SettingOrigin::File(line) => format!("line {line}"),
            SettingOrigin::Environment(name) => format!("${name}"),
            SettingOrigin::CommandLine(name) => name.to_owned(),
        };
        let label = if origin == SettingOrigin::Default { Label::Dim } else { Label::Plain };
        table.row(vec![cell(key, Label::Id), cell(value, label), cell(from, label)]);
    }
    for line in table.lines(ui.width) {
        ui.print_line(&line)?;
    }
    Ok(())
}
