//! A conversation exported to a directory of its own.

use std::path::Path;

use ramus_app::{Address, ExportError, ExportFormat, ExportRequest, NodeSelector, Workspace};

/// Exports a conversation to a directory below another one; returns what to tell.
pub(crate) fn export_conversation(
    workspace: &Workspace,
    address: Address,
    format: ExportFormat,
    parent: &Path,
) -> Result<String, ExportError> {
    let Address { file, node } = address;
    let n = match node {
        NodeSelector::Nth(n) => n,
        _ => 1,
    };
    let id = workspace.short_id(&file.file.id);
    let dir = parent.join(format!("ramus-export-{id}-{n}"));
    let request = ExportRequest {
        into_directory: true,
        agents: true,
        ..ExportRequest::for_conversation(file, node, format)
    };
    let survey = workspace.survey_export(&request);
    workspace.plan_export(&survey, &request)?.write_directory(&dir, false)?;
    Ok(format!("exported {id}@{n} to {}", dir.display()))
}

#[cfg(test)]
mod tests {
    use ramus_core::resume::ResumeRule;
    use ramus_store::StateDir;
    use ramus_store::claude_dir::ClaudeDirs;
    use testkit::TestHome;

    use super::*;

    #[test]
    fn a_directory_is_named_by_an_id_that_means_no_other_session() {
        let home = TestHome::new();
        for id in ["0a1b2c3d-0000", "0a1b2c3d-1111"] {
            home.write_session(&format!("-p/{id}.jsonl"), "a user hello\nb < a assistant hi");
        }
        let dirs = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let state = StateDir::new(home.path().join("state"));
        let workspace = Workspace::for_serving(dirs, ResumeRule::Client, state);
        let address = workspace.resolve_address("0a1b2c3d-1@1").unwrap();
        let message =
            export_conversation(&workspace, address, ExportFormat::Text, home.path()).unwrap();
        let dir = home.path().join("ramus-export-0a1b2c3d-1-1");
        assert_eq!(message, format!("exported 0a1b2c3d-1@1 to {}", dir.display()));
        let text = std::fs::read_to_string(dir.join("transcript_0a1b2c3d-1111.txt")).unwrap();
        assert!(text.contains("hello"), "{text}");
    }
}
