//! What a server keeps besides the bytes: digests, usage and filters, and what is removed before sending.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use ramus_archive::add::AddReport;
use ramus_archive::{Archive, ArchiveLocation, ArchiveTree, LazyArchive};
use ramus_core::price::PriceList;
use ramus_core::query::Query;
use ramus_core::resume::ResumeRule;
use ramus_core::time::Time;
use ramus_store::cache::HistoryCache;
use ramus_store::claude_dir::{ClaudeDirs, Project};
use ramus_store::overlay::Overlay;
use ramus_store::owned::owned_files;
use ramus_store::scan::list_spilled_results;
use ramus_store::scan::{ScanFilter, ScanJob, ScanResult, SearchSource, SourceFormat};
use ramus_store::survey::{Survey, survey_files, survey_usage};
use testkit::{TestHome, TestPostgres};

use crate::bytes::{add, change_and_add, check_newest, files_below};
use crate::postgres::{connect, team_server};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

fn add_redacted(archive: &Archive, home: &TestHome) -> AddReport {
    let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
    let (files, _) = owned_files(&place.roots, &place.list_projects().projects, true);
    archive
        .add_redacted(&files, Time::from_millis(1), &|_| {}, &|problem| panic!("{problem}"))
        .unwrap()
}

/// The history of everybody else, as somebody sees it.
struct Colleague {
    dirs: ClaudeDirs,
    cache: HistoryCache,
    _home: TestHome,
}

impl Colleague {
    fn new(server: &TestPostgres, user: &str) -> Self {
        let location =
            ArchiveLocation::Server { url: server.url(user), machine: "desk".to_owned() };
        let archive = Arc::new(LazyArchive::new(location));
        let others = archive.open_existing().unwrap().unwrap().other_sources().unwrap();
        let roots: Vec<PathBuf> = others.into_iter().map(|(root, _)| root).collect();
        let overlay = |root: &PathBuf| {
            let tree = ArchiveTree::of_others(archive.clone(), root.clone());
            Arc::new(Overlay::new(root.clone(), Arc::new(tree)))
        };
        let overlays = roots.iter().map(overlay).collect();
        let home = TestHome::new();
        let cache = HistoryCache::in_dir(home.path().join("cache"));
        Self { dirs: ClaudeDirs { roots, cache: cache.clone(), overlays }, cache, _home: home }
    }

    fn projects(&self) -> Vec<Project> {
        self.dirs.list_projects().projects
    }

    fn survey(&self) -> Survey {
        survey_files(&self.cache, self.dirs.list_projects(), ResumeRule::Client, &|_| {})
    }

    fn find(&self, words: &str, cache: &HistoryCache) -> ScanResult {
        let projects = self.projects();
        find(words, &projects, cache)
    }
}

fn find(words: &str, projects: &[Project], cache: &HistoryCache) -> ScanResult {
    let mut sources = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let records = project.files.iter().cloned();
        sources
            .extend(records.map(|file| SearchSource::new(file, SourceFormat::Records, Some(at))));
        let spilled = list_spilled_results(project, None).into_iter();
        sources
            .extend(spilled.map(|file| SearchSource::new(file, SourceFormat::Spilled, Some(at))));
    }
    let query = Query::from_words(words).unwrap();
    let filter = ScanFilter::open(cache, projects);
    let job = ScanJob {
        sources: &sources,
        query: &query,
        tool: None,
        filter: &filter,
        on_read: &|_| {},
        go_on: &|| true,
        in_background: false,
    };
    job.find_all()
}

fn places(scan: &ScanResult) -> BTreeSet<(u128, u64, u32)> {
    assert!(scan.problems.is_empty(), "{:?}", scan.problems);
    scan.locations.iter().map(|at| (at.identity, at.span.offset, at.span.len)).collect()
}

/// Digests without what depends on where the file is.
fn facts(survey: &Survey) -> Vec<String> {
    let files = survey.projects.iter().flat_map(|project| project.all_files());
    let mut facts: Vec<String> =
        files.map(|file| format!("{} {:?}", file.file.id, file.digest)).collect();
    facts.sort();
    facts
}

fn shared_history(server: &TestPostgres) -> TestHome {
    let home = TestHome::new();
    testkit::write_corpus(&home, 5, 12);
    home.write_session(
        "-words/w1.jsonl",
        "a user der Teekessel, 中文字符搜索 und c++20::vector\nb < a assistant ok",
    );
    home.write_session("-words/w2.jsonl", "a user nothing of the kind\nb < a assistant ok");
    home.write_file("-words/w1/tool-results/t.txt", "a spilled samovar");
    let alice = connect(server, "alice", "laptop");
    add(&alice, &home.claude_dir());
    for project in ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects().projects {
        alice.share_project(&project.name).unwrap();
    }
    home
}

