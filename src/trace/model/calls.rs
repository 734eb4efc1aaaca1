//! Pairs of items: a tool's call and its results.

use std::collections::{HashMap, HashSet};

use crate::trace::{Item, ItemId};

/// Numbers calls. A result belongs to the call with the same provider's id, or to the one that it replies to.
#[derive(Default, Debug)]
pub(crate) struct Calls {
    by_call_id: HashMap<String, usize>,
    by_item: HashMap<ItemId, usize>,
    answered: HashSet<usize>,
    count: usize,
}

impl Calls {
    /// The number of the call that the item is or answers, from 1; `None` for any other item. Items are added in reading order.
    pub(crate) fn number_of(&mut self, item: &Item) -> Option<usize> {
        let (is_call, is_result) = (item.fields.is_call(), item.fields.is_result());
        if !is_call && !is_result {
            return None;
        }
        let known = item.fields.call_id.as_ref().and_then(|id| self.by_call_id.get(id)).copied();
        // Agents use an id again once its call was answered.
        let known = known.filter(|number| is_result || !self.answered.contains(number));
        let replied = || item.fields.reply_to.filter(|_| is_result).and_then(|id| self.by_item.get(&id)).copied();
        let number = known.or_else(replied).unwrap_or_else(|| {
            self.count += 1;
            self.count
        });
        self.by_call_id.extend(item.fields.call_id.clone().map(|id| (id, number)));
        self.by_item.insert(item.id, number);
        self.answered.extend(is_result.then_some(number));
        Some(number)
    }

    /// Whether a call has a result.
    pub(crate) fn is_answered(&self, number: usize) -> bool {
        self.answered.contains(&number)
    }
}
