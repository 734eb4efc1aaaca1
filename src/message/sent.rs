//! The contents of a request and their form, apart from texts, to compare requests.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::mem::discriminant;

use super::adjustment::BlockPosition;
use super::normalize::{Part, PartContent, Turn, normalize};
use super::{Api, Message};

/// A block that is sent, and a hash of how: as what, by whom, and for which call.
pub(crate) type SentBlock = (BlockPosition, u64);

/// For the neutral form, and for each API: the blocks in the order of a request.
pub(crate) fn sent_blocks(messages: &[Message]) -> Vec<Vec<SentBlock>> {
    let apis = Api::VALUES.iter().map(|api| api.parse().expect("each value is an API"));
    let requests = apis.map(|api| {
        let turns = normalize(messages, api).turns;
        // Such a message has its calls after its texts.
        let is_last = |part: &Part<'_>| api == Api::OpenAi && matches!(part.content, PartContent::Call { .. });
        let parts = turns.iter().flat_map(|turn| {
            let of = move |last| turn.parts.iter().filter(move |part| is_last(part) == last);
            of(false).chain(of(true)).map(move |part| (turn, part))
        });
        let how = |turn: &Turn<'_>, part: &Part<'_>| hash((turn.role, turn.name, part.content.kind()));
        let mut blocks: Vec<SentBlock> = parts.map(|(turn, part)| (part.position, how(turn, part))).collect();
        // The message that is added if the model would come first has the position of the next block.
        blocks.dedup_by(|next, kept| {
            next.0 == kept.0 && {
                *kept = *next;
                true
            }
        });
        blocks
    });
    std::iter::once(neutral(messages)).chain(requests).collect()
}

fn neutral(messages: &[Message]) -> Vec<SentBlock> {
    let blocks = messages.iter().enumerate().flat_map(|(index, message)| {
        message.blocks.iter().enumerate().map(move |(block, of)| {
            let how = hash((message.role, &message.name, discriminant(&of.content)));
            (BlockPosition { message: index, block }, how)
        })
    });
    blocks.collect()
}

pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
