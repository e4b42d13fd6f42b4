//! Whatever is in the place of the cache: what is told of the files is the same as without it.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use ramus_core::resume::ResumeRule;
use ramus_store::cache::HistoryCache;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_store::survey::survey_files;

/// A session that can be recognised, its cache as it should be, and what is told of it.
struct Known {
    claude: PathBuf,
    cache: PathBuf,
    packs: Vec<(PathBuf, Vec<u8>)>,
    told: String,
}

fn tell(claude: &Path, index: &HistoryCache) -> String {
    let Ok(place) = ClaudeDirs::open(vec![claude.to_owned()]) else { return String::new() };
    let found = survey_files(index, place.list_projects(), ResumeRule::Client, &|_| {});
    let sessions = found.projects.iter().flat_map(|project| &project.sessions);
    sessions.map(|session| format!("{:?}\n", session.digest)).collect()
}

fn packs(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(packs(&entry.path()));
        } else if entry.path().extension().is_some() {
            found.push(entry.path());
        }
    }
    found
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let home = std::env::temp_dir().join(format!("ramus-fuzz-{}", std::process::id()));
        let (claude, cache) = (home.join("claude"), home.join("cache"));
        let project = claude.join("projects/-home-dev-app");
        std::fs::create_dir_all(&project).expect("because there is a scratch directory");
        let line = r#"{"parentUuid":null,"type":"user","uuid":"a","message":{"content":"hello"}}"#;
        for n in 0..3 {
            let path = project.join(format!("{n}0000000-0000-4000-8000-000000000000.jsonl"));
            std::fs::write(path, format!("{line}\n")).expect("because the directory was just made");
        }
        // What changed a moment ago is not remembered.
        std::thread::sleep(Duration::from_millis(2_200));
        let told = tell(&claude, &HistoryCache::disabled());
        assert_eq!(tell(&claude, &HistoryCache::in_dir(&cache)), told);
        let packs = packs(&cache).into_iter();
        let packs = packs.filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?)));
        Known { packs: packs.collect(), claude, cache, told }
    })
}

fuzz_target!(|data: &[u8]| {
    let known = known();
    let Some((&at, bytes)) = data.split_first() else { return };
    for (path, pack) in &known.packs {
        // The beginning stays, so that some frames are whole.
        let kept = pack.len() * usize::from(at) / 255;
        let spoiled = [&pack[..kept], bytes].concat();
        let _ = std::fs::write(path, spoiled);
    }
    assert_eq!(tell(&known.claude, &HistoryCache::in_dir(&known.cache)), known.told);
});
