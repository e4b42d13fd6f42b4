//! Pins, tags and notes: read for lists, changed by every front end, carried along in packs.

use std::collections::HashSet;
use std::sync::Arc;

use ramus_core::annotation::{
    Annotation, AnnotationChange, AnnotationRefusal, AnnotationTarget, Annotations,
};
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_store::annotations::AnnotationWriteError;
use ramus_store::claude_dir::HistoryFile;
use ramus_store::pack::PackedAnnotation;

use crate::address::{Address, AddressError, ResolvedFile};
use crate::workspace::Workspace;

/// Why an annotation was not changed.
#[derive(Debug, thiserror::Error)]
pub enum AnnotateError {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(transparent)]
    Refused(#[from] AnnotationRefusal),
    #[error(transparent)]
    Write(#[from] AnnotationWriteError),
}

impl Workspace {
    /// Returns all pins, tags and notes. What cannot be read of them is reported.
    pub fn annotations(&self) -> Arc<Annotations> {
        match self.state_dir().read_annotations() {
            Ok(stored) => {
                stored.problems.iter().for_each(|problem| self.warn(problem));
                Arc::new(stored.annotations)
            }
            Err(problem) => {
                self.warn(&problem);
                Arc::default()
            }
        }
    }

    /// Returns what an address names to annotate: the session, or the message of a node in it.
    pub fn annotation_target(&self, address: &Address) -> Result<AnnotationTarget, AddressError> {
        let session = || AnnotationTarget { session: address.file.address_id(), message: None };
        if address.node == crate::NodeSelector::Resume {
            return Ok(session());
        }
        let history = self.read_history(&address.file.file)?;
        let node = address.node.find_node(&history)?;
        Ok(node.map_or_else(session, |node| message_target(&address.file.file, &history, node)))
    }

    /// Changes the annotation of a session or a message; returns the new one.
    pub fn annotate(
        &self,
        target: &AnnotationTarget,
        change: &AnnotationChange,
        now: Time,
    ) -> Result<Annotation, AnnotateError> {
        let changed = self.state_dir().change_annotations(|all| {
            let mut annotation = all.get(target).cloned().unwrap_or_default();
            let before = annotation.clone();
            annotation.apply_change(change)?;
            if annotation != before {
                annotation.changed = Some(now.to_string());
                all.set(target.clone(), annotation.clone());
            }
            Ok::<_, AnnotationRefusal>(annotation)
        })?;
        Ok(changed?)
    }

    /// Returns the annotations of a session for a pack; `path`: only those of messages on it.
    pub(crate) fn annotations_to_pack(
        &self,
        found: &ResolvedFile,
        history: &History,
        path: Option<&[NodeId]>,
    ) -> Vec<PackedAnnotation> {
        let uuids: Option<HashSet<String>> = path
            .map(|nodes| nodes.iter().filter_map(|node| message_uuid(history, *node)).collect());
        let is_packed = |message: Option<&str>| match (message, &uuids) {
            (Some(message), Some(uuids)) => uuids.contains(message),
            _ => true,
        };
        let annotations = self.annotations();
        let own = annotations.in_session(&found.address_id());
        own.filter(|(message, _)| is_packed(*message))
            .map(|(message, annotation)| PackedAnnotation {
                message: message.map(str::to_owned),
                annotation: annotation.clone(),
            })
            .collect()
    }
}

/// Returns what an annotation of a message of a file is about.
pub fn message_target(file: &HistoryFile, history: &History, node: NodeId) -> AnnotationTarget {
    AnnotationTarget { session: file.address_id(), message: message_uuid(history, node) }
}

/// Returns the uuid of the first record of a node's message, by which transcripts name it.
fn message_uuid(history: &History, node: NodeId) -> Option<String> {
    let tree = &history.message_tree;
    let head = tree.message_of(node).map_or(node, |message| tree.message(message).head);
    history.session.record(head).uuid.map(|uuid| history.session.uuid_text(uuid))
}

/// Uuids and times are shorter; a pack with longer ones was not written by ramus.
const LONGEST_ID: usize = 64;

/// Returns the annotations that a pack has for a session, as far as they are valid here.
pub(crate) fn accepted_annotations(
    session: &str,
    packed: &[PackedAnnotation],
) -> Vec<(AnnotationTarget, Annotation)> {
    let is_short =
        |text: &Option<String>| text.as_ref().is_none_or(|text| text.len() <= LONGEST_ID);
    let accepted = packed.iter().filter_map(|one| {
        if !is_short(&one.message) || !is_short(&one.annotation.changed) {
            return None;
        }
        let Annotation { pinned, tags, note, changed } = one.annotation.clone();
        let add_tags = tags.into_iter().collect();
        let change = AnnotationChange {
            pinned: Some(pinned),
            add_tags,
            note: Some(note),
            ..Default::default()
        };
        let mut annotation = Annotation { changed, ..Annotation::default() };
        annotation.apply_change(&change).ok()?;
        let target = AnnotationTarget { session: session.to_owned(), message: one.message.clone() };
        Some((target, annotation))
    });
    accepted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_times_that_nobody_writes_are_left_out_of_a_pack() {
        let packed = |message: Option<String>, changed: Option<String>| PackedAnnotation {
            message,
            annotation: Annotation { pinned: true, changed, ..Annotation::default() },
        };
        let long = || Some("x".repeat(65));
        let all = [packed(None, None), packed(long(), None), packed(None, long())];
        assert_eq!(accepted_annotations("s", &all).len(), 1);
    }
}
