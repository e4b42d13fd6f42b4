//! Failures while writing, and what they leave.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, SystemTime};

mod faults;
mod other_programs;

use proptest::prelude::*;
use ramus_core::edit::end_of_message;
use ramus_core::history::History;
use ramus_core::ids::{RecordUuid, short_id};
use ramus_core::session::NodeId;
use testkit::{TestHome, jsonl};

use super::*;
use crate::claude_dir::{ClaudeDirs, Project};
use crate::disk::fault;
use crate::plan::{self, ForkDestination, SessionContext};
use crate::trace::trace_path;
use crate::undo::{BackupComparison, UndoError, plan_restore, plan_undo};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const PROJECT: &str = "-home-dev-app";

const TWO: &str = "
    a      user        v=2.1.325 first
    b < a  assistant   answer
    c < b  call:t1:Task  look around
    d < c  result:t1:a1b2c3  seen
    e < d  assistant   all seen
    f < b  user        other
    g < f  assistant   other answer
";

/// A home with one session, and everything a plan wants to know.
struct Scene {
    home: TestHome,
    state: StateDir,
}

type Files = BTreeMap<PathBuf, (Vec<u8>, SystemTime)>;

impl Scene {
    fn new(short: &str) -> Self {
        let home = TestHome::new();
        home.write_session(&format!("{PROJECT}/{ID}.jsonl"), short);
        home.write_session(
            &format!("{PROJECT}/{ID}/subagents/agent-a1b2c3.jsonl"),
            "x side-user look around\ny < x side-assistant seen",
        );
        home.write_file(&format!("{PROJECT}/{ID}/tool-results/big.txt"), "a long output");
        let backups = home.claude_dir().join("file-history").join(ID);
        fs::create_dir_all(&backups).unwrap();
        fs::write(backups.join("0123456789abcdef@v1"), "fn main() {}").unwrap();
        let state = StateDir::new(home.path().join("state"));
        let scene = Self { home, state };
        let old = SystemTime::now() - Duration::from_secs(3600);
        for path in scene.files().keys() {
            let file = OpenOptions::new().append(true).open(path).unwrap();
            file.set_modified(old).unwrap();
        }
        scene
    }

    fn path(&self) -> PathBuf {
        self.home.claude_dir().join("projects").join(PROJECT).join(format!("{ID}.jsonl"))
    }

    /// Returns all files of the Claude directory.
    fn files(&self) -> Files {
        files_below(&self.home.claude_dir())
    }

