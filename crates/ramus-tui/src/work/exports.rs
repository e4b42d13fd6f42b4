//! What is written for elsewhere: an exported conversation, a pack, files as of a message.

use std::path::Path;

use ramus_app::files_at::file_bytes;
use ramus_app::{
    Address, ExportError, ExportFormat, ExportRequest, NodeSelector, OpenedSession, PackItem,
    Workspace,
};
use ramus_core::files::FileContent;
use ramus_core::files::file_path::path_in_tree;
use ramus_render::table::bytes;
use ramus_render::text::count_noun;
use ramus_store::new_files::write_new_file;
use ramus_store::output_tree::OutputTree;
use ramus_store::pack::PackOptions;

use super::documents::error_text;
use crate::event::SavedFiles;

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

/// Packs a session with all that belongs to it; returns what to tell.
pub(crate) fn pack_session(
    workspace: &Workspace,
    file: &Path,
    parent: &Path,
) -> Result<String, String> {
    // Read again, because it may have grown.
    workspace.request_refresh();
    let address = workspace.address_in(file, NodeSelector::Resume);
    let address = address.map_err(|error| error_text(&error))?;
    let id = workspace.short_id(&address.file.file.id);
    let path = parent.join(format!("ramus-pack-{id}.tar.zst"));
    if path.symlink_metadata().is_ok() {
        return Err(format!("{} already exists; move it away first", path.display()));
    }
    let opened = OpenedSession::read_session(workspace, address.file);
    let opened = opened.map_err(|error| error_text(&error))?;
    let item = PackItem { opened: &opened, up_to: None };
    let plan = workspace.plan_pack(&[item], PackOptions { redact: false });
    let plan = plan.map_err(|error| error_text(&error))?;
    let size = plan.write_file(&path).map_err(|error| error_text(&error))?;
    let files = count_noun(plan.manifest.files().count(), "file");
    Ok(format!("packed {files} into {} ({})", path.display(), bytes(size)))
}

/// Writes one file as of a message to a path, or all of them below a directory. Nothing that exists is
/// replaced.
pub(crate) fn save_files(
    workspace: &Workspace,
    files: &SavedFiles,
    to: &Path,
) -> Result<String, String> {
    let address = workspace.address_in(&files.at.file, files.at.node.clone());
    let mut then = address
        .and_then(|address| workspace.files_at(&address))
        .map_err(|error| error_text(&error))?;
    if let Some(path) = &files.only {
        let file = then.files.iter().find(|file| file.path == *path).cloned();
        let file = file.ok_or_else(|| format!("{path} is not known at this message"))?;
        let content = file_bytes(&mut then, &file).map_err(|error| error_text(&error))?;
        write_new_file(to, &content).map_err(|error| error_text(&error))?;
        return Ok(format!("saved {} ({})", to.display(), bytes(content.len() as u64)));
    }
    let tree = OutputTree::open(to, false).map_err(|error| error_text(&error))?;
    let known = |file: &&ramus_core::files::FileState| {
        !file.only_read && matches!(file.content, FileContent::Backup(_) | FileContent::Bytes(_))
    };
    let wanted: Vec<_> = then.files.iter().filter(known).cloned().collect();
    for file in &wanted {
        let content = file_bytes(&mut then, file).map_err(|error| error_text(&error))?;
        let place = path_in_tree(&file.path, &then.moment.cwd);
        let mode = then.file_mode(file);
        tree.write_file(&place, mode, &mut |out| out.write_all(&content))
            .map_err(|error| error_text(&error))?;
    }
    Ok(format!("saved {} in {}", count_noun(wanted.len(), "file"), to.display()))
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
