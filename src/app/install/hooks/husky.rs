//! Our lines in the hooks of husky, which are committed and which `sh -e` runs.

use std::ops::Range;
use std::path::Path;

use crate::app::install::{Action, InstallError, Setup, Step, put_file, read_text};

const BEGIN: &str = "# git-trace: begin\n";
/// The line break is ours too.
const BEGIN_AFTER_OPEN_LINE: &str = "\n# git-trace: begin (the line above had no end)\n";
const END: &str = "# git-trace: end\n";

/// The block of a hook. Other clones may have no git-trace.
fn block(begin: &str, name: &str) -> String {
    format!("{begin}if command -v git-trace >/dev/null; then git-trace hook {name} || exit; fi\n{END}")
}

/// How the block starts, and where it is.
fn find(text: &str) -> Option<(&'static str, Range<usize>)> {
    [BEGIN_AFTER_OPEN_LINE, BEGIN].into_iter().find_map(|begin| {
        let start = text.find(begin)?;
        let len = text[start..].find(END)? + END.len();
        Some((begin, start..start + len))
    })
}

pub(super) fn install(setup: &Setup, path: &Path, name: &str) -> Result<Step, InstallError> {
    let old = read_text(path)?;
    let mut text = old.clone().unwrap_or_default();
    let action = if let Some((begin, span)) = find(&text) {
        text.replace_range(span, &block(begin, name));
        if old.as_ref() == Some(&text) { Action::Kept } else { Action::Updated }
    } else {
        let is_open = !text.is_empty() && !text.ends_with('\n');
        text += &block(if is_open { BEGIN_AFTER_OPEN_LINE } else { BEGIN }, name);
        Action::Added
    };
    if action != Action::Kept {
        put_file(path, old.as_deref().map(str::as_bytes), Some(text.as_bytes()), setup.mode)?;
    }
    Ok(Step::on(action, path))
}

pub(super) fn uninstall(setup: &Setup, path: &Path) -> Result<Option<Step>, InstallError> {
    let Some(old) = read_text(path)? else { return Ok(None) };
    let Some((_, span)) = find(&old) else { return Ok(None) };
    let mut text = old.clone();
    text.replace_range(span, "");
    let rest = Some(text.as_bytes()).filter(|rest| !rest.is_empty());
    put_file(path, Some(old.as_bytes()), rest, setup.mode)?;
    Ok(Some(Step::on(Action::Removed, path)))
}