    /// Makes everything what it was: the Claude directory and what ramus remembers.
    fn reset(&self, files: &Files) {
        for entry in fs::read_dir(self.home.path()).unwrap() {
            fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        fs::create_dir_all(self.home.claude_dir()).unwrap();
        for (path, (bytes, time)) in files {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
            let file = OpenOptions::new().append(true).open(path).unwrap();
            file.set_modified(*time).unwrap();
        }
    }

    fn project(&self) -> Project {
        let place = ClaudeDirs::open(vec![self.home.claude_dir()]).unwrap();
        place.list_projects().projects.into_iter().find(|project| project.name == PROJECT).unwrap()
    }

    fn with<T>(&self, id: &str, work: impl FnOnce(SessionContext<'_>) -> T) -> T {
        let project = self.project();
        let file = project.files.iter().find(|file| file.id == id).unwrap();
        let history = from_jsonl(&file.path, ResumeRule::Client).unwrap();
        let root = self.home.claude_dir();
        work(SessionContext {
            root: Some(&root),
            dir: &project.dir,
            files: &project.files,
            file,
            history: &history,
            title: "A title",
            short_id: short_id(id),
        })
    }

    fn goto(&self, target: &str) -> WritePlan {
        self.with(ID, |subject| {
            plan::plan_goto(subject, node(subject.history, target), now()).unwrap()
        })
    }

    fn rename(&self, title: &str) -> WritePlan {
        self.with(ID, |subject| plan::plan_rename(subject, title, now()).unwrap())
    }

    fn fork(&self, target: &str) -> WritePlan {
        self.with(ID, |subject| {
            let end = end_of_message(subject.history, node(subject.history, target)).unwrap();
            let path = subject.history.path_to(end).unwrap();
            let parts = trace_path(
                subject.files,
                subject.file.clone(),
                subject.history.clone(),
                path,
                ResumeRule::Client,
            )
            .unwrap();
            let to = ForkDestination { dir: subject.dir, cwd: None, title: "A fork" };
            plan::plan_fork(subject, &parts, to, now()).unwrap().0
        })
    }

    fn trash(&self) -> WritePlan {
        self.with(ID, |subject| plan::plan_trash(subject).unwrap())
    }

    fn undo(&self, op: Option<u64>) -> Result<WritePlan, UndoError> {
        plan_undo(&Journal::read(&self.state).unwrap(), op, &[self.home.claude_dir()])
    }

    fn restore(&self, at: Option<u64>) -> Result<WritePlan, UndoError> {
        plan_restore(&Journal::read(&self.state).unwrap(), ID, at, &[self.home.claude_dir()])
    }

    fn apply(&self, plan: &WritePlan) -> Result<AppliedOperation, ApplyError> {
        apply_plan(&self.state, plan, false, now())
    }
}

fn now() -> Time {
    Time::parse(b"2026-03-01T12:00:00.000Z").unwrap()
}

fn node(history: &History, name: &str) -> NodeId {
    history.node_by_uuid(RecordUuid::new(name.as_bytes())).unwrap()
}

fn contents(files: &Files) -> BTreeMap<&Path, &[u8]> {
    files.iter().map(|(path, (bytes, _))| (&**path, &**bytes)).collect()
}

fn files_below(dir: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                files.insert(path.clone(), (fs::read(&path).unwrap(), time));
            }
        }
    }
    files
}

/// Cuts the power at every single call that changes the disk: then all is old or all is new.
#[track_caller]
fn check_power_cuts(scene: &Scene, plan: &WritePlan) {
    let start = files_below(scene.home.path());
    let before = scene.files();
    let done = Journal::read(&scene.state).unwrap().operations.len();
    scene.apply(plan).unwrap();
    let after = scene.files();
    assert_ne!(contents(&before), contents(&after));
    let mut cuts = 0;
    loop {
        scene.reset(&start);
        fault::cut_after(cuts);
        let result = scene.apply(plan);
        if fault::clear_faults() <= cuts && result.is_ok() {
            break;
        }
        recover_operations(&scene.state).unwrap();
        let left = scene.files();
        let journal = Journal::read(&scene.state).unwrap();
        assert!(journal.operations.iter().all(|operation| operation.end.is_some()), "cut {cuts}");
        let is_done = journal.operations.get(done).is_some_and(Operation::is_done);
        let wanted = if is_done { &after } else { &before };
        assert_eq!(contents(&left), contents(wanted), "cut {cuts}");
        cuts += 1;
    }
    assert!(cuts > 3, "the plan did something");
}

#[test]
fn a_power_cut_leaves_the_old_or_the_new() {
    let scene = Scene::new(TWO);
    check_power_cuts(&scene, &scene.goto("e"));
    let scene = Scene::new(TWO);
    check_power_cuts(&scene, &scene.rename("Another title"));
    let scene = Scene::new(TWO);
    check_power_cuts(&scene, &scene.fork("e"));
    let scene = Scene::new(TWO);
    check_power_cuts(&scene, &scene.trash());
}

#[test]
fn a_power_cut_while_undoing_leaves_the_old_or_the_new() {
    for plan in
        [Scene::goto as fn(&Scene, &str) -> WritePlan, Scene::fork, |scene, _| scene.trash()]
    {
        let scene = Scene::new(TWO);
        let done = plan(&scene, "e");
        scene.apply(&done).unwrap();
        check_power_cuts(&scene, &scene.undo(None).unwrap());
    }
    let scene = Scene::new(TWO);
    scene.apply(&scene.goto("e")).unwrap();
    check_power_cuts(&scene, &scene.restore(None).unwrap());
}

