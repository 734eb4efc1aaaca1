//! The user's editor, as git finds it.

use crate::base::error::{Context as _, Result, bail};
use std::fs;

use crate::base::process::Process;
use crate::git::Repo;

/// Lets the user change `before` and returns what they leave.
pub(crate) fn edit(repo: &Repo, before: &[u8]) -> Result<Vec<u8>> {
    let path = repo.git_dir().join("TRACE_EDITMSG");
    fs::write(&path, before).with_context(|| format!("cannot write `{}`", path.display()))?;
    let configured = repo.config()?.text("core.editor")?;
    let env = repo.env();
    let editor = [env.text("GIT_EDITOR"), configured.as_deref(), env.text("VISUAL"), env.text("EDITOR")];
    let editor = editor.into_iter().flatten().next().unwrap_or("vi");
    // The editor is the user's own setting and may carry arguments; the path is passed apart from it.
    let status = Process::shell(&format!("{editor} \"$@\"")).arg(editor).arg(&path).status();
    let status = status.with_context(|| format!("cannot start the editor `{editor}`"))?;
    if !status.success() {
        bail!("the editor `{editor}` ended with a failure, so nothing was committed");
    }
    let after = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    // A left-behind copy of somebody's content helps nobody.
    let _ = fs::remove_file(&path);
    Ok(after)
}
