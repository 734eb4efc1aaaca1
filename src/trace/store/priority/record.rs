//! The record and its lines.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::rc::Rc;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::heads::{deciding, heads, strongest};
use super::{RECORD, item_of};
use crate::base::time::Time;
use crate::git::{Entry, Oid, Repo, TreeStore};
use crate::trace::model::level::Level;
use crate::trace::model::types::Types;
use crate::trace::{ItemEntry, ItemId, ItemType, TraceError};

/// One change of an item's priority. The format has the fields in this order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Setting {
    #[serde(serialize_with = "nine_digits", deserialize_with = "parsed")]
    pub at: Time,
    /// `Name <email>`.
    pub by: String,
    #[serde(serialize_with = "word", deserialize_with = "parsed")]
    pub level: Level,
    /// The item's position at that time, which is where to look for it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The digests of the item's heads that the writer saw; see [`super::heads`]. `None` in lines of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
}

impl Setting {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    /// Writes the line without a line break.
    pub(crate) fn render(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}

fn parsed<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(input: D) -> Result<T, D::Error> {
    String::deserialize(input)?.parse().map_err(D::Error::custom)
}

fn word<S: Serializer>(word: &impl Display, output: S) -> Result<S::Ok, S::Error> {
    output.collect_str(word)
}

/// Writes a time with all nine digits of its fraction.
fn nine_digits<S: Serializer>(at: &Time, output: S) -> Result<S::Ok, S::Error> {
    let text = at.to_string();
    let (seconds, fraction) = text.trim_end_matches('Z').split_once('.').unwrap_or((text.trim_end_matches('Z'), ""));
    output.collect_str(&format_args!("{seconds}.{fraction:0<9}Z"))
}

#[derive(Debug)]
pub(crate) struct Record {
    pub tree: Option<Oid>,
    /// Its folders; none before the first change.
    folders: Vec<Entry>,
    /// Once they are needed.
    types: OnceCell<Rc<Types>>,
}

/// The levels that were set for some items, and the default levels of types.
#[derive(Debug)]
pub(crate) struct Levels {
    pub(super) set: HashMap<ItemId, Setting>,
    rivals: HashMap<ItemId, Vec<Setting>>,
    pub types: Rc<Types>,
}

/// The level of an item, and its origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SetLevel<'a> {
    Default(Level),
    Set(&'a Setting),
}

impl SetLevel<'_> {
    pub(crate) fn level(self) -> Level {
        match self {
            Self::Default(level) => level,
            Self::Set(setting) => setting.level,
        }
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Default(_) => None,
            Self::Set(setting) => setting.reason.as_deref(),
        }
    }
}

impl Levels {
    pub(crate) fn of(&self, id: ItemId, item_type: &ItemType) -> SetLevel<'_> {
        match self.set.get(&id) {
            Some(setting) => SetLevel::Set(setting),
            None => SetLevel::Default(self.types.rules(item_type).priority),
        }
    }

    /// The concurrent changes with other levels that lost against the one that applies.
    pub(crate) fn rivals(&self, id: ItemId) -> &[Setting] {
        self.rivals.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn is_skipped(&self, id: ItemId, item_type: &ItemType) -> bool {
        self.of(id, item_type).level() == Level::Skip
    }
}

impl Record {
    pub(crate) fn open(repo: &Repo) -> Result<Self, TraceError> {
        Self::at(repo, repo.find_ref(RECORD)?)
    }

    /// The state in a commit of the record; none is an empty one.
    pub(crate) fn at(repo: &Repo, commit: Option<Oid>) -> Result<Self, TraceError> {
        let commit = commit.map(|commit| repo.read_commit(commit)).transpose()?;
        Self::of_tree(repo, commit.map(|commit| commit.tree))
    }

    pub(crate) fn of_tree(repo: &Repo, tree: Option<Oid>) -> Result<Self, TraceError> {
        Ok(Self { tree, folders: tree.map_or(Ok(Vec::new()), |tree| repo.read_tree(tree))?, types: OnceCell::new() })
    }

