//! Reads the items of a view as pieces, and cuts them.

use super::cut::{self, Cut, Kept};
use super::join::Piece;
use super::prefix::SignedPrefix;
use super::{MaterializeError, Materializer, Omission};
use crate::git::Repo;
use crate::message::{Api, Block, Content, Signature};
use crate::tokens::Encoding;
use crate::trace::Fields;
use crate::trace::model::file::BadItemFile;
use crate::trace::model::item::{Direction, Item, Role};
use crate::trace::model::level::Level;
use crate::trace::model::trailers::preview;
use crate::trace::model::tree::ItemEntry;
use crate::trace::model::types::Types;
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::store::view::View;

pub(super) struct Gathered {
    pub(super) kept: Kept,
    /// Damaged item files, whose content is used unchanged: path and cause.
    pub(super) damaged: Vec<(String, BadItemFile)>,
}

/// Reads every live item and makes the cut; the result is in trace order.
pub(super) fn gather<M: Materializer + ?Sized>(
    materializer: &M,
    repo: &Repo,
    view: &View,
    cut: &Cut,
    encoding: Encoding,
) -> Result<Gathered, MaterializeError> {
    let mut left_out = Vec::new();
    let mut damaged = Vec::new();
    let mut pieces = Vec::with_capacity(view.slots.len());
    let mut prefix = SignedPrefix::new(repo, view);
    let types = view.types();
    view.for_each_item(repo, |slot, Reading { item, damage }| {
        damaged.extend(damage.map(|damage| (slot.path.clone(), damage)));
        // Count tokens only if needed: for a budget, or to report an omission.
        let counted = cut.budget.is_some() || view.left_out(slot).is_some();
        let tokens = if counted { item_cost(&item, encoding) } else { 0 };
        let own = types.role(&item.fields);
        let role = materializer.role(&item, own);
        let holds = prefix.add(slot, &item, role != own)?;
        if let Some(why) = view.left_out(slot) {
            left_out.push(Omission {
                item: slot.id,
                seq: slot.seq,
                item_type: slot.item_type.clone(),
                why: why.as_str(),
                reason: view.level(slot).reason().map(str::to_owned),
                tokens,
            });
            return Ok(());
        }
        let subject = cut.recent.map(|_| preview(&item));
        let item = if item.revision > 1 { materializer.edited(item) } else { item };
        let mut piece = piece_of(slot, item, role, types, encoding);
        (piece.tokens, piece.subject) = (tokens, subject);
        piece.pinned = view.level(slot).level() == Level::Pinned;
        if let Content::Reasoning { signature: Some(signature), .. } = &mut piece.block.content {
            signature.holds = holds;
        }
        pieces.push(piece);
        Ok(())
    })?;
    let mut kept = cut::cut(pieces, cut, encoding)?;
    kept.left_out.extend(left_out);
    kept.left_out.sort_by_key(|omission| omission.seq);
    Ok(Gathered { kept, damaged })
}

/// An item as a message of its own, with what joining needs.
fn piece_of(slot: &ItemEntry, item: Item, role: Role, types: &Types, encoding: Encoding) -> Piece {
    let known_tokens = item.cached_tokens(encoding);
    let Item { id, mut fields, body, .. } = item;
    let (aggregates, order) = (types.aggregates(&fields), types.rules(&fields.item_type).order);
    let item_type = fields.item_type.clone();
    let mut name = fields.name.take();
    let content = match item_type.as_str() {
        "tool_io" => {
            let call_id = fields.call_id.unwrap_or_else(|| id.to_string());
            let text = into_text(body);
            match fields.direction {
                Some(Direction::Call) => Content::ToolCall { call_id, name: name.take(), arguments: text },
                _ => Content::ToolResult { call_id, name: name.take(), status: fields.status, text },
            }
        }
        "reasoning" => Content::Reasoning { signature: signature(&mut fields), text: into_text(body) },
        "artifact" => Content::Artifact {
            kind: fields.kind,
            path: fields.path,
            language: fields.language,
            media_type: fields.media_type,
            bytes: body,
        },
        _ => match String::from_utf8(body) {
            Ok(text) => Content::Text(text),
            // A freeform item may contain binary data.
            Err(error) => Content::Artifact {
                kind: None,
                path: None,
                language: None,
                media_type: None,
                bytes: error.into_bytes(),
            },
        },
    };
    Piece {
        item: id,
        item_type,
        role,
        name,
        turn: fields.turn,
        block: Block { content, known_tokens },
        seq: slot.seq,
        order,
        pinned: false,
        aggregates,
        tokens: 0,
        subject: None,
    }
}

/// The signature of reasoning. Its provider is known from the format it was imported from, or the meta key `provider`. A
/// signature that no header can hold is in the meta key `signature`.
fn signature(fields: &mut Fields) -> Option<Signature> {
    let meta = |key: &str| fields.meta.get(key).and_then(|value| value.as_str());
    let value = fields.signature.take().or_else(|| meta("signature").map(str::to_owned))?;
    let by_source = fields.source.as_ref().and_then(|source| match source.format() {
        "claude-code" => Some(Api::Anthropic),
        format => format.parse().ok(),
    });
    Some(Signature {
        value,
        by: by_source.or_else(|| meta("provider").and_then(|name| name.parse().ok())),
        id: meta("id").map(str::to_owned),
        redacted: fields.meta.get("redacted").and_then(serde_json::Value::as_bool) == Some(true),
        holds: true,
    })
}

/// The text of a body. Its type requires UTF-8, but another program may have written something else.
fn into_text(body: Vec<u8>) -> String {
    String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
