//! The project of the current directory comes first; `-A` means all of them.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use testkit::TestHome;

use crate::ramus_command;

/// Two projects in a home: `app` with a subdirectory, and `lib`.
struct TwoProjects {
    home: TestHome,
    app: PathBuf,
}

impl TwoProjects {
    fn new() -> Self {
        let home = TestHome::new();
        let real = ramus_store::real_path::real_path(home.path()).unwrap();
        let app = real.join("work/app");
        std::fs::create_dir_all(app.join("src/deep")).unwrap();
        std::fs::create_dir_all(real.join("work/other")).unwrap();
        let name = |dir: &Path| {
            let path = dir.to_string_lossy().into_owned();
            let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            path.chars().map(letter).collect::<String>()
        };
        let (app_name, lib_name) = (name(&app), name(&real.join("work/lib")));
        home.write_session(
            &format!("{app_name}/11111111-aaaa-4000-8000-000000000000.jsonl"),
            "a user @1 tune the pool\nb < a assistant @2 done\n- title Tune the Connection pool",
        );
        home.write_session(
            &format!("{lib_name}/11112222-bbbb-4000-8000-000000000000.jsonl"),
            "c user @50 drain the pool\nd < c assistant @51 drained\n- title Drain the pool",
        );
        home.write_session(
            &format!("{}/33333333-cccc-4000-8000-000000000000.jsonl", name(&real)),
            "e user @9 at home\nf < e assistant @10 yes",
        );
        Self { home, app }
    }

    fn run(&self, dir: &Path, args: &[&str]) -> Output {
        let mut command = ramus_command(&self.home.claude_dir(), args);
        command.env("HOME", ramus_store::real_path::real_path(self.home.path()).unwrap());
        command.current_dir(dir).output().unwrap()
    }

    #[track_caller]
    fn json(&self, dir: &Path, args: &[&str]) -> Value {
        let output = self.run(dir, &[args, &["--json"]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error} for {args:?}\n{stderr}"))
    }

    fn ids(&self, dir: &Path, args: &[&str]) -> Vec<String> {
        let answer = self.json(dir, &[&["sessions"], args].concat());
        let rows = answer["sessions"].as_array().unwrap().iter();
        let mut ids: Vec<String> =
            rows.map(|row| row["id"].as_str().unwrap()[..8].to_owned()).collect();
        ids.sort();
        ids
    }
}

#[test]
fn inside_a_project_commands_mean_it_and_everywhere_means_all() {
    let two = TwoProjects::new();
    let all = ["11111111", "11112222", "33333333"];
    let (deep, other) = (two.app.join("src/deep"), two.app.with_file_name("other"));
    let home = two.home.path().to_owned();
    for (dir, args, expected) in [
        (&two.app, &[][..], &all[..1]),
        (&deep, &[], &all[..1]),
        (&deep, &["."], &all[..1]),
        (&deep, &["-A"], &all),
        (&deep, &["--everywhere"], &all),
        // The home directory is a project for those who are exactly there.
        (&other, &[], &all),
        (&home, &[], &all[2..]),
        (&deep, &["work/lib"], &all[1..2]),
    ] {
        assert_eq!(two.ids(dir, args), expected, "{args:?} in {}", dir.display());
    }
    let stats = two.json(&deep, &["stats"]);
    assert_eq!((&stats["sessions"], &stats["scope"]["kind"]), (&json!(1), &json!("project")));
    assert_eq!(two.json(&deep, &["stats", "-A"])["sessions"], 3);
    assert_eq!(two.json(&deep, &["usage"])["totals"]["messages"], 1);
    assert_eq!(two.json(&deep, &["usage", "-A"])["totals"]["messages"], 3);
    let conversations = two.json(&deep, &["conversations"]);
    assert_eq!(conversations["conversations"].as_array().unwrap().len(), 1);
    // What keeps and what checks the history is about all of it.
    assert_eq!(two.json(&deep, &["check"])["files"], 3);
    assert_eq!(two.json(&deep, &["archive", "add"])["files"], 3);
}

#[test]
fn the_latest_session_and_short_ids_are_those_of_the_project() {
    let two = TwoProjects::new();
    let other = two.app.with_file_name("other");
    let shown = |dir: &Path, args: &[&str]| {
        let answer = two.json(dir, args);
        answer["session"].as_str().unwrap()[..8].to_owned()
    };
    assert_eq!(shown(&two.app, &["show"]), "11111111");
    assert_eq!(shown(&two.app, &["tree"]), "11111111");
    assert_eq!(shown(&two.app, &["show", "-A"]), "11112222");
    assert_eq!(shown(&other, &["show"]), "11112222");
    assert_eq!(shown(&two.app, &["show", "1111"]), "11111111");
    assert_eq!(shown(&two.app, &["show", "POOL"]), "11111111");
    assert_eq!(shown(&two.app, &["show", "drain"]), "11112222");
    assert_eq!(two.run(&other, &["show", "1111"]).status.code(), Some(2));
}

#[test]
fn the_scope_is_said_with_how_to_widen_it() {
    let two = TwoProjects::new();
    let stderr = |args: &[&str]| String::from_utf8(two.run(&two.app, args).stderr).unwrap();
    for args in [&["sessions"][..], &["find", "pool"], &["usage"], &["stats"], &["tree"], &["show"]]
    {
        assert!(stderr(args).contains("In ~/work/app. Use -A for all projects."), "{args:?}");
    }
    for args in [&["sessions", "-A"][..], &["sessions", "."], &["show", "1111"], &["projects"]] {
        assert!(!stderr(args).contains("Use -A"), "{args:?}: {}", stderr(args));
    }
    let nothing = two.run(&two.app, &["find", "drained"]);
    assert_eq!(nothing.status.code(), Some(1));
    let nothing = String::from_utf8(nothing.stderr).unwrap();
    assert!(nothing.contains("this was only ~/work/app; use -A for all projects"), "{nothing}");
    let hit = two.json(&two.app, &["find", "tune", "--limit", "1"]);
    assert_eq!(hit["scope"]["from_directory"], true);
    let hit = two.json(&two.app, &["find", "drained", "-A"]);
    assert_eq!(hit["scope"], json!(null));
    let hit = two.json(&two.app, &["find", "drained", "-A", "--count"]);
    assert_eq!(
        (&hit["scope"]["kind"], &hit["scope"]["project"]),
        (&json!("everywhere"), &json!(null))
    );
}

#[test]
fn the_settings_choose_the_usual_scope() {
    let two = TwoProjects::new();
    let config = two.home.path().join("config.toml");
    std::fs::write(&config, "scope = \"everywhere\"\n").unwrap();
    let run = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = ramus_command(&two.home.claude_dir(), args);
        command.env("RAMUS_CONFIG", &config).envs(variables.iter().copied());
        let output = command.current_dir(&two.app).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["sessions"].as_array().unwrap().len()
    };
    assert_eq!(run(&[], &["sessions", "--json"]), 3);
    assert_eq!(run(&[("RAMUS_SCOPE", "project")], &["sessions", "--json"]), 1);
    assert_eq!(run(&[("RAMUS_SCOPE", "project")], &["sessions", "-A", "--json"]), 3);
}
