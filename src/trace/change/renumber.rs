//! Closing the gaps between a trace's positions, so that one that was full takes items again.
//!
//! One commit moves files and changes no text: ids, order and total stay, and so does history.

use std::collections::HashMap;

use crate::git::{NewCommit, Repo};
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::Trailers;
use crate::trace::model::tree::{self, TreeEditor, item_path};
use crate::trace::store::advance::{Advance, advance};
use crate::trace::store::sign;
use crate::trace::store::write::Signature;

/// Gives the items of a trace the positions from 0 on, in the order they have, and says how many moved.
///
/// Of a file that plain git doubled both move. Where nothing moves and the next position is right, nothing is committed.
/// Costs the whole tree.
///
/// # Errors
///
/// [`TraceError::NoSuchTrace`], and those of [`advance`]; then nothing was changed.
pub(crate) fn renumber(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    encoding: Encoding,
) -> Result<usize, TraceError> {
    let (_, moved) = advance(repo, name, &signature.committer, |tip| {
        let tip = tip.ok_or_else(|| TraceError::NoSuchTrace { name: name.clone() })?;
        let slots = tree::list_files(repo, tip.commit.tree)?;
        let mut editor = TreeEditor::new(repo, Some(tip.commit.tree))?;
        // What comes later may stand where an earlier one is to go.
        let mut places = HashMap::new();
        for (seq, slot) in (0..).zip(&slots) {
            let path = item_path(seq, &slot.item_type, slot.id);
            if path != slot.path {
                editor.remove(repo, &slot.path)?;
                places.insert(path, slot.blob);
            }
        }
        let moved = places.len();
        for (path, blob) in places {
            editor.put(repo, &path, blob)?;
        }
        let next = u32::try_from(slots.len()).unwrap_or(tree::CAPACITY);
        if moved == 0 && tip.next_seq(repo)? == next {
            return Ok((None, 0));
        }
        let tree = editor.write(repo)?;
        let trailers = Trailers {
            time: Some(signature.at.after(Some(tip.time()))),
            tree: Some(tree.to_string()),
            total: Some(tip.total(repo, encoding)?),
            next: Some(next),
            ..Trailers::default()
        };
        let subject = format!("renumber up to #{}", next.saturating_sub(1));
        let message = trailers.render(&subject);
        let parents = [tip.commit.oid];
        let (author, committer) = (&signature.author, &signature.committer);
        let commit = NewCommit { tree, parents: &parents, author, committer, message: &message };
        Ok((Some(Advance { to: sign::write_commit(repo, &commit)?, log: subject }), moved))
    })?;
    Ok(moved)
}