    /// The levels that were in force for `slots` at `at` (none: now). Reads only folders and files of these items.
    pub(crate) fn levels(&self, repo: &Repo, slots: &[ItemEntry], at: Option<Time>) -> Result<Levels, TraceError> {
        let types = match self.types.get() {
            Some(types) => types.clone(),
            None => {
                let types = Rc::new(Types::read(repo)?);
                self.types.get_or_init(|| types).clone()
            }
        };
        let (mut set, mut rivals) = (HashMap::new(), HashMap::new());
        if self.folders.is_empty() {
            return Ok(Levels { set, rivals, types });
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
            let mut settings = parse(id, bytes)?;
            settings.retain(|setting| at.is_none_or(|at| setting.at <= at));
            if let Some(InForce { setting, rivals: lost }) = InForce::of(settings) {
                set.insert(id, setting);
                if !lost.is_empty() {
                    rivals.insert(id, lost);
                }
            }
            Ok::<_, TraceError>(())
        })?;
        Ok(Levels { set, rivals, types })
    }

    /// The items whose lines differ from those of an earlier state. Reads only folders that differ.
    pub(crate) fn items_changed_since(&self, repo: &Repo, earlier: &Self) -> Result<HashSet<ItemId>, TraceError> {
        let mut items = HashSet::new();
        for (folder, oids) in differing([&earlier.folders, &self.folders]) {
            let read = |oid: Option<Oid>| oid.map_or(Ok(Vec::new()), |oid| repo.read_tree(oid));
            let files = [read(oids[0])?, read(oids[1])?];
            let paths = differing([&files[0], &files[1]]).into_keys().map(|file| format!("{folder}/{file}"));
            items.extend(paths.filter_map(|path| item_of(&path)));
        }
        Ok(items)
    }

    /// The change that applies to an item.
    pub(crate) fn in_force(&self, repo: &Repo, id: ItemId) -> Result<Option<InForce>, TraceError> {
        Ok(InForce::of(self.settings(repo, id)?))
    }

    /// All changes of an item's priority, oldest first, except that the one that applies is last.
    pub(crate) fn history(&self, repo: &Repo, id: ItemId) -> Result<Vec<Setting>, TraceError> {
        let mut settings = self.settings(repo, id)?;
        if let Some(last) = deciding(&settings) {
            let last = settings.remove(last);
            settings.push(last);
        }
        Ok(settings)
    }

    /// The readable lines of an item.
    pub(crate) fn settings(&self, repo: &Repo, id: ItemId) -> Result<Vec<Setting>, TraceError> {
        self.file(repo, id)?.map_or(Ok(Vec::new()), |file| parse(id, &repo.read_blob(file)?))
    }

    /// The file with an item's lines.
    pub(crate) fn file(&self, repo: &Repo, id: ItemId) -> Result<Option<Oid>, TraceError> {
        let (folder, file) = id.fan_out();
        let find = |entries: &[Entry], name: &str| {
            entries.iter().find(|entry| entry.name == name.as_bytes()).map(|entry| entry.oid)
        };
        let Some(folder) = find(&self.folders, &folder) else { return Ok(None) };
        Ok(find(&repo.read_tree(folder)?, &file))
    }
}

/// The entries of two trees that differ.
fn differing(trees: [&[Entry]; 2]) -> BTreeMap<Cow<'_, str>, [Option<Oid>; 2]> {
    let mut found: BTreeMap<Cow<'_, str>, [Option<Oid>; 2]> = BTreeMap::new();
    for (side, tree) in trees.into_iter().enumerate() {
        for entry in tree {
            found.entry(String::from_utf8_lossy(&entry.name)).or_default()[side] = Some(entry.oid);
        }
    }
    found.retain(|_, [one, other]| one != other);
    found
}

/// The change of an item's priority that applies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct InForce {
    pub setting: Setting,
    /// Concurrent changes with other levels.
    pub rivals: Vec<Setting>,
}

impl InForce {
    /// Takes lines in order of time, then bytes.
    pub(crate) fn of(mut settings: Vec<Setting>) -> Option<Self> {
        if settings.len() < 2 {
            return settings.pop().map(|setting| Self { setting, rivals: Vec::new() });
        }
        let heads = heads(&settings);
        let last = strongest(&settings, &heads)?;
        let others = heads.into_iter().filter(|head| settings[*head].level != settings[last].level);
        let rivals = others.map(|head| settings[head].clone()).collect();
        Some(Self { setting: settings.swap_remove(last), rivals })
    }
}

/// The lines of an item's file in order of time, then bytes. A merge by plain git may have changed their order.
pub(super) fn parse(id: ItemId, bytes: &[u8]) -> Result<Vec<Setting>, TraceError> {
    let text = String::from_utf8_lossy(bytes);
    let mut settings = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let setting = Setting::parse(line).ok_or(TraceError::DamagedRecord { item: id, line: index + 1 })?;
        settings.push((setting, line));
    }
    settings.sort_by(|(one, line), (other, other_line)| (one.at, line).cmp(&(other.at, other_line)));
    Ok(settings.into_iter().map(|(setting, _)| setting).collect())
}
