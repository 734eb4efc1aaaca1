//! The breadcrumb that refers to an item of a trace, which may be compressed later.

use std::path::Path;

use serde_json::Value;

use crate::memory::checkpoint::document::ReferenceKind;
use crate::memory::checkpoint::follow;
use crate::trace::Item;
use crate::trace::model::trailers::preview;

/// Type, reference, and hint for an item: its file if that is in the repository at `root`, else the URL in its tool call, else
/// the item itself, which `git trace show` prints.
pub(crate) fn breadcrumb(item: &Item, root: &Path) -> (ReferenceKind, String, String) {
    let hint = preview(item);
    let arguments: Option<Value> = if item.fields.is_call() { serde_json::from_slice(&item.body).ok() } else { None };
    let argument = |name: &str| arguments.as_ref()?.get(name)?.as_str();
    if let Some(path) = item.path_or_argument().and_then(|path| below(&path, root)) {
        return (ReferenceKind::File, path, hint);
    }
    if let Some(url) = argument("url").filter(|url| follow::address(url).is_some()) {
        return (ReferenceKind::External, url.to_owned(), hint);
    }
    (ReferenceKind::Decision, format!("item {}", item.id), hint)
}

fn below(path: &str, root: &Path) -> Option<String> {
    let path = Path::new(path);
    let below = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let text = below.to_str()?.trim_start_matches("./");
    let is_inside = !text.is_empty() && !below.components().any(|part| part == std::path::Component::ParentDir);
    is_inside.then(|| text.to_owned())
}