#[test]
fn what_was_done_is_undone_to_the_byte_and_the_second() {
    let scene = Scene::new(TWO);
    let before = scene.files();
    scene.apply(&scene.goto("e")).unwrap();
    scene.apply(&scene.rename("Another title")).unwrap();
    scene.apply(&scene.fork("g")).unwrap();
    scene.apply(&scene.trash()).unwrap();
    assert_eq!(scene.files().len(), 3, "the fork and what came along with it");
    for _ in 0..4 {
        scene.apply(&scene.undo(None).unwrap()).unwrap();
    }
    assert_eq!(scene.files(), before);
    assert!(matches!(scene.undo(None), Err(UndoError::Nothing)));
    assert!(matches!(scene.undo(Some(2)), Err(UndoError::Undone { op: 2, by: 7 })));
    assert!(matches!(scene.undo(Some(7)), Err(UndoError::IsUndo(7))));
    assert!(matches!(scene.undo(Some(99)), Err(UndoError::Unknown(99))));
}

#[test]
fn a_fork_takes_agents_outputs_and_backups_along() {
    let scene = Scene::new(TWO);
    let plan = scene.fork("e");
    scene.apply(&plan).unwrap();
    let new = scene.home.claude_dir().join("projects").join(PROJECT).join(&plan.session);
    let agent = fs::read_to_string(new.join("subagents/agent-a1b2c3.jsonl")).unwrap();
    assert_eq!(agent.matches(&format!(r#""sessionId":"{}""#, plan.session)).count(), 2);
    assert_eq!(fs::read(new.join("tool-results/big.txt")).unwrap(), b"a long output");
    let backups = scene.home.claude_dir().join("file-history").join(&plan.session);
    assert_eq!(fs::read(backups.join("0123456789abcdef@v1")).unwrap(), b"fn main() {}");
    // The other branch started no agent.
    let other = scene.fork("g");
    scene.apply(&other).unwrap();
    assert!(!new.with_file_name(&other.session).join("subagents").exists());
}

#[cfg(unix)]
#[test]
fn new_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new(TWO);
    let plan = scene.fork("e");
    scene.apply(&plan).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&plan.file), 0o600);
    assert_eq!(mode(&plan.file.with_extension("")), 0o700);
    assert_eq!(mode(&scene.state.journal_path()), 0o600);
    assert_eq!(mode(scene.state.path()), 0o700);
}

#[test]
fn undo_after_the_session_went_on_is_refused() {
    let scene = Scene::new(TWO);
    scene.apply(&scene.goto("e")).unwrap();
    let mut file = OpenOptions::new().append(true).open(scene.path()).unwrap();
    file.write_all(b"{\"type\":\"mode\"}\n").unwrap();
    let before = scene.files();
    assert!(matches!(scene.undo(None), Err(UndoError::ChangedSince { op: 1, .. })));
    assert_eq!(scene.files(), before);
    // The version before is kept all the same, and what is there now as well.
    let old = jsonl(TWO).into_bytes();
    scene.apply(&scene.restore(Some(1)).unwrap()).unwrap();
    assert_eq!(fs::read(scene.path()).unwrap(), old);
    scene.apply(&scene.restore(Some(2)).unwrap()).unwrap();
    assert_eq!(scene.files()[&scene.path()].0, before[&scene.path()].0);
}

#[test]
fn a_change_that_keeps_the_length_can_be_restored() {
    let scene = Scene::new(TWO);
    let old = jsonl(TWO).into_bytes();
    scene.apply(&scene.goto("e")).unwrap();
    let can_restore = || {
        let journal = Journal::read(&scene.state).unwrap();
        BackupComparison::default().can_restore(journal.operation(1).unwrap())
    };
    fs::write(scene.path(), &old).unwrap();
    assert!(!can_restore() && matches!(scene.restore(None), Err(UndoError::NoVersion(_))));
    let changed = String::from_utf8(old.clone()).unwrap().replace("other answer", "other ANSWER");
    fs::write(scene.path(), changed).unwrap();
    assert!(can_restore());
    apply_plan(&scene.state, &scene.restore(None).unwrap(), true, now()).unwrap();
    assert_eq!(fs::read(scene.path()).unwrap(), old);
}

