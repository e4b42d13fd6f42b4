//! Writes the index of an export, which lists all its transcripts.

use std::fmt::Write as _;

use ramus_core::name::short_id;

use super::{html, markdown};
use crate::text::count;

/// A project with its sessions.
#[derive(Clone, Debug, Default)]
pub struct Project {
    pub name: String,
    pub sessions: Vec<Session>,
}

/// A session with its transcripts.
#[derive(Clone, Debug, Default)]
pub struct Session {
    pub title: String,
    pub id: String,
    /// Its first and last day.
    pub days: String,
    /// Empty: other sessions contain all of it.
    pub paths: Vec<Path>,
    /// The transcripts of its agents.
    pub agents: Vec<Path>,
}

/// A transcript.
#[derive(Clone, Debug, Default)]
pub struct Path {
    pub href: String,
    /// Its number among all paths of the session.
    pub path: usize,
    pub paths: usize,
    pub words: String,
    pub status: &'static str,
    pub resumes: bool,
    pub messages: usize,
}

impl Session {
    /// Returns the transcript that the title links to.
    fn main(&self) -> Option<&Path> {
        self.paths.iter().find(|path| path.resumes).or(self.paths.last())
    }
}

/// Writes `index.html`. Its search covers titles and first words.
pub fn html(projects: &[Project], out: &mut String) {
    let sessions: usize = projects.iter().map(|project| project.sessions.len()).sum();
    let conversations: usize = projects
        .iter()
        .flat_map(|project| &project.sessions)
        .map(|session| session.paths.len())
        .sum();
    html::open("Transcripts", out);
    let _ = writeln!(
        out,
        "<header><h1>Transcripts</h1>\n<p class=\"note\">{} of {} in {}</p>\n\
         <p><input id=\"find\" type=\"search\" placeholder=\"Search titles, prompts, projects\" \
         aria-label=\"Search\" autofocus></p></header>\n<main>\n\
         <p id=\"none\" class=\"note\" hidden>No matches.</p>",
        count(conversations, "conversation"),
        count(sessions, "session"),
        count(projects.len(), "project"),
    );
    for project in projects {
        let _ = writeln!(out, "<div class=\"project\"><h2>{}</h2>", markdown::html(&project.name));
        for session in &project.sessions {
            html_session(session, out);
        }
        out.push_str("</div>\n");
    }
    html::foot(out);
}

fn html_session(session: &Session, out: &mut String) {
    let Some(main) = session.main() else {
        let _ = write!(
            out,
            "<div class=\"session\"><h3>{}</h3><span class=\"note\">all its messages are in \
             other sessions</span>",
            markdown::html(&session.title)
        );
        html_agents(session, out);
        out.push_str("</div>\n");
        return;
    };
    let _ = write!(
        out,
        "<div class=\"session\"><h3><a href=\"{}\">{}</a></h3><span class=\"note\">{} · {} · \
         <span class=\"id\">{}</span></span>",
        markdown::html(&main.href),
        markdown::html(&session.title),
        session.days,
        count(main.messages, "message"),
        markdown::html(short_id(&session.id)),
    );
    if session.paths.len() > 1 {
        out.push_str("<details><summary>");
        let _ = write!(out, "{}</summary><ul>", count(session.paths.len(), "conversation"));
        for path in &session.paths {
            let _ = write!(
                out,
                "<li><a href=\"{}\">{}</a> <span class=\"tag {status}\">{status}{}</span> \
                 <span class=\"note\">{}</span></li>",
                markdown::html(&path.href),
                markdown::html(&path.words),
                if path.resumes { ", resumes" } else { "" },
                count(path.messages, "message"),
                status = path.status,
            );
        }
        out.push_str("</ul></details>");
    } else if main.words != session.title {
        let _ = write!(out, "<div class=\"note\">{}</div>", markdown::html(&main.words));
    }
    html_agents(session, out);
    out.push_str("</div>\n");
}

fn html_agents(session: &Session, out: &mut String) {
    if session.agents.is_empty() {
        return;
    }
    let agents = count(session.agents.len(), "agent");
    let _ = write!(out, "<details><summary>{agents}</summary><ul>");
    for agent in &session.agents {
        let _ = write!(
            out,
            "<li><a href=\"{}\">{}</a> <span class=\"note\">{}</span></li>",
            markdown::html(&agent.href),
            markdown::html(&agent.words),
            count(agent.messages, "message"),
        );
    }
    out.push_str("</ul></details>");
}

/// Writes `index.md`.
pub fn markdown(projects: &[Project], out: &mut String) {
    out.push_str("# Transcripts\n");
    for project in projects {
        let _ = write!(out, "\n## {}\n\n", markdown::inline(&project.name));
        for session in &project.sessions {
            let title = markdown::inline(&session.title);
            let _ = match session.main() {
                Some(main) => writeln!(out, "- [{title}]({}) {}", main.href, session.days),
                None => writeln!(out, "- {title} (all its messages are in other sessions)"),
            };
            for path in session.paths.iter().filter(|_| session.paths.len() > 1) {
                let words = markdown::inline(&path.words);
                let _ = writeln!(
                    out,
                    "  - [path {}]({}) {} {words}",
                    path.path, path.href, path.status
                );
            }
            for agent in &session.agents {
                let words = markdown::inline(&agent.words);
                let _ = writeln!(out, "  - [agent]({}) {words}", agent.href);
            }
        }
    }
}
