//! Results of tools that came after the purge of their calls' ids.

use std::collections::HashMap;

use super::is_marked;
use crate::trace::{Item, ItemId};

/// The ids that purges left of calls, by item.
#[derive(Default, Debug)]
pub(crate) struct PurgedCalls(HashMap<ItemId, String>);

impl PurgedCalls {
    /// Gives a result that replies to such a call the id that was left: it still has the earlier one. The items of a trace are passed in
    /// reading order.
    pub(crate) fn tie(&mut self, item: &mut Item) {
        let fields = &mut item.fields;
        if fields.is_call() {
            let purged = fields.call_id.clone().filter(|id| is_marked(id));
            self.0.extend(purged.map(|call_id| (item.id, call_id)));
        } else if let Some(call_id) = fields.reply_to.and_then(|call| self.0.get(&call))
            && fields.is_result()
        {
            fields.call_id = Some(call_id.clone());
        }
    }
}
