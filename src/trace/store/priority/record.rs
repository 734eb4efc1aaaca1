//! Reading the record.

use std::collections::{BTreeMap, HashMap};

use super::RECORD;
use super::line::Setting;
use crate::base::time::Time;
use crate::git::{Commit, Entry, Oid, Repo, TreeStore};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::ItemType;
use crate::trace::model::level::Level;
use crate::trace::model::tree::ItemEntry;
use crate::trace::model::types::Types;

/// The record at one of its commits.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its commit; `None` before the first change.
    pub commit: Option<Commit>,
    folders: Vec<Entry>,
}

/// The levels that were set for some items, and those that types have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    set: HashMap<ItemId, Setting>,
    types: Types,
}

/// Where an item's level comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetLevel<'a> {
    /// Nobody set one; its type's.
    Default(Level),
    /// Somebody set it.
    Set(&'a Setting),
}

impl SetLevel<'_> {
    /// The level.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            Self::Default(level) => level,
            Self::Set(setting) => setting.level,
        }
    }

    /// Why it was set.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Default(_) => None,
            Self::Set(setting) => setting.reason.as_deref(),
        }
    }
}

impl Levels {
    /// The level in force for an item of this type.
    #[must_use]
    pub(crate) fn of(&self, id: ItemId, item_type: &ItemType) -> SetLevel<'_> {
        match self.set.get(&id) {
            Some(setting) => SetLevel::Set(setting),
            None => SetLevel::Default(self.types.rules(item_type).priority),
        }
    }

    /// The types and their rules, as they are now.
    #[must_use]
    pub(crate) fn types(&self) -> &Types {
        &self.types
    }

    /// Whether an item of this type is left out.
    #[must_use]
    pub(crate) fn is_skipped(&self, id: ItemId, item_type: &ItemType) -> bool {
        self.of(id, item_type).level() == Level::Skip
    }
}

impl Record {
    /// Opens the record as it is now.
    pub(crate) fn open(repo: &Repo) -> Result<Self, TraceError> {
        Self::at(repo, repo.find_ref(RECORD)?)
    }

    /// Opens the record at one of its commits; `None`: before the first.
    pub(crate) fn at(repo: &Repo, oid: Option<Oid>) -> Result<Self, TraceError> {
        let Some(oid) = oid else { return Ok(Self { commit: None, folders: Vec::new() }) };
        let commit = repo.read_commit(oid)?;
        let folders = repo.read_tree(commit.tree)?;
        Ok(Self { commit: Some(commit), folders })
    }

    /// The levels that were in force for `slots` at `at` (none: now).
    ///
    /// Reads the record's folders that can hold one of them, and the files that do.
    pub(crate) fn levels(&self, repo: &Repo, slots: &[ItemEntry], at: Option<Time>) -> Result<Levels, TraceError> {
        let types = Types::read(repo)?;
        let mut set = HashMap::new();
        if self.folders.is_empty() {
            return Ok(Levels { set, types });
        }
        let mut wanted: BTreeMap<Vec<u8>, HashMap<Vec<u8>, ItemId>> = BTreeMap::new();
        for slot in slots {
            let (folder, file) = slot.id.fan_out();
            wanted.entry(folder.into_bytes()).or_default().insert(file.into_bytes(), slot.id);
        }
        let mut files: Vec<(ItemId, Oid)> = Vec::new();
        for folder in &self.folders {
            let Some(wanted) = wanted.get(&folder.name) else { continue };
            let entries = repo.read_tree(folder.oid)?;
            files.extend(entries.iter().filter_map(|file| Some((*wanted.get(&file.name)?, file.oid))));
        }
        repo.for_each_blob(files, |id, _, bytes| {
            let in_force = parse(id, bytes)?.into_iter().rfind(|setting| at.is_none_or(|at| setting.at <= at));
            if let Some(setting) = in_force {
                set.insert(id, setting);
            }
            Ok::<_, TraceError>(())
        })?;
        Ok(Levels { set, types })
    }

    /// Every change of one item's priority, oldest first.
    pub(crate) fn history(&self, repo: &Repo, id: ItemId) -> Result<Vec<Setting>, TraceError> {
        let (folder, file) = id.fan_out();
        let Some(folder) = self.folders.iter().find(|entry| entry.name == folder.as_bytes()) else {
            return Ok(Vec::new());
        };
        let entries = repo.read_tree(folder.oid)?;
        let Some(file) = entries.iter().find(|entry| entry.name == file.as_bytes()) else { return Ok(Vec::new()) };
        parse(id, &repo.read_blob(file.oid)?)
    }
}

/// Reads an item's file: its changes in order of time.
fn parse(id: ItemId, bytes: &[u8]) -> Result<Vec<Setting>, TraceError> {
    let text = String::from_utf8_lossy(bytes);
    let mut settings = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        settings.push(Setting::parse(line).ok_or(TraceError::DamagedRecord { item: id, line: index + 1 })?);
    }
    // A union by plain git may have put them in another order.
    settings.sort_by_cached_key(|setting| (setting.at, setting.render()));
    Ok(settings)
}
