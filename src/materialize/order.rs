//! Order: which items speak before others that came in earlier.

use super::Materializer;
use super::cut::break_signature;
use super::join::Piece;
use crate::trace::model::item::ItemType;

/// Brings pieces, given in reading order, into the order in which they speak; those that stand alike stay as they are.
///
/// A thought behind the first piece that moved loses its proof: what it was signed over is not what stands before it. That
/// instructions go to the front changes nothing there, since no provider signs over its system message.
pub(super) fn arrange<M: Materializer + ?Sized>(materializer: &M, pieces: &mut [Piece]) {
    // Where everything stands alike, as in most traces, nothing is moved or looked at again.
    if pieces.is_sorted_by_key(|piece| materializer.order(piece)) {
        return;
    }
    let spoken = |piece: &&mut Piece| piece.item_type != ItemType::instruction();
    let before: Vec<u32> = pieces.iter_mut().filter(spoken).map(|piece| piece.seq).collect();
    pieces.sort_by_cached_key(|piece| materializer.order(piece));
    let mut moved = false;
    for (piece, seq) in pieces.iter_mut().filter(spoken).zip(before) {
        moved |= piece.seq != seq;
        if moved {
            break_signature(piece);
        }
    }
}
