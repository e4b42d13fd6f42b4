//! Statistics over a survey (R21).

use ramus_core::stats::{Complexity, OtherInput, SessionInput, Stats};
use ramus_core::title::session_title;

use super::{ProjectSurvey, SurveyedFile};

/// Statistics over files, and the most complex session.
#[derive(Debug)]
pub struct SurveyCounts<'a> {
    pub stats: Stats,
    pub most_complex: Option<MostComplex<'a>>,
}

/// A session and what makes it complex.
#[derive(Clone, Copy, Debug)]
pub struct MostComplex<'a> {
    pub id: &'a str,
    pub title: Option<&'a str>,
    pub complexity: Complexity,
}

/// Counts the files of projects that `wanted` selects.
pub fn count_survey<'a>(
    projects: impl IntoIterator<Item = &'a ProjectSurvey>,
    wanted: impl Fn(&SurveyedFile) -> bool,
) -> SurveyCounts<'a> {
    let mut sessions: Vec<(&ProjectSurvey, &SurveyedFile)> = Vec::new();
    let (mut inputs, mut others) = (Vec::new(), Vec::new());
    for project in projects {
        let agents = project.agent_counts();
        for session in project.sessions.iter().filter(|session| wanted(session)) {
            sessions.push((project, session));
            inputs.push(SessionInput {
                id: &session.file.id,
                digest: &session.digest,
                created: session.lineage_entry().created,
                agents: agents.get(&*session.file.id).map_or(0, |count| *count as u32),
                orphans: session.orphans.len() as u32,
            });
        }
        let rest = project.agents.iter().chain(&project.journals);
        others.extend(rest.filter(|file| wanted(file)).map(|other| OtherInput {
            digest: &other.digest,
            class: other.file.role.is_agent().then_some(other.digest.agent_class),
            orphans: other.orphans.len() as u32,
        }));
    }
    let stats = Stats::new(&inputs, &others);
    let most_complex = stats.most_complex.map(|(index, complexity)| {
        let (project, session) = sessions[index];
        let title = session_title(&session.digest, &project.summaries);
        MostComplex { id: &session.file.id, title, complexity }
    });
    SurveyCounts { stats, most_complex }
}
