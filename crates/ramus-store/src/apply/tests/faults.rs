//! Every call can fail, be the last one, or be the moment at which another program writes.

use std::fmt::Write as _;
use std::io::Read;

use super::other_programs::is_temporary;
use super::*;
use crate::plan::{FileRestore, plan_restore_files};

/// ENOSPC, EIO, EXDEV, EMFILE, EACCES, EPERM.
const ERRORS: [i32; 6] = [28, 5, 18, 24, 13, 1];

/// What a client adds.
const LINE: &str = "{\"type\":\"mode\",\"by\":\"somebody else\"}\n";

/// An operation to try things on.
struct Case {
    name: &'static str,
    /// Brings a home to where it is about to begin, and plans it.
    plan: fn(&Scene) -> WritePlan,
}

pub(super) fn app(scene: &Scene) -> PathBuf {
    scene.home.path().join("app")
}

pub(super) fn put_files(scene: &Scene) -> WritePlan {
    let app = app(scene);
    fs::create_dir_all(&app).unwrap();
    fs::write(app.join("main.rs"), "fn main() { edited() }\n").unwrap();
    fs::write(app.join("gone.rs"), "made later\n").unwrap();
    let back = |name: &str, text: Option<&str>| FileRestore {
        path: app.join(name),
        content: text.map(|text| NewContent::Bytes(text.as_bytes().to_vec())),
    };
    let files = vec![
        back("main.rs", Some("fn main() {}\n")),
        back("src/new.rs", Some("once there\n")),
        back("gone.rs", None),
    ];
    plan_restore_files(ID, &scene.path(), Some(&scene.home.claude_dir()), "3 files".into(), files)
        .unwrap()
}

fn after(scene: &Scene, plan: &WritePlan) {
    scene.apply(plan).unwrap();
}

const CASES: [Case; 9] = [
    Case { name: "goto", plan: |scene| scene.goto("e") },
    Case { name: "fork", plan: |scene| scene.fork("e") },
    Case { name: "trash", plan: Scene::trash },
    Case { name: "restore files", plan: put_files },
    Case {
        name: "undo goto",
        plan: |scene| {
            after(scene, &scene.goto("e"));
            scene.undo(None).unwrap()
        },
    },
    Case {
        name: "undo fork",
        plan: |scene| {
            after(scene, &scene.fork("e"));
            scene.undo(None).unwrap()
        },
    },
    Case {
        name: "undo trash",
        plan: |scene| {
            after(scene, &scene.trash());
            scene.undo(None).unwrap()
        },
    },
    Case {
        name: "restore",
        plan: |scene| {
            after(scene, &scene.goto("e"));
            scene.restore(None).unwrap()
        },
    },
    Case {
        name: "undo restore files",
        plan: |scene| {
            after(scene, &put_files(scene));
            scene.undo(None).unwrap()
        },
    },
];

/// A home at the moment before an operation, to begin from again and again.
struct Stage {
    scene: Scene,
    plan: WritePlan,
    start: Files,
    before: Files,
    after: Files,
    name: &'static str,
}

impl Stage {
    fn new(case: &Case) -> Self {
        Self::of(Scene::new(TWO), case)
    }

    fn of(scene: Scene, case: &Case) -> Self {
        let plan = (case.plan)(&scene);
        let start = files_below(scene.home.path());
        let before = seen(&scene);
        scene.apply(&plan).unwrap();
        let after = seen(&scene);
        assert_ne!(contents(&before), contents(&after));
        Self { scene, plan, start, before, after, name: case.name }
    }

    fn begin(&self) {
        self.scene.reset(&self.start);
    }

    fn is_done(&self) -> bool {
        let journal = Journal::read(&self.scene.state).unwrap();
        assert!(journal.operations.iter().all(|operation| operation.end.is_some()));
        let done = journal.operations.iter().filter(|operation| operation.is_done()).count();
        let earlier = self.start.iter().filter(|(path, _)| path.ends_with("journal.jsonl"));
        let earlier = earlier.map(|(_, (text, _))| count(text, b"\"done\":true")).sum::<usize>();
        done > earlier
    }