#[test]
fn lists_and_sums_of_others_need_no_content() {
    let Some(server) = team_server() else { return };
    let home = shared_history(&server);
    let local = survey_files(
        &HistoryCache::disabled(),
        ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects(),
        ResumeRule::Client,
        &|_| {},
    );
    // Nothing can be read any more.
    server.query("postgres", "ramus", "UPDATE ramus.chunks SET packed = 'x'");
    let bob = Colleague::new(&server, "bob");
    let survey = bob.survey();
    assert!(survey.problems.is_empty(), "{:?}", survey.problems);
    assert_eq!(facts(&survey), facts(&local));
    let prices = PriceList::default();
    let used = survey_usage(
        &bob.cache,
        &survey,
        bob.dirs.list_projects(),
        ResumeRule::Client,
        &prices,
        &|_| {},
    );
    assert!(used.problems.is_empty(), "{:?}", used.problems);
    assert!(used.projects.iter().flat_map(|one| one.all_files()).all(|one| one.account.is_some()));
    // They are cached by now.
    server.query("postgres", "ramus", "DELETE FROM ramus.derived");
    assert_eq!(facts(&bob.survey()), facts(&local));
}

#[test]
fn values_of_another_version_or_content_are_not_used() {
    let Some(server) = team_server() else { return };
    let _home = shared_history(&server);
    let before = facts(&Colleague::new(&server, "bob").survey());
    for change in [
        "UPDATE ramus.derived SET value = 'nonsense', version = 'old'",
        "UPDATE ramus.derived SET hash = 'other'",
    ] {
        server.query("postgres", "ramus", change);
        assert_eq!(facts(&Colleague::new(&server, "bob").survey()), before);
    }
    let damage = "UPDATE ramus.derived SET value = 'nonsense', hash = f.hash FROM ramus.files f WHERE f.file = derived.file";
    server.query("postgres", "ramus", damage);
    assert_eq!(facts(&Colleague::new(&server, "bob").survey()), before);
}

#[test]
fn a_search_reads_only_what_can_match_and_finds_the_same() {
    let Some(server) = team_server() else { return };
    let home = shared_history(&server);
    let bob = Colleague::new(&server, "bob");
    let local = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects().projects;
    let words = ["Teekessel", "eekess", "文字符", "c++20::vec", "samovar", "ok", "zzzyx9", "a"];
    for word in words {
        let everything = places(&find(word, &local, &HistoryCache::disabled()));
        let found = places(&bob.find(word, &bob.cache));
        assert_eq!(found.len(), everything.len(), "{word}");
        assert_eq!(found, everything, "{word}");
        assert_eq!(places(&bob.find(word, &HistoryCache::disabled())), everything, "{word}");
    }
    assert_eq!(places(&bob.find("Teekessel", &bob.cache)).len(), 1);
    // What cannot match is not read.
    server.query("postgres", "ramus", "UPDATE ramus.chunks SET packed = 'x'");
    assert!(places(&bob.find("zzzyx9", &bob.cache)).is_empty());
    assert!(!bob.find("Teekessel", &bob.cache).problems.is_empty());
}

#[test]
fn filters_that_are_missing_or_nonsense_hide_nothing() {
    let Some(server) = team_server() else { return };
    let _home = shared_history(&server);
    let expected =
        places(&Colleague::new(&server, "bob").find("Teekessel", &HistoryCache::disabled()));
    for change in [
        "UPDATE ramus.filters SET bytes = 9223372036854775807",
        "UPDATE ramus.filters SET bytes = -1, lines = -1",
        "UPDATE ramus.filters SET bytes = 0",
        "UPDATE ramus.filters SET hash = 'other'",
        "UPDATE ramus.derived SET value = 'nonsense'",
        "DELETE FROM ramus.derived",
        "DELETE FROM ramus.filters",
    ] {
        server.query("alice", "ramus", change);
        let bob = Colleague::new(&server, "bob");
        assert_eq!(places(&bob.find("Teekessel", &bob.cache)), expected, "{change}");
    }
}

#[test]
fn no_row_breaks_the_search_of_others() {
    let Some(server) = team_server() else { return };
    let _home = shared_history(&server);
    for change in [
        "UPDATE ramus.filters SET octets = 0",
        "UPDATE ramus.filters SET octets = -1",
        "UPDATE ramus.filters SET octets = octets * 2",
        "UPDATE ramus.filters SET bits = ''",
        "UPDATE ramus.filters SET octets = 0, bits = ''",
    ] {
        assert!(!server.psql("alice", "ramus", change).status.success(), "{change}");
    }
}

