use std::collections::BTreeMap;

use ramus_app::{AnnotateError, Workspace};
use ramus_core::annotation::{Annotation, AnnotationChange, AnnotationTarget, parse_tag};
use ramus_core::ids::ShortIds;
use ramus_render::json::{self, Annotated, Answer};
use ramus_render::layout::truncate_line;
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::completion;
use crate::env;
use crate::error::CommandError;
use crate::table::{Table, cell, number};
use crate::ui::Ui;

/// Pin sessions or messages, or list what is pinned
///
/// Pins, tags and notes are kept in ramus's own directory. The history itself is not changed, and
/// Claude Code does not see them. The web app and the screens show pinned sessions first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus pin latest\n  ramus pin 7ea9:bd21\n  ramus pin 7ea9 --remove\n  ramus pin"
)]
pub(crate) struct PinArgs {
    /// Sessions (SESSION) or messages (SESSION:UUID); `-` reads them from standard input
    /// [default: list what is pinned]
    #[arg(add = completion::sessions())]
    addresses: Vec<String>,
    /// Remove the pin
    #[arg(long, requires = "addresses")]
    remove: bool,
}

/// Tag a session or a message, or list tags
///
/// A tag is one word in lower case. `ramus sessions --tag TAG` lists the sessions that have it, or have
/// a message with it. Tags are kept in ramus's own directory; the history itself is not changed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus tag latest review bug\n  ramus tag 7ea9:bd21 decision\n  ramus tag 7ea9 review --remove\n  ramus tag 7ea9\n  ramus tag"
)]
pub(crate) struct TagArgs {
    /// A session (SESSION) or a message (SESSION:UUID); with tags, `-` reads several from standard input
    #[arg(add = completion::sessions())]
    address: Option<String>,
    /// Tags to add [default: list tags]
    #[arg(add = completion::tags())]
    tags: Vec<String>,
    /// Remove these tags; without a tag all of them
    #[arg(long, requires = "address")]
    remove: bool,
}

/// Write a note on a session or a message, or list notes
///
/// A new note replaces the old one. Notes are kept in ramus's own directory; the history itself is not
/// changed, and Claude Code does not see them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus note latest 'Second try, works'\n  ramus note 7ea9:bd21 'Here it went wrong'\n  ramus note 7ea9\n  ramus note 7ea9 --remove\n  ramus note"
)]
pub(crate) struct NoteArgs {
    /// A session (SESSION) or a message (SESSION:UUID)
    #[arg(add = completion::sessions())]
    address: Option<String>,
    /// The text of the note [default: show the note]
    text: Option<String>,
    /// Remove the note
    #[arg(long, requires = "address", conflicts_with = "text")]
    remove: bool,
}

pub(crate) fn pin(ui: &mut Ui, global: &Global, args: &PinArgs) -> Result<(), CommandError> {
    let workspace = env::command_workspace(ui, global)?;
    if args.addresses.is_empty() {
        return list_annotated(ui, &workspace, "nothing is pinned", |one| one.pinned);
    }
    let change = AnnotationChange { pinned: Some(!args.remove), ..AnnotationChange::default() };
    annotate_all(ui, &workspace, &env::expand_addresses(&args.addresses)?, &change)
}

pub(crate) fn tag(ui: &mut Ui, global: &Global, args: &TagArgs) -> Result<(), CommandError> {
    let workspace = env::command_workspace(ui, global)?;
    let Some(address) = &args.address else { return list_tags(ui, &workspace) };
    if args.tags.is_empty() && !args.remove {
        return show_annotation(ui, &workspace, address, "tags", |one| {
            one.tags.iter().map(|tag| format!("{tag}\n")).collect()
        });
    }
    let mut change = AnnotationChange::default();
    match args.remove {
        true if args.tags.is_empty() => {
            let target = workspace.annotation_target(&workspace.resolve_address(address)?)?;
            let annotations = workspace.annotations();
            let tags = annotations.get(&target).map(|one| one.tags.iter().cloned().collect());
            change.remove_tags = tags.unwrap_or_default();
        }
        true => change.remove_tags = args.tags.clone(),
        false => change.add_tags = args.tags.clone(),
    }
    let addresses = env::expand_addresses(std::slice::from_ref(address))?;
    annotate_all(ui, &workspace, &addresses, &change)
}

pub(crate) fn note(ui: &mut Ui, global: &Global, args: &NoteArgs) -> Result<(), CommandError> {
    let workspace = env::command_workspace(ui, global)?;
    let Some(address) = &args.address else {
        return list_annotated(ui, &workspace, "there are no notes", |one| !one.note.is_empty());
    };
    let text = match (&args.text, args.remove) {
        (None, false) => {
            return show_annotation(ui, &workspace, address, "note", |one| match &*one.note {
                "" => String::new(),
                note => format!("{note}\n"),
            });
        }
        (text, _) => text.clone().unwrap_or_default(),
    };
    let change = AnnotationChange { note: Some(text), ..AnnotationChange::default() };
    annotate_all(ui, &workspace, std::slice::from_ref(address), &change)
}

/// Returns what the options of a list ask for, as it is stored.
pub(crate) fn parse_tags(tags: &[String]) -> Result<Vec<String>, CommandError> {
    tags.iter().map(|tag| parse_tag(tag).map_err(CommandError::user_error)).collect()
}