    /// Lets everything be finished that was interrupted.
    #[track_caller]
    fn recover(&self, at: &str) -> Vec<String> {
        let recovered = recover_operations(&self.scene.state).unwrap();
        assert!(recovered.unfinished.is_empty(), "{}, {at}: {:?}", self.name, recovered.unfinished);
        recovered.notes
    }
}

fn count(text: &[u8], part: &[u8]) -> usize {
    memchr::memmem::find_iter(text, part).count()
}

/// Returns all files that others see; what ramus keeps near them is not among them.
fn seen(scene: &Scene) -> Files {
    let mut files = scene.files();
    if app(scene).is_dir() {
        files.extend(files_below(&app(scene)));
    }
    files.retain(|path, _| !path.iter().any(|part| part == ".ramus-trash"));
    files
}

/// Whether a fork has the same file as its origin: an output, or a backup.
fn is_shared(path: &Path) -> bool {
    path.iter().any(|part| part == "tool-results" || part == "file-history")
}

#[test]
fn an_error_at_any_call_changes_nothing_or_everything() {
    CASES.iter().for_each(|case| fail_at_any_call(&Stage::new(case), fault::fail_at));
}

#[test]
fn errors_from_any_call_on_change_nothing_or_everything() {
    CASES.iter().for_each(|case| fail_at_any_call(&Stage::new(case), fault::fail_from));
}

#[test]
fn an_error_or_a_power_cut_with_the_state_on_another_file_system() {
    // Only these move files to ramus's own directory, or out of it.
    let moving = ["trash", "restore files", "undo restore files"];
    for case in CASES.iter().filter(|case| moving.contains(&case.name)) {
        let scene = Scene::new(TWO);
        fault::other_file_system(Some(scene.state.path()));
        let stage = Stage::of(scene, case);
        fail_at_any_call(&stage, fault::fail_at);
        cut_at_any_call(&stage);
        fault::other_file_system(None);
    }
}

#[test]
fn a_failure_while_every_file_looks_open_leaves_nothing_once_none_does() {
    for is_elsewhere in [false, true] {
        let mut kept = 0;
        for case in &CASES {
            let scene = Scene::new(TWO);
            fault::other_file_system(is_elsewhere.then_some(scene.state.path()));
            let stage = Stage::of(scene, case);
            for call in 0.. {
                let at = format!("{}, call {call}, elsewhere {is_elsewhere}", stage.name);
                stage.begin();
                fault::all_look_open(true);
                fault::fail_at(call, ERRORS[call as usize % 6]);
                let result = stage.scene.apply(&stage.plan);
                let calls = fault::clear_faults();
                stage.recover(&at);
                let files = seen(&stage.scene);
                kept += files.keys().filter(|path| is_temporary(path)).count();
                fault::all_look_open(false);
                stage.recover(&at);
                let wanted = if stage.is_done() { &stage.after } else { &stage.before };
                assert_eq!(contents(&seen(&stage.scene)), contents(wanted), "{at}: {result:?}");
                if calls <= call {
                    break;
                }
            }
            fault::other_file_system(None);
        }
        assert!(!is_elsewhere || kept > 0, "otherwise this shows nothing");
    }
}