#[test]
fn a_file_that_changed_since_is_refused() {
    let scene = Scene::new(TWO);
    let plan = scene.goto("e");
    let mut file = OpenOptions::new().append(true).open(scene.path()).unwrap();
    file.write_all(b"{\"type\":\"mode\"}\n").unwrap();
    let before = scene.files();
    assert!(matches!(apply_plan(&scene.state, &plan, true, now()), Err(ApplyError::Changed(_))));
    // One byte in place, and the length the same.
    let scene = Scene::new(TWO);
    let plan = scene.goto("e");
    let bytes = fs::read(scene.path()).unwrap();
    fs::write(
        scene.path(),
        String::from_utf8(bytes).unwrap().replace("other answer", "other ANSWER"),
    )
    .unwrap();
    assert!(matches!(apply_plan(&scene.state, &plan, true, now()), Err(ApplyError::Changed(_))));
    assert!(before.len() == scene.files().len());
    assert!(Journal::read(&scene.state).unwrap().operations.is_empty());
}

#[test]
fn an_open_session_is_refused_unless_forced() {
    let scene = Scene::new(TWO);
    let sessions = scene.home.claude_dir().join("sessions");
    fs::create_dir_all(&sessions).unwrap();
    let tell = |pid: u32| {
        let text = format!(r#"{{"pid":{pid},"sessionId":"{ID}"}}"#);
        fs::write(sessions.join("1.json"), text).unwrap();
    };
    tell(std::process::id());
    let before = scene.files();
    let pid = std::process::id();
    assert!(
        matches!(scene.apply(&scene.goto("e")), Err(ApplyError::OpenInClient { pid: open, .. }) if open == pid)
    );
    assert!(matches!(scene.apply(&scene.trash()), Err(ApplyError::OpenInClient { .. })));
    assert_eq!(scene.files(), before);
    scene.apply(&scene.rename("titles are safe")).unwrap();
    apply_plan(&scene.state, &scene.goto("e"), true, now()).unwrap();
    // Nobody has this number: the client is gone.
    tell(u32::MAX >> 1);
    scene.apply(&scene.goto("g")).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_directory_is_refused() {
    let scene = Scene::new(TWO);
    let outside = scene.home.path().join("outside.jsonl");
    fs::rename(scene.path(), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, scene.path()).unwrap();
    let before = fs::read(&outside).unwrap();
    assert!(matches!(scene.apply(&scene.goto("e")), Err(ApplyError::OutsideClaudeDir(_))));
    assert_eq!(fs::read(&outside).unwrap(), before);
    // A link to another place in the directory is what it points to.
    let inside = scene.path().with_file_name("elsewhere");
    fs::rename(&outside, &inside).unwrap();
    fs::remove_file(scene.path()).unwrap();
    std::os::unix::fs::symlink(&inside, scene.path()).unwrap();
    scene.apply(&scene.goto("e")).unwrap();
    assert!(fs::read(&inside).unwrap().starts_with(&before));
}

#[test]
fn a_journal_of_a_newer_ramus_is_left_alone() {
    let scene = Scene::new(TWO);
    scene.apply(&scene.rename("one")).unwrap();
    let mut file = OpenOptions::new().append(true).open(scene.state.journal_path()).unwrap();
    file.write_all(b"{\"v\":3,\"started\":{}}\n").unwrap();
    let before = fs::read(scene.state.journal_path()).unwrap();
    assert!(matches!(scene.apply(&scene.rename("two")), Err(ApplyError::NewerJournal(_))));
    assert_eq!(fs::read(scene.state.journal_path()).unwrap(), before);
}

#[test]
fn a_writer_beside_us_loses_nothing() {
    let scene = Scene::new(TWO);
    let path = scene.path();
    const LINES: u64 = 3000;
    let writer = std::thread::spawn(move || {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        for n in 0..LINES {
            let line = format!("{{\"type\":\"mode\",\"n\":{n}}}\n");
            file.write_all(line.as_bytes()).unwrap();
            std::thread::yield_now();
        }
    });
    let mut done = 0;
    while !writer.is_finished() || done == 0 {
        let plan = scene.goto(if done % 2 == 0 { "e" } else { "g" });
        match apply_plan(&scene.state, &plan, true, now()) {
            Ok(_) => done += 1,
            Err(ApplyError::Changed(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    writer.join().unwrap();
    let text = fs::read_to_string(scene.path()).unwrap();
    assert!(text.starts_with(&jsonl(TWO)));
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let theirs: Vec<u64> = lines.iter().filter_map(|line| line["n"].as_u64()).collect();
    assert_eq!(theirs, (0..LINES).collect::<Vec<u64>>());
    let ours = lines.iter().filter(|line| line["explicit"] == true).count();
    assert_eq!(ours, done);
}

#[test]
fn two_at_once_do_not_mix() {
    let scene = Scene::new(TWO);
    let plans = [scene.goto("e"), scene.goto("a")];
    let (results, _) = std::thread::scope(|scope| {
        let threads =
            plans.each_ref().map(|plan| scope.spawn(|| scene.apply(plan).map(|done| done.op)));
        (threads.map(|thread| thread.join().unwrap()), ())
    });
    let done = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(done, 1, "{results:?}");
    let text = fs::read_to_string(scene.path()).unwrap();
    assert_eq!(text.lines().count(), jsonl(TWO).lines().count() + 3);
}

/// One thing somebody may do.
#[derive(Clone, Debug)]
enum Move {
    Goto(usize),
    Rename(String),
    Fork(usize),
    Undo,
    Restore,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        3 => (0..7usize).prop_map(Move::Goto),
        2 => "[a-z ]{1,12}".prop_map(Move::Rename),
        2 => (0..7usize).prop_map(Move::Fork),
        2 => Just(Move::Undo),
        1 => Just(Move::Restore),
    ];
    proptest::collection::vec(one, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_done_the_old_bytes_stay_and_undo_brings_all_back(moves in moves()) {
        let scene = Scene::new(TWO);
        let initial = scene.files();
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        for step in &moves {
            let before = scene.files();
            let plan = match step {
                Move::Goto(at) => Some(scene.goto(names[*at])),
                Move::Rename(title) => Some(scene.rename(title)),
                Move::Fork(at) => Some(scene.fork(names[*at])),
                Move::Undo => scene.undo(None).ok(),
                Move::Restore => scene.restore(None).ok(),
            };
            let Some(plan) = plan else { continue };
            scene.apply(&plan).unwrap();
            let after = scene.files();
            if matches!(step, Move::Goto(_) | Move::Rename(_) | Move::Fork(_)) {
                for (path, (bytes, _)) in &before {
                    prop_assert!(after[path].0.starts_with(bytes));
                }
            }
        }
        while let Ok(plan) = scene.undo(None) {
            scene.apply(&plan).unwrap();
        }
        prop_assert_eq!(scene.files(), initial);
    }
}

#[cfg(unix)]
#[test]
fn what_cannot_be_looked_at_is_not_left_behind() {
    let scene = Scene::new(TWO);
    let backups = scene.home.claude_dir().join("file-history");
    fs::rename(&backups, backups.with_extension("away")).unwrap();
    // A link to itself leads nowhere, which is not the same as nothing.
    std::os::unix::fs::symlink(&backups, &backups).unwrap();
    let planned = scene.with(ID, plan::plan_trash);
    assert!(planned.is_err_and(|error| error.path.starts_with(&backups)));
}
