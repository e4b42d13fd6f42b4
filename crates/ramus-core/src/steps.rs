//! Counts steps in tests, so that work that grows faster than a session shows as a number and not as a time.

#[cfg(test)]
thread_local! {
    static TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts one access to a record or message. It does nothing outside of this crate's tests.
#[inline(always)]
pub(crate) fn count_step() {
    #[cfg(test)]
    TAKEN.set(TAKEN.get() + 1);
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use testkit::jsonl;

    use super::TAKEN;
    use crate::body::RecordBody;
    use crate::client_path::client_path;
    use crate::compare::{PathPart, compare_paths};
    use crate::digest::SessionDigest;
    use crate::edit::{self, EditContext, ForkOptions, copy_source, end_of_message};
    use crate::files::{BackupReader, BackupRef, files_at, path_point_of};
    use crate::history::{ConversationPath, History};
    use crate::price::PriceList;
    use crate::resume::ResumeRule;
    use crate::session::{NodeId, Session};
    use crate::time::Time;
    use crate::turn::{TurnKind, path_turns};
    use crate::usage::FileUsage;

    struct NoBackups;

    impl BackupReader for NoBackups {
        fn backup_size(&mut self, _: &BackupRef) -> Option<u64> {
            None
        }

        fn read_backup(&mut self, _: &BackupRef) -> Option<Vec<u8>> {
            None
        }
    }

    /// A session and the work to measure on it.
    struct Case {
        bytes: String,
        history: History,
        paths: Vec<ConversationPath>,
    }

    impl Case {
        fn new(bytes: String) -> Self {
            let mut session = Session::with_usage();
            session.push(bytes.as_bytes());
            session.finish_last_line();
            let history = History::new(session, ResumeRule::Client);
            let conversations = &history.branches.conversations;
            let ends =
                [conversations.first(), history.branches.main_conversation(), conversations.last()];
            let paths =
                ends.into_iter().flatten().map(|end| history.conversation_path(end)).collect();
            Self { bytes, history, paths }
        }

        fn body(&self, id: NodeId) -> Option<RecordBody> {
            let span = self.history.session.record(id).span;
            RecordBody::parse(
                &self.bytes.as_bytes()[span.offset as usize..span.end_offset() as usize],
            )
            .ok()
        }
    }

    /// An operation on a session, and its name.
    type Work = (&'static str, fn(&Case));

    /// What the commands do with one session.
    const WORK: [Work; 9] = [
        ("digest", |case| drop(SessionDigest::new(&case.history))),
        ("usage", |case| drop(FileUsage::new(&case.history, &PriceList::default()))),
        ("turns", |case| {
            for path in &case.paths {
                path_turns(&case.history, path, &mut |id| case.body(id)).for_each(drop);
            }
        }),
        ("conversation of each record", |case| {
            for (id, _) in case.history.session.nodes() {
                case.history.conversation_of(id);
                case.history.node_address(id);
            }
        }),
        ("client path", |case| {
            if let Some(resume) = case.history.branches.resume {
                client_path(&case.history, resume.point);
                edit::node_to_repair(&case.history, now());
            }
        }),
        ("files", |case| {
            for path in &case.paths {
                let Some(&last) = path.nodes.last() else { continue };
                let Some(moment) = path_point_of(&case.history, path, last) else { continue };
                let path_part = PathPart { history: &case.history, path };
                files_at(&[path_part], moment, &mut |_, id| case.body(id), &mut NoBackups);
            }
        }),
        ("compare", |case| {
            let stretches = case.paths.iter().map(|path| PathPart { history: &case.history, path });
            let stretches: Vec<_> = stretches.collect();
            if let [first, .., last] = stretches[..] {
                compare_paths(&[first], &[last]);
            }
        }),
        ("goto", |case| {
            write(|writer| {
                for node in case.history.session.nodes().map(|(id, _)| id).take(2) {
                    end_of_message(&case.history, node);
                    let _ = edit::plan_goto(&case.history, node, "title", writer);
                }
            });
        }),
        ("fork and fix", |case| {
            write(|writer| {
                for path in &case.paths {
                    edit::reattached_nodes(&case.history, path);
                    let origin = copy_source("old", &case.history, path, &mut |id| case.body(id));
                    let _ = edit::plan_fork(
                        &[origin],
                        ForkOptions { title: "title", cwd: None },
                        writer,
                    );
                }
            });
        }),
    ];

    fn now() -> Time {
        Time::parse(b"2026-03-01T12:00:00.000Z").expect("because it is one")
    }

    fn write(work: impl FnOnce(&mut EditContext<'_>)) {
        let mut number = 0;
        let mut new_id = || {
            number += 1;
            format!("00000000-0000-4000-8000-{number:012}")
        };
        work(&mut EditContext { session: "new", now: now(), new_id: &mut new_id });
    }

    /// Repeats lines in the short form, where `N` is a number and `M` the one before.
    fn repeated(first: &str, lines: &str, n: usize) -> String {
        let mut short = format!("{first}\n");
        for k in 1..=n {
            let line = lines.replace('N', &k.to_string()).replace('M', &(k - 1).to_string());
            writeln!(short, "{line}").expect("because a text takes everything");
        }
        short
    }

    /// Shapes that an attacker would use: the first line, the repeated part, and the rest.
    const SHAPES: [(&str, &str, &str); 18] = [
        ("chain", "a0 user go", "pN < aM user go N\naN < pN assistant done N"),
        ("children of one record", "a user go", "pN < a user go N\nbN < pN assistant done N"),
        ("answers to one prompt", "a user go", "bN < a assistant done N"),
        ("versions", "a user go", "b < a assistant done N"),
        ("one name chained", "a user go", "a < a user go N"),
        ("two names chained", "b user go", "a < b user go N\nb < a assistant done N"),
        ("roots", "a user go", "pN user go N\nbN < pN assistant done N"),
        ("lost parents", "a user go", "pN < xN user go N\nbN < pN assistant done N"),
        ("one message", "b0 user go", "bN < bM assistant #1 done N"),
        ("one message apart", "b0 user go", "pN < bM user go N\nbN < pN assistant #1 done N"),
        ("parallel calls", "c0 user go", "cN < cM call:tN #1 x\nrN < cN result:tN done"),
        ("calls and results", "r0 user go", "cN < rM call:tN x\nrN < cN result:tN done"),
        ("interrupts", "i0 user go", "bN < iM assistant done N\niN < bN interrupt x"),
        ("interrupts aside", "a user go", "bN < a assistant done N\niN < bN interrupt x"),
        ("comb", "a0 user go", "xN < aM assistant left N\naN < aM user on N"),
        (
            "compactions",
            "s0 user go",
            "bN < sM assistant done N\ncN boundary:bN x\nsN < cN compacted x",
        ),
        ("sidechains", "a user go", "pN side-user go N\nbN < pN side-assistant done N"),
        ("hooks", "h0 user go", "hN < hM attachment x\ngN < hM progress x"),
    ];

    /// Twice the records may take at most this many times the steps; twice would be linear.
    const MOST: f64 = 2.3;

    #[test]
    fn the_work_on_hostile_shapes_grows_with_their_size() {
        let mut too_much = Vec::new();
        for (shape, first, lines) in SHAPES {
            let [small, large] = [100, 200].map(|n| {
                TAKEN.set(0);
                let case = Case::new(jsonl(&repeated(first, lines, n)));
                let read = TAKEN.get();
                let steps = WORK.map(|(_, work)| {
                    TAKEN.set(0);
                    work(&case);
                    TAKEN.get()
                });
                (read, steps)
            });
            let works = WORK.iter().map(|(name, _)| *name).zip(small.1.into_iter().zip(large.1));
            for (name, (small, large)) in std::iter::once(("read", (small.0, large.0))).chain(works)
            {
                // A few steps more than none are not growth.
                if large > 2_000 && large as f64 > small as f64 * MOST {
                    too_much.push(format!("{shape}, {name}: {small} steps, then {large}"));
                }
            }
            assert!(large.0 > 200, "{shape}: steps are counted");
        }
        assert!(too_much.is_empty(), "{}", too_much.join("\n"));
    }

    #[test]
    fn the_work_on_pull_requests_grows_with_their_number() {
        let request = r#"{"type":"pr-link","prNumber":1,"prUrl":"https://host/o/r/pull/1"}"#;
        let [small, large] = [100, 200].map(|n| {
            let mut bytes = String::new();
            for line in jsonl(&repeated("a0 user go", "aN < aM user go N", n)).lines() {
                writeln!(bytes, "{line}\n{request}").expect("because a text takes everything");
            }
            bytes.push_str(&format!("{request}\n").repeat(n));
            let case = Case::new(bytes);
            TAKEN.set(0);
            let mut body = |id| case.body(id);
            let turns = path_turns(&case.history, &case.paths[0], &mut body);
            let notes = turns.filter(|turn| matches!(turn.kind, TurnKind::Note(_))).count();
            assert_eq!(notes, 2 * n + 1);
            TAKEN.get()
        });
        assert!(large as f64 <= small as f64 * MOST, "{small} steps, then {large}");
    }
}