fn fail_at_any_call(stage: &Stage, fail: fn(u32, i32)) {
    for call in 0.. {
        let mut calls = 0;
        for errno in [ERRORS[call % 6], ERRORS[(call + 2) % 6], ERRORS[(call + 3) % 6]] {
            let at = format!("{}, error {errno} at call {call}", stage.name);
            stage.begin();
            fail(call as u32, errno);
            let result = stage.scene.apply(&stage.plan);
            calls = fault::clear_faults();
            let now = seen(&stage.scene);
            match &result {
                // What looks open cannot go to another file system yet; the next command moves it.
                Ok(done) if done.notes.iter().any(|note| note.contains("It stays at")) => {}
                Ok(_) => {
                    assert_eq!(contents(&now), contents(&stage.after), "{at}");
                    // Whether they were linked or copied.
                    for (path, (_, time)) in now.iter().filter(|(path, _)| is_shared(path)) {
                        assert_eq!(*time, stage.after[path].1, "{at}: {}", path.display());
                    }
                }
                // The message says that it is not taken back yet.
                Err(ApplyError::RollbackFailed { .. } | ApplyError::PartlyRolledBack { .. }) => {}
                Err(error) => {
                    assert_eq!(contents(&now), contents(&stage.before), "{at}: {error:?}");
                    let old = |path: &Path| stage.before[path].1;
                    let same = |(path, (_, time)): (&PathBuf, &(_, _))| *time == old(path);
                    assert!(now.iter().all(same), "{at}: dates stay");
                }
            }
            stage.recover(&at);
            let wanted = if stage.is_done() { &stage.after } else { &stage.before };
            assert_eq!(contents(&seen(&stage.scene)), contents(wanted), "{at}: {result:?}");
        }
        if calls <= call as u32 {
            break;
        }
    }
}

#[test]
fn a_file_with_the_name_of_a_copy_in_the_making_stays() {
    let stage = Stage::new(CASES.iter().find(|case| case.name == "undo restore files").unwrap());
    stage.begin();
    let near = app(&stage.scene).join("gone.part");
    fs::write(&near, "a download").unwrap();
    fault::other_file_system(Some(stage.scene.state.path()));
    stage.scene.apply(&stage.plan).unwrap();
    fault::other_file_system(None);
    assert_eq!(fs::read_to_string(&near).unwrap(), "a download");
    assert_eq!(fs::read_to_string(near.with_file_name("gone.rs")).unwrap(), "made later\n");
}

#[test]
fn a_power_cut_at_any_call_and_another_while_recovering() {
    CASES.iter().for_each(|case| cut_at_any_call(&Stage::new(case)));
}

fn cut_at_any_call(stage: &Stage) {
    for cut in 0.. {
        stage.begin();
        fault::cut_after(cut);
        let result = stage.scene.apply(&stage.plan);
        if fault::clear_faults() <= cut && result.is_ok() {
            break;
        }
        let crashed = files_below(stage.scene.home.path());
        // Every call of recovery is the last one for some cut.
        for second in (cut % 4..).step_by(4) {
            // Names are what counts after a crash, so the very same inodes must be there.
            if second >= 4 {
                let crashes_alike = || {
                    fault::clear_faults();
                    stage.begin();
                    fault::cut_after(cut);
                    let _ = stage.scene.apply(&stage.plan);
                    let is_alike = files_below(stage.scene.home.path()).len() == crashed.len();
                    if !is_alike {
                        fault::clear_faults();
                        let at = format!("cut {cut}, another file");
                        stage.recover(&at);
                        let wanted = if stage.is_done() { &stage.after } else { &stage.before };
                        assert_eq!(contents(&seen(&stage.scene)), contents(wanted), "{at}");
                    }
                    is_alike
                };
                // Rarely, an operation makes a call more or less, and another file is there when the power is cut.
                assert!((0..9).any(|_| crashes_alike()), "{}, cut {cut}", stage.name);
            }
            fault::cut_after(second);
            let _ = recover_operations(&stage.scene.state);
            let calls = fault::clear_faults();
            let at = format!("cut {cut}, then {second}");
            stage.recover(&at);
            let wanted = if stage.is_done() { &stage.after } else { &stage.before };
            assert_eq!(contents(&seen(&stage.scene)), contents(wanted), "{}, {at}", stage.name);
            if calls <= second {
                break;
            }
        }
    }
}

