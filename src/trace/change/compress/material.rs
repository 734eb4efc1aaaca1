//! The selected items as they are read for a summary, by a model or by rule.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::REPLACED;
use super::rule::lines_of;
use super::select::Selection;
use super::tools::{Names, Tools};
use crate::git::Repo;
use crate::message::Status;
use crate::tokens::Counter;
use crate::trace::model::item::Role;
use crate::trace::model::trailers::{one_line, preview};
use crate::trace::model::types::Types;
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::{Item, ItemEntry, ItemType, TraceError};

/// A result of this many bytes is not repeated if the same tool returned it before.
const REPEATED_LEN: usize = 40;

/// The items of a selection.
#[derive(Debug, Default)]
pub(crate) struct Material {
    pub count: usize,
    pub tokens: u64,
    /// The items by the prompt that applies to them, oldest first.
    pub parts: Vec<Part>,
    pub tools: Tools,
    /// What the items are about, in reading order.
    pub lines: Vec<Line>,
}

/// The items that share a prompt.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub template: String,
    pub count: usize,
    pub tokens: u64,
    pub tools: Tools,
    names: Names,
    pub text: String,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub text: String,
    pub is_of_user: bool,
}

impl Material {
    pub(crate) fn read(
        repo: &Repo,
        types: &Types,
        selection: &Selection,
        counter: Counter,
    ) -> Result<Self, TraceError> {
        let mut material = Self { count: selection.items.len(), tokens: selection.cost, ..Self::default() };
        let (mut names, mut part_of, mut seen) = (Names::new(), HashMap::new(), HashMap::new());
        repo.for_each_blob(selection.items.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
            let item = Reading::of(slot, bytes).item;
            let template = types.compress(&item.fields);
            let index = *part_of.entry(template.to_owned()).or_insert(material.parts.len());
            if index == material.parts.len() {
                material.parts.push(Part::new(template));
            }
            material.tools.add(&item, &mut names);
            let part = &mut material.parts[index];
            part.tools.add(&item, &mut part.names);
            part.count += 1;
            part.tokens += item_cost(&item, counter);
            let repeated = repeats(slot, &item, &mut seen);
            part.write(slot, &item, repeated);
            material.lines.extend(lines(slot, &item));
            Ok::<_, TraceError>(())
        })?;
        Ok(material)
    }
}

impl Part {
    fn new(template: &str) -> Self {
        Self { template: template.to_owned(), ..Self::default() }
    }

    fn write(&mut self, slot: &ItemEntry, item: &Item, repeated: Option<u32>) {
        let fields = &item.fields;
        let direction = fields.direction.map(|word| word.to_string());
        let role = fields.role.filter(|_| direction.is_none()).map(|word| word.to_string());
        let mut head = format!("[#{} {}", slot.seq, fields.item_type);
        for part in [direction, role, fields.name.clone(), fields.path.clone()].into_iter().flatten() {
            // Writing to a String cannot fail.
            let _ = write!(head, " {}", one_line(&part));
        }
        let failed = if fields.status == Some(Status::Error) { ", failed" } else { "" };
        let text = match (repeated, std::str::from_utf8(&item.body)) {
            (Some(seq), _) => format!("(the same text as #{seq})"),
            (None, Ok(text)) => text.trim_end().to_owned(),
            (None, Err(_)) => format!("({} bytes, not text)", item.body.len()),
        };
        let _ = write!(self.text, "{head}{failed}]\n{text}\n\n");
    }
}

/// The position of an earlier result with the same long text.
fn repeats(slot: &ItemEntry, item: &Item, seen: &mut HashMap<blake3::Hash, u32>) -> Option<u32> {
    if !item.fields.is_result() || item.body.len() < REPEATED_LEN {
        return None;
    }
    let first = *seen.entry(blake3::hash(&item.body)).or_insert(slot.seq);
    (first != slot.seq).then_some(first)
}

/// The subject of an item. Calls and results are counted instead. An earlier summary keeps its own lines, without its counts.
fn lines(slot: &ItemEntry, item: &Item) -> Vec<Line> {
    let fields = &item.fields;
    if fields.is_call() || fields.is_result() {
        return Vec::new();
    }
    let is_of_user = fields.item_type == ItemType::dialogue() && fields.role == Some(Role::User);
    let earlier = item.text().filter(|_| fields.meta.contains_key(REPLACED));
    match earlier.and_then(lines_of) {
        Some(lines) => lines.map(|line| Line { text: line.to_owned(), is_of_user: false }).collect(),
        None => vec![Line { text: format!("#{} {}", slot.seq, preview(item)), is_of_user }],
    }
}
