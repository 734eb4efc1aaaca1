//! Queries: which breadcrumbs to list, and in which order.

pub(crate) mod history;

use super::Record;
use crate::base::time::Time;

/// A filter, an order, and a limit. The default lists all records that have not expired, by key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Query {
    pub prefix: String,
    pub task_id: Option<i64>,
    pub updated_before: Option<Time>,
    pub updated_after: Option<Time>,
    pub expired: Expired,
    pub sort: Sort,
    pub order: Order,
    pub limit: Option<usize>,
}

/// The sort key. Equal records are sorted by key, ascending.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Sort {
    #[default]
    Key,
    Created,
    Updated,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Order {
    #[default]
    Ascending,
    Descending,
}

/// Whether to list expired records that are not pruned yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Expired {
    #[default]
    Hidden,
    Shown,
}

impl Query {
    pub(crate) fn matches(&self, record: &Record<'_>, now: Time) -> bool {
        (self.prefix.is_empty() || record.key.starts_with(&self.prefix))
            && self.task_id.is_none_or(|id| record.task_id == Some(id))
            && self.updated_before.is_none_or(|before| record.updated().is_none_or(|updated| updated < before))
            && self.updated_after.is_none_or(|after| record.updated().is_some_and(|updated| updated > after))
            && (self.expired == Expired::Shown || !record.is_expired(now))
    }

    /// Applies order and limit to records that are sorted by key.
    pub(crate) fn sort_and_truncate(&self, records: &mut Vec<Record<'_>>) {
        let time = |record: &Record<'_>| if self.sort == Sort::Created { record.created() } else { record.updated() };
        match (self.sort, self.order) {
            (Sort::Key, Order::Ascending) => {}
            (Sort::Key, Order::Descending) => records.reverse(),
            (_, Order::Ascending) => records.sort_by_cached_key(time),
            (_, Order::Descending) => records.sort_by_cached_key(|record| std::cmp::Reverse(time(record))),
        }
        records.truncate(self.limit.unwrap_or(usize::MAX));
    }
}