#[test]
fn a_power_cut_at_any_call_where_files_move_by_hard_links() {
    fault::plain_renames_only(true);
    // Between them they make, replace and move files, in both directions.
    let moving = ["goto", "fork", "trash", "undo trash", "restore"];
    for case in CASES.iter().filter(|case| moving.contains(&case.name)) {
        cut_at_any_call(&Stage::new(case));
    }
    fault::plain_renames_only(false);
}

#[test]
fn an_error_at_any_call_where_files_move_by_hard_links() {
    fault::plain_renames_only(true);
    let trash = CASES.iter().find(|case| case.name == "trash").unwrap();
    fail_at_any_call(&Stage::new(trash), fault::fail_at);
    fault::plain_renames_only(false);
}

/// Adds a line as a client does, which creates a session that it does not find.
fn client_writes(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(LINE.as_bytes()).unwrap();
}

/// Looks for a text in all files of a home.
fn holds(scene: &Scene, text: &str) -> bool {
    files_below(scene.home.path()).values().any(|(bytes, _)| count(bytes, text.as_bytes()) > 0)
}

#[track_caller]
fn check_line(stage: &Stage, at: &str, result: &Result<AppliedOperation, ApplyError>) {
    stage.recover(at);
    let path = stage.scene.path();
    assert!(holds(&stage.scene, &jsonl(TWO)), "{at}: the session itself; {result:?}");
    let text = fs::read(&path).unwrap_or_default();
    if stage.name == "trash" && count(&text, LINE.as_bytes()) == 0 {
        // It went to the trash with the session.
        assert!(holds(&stage.scene, LINE), "{at}: {result:?}");
        return;
    }
    let shown = String::from_utf8_lossy(&text);
    assert_eq!(count(&text, LINE.as_bytes()), 1, "{at}: {shown}\n{result:?}");
    let rest: Vec<u8> = String::from_utf8(text).unwrap().replace(LINE, "").into_bytes();
    let is = |files: &Files| files.get(&path).is_some_and(|(bytes, _)| *bytes == rest);
    let is_new = stage.name.ends_with("trash") && rest.is_empty();
    let rest = String::from_utf8_lossy(&rest);
    assert!(is(&stage.before) || is(&stage.after) || is_new, "{at}: {rest}\n{result:?}");
}

const ON_A_SESSION: [&str; 5] = ["goto", "trash", "undo goto", "undo trash", "restore"];

fn on_a_session() -> impl Iterator<Item = Stage> {
    CASES.iter().filter(|case| ON_A_SESSION.contains(&case.name)).map(Stage::new)
}

#[test]
fn a_client_that_writes_at_any_call_loses_no_line() {
    for (plain, open) in [(false, false), (true, false), (false, true), (true, true)] {
        for stage in on_a_session() {
            fault::plain_renames_only(plain);
            for call in 0.. {
                let at = format!("{}, call {call}, plain renames {plain}, open {open}", stage.name);
                stage.begin();
                let path = stage.scene.path();
                fault::all_look_open(open);
                fault::write_at(call, Box::new(move || client_writes(&path)));
                let result = apply_plan(&stage.scene.state, &stage.plan, true, now());
                let calls = fault::clear_faults();
                fault::all_look_open(false);
                if calls <= call {
                    break;
                }
                check_line(&stage, &at, &result);
            }
            fault::plain_renames_only(false);
        }
    }
}