fn annotate_all(
    ui: &mut Ui,
    workspace: &Workspace,
    addresses: &[String],
    change: &AnnotationChange,
) -> Result<(), CommandError> {
    // All addresses are checked before anything is written.
    let targets = addresses
        .iter()
        .map(|address| Ok(workspace.annotation_target(&workspace.resolve_address(address)?)?));
    let targets: Vec<AnnotationTarget> = targets.collect::<Result<_, CommandError>>()?;
    let mut annotated = Vec::new();
    for target in targets {
        let annotation = workspace.annotate(&target, change, env::current_time())?;
        annotated.push((target, annotation));
    }
    if ui.json {
        return print_annotations(ui, annotated.iter().map(|(target, one)| (target, one)));
    }
    let short_ids = workspace.short_ids();
    for (target, annotation) in &annotated {
        let line =
            Line::new(&target_address(&short_ids, target), Label::Id).with("  ", Label::Plain);
        ui.print_message(&line.with_line(&annotation_line(annotation)));
    }
    Ok(())
}

fn show_annotation(
    ui: &mut Ui,
    workspace: &Workspace,
    address: &str,
    noun: &str,
    text: impl Fn(&Annotation) -> String,
) -> Result<(), CommandError> {
    let target = workspace.annotation_target(&workspace.resolve_address(address)?)?;
    let annotation = workspace.annotations().get(&target).cloned().unwrap_or_default();
    if ui.json {
        return print_annotations(ui, std::iter::once((&target, &annotation)));
    }
    let text = text(&annotation);
    if text.is_empty() {
        let name = target_address(&workspace.short_ids(), &target);
        ui.print_message(
            &Line::new(&name, Label::Id).with(&format!(" has no {noun}"), Label::Plain),
        );
    }
    for line in text.lines() {
        ui.print_line(&Line::plain(line))?;
    }
    Ok(())
}

fn list_tags(ui: &mut Ui, workspace: &Workspace) -> Result<(), CommandError> {
    let annotations = workspace.annotations();
    let tagged = annotations.iter().filter(|(_, one)| !one.tags.is_empty());
    if ui.json {
        return print_annotations(ui, tagged);
    }
    let mut counts: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (target, annotation) in tagged {
        for tag in &annotation.tags {
            counts.entry(tag).or_default()[usize::from(target.message.is_some())] += 1;
        }
    }
    if counts.is_empty() {
        return Err(CommandError::nothing_found("there are no tags")
            .with_hint("`ramus tag SESSION TAG` adds one"));
    }
    let mut table = Table::new(&["*TAG", ">SESSIONS", ">MESSAGES"]);
    for (tag, [sessions, messages]) in counts {
        table.row(vec![
            cell(tag, Label::Branch),
            cell(number(sessions), Label::Plain),
            cell(number(messages), Label::Plain),
        ]);
    }
    for line in table.lines(ui.width) {
        ui.print_line(&line)?;
    }
    Ok(())
}

fn list_annotated(
    ui: &mut Ui,
    workspace: &Workspace,
    nothing: &str,
    is_wanted: impl Fn(&Annotation) -> bool,
) -> Result<(), CommandError> {
    let annotations = workspace.annotations();
    let wanted: Vec<_> = annotations.iter().filter(|(_, one)| is_wanted(one)).collect();
    if ui.json {
        return print_annotations(ui, wanted.into_iter());
    }
    if wanted.is_empty() {
        return Err(CommandError::nothing_found(nothing));
    }
    for line in annotated_lines(workspace, &wanted) {
        ui.print_line(&truncate_line(&line, ui.width))?;
    }
    Ok(())
}

/// Writes annotations one a line, with the address that leads to each.
pub(crate) fn annotated_lines(
    workspace: &Workspace,
    annotated: &[(&AnnotationTarget, &Annotation)],
) -> Vec<Line> {
    let short_ids = workspace.short_ids();
    let line = |(target, annotation): &(&AnnotationTarget, &Annotation)| {
        Line::new(&target_address(&short_ids, target), Label::Id)
            .with("  ", Label::Plain)
            .with_line(&annotation_line(annotation))
    };
    annotated.iter().map(line).collect()
}

fn target_address(short_ids: &ShortIds, target: &AnnotationTarget) -> String {
    let session = short_ids.shorten_id(&target.session);
    match &target.message {
        Some(message) => format!("{session}:{message}"),
        None => session.to_owned(),
    }
}

fn annotation_line(annotation: &Annotation) -> Line {
    let mut line = Line::default();
    if annotation.pinned {
        line = line.with("◆ pinned  ", Label::Active);
    }
    for tag in &annotation.tags {
        line = line.with(&format!("#{tag} "), Label::Branch);
    }
    line = line.with(&annotation.note.replace('\n', " "), Label::Plain);
    match annotation.is_empty() {
        true => line.with("no pin, tag or note", Label::Dim),
        false => line,
    }
}

fn print_annotations<'a>(
    ui: &mut Ui,
    annotated: impl Iterator<Item = (&'a AnnotationTarget, &'a Annotation)>,
) -> Result<(), CommandError> {
    let annotations = annotated.map(|(target, one)| json::from_annotation(target, one)).collect();
    ui.print_json(&Answer::new("ramus.annotations/1", Annotated { annotations }))
}

impl From<AnnotateError> for CommandError {
    fn from(error: AnnotateError) -> Self {
        match error {
            AnnotateError::Address(error) => error.into(),
            error => {
                Self { kind: crate::error::ErrorKind::User, error: error.into(), hints: Vec::new() }
            }
        }
    }
}
