//! The folder in which a session ran, which paths on its page are relative to.
//!
//! Traces do not record it. It is the folder that contains all files of the calls, apart from those elsewhere, such as in `/tmp` and in
//! the agent's own folder.

use serde_json::Value;

use super::data::Data;
use super::redact::Redactor;
use crate::trace::model::arguments::Arguments;
use crate::trace::model::item::Item;

/// How many folders, from the root, files have in common with the first one: `/home/ada`.
const SHARED: usize = 3;

/// Its path without a `/` at the end, if it is known.
#[derive(Default)]
pub(crate) struct Folder(Option<String>);

impl Folder {
    pub(crate) fn of(data: &Data<'_>) -> Self {
        let mut common: Option<Vec<String>> = None;
        let calls = data.items.iter().chain(&data.gone).filter(|entry| entry.item_type.as_str() == "tool_io");
        for folders in calls.filter_map(|entry| folders(data.item(entry)?, &data.redactor)) {
            match &mut common {
                None => common = Some(folders),
                Some(common) if folders.starts_with(&common[..SHARED]) => {
                    let same = common.iter().zip(&folders).take_while(|(one, other)| one == other).count();
                    common.truncate(same);
                }
                Some(_) => {}
            }
        }
        Self(common.map(|folders| folders.join("/")))
    }

    pub(crate) fn path(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// A path as the page shows it.
    pub(crate) fn relative<'p>(&self, path: &'p str) -> &'p str {
        let inside = self.path().and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
        inside.filter(|rest| !rest.is_empty()).unwrap_or(path)
    }
}

/// The names on the way to the file of a call.
fn folders(item: &Item, redactor: &Redactor) -> Option<Vec<String>> {
    let text = std::str::from_utf8(&item.body).ok().filter(|text| item.fields.is_call() && text.contains("\"/"))?;
    let Ok(Value::Object(arguments)) = serde_json::from_str(&redactor.decoded(text)) else { return None };
    let path = Arguments(&arguments).path().filter(|path| path.starts_with('/'))?;
    let mut names: Vec<String> = path.trim_end_matches('/').split('/').map(str::to_owned).collect();
    let is_hidden = names.get(SHARED).is_some_and(|name| name.starts_with('.'));
    names.pop_if(|name| name.contains('.'));
    Some(names).filter(|names| names.len() > SHARED && !is_hidden)
}
