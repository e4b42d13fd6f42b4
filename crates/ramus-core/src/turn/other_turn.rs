//! Turns other than replies: prompts, commands, hooks, notes.

use std::borrow::Cow;

use super::{
    AttachedFile, ClientNote, CommandTurn, Compaction, Hook, HookEffect, Notification, PromptTurn,
    Synthetic, TurnKind,
};
use crate::body::{
    AssistantBody, AttachedFileKind, AttachmentBody, ContentBlock, HookKind, Media, RecordBody,
    SystemBody, SystemKind, UserBody, UserText, classify_user_text, human_text, plain_text,
    strip_styles,
};
use crate::record::RecordRole;
use crate::session::{NodeId, Session};

/// Returns the turn that a record makes. `None`: it is not shown.
pub(crate) fn turn_kind(session: &Session, node: NodeId, body: RecordBody) -> Option<TurnKind> {
    let record = session.record(node);
    match body {
        RecordBody::User(body) => from_user(record.role, record.sidechain, *body),
        RecordBody::Assistant(body) => Some(synthetic_turn(*body)),
        RecordBody::System(body) => from_system(*body),
        RecordBody::Attachment(body) => from_attachment(*body),
        RecordBody::Unknown(value) => {
            let kind = session.raw_type(node).unwrap_or("no type").to_owned();
            Some(TurnKind::Unknown { kind, value })
        }
        RecordBody::Progress(_)
        | RecordBody::ToolUse(_)
        | RecordBody::ToolResult(_)
        | RecordBody::Metadata(_) => None,
    }
}

fn from_user(role: RecordRole, delegated: bool, body: UserBody) -> Option<TurnKind> {
    match role {
        RecordRole::CompactSummary => Some(TurnKind::Compaction(Compaction {
            summary: Some(plain_text(&body.content)),
            ..Compaction::default()
        })),
        RecordRole::Meta => match classify_user_text(&plain_text(&body.content)) {
            UserText::HookOutput { hook, text } if !text.is_empty() => Some(TurnKind::Hook(Hook {
                name: hook.to_owned(),
                text: text.to_owned(),
                ..Hook::default()
            })),
            _ => None,
        },
        _ => {
            let origin = body.origin.filter(|_| role == RecordRole::Notification);
            let from = origin.and_then(|origin| origin.name.or(origin.from));
            from_text(body.content, role, delegated).map(|kind| match kind {
                TurnKind::Notification(notification) => TurnKind::Notification(Notification {
                    from: notification.from.or(from),
                    ..notification
                }),
                kind => kind,
            })
        }
    }
}

/// Classifies blocks of text: typed by a person, or inserted by the client.
fn from_text(content: Vec<ContentBlock>, role: RecordRole, delegated: bool) -> Option<TurnKind> {
    // Don't copy a text of many megabytes just to examine it.
    let joined;
    let mut texts = content.iter().filter_map(ContentBlock::as_text);
    let text = match (texts.next(), texts.next()) {
        (Some(only), None) => only,
        _ => {
            joined = plain_text(&content);
            &joined
        }
    };
    let owned = str::to_owned;
    let kind = match classify_user_text(text) {
        UserText::Command { name, args } => command_turn(name, args),
        UserText::BashInput(line) => command_turn("!", line),
        UserText::MemoryInput(memory) => command_turn("#", memory),
        UserText::CommandOutput { stdout, stderr } => {
            command_output(strip_styles(stdout), strip_styles(stderr))
        }
        UserText::BashOutput { stdout, stderr } => command_output(owned(stdout), owned(stderr)),
        UserText::Interrupt { for_tool_use } => TurnKind::Interrupt { for_tool_use },
        UserText::TaskNotification(news) => TurnKind::Notification(Notification {
            from: news.task_id.map(owned),
            status: news.status.map(owned),
            summary: news.summary.map(owned),
            text: news.result.unwrap_or_default().to_owned(),
        }),
        UserText::AgentMessage { from, summary, text } => TurnKind::Notification(Notification {
            from: Some(owned(from)).filter(|from| !from.is_empty()),
            status: None,
            summary: summary.map(owned),
            text: owned(text),
        }),
        _ if role == RecordRole::Notification => {
            TurnKind::Notification(Notification { text: owned(text), ..Notification::default() })
        }
        _ if role == RecordRole::Interrupt => TurnKind::Interrupt { for_tool_use: false },
        _ => {
            return prompt_turn(content, role == RecordRole::QueuedPrompt, delegated)
                .map(TurnKind::Prompt);
        }
    };
    Some(kind)
}

fn command_output(stdout: String, stderr: String) -> TurnKind {
    TurnKind::Command(CommandTurn { stdout, stderr, ..CommandTurn::default() })
}

fn command_turn(name: &str, args: &str) -> TurnKind {
    TurnKind::Command(CommandTurn {
        name: name.to_owned(),
        args: args.to_owned(),
        ..CommandTurn::default()
    })
}

fn prompt_turn(
    mut content: Vec<ContentBlock>,
    queued: bool,
    delegated: bool,
) -> Option<PromptTurn> {
    let own: Vec<Cow<'_, str>> = content
        .iter()
        .filter_map(ContentBlock::as_text)
        .map(human_text)
        .filter(|text| !text.is_empty())
        .collect();
    let only = match own[..] {
        [Cow::Borrowed(only)] => content
            .iter()
            .position(|block| block.as_text().is_some_and(|text| std::ptr::eq(text, only))),
        _ => None,
    };
    let mut text = if only.is_none() { own.join("\n") } else { String::new() };
    // The only text has nothing to remove, so it is moved without a copy.
    if let Some(ContentBlock::Text(only)) = only.and_then(|at| content.get_mut(at)) {
        text = std::mem::take(only);
    }
    if text.is_empty() {
        text = plain_text(&content).trim().to_owned();
    }
    let media: Vec<Media> = content
        .into_iter()
        .filter_map(|block| match block {
            ContentBlock::Image(media) | ContentBlock::Document(media) => Some(media),
            _ => None,
        })
        .collect();
    let is_empty = text.is_empty() && media.is_empty();
    (!is_empty).then_some(PromptTurn { text, media, queued, delegated })
}

