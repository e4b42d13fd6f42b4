//! Writes the index of an export, which lists all its transcripts.

use std::fmt::Write as _;

use super::{html, markdown};
use crate::text::count_noun;

/// A project with its sessions.
#[derive(Clone, Debug, Default)]
pub struct SiteProject {
    pub name: String,
    pub sessions: Vec<SiteSession>,
}

/// A session with its transcripts.
#[derive(Clone, Debug, Default)]
pub struct SiteSession {
    pub title: String,
    pub id: String,
    /// The start of the id that means no other session.
    pub short_id: String,
    /// Its first and last day.
    pub days: String,
    /// Empty: other sessions contain all of it.
    pub paths: Vec<SitePath>,
    /// The transcripts of its agents.
    pub agents: Vec<SitePath>,
}

/// A transcript.
#[derive(Clone, Debug, Default)]
pub struct SitePath {
    pub href: String,
    /// Its number among all paths of the session.
    pub path: usize,
    pub paths: usize,
    pub words: String,
    pub status: &'static str,
    pub resumes: bool,
    pub messages: usize,
}

impl SiteSession {
    /// Returns the transcript that the title links to.
    fn main_path(&self) -> Option<&SitePath> {
        self.paths.iter().find(|path| path.resumes).or(self.paths.last())
    }
}

/// Writes `index.html`. Its search covers titles and first words.
pub fn write_html_index(projects: &[SiteProject], out: &mut String) {
    let sessions: usize = projects.iter().map(|project| project.sessions.len()).sum();
    let conversations: usize = projects
        .iter()
        .flat_map(|project| &project.sessions)
        .map(|session| session.paths.len())
        .sum();
    html::open_document("Transcripts", out);
    let _ = writeln!(
        out,
        "<header><h1>Transcripts</h1>\n<p class=\"note\">{} of {} in {}</p>\n\
         <p><input id=\"find\" type=\"search\" placeholder=\"Search titles, prompts, projects\" \
         aria-label=\"Search\" autofocus></p></header>\n<main>\n\
         <p id=\"none\" class=\"note\" hidden>No matches.</p>",
        count_noun(conversations, "conversation"),
        count_noun(sessions, "session"),
        count_noun(projects.len(), "project"),
    );
    for project in projects {
        let _ = writeln!(
            out,
            "<div class=\"project\"><h2>{}</h2>",
            markdown::escape_html(&project.name)
        );
        for session in &project.sessions {
            write_session(session, out);
        }
        out.push_str("</div>\n");
    }
    html::write_foot(out);
}

fn write_session(session: &SiteSession, out: &mut String) {
    let Some(main) = session.main_path() else {
        let _ = write!(
            out,
            "<div class=\"session\"><h3>{}</h3><span class=\"note\">all its messages are in \
             other sessions</span>",
            markdown::escape_html(&session.title)
        );
        write_agents(session, out);
        out.push_str("</div>\n");
        return;
    };
    let _ = write!(
        out,
        "<div class=\"session\"><h3><a href=\"{}\">{}</a></h3><span class=\"note\">{} · {} · \
         <span class=\"id\">{}</span></span>",
        markdown::escape_html(&main.href),
        markdown::escape_html(&session.title),
        session.days,
        count_noun(main.messages, "message"),
        markdown::escape_html(&session.short_id),
    );
    if session.paths.len() > 1 {
        out.push_str("<details><summary>");
        let _ = write!(out, "{}</summary><ul>", count_noun(session.paths.len(), "conversation"));
        for path in &session.paths {
            let _ = write!(
                out,
                "<li><a href=\"{}\">{}</a> <span class=\"tag {status}\">{status}{}</span> \
                 <span class=\"note\">{}</span></li>",
                markdown::escape_html(&path.href),
                markdown::escape_html(&path.words),
                if path.resumes { ", resumes" } else { "" },
                count_noun(path.messages, "message"),
                status = path.status,
            );
        }
        out.push_str("</ul></details>");
    } else if main.words != session.title {
        let _ = write!(out, "<div class=\"note\">{}</div>", markdown::escape_html(&main.words));
    }
    write_agents(session, out);
    out.push_str("</div>\n");
}

fn write_agents(session: &SiteSession, out: &mut String) {
    if session.agents.is_empty() {
        return;
    }
    let agents = count_noun(session.agents.len(), "agent");
    let _ = write!(out, "<details><summary>{agents}</summary><ul>");
    for agent in &session.agents {
        let _ = write!(
            out,
            "<li><a href=\"{}\">{}</a> <span class=\"note\">{}</span></li>",
            markdown::escape_html(&agent.href),
            markdown::escape_html(&agent.words),
            count_noun(agent.messages, "message"),
        );
    }
    out.push_str("</ul></details>");
}

/// Writes `index.md`.
pub fn write_markdown_index(projects: &[SiteProject], out: &mut String) {
    out.push_str("# Transcripts\n");
    for project in projects {
        let _ = write!(out, "\n## {}\n\n", markdown::escape_inline(&project.name));
        for session in &project.sessions {
            let title = markdown::escape_inline(&session.title);
            let _ = match session.main_path() {
                Some(main) => writeln!(out, "- [{title}]({}) {}", main.href, session.days),
                None => writeln!(out, "- {title} (all its messages are in other sessions)"),
            };
            for path in session.paths.iter().filter(|_| session.paths.len() > 1) {
                let words = markdown::escape_inline(&path.words);
                let _ = writeln!(
                    out,
                    "  - [path {}]({}) {} {words}",
                    path.path, path.href, path.status
                );
            }
            for agent in &session.agents {
                let words = markdown::escape_inline(&agent.words);
                let _ = writeln!(out, "  - [agent]({}) {words}", agent.href);
            }
        }
    }
}