#[test]
fn what_was_sent_by_an_older_ramus_is_derived_at_the_next_push() {
    let Some(server) = team_server() else { return };
    let home = shared_history(&server);
    let count = || server.query("postgres", "ramus", "SELECT count(*) FROM ramus.derived");
    let before = count();
    server.query("postgres", "ramus", "DELETE FROM ramus.derived; DELETE FROM ramus.filters");
    let alice = connect(&server, "alice", "laptop");
    let report = add(&alice, &home.claude_dir());
    assert_eq!((report.unchanged, report.stored_bytes), (report.files, 0));
    assert_eq!(count(), before);
    check_newest(&alice, &home.claude_dir());
}

#[test]
fn derived_values_follow_every_change() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    let alice = connect(&server, "alice", "laptop");
    change_and_add(&home, &alice, 0x51f1_5eed, 120);
    add(&alice, &home.claude_dir());
    let stale = "SELECT count(*) FROM ramus.derived d JOIN ramus.files f USING (owner, file) WHERE d.hash <> f.hash";
    assert_eq!(server.query("postgres", "ramus", stale), "0");
    let stale = stale.replace("derived", "filters");
    assert_eq!(server.query("postgres", "ramus", &stale), "0");
}

#[test]
fn a_secret_does_not_leave_this_machine() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    let line = |n: usize| {
        format!("{{\"type\":\"user\",\"uuid\":\"u{n}\",\"text\":\"key {SECRET} {n}\"}}\n")
    };
    let path = home.write_file("-p/s.jsonl", line(1));
    home.write_file("-p/s/tool-results/t.txt", format!("the key is {SECRET}"));
    home.write_file("-p/s/tool-results/b.bin", [0xff, 0xfe, 0]);
    home.write_file("-p/plain.jsonl", "{\"type\":\"user\",\"uuid\":\"p\"}\n");
    let original = fs::read(&path).unwrap();
    let archive = connect(&server, "alice", "laptop");
    let first = add_redacted(&archive, &home);
    assert_eq!((first.new, first.left_out, first.skipped), (3, 1, 0));
    assert_eq!(fs::read(&path).unwrap(), original);
    let content = |archive: &Archive, name: &str| {
        let files = archive.files(None).unwrap();
        let file = files.iter().find(|file| file.key.path.ends_with(name)).unwrap();
        let content = archive.content(file, None).unwrap().read_all().unwrap();
        (String::from_utf8(content).unwrap(), file.newest.number, file.newest.redacted)
    };
    let (text, number, is_redacted) = content(&archive, "s.jsonl");
    assert!(!text.contains(SECRET) && text.contains("[redacted:"), "{text}");
    assert_eq!((number, is_redacted), (1, true));
    assert!(!content(&archive, "t.txt").0.contains(SECRET));
    // The same again costs nothing; what is appended is added to the same generation, but for an incomplete line.
    assert_eq!(add_redacted(&archive, &home).stored_bytes, 0);
    let half = format!("{{\"type\":\"user\",\"text\":\"{}", &SECRET[..20]);
    fs::write(&path, [line(1), line(2), half].concat()).unwrap();
    assert_eq!(add_redacted(&archive, &home).grown, 1);
    let (text, number, _) = content(&archive, "s.jsonl");
    assert_eq!((text.lines().count(), number), (2, 1));
    assert!(!text.contains("ghp_16C7"), "{text}");
    assert!(archive.verify(&|_| {}).unwrap().damaged.is_empty());
    // Nor is it in what was derived.
    let dump = "SELECT count(*) FROM ramus.derived WHERE position('ghp_16C7'::bytea IN value) > 0";
    assert_eq!(server.query("postgres", "ramus", dump), "0");
    // With its original bytes it is another generation.
    fs::write(&path, &original).unwrap();
    add(&archive, &home.claude_dir());
    let (text, number, is_redacted) = content(&archive, "s.jsonl");
    assert_eq!((text.into_bytes(), number, is_redacted), (original, 2, false));
}

#[test]
fn tables_of_an_older_ramus_are_brought_up_to_date_with_their_rights() {
    let Some(server) = team_server() else { return };
    let home = shared_history(&server);
    let old = "DROP TABLE ramus.derived, ramus.filters; ALTER TABLE ramus.generations DROP COLUMN redacted; \
        UPDATE ramus.schema_version SET version = 1";
    server.query("postgres", "ramus", old);
    let error = Archive::connect(&server.url("alice"), "laptop").unwrap_err().to_string();
    assert!(error.contains("older ramus"), "{error}");
    Archive::initialize_server(&server.url("postgres"), false).unwrap();
    add(&connect(&server, "alice", "laptop"), &home.claude_dir());
    assert!(!Colleague::new(&server, "bob").survey().projects.is_empty());
    let seen = |user: &str| server.query(user, "ramus", "SELECT count(*) > 0 FROM ramus.derived");
    assert_eq!(seen("bob"), "t");
    server.query("alice", "ramus", "DELETE FROM ramus.shares");
    assert_eq!(seen("bob"), "f");
    assert!(!files_below(&home.claude_dir()).is_empty());
}