fn synthetic_turn(body: AssistantBody) -> TurnKind {
    TurnKind::Synthetic(Synthetic {
        text: plain_text(&body.content),
        is_api_error: body.is_api_error,
        status: body.api_error_status,
        details: body.error_details.or(body.error),
    })
}

fn from_system(body: SystemBody) -> Option<TurnKind> {
    let text = body.content.unwrap_or_default();
    let note = |kind: &str, text: String| {
        let note = ClientNote { kind: kind.to_owned(), level: body.level.clone(), text };
        (!note.text.trim().is_empty()).then_some(TurnKind::Note(note))
    };
    match body.kind {
        SystemKind::Plain if body.is_meta => None,
        SystemKind::Plain => note("system", text),
        SystemKind::Informational => note("informational", text),
        SystemKind::LocalCommand => {
            from_text(vec![ContentBlock::Text(text)], RecordRole::Command, false)
        }
        SystemKind::CompactBoundary(compact) => Some(TurnKind::Compaction(Compaction {
            trigger: Some(compact.trigger.unwrap_or_default()),
            pre_tokens: compact.pre_tokens,
            post_tokens: compact.post_tokens,
            summary: None,
        })),
        SystemKind::MicrocompactBoundary(compact) => {
            let saved = compact.tokens_saved.unwrap_or(0);
            let tools = compact.compacted_tool_ids.len();
            let text =
                format!("{tools} tool results removed from the context, {saved} tokens saved");
            note("microcompact_boundary", text)
        }
        SystemKind::StopHookSummary(hooks) => {
            let said: Vec<String> = hooks.errors.into_iter().chain(hooks.stop_reason).collect();
            let effect = match hooks.prevented_continuation {
                true => HookEffect::Blocked,
                false if said.is_empty() => return None,
                false => HookEffect::Failed,
            };
            let command = hooks.hooks.into_iter().next().map(|hook| hook.command);
            let text = said.join("\n");
            Some(TurnKind::Hook(Hook { name: "Stop".to_owned(), effect, command, text }))
        }
        SystemKind::ApiError(error) => {
            let status = error.status.map(|status| format!("{status} ")).unwrap_or_default();
            let said = error.message.unwrap_or(text);
            let attempt = match (error.retry_attempt, error.max_retries) {
                (Some(attempt), Some(most)) => format!(" (attempt {attempt} of {most})"),
                _ => String::new(),
            };
            note("api_error", format!("{status}{said}{attempt}"))
        }
        SystemKind::AwaySummary => note("away_summary", text),
        SystemKind::BridgeStatus { url } => note("bridge_status", join_text(text, url)),
        SystemKind::ModelRefusalFallback(fallback) | SystemKind::ModelConsentFallback(fallback) => {
            let text = match (text.is_empty(), fallback.original_model, fallback.fallback_model) {
                (true, Some(from), Some(to)) => format!("switched from {from} to {to}"),
                _ => text,
            };
            note("model_fallback", text)
        }
        SystemKind::ScheduledTaskFire => note("scheduled_task_fire", text),
        SystemKind::AgentsKilled => note("agents_killed", text),
        SystemKind::MemorySaved => note("memory_saved", text),
        SystemKind::PermissionRetry => note("permission_retry", text),
        SystemKind::TurnDuration(_) | SystemKind::ApiMetrics => None,
        SystemKind::Other { subtype, value } if text.trim().is_empty() => {
            Some(TurnKind::Unknown { kind: format!("system/{subtype}"), value })
        }
        SystemKind::Other { subtype, .. } => note(&subtype, text),
    }
}

fn join_text(text: String, more: Option<String>) -> String {
    match more {
        Some(more) if !text.contains(&more) => format!("{text} {more}").trim().to_owned(),
        _ => text,
    }
}

fn from_attachment(body: AttachmentBody) -> Option<TurnKind> {
    match body {
        AttachmentBody::QueuedCommand(queued) => {
            let role =
                if queued.is_human() { RecordRole::QueuedPrompt } else { RecordRole::Notification };
            from_text(queued.prompt, role, false)
        }
        AttachmentBody::Hook(hook) => {
            let effect = match hook.kind {
                // Hooks that went well talk to the model after every step.
                HookKind::Success | HookKind::Cancelled => return None,
                HookKind::BlockingError => HookEffect::Blocked,
                HookKind::NonBlockingError => HookEffect::Failed,
                _ => HookEffect::Reported,
            };
            let text = [hook.text, hook.stderr].into_iter().find(|text| !text.trim().is_empty());
            let text = match effect {
                HookEffect::Reported => text?,
                HookEffect::Failed | HookEffect::Blocked => text.unwrap_or(hook.stdout),
            };
            let name = if hook.name.is_empty() { hook.event } else { hook.name };
            Some(TurnKind::Hook(Hook { name, effect, command: hook.command, text }))
        }
        AttachmentBody::File(file) => match file.kind {
            AttachedFileKind::File
            | AttachedFileKind::Edited
            | AttachedFileKind::Directory
            | AttachedFileKind::PdfReference => Some(TurnKind::File(AttachedFile {
                path: file.display_path.unwrap_or(file.path),
                edited: file.kind == AttachedFileKind::Edited,
                text: file.text,
            })),
            _ => None,
        },
        AttachmentBody::Other { .. } => None,
    }
}
