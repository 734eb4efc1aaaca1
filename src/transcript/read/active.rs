//! The messages of a thread that the model still sees, after rewinds and compactions.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::packed::{Numbers, incomplete};
use crate::trace::model::id::ItemId;

/// The items that rewinds removed (true) or brought back (false).
pub(crate) type Rewound = HashMap<ItemId, bool>;

/// The messages in order. A rewound one stays, since it may be brought back; one that a summary replaced is removed.
pub(crate) struct ActiveMessages<T>(Vec<StoredMessage<T>>);

pub(crate) struct StoredMessage<T> {
    pub key: u64,
    pub tag: T,
    pub items: Vec<ItemId>,
    pub rewound: bool,
}

/// A reader's note about a message, as a number.
pub(crate) trait Tag: Copy {
    fn number(self) -> u64;
    fn of_number(number: u64) -> Option<Self>;
}

impl Tag for () {
    fn number(self) -> u64 {
        0
    }

    fn of_number(_: u64) -> Option<Self> {
        Some(())
    }
}

impl Tag for usize {
    fn number(self) -> u64 {
        self as u64
    }

    fn of_number(number: u64) -> Option<Self> {
        Self::try_from(number).ok()
    }
}

/// Each message as its key, its tag, the number of its items times two plus whether it was rewound, and its items.
impl<T: Tag> Serialize for ActiveMessages<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut numbers = Vec::with_capacity(self.0.len() * 4);
        for StoredMessage { key, tag, items, rewound } in &self.0 {
            numbers.extend([*key, tag.number(), (items.len() as u64) << 1 | u64::from(*rewound)]);
            numbers.extend(items.iter().map(|item| item.number()));
        }
        Numbers(numbers).serialize(serializer)
    }
}

impl<'de, T: Tag> Deserialize<'de> for ActiveMessages<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Numbers(numbers) = Numbers::deserialize(deserializer)?;
        let mut messages = Vec::with_capacity(numbers.len() / 4);
        let mut rest = &numbers[..];
        while !rest.is_empty() {
            let (message, after) = StoredMessage::split_from(rest).ok_or_else(incomplete)?;
            messages.push(message);
            rest = after;
        }
        Ok(Self(messages))
    }
}

impl<T> Default for ActiveMessages<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ActiveMessages<T> {
    pub(crate) fn push(&mut self, key: u64, tag: T, items: Vec<ItemId>) -> &mut StoredMessage<T> {
        self.0.push(StoredMessage { key, tag, items, rewound: false });
        self.0.last_mut().expect("one was just added")
    }

    /// The last message with a key, also if it was rewound.
    pub(crate) fn find(&mut self, key: u64) -> Option<&mut StoredMessage<T>> {
        self.0.iter_mut().rev().find(|message| message.key == key)
    }

    /// The messages that were not rewound, with their indexes.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &StoredMessage<T>)> {
        self.0.iter().enumerate().filter(|(_, message)| !message.rewound)
    }

    /// Rewinds the messages from an index on; returns whether that changed any.
    pub(crate) fn rewind_from(&mut self, index: usize, rewound: &mut Rewound) -> bool {
        let rewind = |message: &mut StoredMessage<T>| message.set_rewound(true, rewound);
        self.0.iter_mut().skip(index).map(rewind).fold(false, |any, changed| any | changed)
    }

    /// Rewinds or brings back each message; returns whether that changed any.
    pub(crate) fn set_rewound(
        &mut self,
        is_rewound: impl Fn(&StoredMessage<T>) -> bool,
        rewound: &mut Rewound,
    ) -> bool {
        let set = |message: &mut StoredMessage<T>| message.set_rewound(is_rewound(message), rewound);
        self.0.iter_mut().map(set).fold(false, |any, changed| any | changed)
    }

    /// Removes the messages that a summary replaces, all but the kept and the rewound, and returns their items.
    pub(crate) fn replace(&mut self, mut is_kept: impl FnMut(usize, &StoredMessage<T>) -> bool) -> Vec<ItemId> {
        let mut index = 0;
        let replaced = self.0.extract_if(.., |message| {
            index += 1;
            !message.rewound && !is_kept(index - 1, message)
        });
        replaced.flat_map(|message| message.items).collect()
    }

    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&StoredMessage<T>) -> K) {
        self.0.sort_by_key(key);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T: Tag> StoredMessage<T> {
    fn split_from(numbers: &[u64]) -> Option<(Self, &[u64])> {
        let ([key, tag, size], rest) = numbers.split_first_chunk()?;
        let (items, rest) = rest.split_at_checked(usize::try_from(size >> 1).ok()?)?;
        let items = items.iter().copied().map(ItemId::of_number).collect();
        Some((Self { key: *key, tag: T::of_number(*tag)?, items, rewound: size & 1 == 1 }, rest))
    }
}

impl<T> StoredMessage<T> {
    /// Returns whether that changed anything.
    pub(crate) fn set_rewound(&mut self, is_rewound: bool, rewound: &mut Rewound) -> bool {
        let changed = self.rewound != is_rewound;
        if changed {
            self.rewound = is_rewound;
            rewound.extend(self.items.iter().map(|item| (*item, is_rewound)));
        }
        changed
    }
}