#[test]
fn a_client_that_has_the_file_open_loses_no_line() {
    for stage in on_a_session().filter(|stage| stage.name != "undo trash") {
        for call in 0.. {
            let at = format!("{}, a line by an open file at call {call}", stage.name);
            stage.begin();
            let mut open = OpenOptions::new().append(true).open(stage.scene.path()).unwrap();
            fault::write_at(call, Box::new(move || open.write_all(LINE.as_bytes()).unwrap()));
            let result = apply_plan(&stage.scene.state, &stage.plan, true, now());
            if fault::clear_faults() <= call {
                break;
            }
            check_line(&stage, &at, &result);
        }
        // Even later: the next command carries it over, once, wherever that one is killed or fails.
        for faults in [fault::cut_after, |call| fault::fail_from(call, ERRORS[0])] {
            for call in 0.. {
                stage.begin();
                let mut open = OpenOptions::new().append(true).open(stage.scene.path()).unwrap();
                let result = apply_plan(&stage.scene.state, &stage.plan, true, now());
                open.write_all(LINE.as_bytes()).unwrap();
                faults(call);
                let _ = recover_operations(&stage.scene.state);
                let calls = fault::clear_faults();
                let at = format!("{}, long after, the next one ends at call {call}", stage.name);
                check_line(&stage, &at, &result);
                if calls <= call {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_half_line_is_carried_over_once_it_is_whole() {
    let stage = Stage::new(&CASES[4]);
    stage.begin();
    let mut open = OpenOptions::new().append(true).open(stage.scene.path()).unwrap();
    let (head, tail) = LINE.split_at(10);
    let mut other = open.try_clone().unwrap();
    fault::write_at(20, Box::new(move || other.write_all(head.as_bytes()).unwrap()));
    let result = apply_plan(&stage.scene.state, &stage.plan, true, now());
    fault::clear_faults();
    open.write_all(tail.as_bytes()).unwrap();
    check_line(&stage, "half a line", &result);
}

#[test]
fn a_client_that_writes_after_a_crash_loses_no_line() {
    for plain in [false, true] {
        for stage in on_a_session() {
            fault::plain_renames_only(plain);
            for cut in 0.. {
                let at = format!("{}, cut {cut}, plain renames {plain}", stage.name);
                stage.begin();
                fault::cut_after(cut);
                let result = stage.scene.apply(&stage.plan);
                if fault::clear_faults() <= cut && result.is_ok() {
                    break;
                }
                client_writes(&stage.scene.path());
                check_line(&stage, &at, &result);
            }
            fault::plain_renames_only(false);
        }
    }
}

#[test]
fn a_client_that_writes_before_a_crash_loses_no_line() {
    on_a_session().for_each(|stage| write_and_cut_at_any_call(&stage, 2));
}

#[test]
fn a_client_that_creates_the_file_before_a_crash_loses_no_line() {
    fault::plain_renames_only(true);
    let moving = ["undo goto", "undo trash"];
    on_a_session()
        .filter(|stage| moving.contains(&stage.name))
        .for_each(|stage| write_and_cut_at_any_call(&stage, 1));
    fault::plain_renames_only(false);
}

fn write_and_cut_at_any_call(stage: &Stage, step: usize) {
    for call in 0.. {
        stage.begin();
        let path = stage.scene.path();
        fault::write_at(call, Box::new(move || client_writes(&path)));
        let _ = apply_plan(&stage.scene.state, &stage.plan, true, now());
        let calls = fault::clear_faults();
        if calls <= call {
            break;
        }
        for cut in (call + 1..calls).step_by(step) {
            let at = format!("{}, a line at call {call}, cut {cut}", stage.name);
            stage.begin();
            let path = stage.scene.path();
            fault::write_at(call, Box::new(move || client_writes(&path)));
            fault::cut_also_after(cut);
            let result = apply_plan(&stage.scene.state, &stage.plan, true, now());
            fault::clear_faults();
            check_line(stage, &at, &result);
        }
    }
}

#[test]
fn a_save_in_the_gap_of_a_killed_restore_stays_and_the_earlier_version_is_named() {
    fault::plain_renames_only(true);
    let stage = Stage::new(&CASES[3]);
    let path = app(&stage.scene).join("main.rs");
    let mut gaps = 0;
    for cut in 0.. {
        stage.begin();
        fault::cut_after(cut);
        let result = stage.scene.apply(&stage.plan);
        if fault::clear_faults() <= cut && result.is_ok() {
            break;
        }
        if path.exists() {
            continue;
        }
        save(&path, Save::InPlace);
        gaps += 1;
        let notes = stage.recover(&format!("cut {cut}")).join("\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), SAVED);
        let earlier = &stage.before[&path].0;
        let files = files_below(stage.scene.home.path());
        let (kept, _) = files.iter().find(|(_, (bytes, _))| bytes == earlier).unwrap();
        assert!(notes.contains(&format!("the earlier version is {}", kept.display())), "{notes}");
    }
    assert!(gaps > 0, "otherwise this shows nothing");
    fault::plain_renames_only(false);
}

/// How an editor saves a file.
#[derive(Clone, Copy, Debug)]
enum Save {
    InPlace,
    ByRename,
}

const SAVED: &str = "fn main() { saved by an editor }\n";

fn save(path: &Path, how: Save) {
    match how {
        Save::InPlace => fs::write(path, SAVED).unwrap(),
        Save::ByRename => {
            let other = path.with_file_name("editor.swp");
            fs::write(&other, SAVED).unwrap();
            fs::rename(&other, path).unwrap();
        }
    }
}

/// What an editor saved is in place, or the message says where it is.
#[track_caller]
fn check_saved(
    stage: &Stage,
    path: &Path,
    at: &str,
    result: &Result<AppliedOperation, ApplyError>,
) {
    let mut said = match result {
        Ok(done) => done.notes.join("\n"),
        Err(error) => error_chain(error),
    };
    let _ = write!(said, "\n{}", stage.recover(at).join("\n"));
    if fs::read_to_string(path).is_ok_and(|text| text == SAVED) {
        return;
    }
    let files = files_below(stage.scene.home.path());
    let copy = files.iter().find(|(_, (bytes, _))| *bytes == SAVED.as_bytes());
    let (copy, _) = copy.unwrap_or_else(|| panic!("{at}: it is lost; {said}"));
    assert!(said.contains(&*copy.to_string_lossy()), "{at}: {said}");
}

fn restoring_files() -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(|case| case.name.ends_with("restore files"))
}

const FILES: [&str; 3] = ["main.rs", "gone.rs", "src/new.rs"];

/// Restores files with the state on another file system, and names those that go there.
fn across_file_systems(check: impl Fn(&Stage, &[&str])) {
    for case in restoring_files() {
        let scene = Scene::new(TWO);
        fault::other_file_system(Some(scene.state.path()));
        let removed = if case.name.starts_with("undo") { "src/new.rs" } else { "gone.rs" };
        check(&Stage::of(scene, case), &["main.rs", removed]);
        fault::other_file_system(None);
    }
}

#[test]
fn what_an_editor_saves_at_any_call_is_not_lost() {
    restoring_files().for_each(|case| save_at_any_call(&Stage::new(case), &FILES));
}

#[test]
fn what_an_editor_saves_is_not_lost_with_the_state_on_another_file_system() {
    across_file_systems(save_at_any_call);
}

fn save_at_any_call(stage: &Stage, names: &[&str]) {
    for name in names {
        for how in [Save::InPlace, Save::ByRename] {
            for call in 0.. {
                let at = format!("{}, {name} saved {how:?} at call {call}", stage.name);
                stage.begin();
                let path = app(&stage.scene).join(name);
                let file = path.clone();
                fault::write_at(
                    call,
                    Box::new(move || {
                        fs::create_dir_all(file.parent().unwrap()).unwrap();
                        save(&file, how);
                    }),
                );
                let result = stage.scene.apply(&stage.plan);
                if fault::clear_faults() <= call {
                    break;
                }
                check_saved(stage, &path, &at, &result);
            }
        }
    }
}

#[test]
fn what_an_editor_saves_after_a_crash_is_not_lost() {
    restoring_files().for_each(|case| save_after_any_cut(&Stage::new(case), &FILES));
}

#[test]
fn what_an_editor_saves_after_a_crash_with_the_state_on_another_file_system_is_not_lost() {
    across_file_systems(save_after_any_cut);
}

fn save_after_any_cut(stage: &Stage, names: &[&str]) {
    for name in names {
        for cut in 0.. {
            let at = format!("{}, {name} saved after cut {cut}", stage.name);
            stage.begin();
            fault::cut_after(cut);
            let result = stage.scene.apply(&stage.plan);
            if fault::clear_faults() <= cut && result.is_ok() {
                break;
            }
            let path = app(&stage.scene).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            save(&path, Save::InPlace);
            check_saved(stage, &path, &at, &result);
            // Nobody touched the others: they are old or new.
            let others = seen(&stage.scene);
            for (other, (bytes, _)) in others.iter().filter(|(other, _)| **other != path) {
                let is = |files: &Files| files.get(other).is_some_and(|(was, _)| was == bytes);
                assert!(is(&stage.before) || is(&stage.after), "{at}: {}", other.display());
            }
        }
    }
}

#[test]
fn a_late_save_is_reported() {
    let stage = Stage::new(&CASES[3]);
    stage.begin();
    let path = app(&stage.scene).join("main.rs");
    let mut open = OpenOptions::new().write(true).open(&path).unwrap();
    let result = stage.scene.apply(&stage.plan);
    open.set_len(0).unwrap();
    open.write_all(SAVED.as_bytes()).unwrap();
    check_saved(&stage, &path, "long after", &result);
    let mut text = String::new();
    fs::File::open(&path).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "fn main() {}\n");
}

#[test]
fn goto_does_not_touch_an_incomplete_line() {
    let stage = Stage::new(&CASES[0]);
    let half = "{\"type\":\"mode\",\"by\":";
    for call in 0.. {
        stage.begin();
        let path = stage.scene.path();
        fault::write_at(
            call,
            Box::new(move || {
                let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                file.write_all(half.as_bytes()).unwrap();
            }),
        );
        let result = apply_plan(&stage.scene.state, &stage.plan, true, now());
        if fault::clear_faults() <= call {
            break;
        }
        let text = fs::read_to_string(stage.scene.path()).unwrap();
        let wanted = match result {
            // It came behind ours.
            Ok(_) => &stage.after,
            Err(_) => &stage.before,
        };
        let wanted = String::from_utf8_lossy(&wanted[&stage.scene.path()].0);
        assert_eq!(text, format!("{wanted}{half}"), "call {call}: {result:?}");
    }
}

#[test]
fn an_operation_whose_directory_is_gone_blocks_nothing() {
    for cut in [12, 16, 18, 20, 22, 24, 26, 28, 30] {
        for case in &CASES {
            let stage = Stage::new(case);
            stage.begin();
            fault::cut_after(cut);
            let _ = stage.scene.apply(&stage.plan);
            fault::clear_faults();
            // An early cut comes before the directory is made.
            let projects = stage.scene.home.claude_dir().join("projects");
            let _ = fs::remove_dir_all(&projects);
            let _ = fs::remove_dir_all(app(&stage.scene));
            recover_operations(&stage.scene.state).unwrap();
            // Something else is there now, so that it cannot even be made again.
            stage.begin();
            fault::cut_after(cut);
            let _ = stage.scene.apply(&stage.plan);
            fault::clear_faults();
            let _ = fs::remove_dir_all(&projects);
            fs::write(&projects, "no directory").unwrap();
            let recovered = recover_operations(&stage.scene.state).unwrap();
            fs::remove_file(&projects).unwrap();
            let id = "22222222-0000-4000-8000-000000000002";
            stage.scene.home.write_session(&format!("{PROJECT}/{id}.jsonl"), TWO);
            fs::write(projects.join(PROJECT).join(ID), "no directory").unwrap();
            let plan =
                stage.scene.with(id, |subject| plan::plan_rename(subject, "x", now()).unwrap());
            apply_plan(&stage.scene.state, &plan, true, now()).unwrap();
            let given_up = set_aside_unfinished(&stage.scene.state).unwrap();
            assert!(given_up.len() <= recovered.unfinished.len());
            let journal = Journal::read(&stage.scene.state).unwrap();
            assert!(journal.operations.iter().all(|operation| operation.end.is_some()));
        }
    }
}

#[test]
fn an_operation_that_cannot_be_finished_is_set_aside() {
    let stage = Stage::new(&CASES[2]);
    let projects = stage.scene.home.claude_dir().join("projects");
    let mut given_up = 0;
    for cut in 0..20 {
        stage.begin();
        fault::cut_after(cut);
        let _ = stage.scene.apply(&stage.plan);
        fault::clear_faults();
        fs::remove_dir_all(&projects).unwrap();
        fs::write(&projects, "no directory").unwrap();
        let open = recover_operations(&stage.scene.state).unwrap().unfinished;
        let aside = set_aside_unfinished(&stage.scene.state).unwrap();
        assert_eq!(open.len(), aside.len());
        given_up += aside.len();
        assert!(recover_operations(&stage.scene.state).unwrap().unfinished.is_empty());
        // What it had moved is still there.
        let trash = stage.scene.state.path().join("trash");
        assert!(aside.is_empty() || !files_below(&trash).is_empty(), "cut {cut}");
    }
    assert!(given_up > 0, "otherwise this shows nothing");
}

#[test]
fn a_lost_journal_overwrites_nothing_that_was_kept() {
    let scene = Scene::new(TWO);
    scene.apply(&scene.trash()).unwrap();
    let kept = files_below(&scene.state.path().join("trash"));
    assert!(!kept.is_empty());
    fs::remove_file(scene.state.journal_path()).unwrap();
    scene.home.write_session(&format!("{PROJECT}/{ID}.jsonl"), "a user another one");
    apply_plan(&scene.state, &scene.trash(), true, now()).unwrap();
    let now = files_below(&scene.state.path().join("trash"));
    assert!(kept.iter().all(|(path, was)| now.get(path) == Some(was)));
    assert_eq!(now.len(), kept.len() + 1);
}

#[test]
fn a_new_session_goes_through_no_link_to_the_outside() {
    let scene = Scene::new(TWO);
    let plan = scene.fork("e");
    let projects = scene.home.claude_dir().join("projects");
    let outside = scene.home.path().join("outside");
    fs::rename(projects.join(PROJECT), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, projects.join(PROJECT)).unwrap();
    let before = files_below(&outside);
    assert!(matches!(scene.apply(&plan), Err(ApplyError::OutsideClaudeDir(_))));
    assert_eq!(files_below(&outside), before);
}

#[test]
fn an_undo_of_trash_joins_what_was_made_again() {
    let scene = Scene::new(TWO);
    let before = scene.files();
    scene.apply(&scene.trash()).unwrap();
    client_writes(&scene.path());
    let output = scene.path().with_extension("").join("tool-results/later.txt");
    fs::create_dir_all(output.parent().unwrap()).unwrap();
    fs::write(&output, "later").unwrap();
    apply_plan(&scene.state, &scene.undo(None).unwrap(), true, now()).unwrap();
    let mut wanted = contents(&before);
    let session = [&before[&scene.path()].0, LINE.as_bytes()].concat();
    let path = scene.path();
    wanted.insert(&path, &session);
    wanted.insert(&output, b"later");
    assert_eq!(contents(&scene.files()), wanted);
    // What is no session cannot be joined: both stay, and the message says where.
    scene.apply(&scene.trash()).unwrap();
    fs::create_dir_all(output.parent().unwrap()).unwrap();
    fs::write(&output, "again").unwrap();
    let error = scene.undo(None).unwrap_err();
    assert!(matches!(&error, UndoError::Recreated { file, .. } if *file == output), "{error}");
}
