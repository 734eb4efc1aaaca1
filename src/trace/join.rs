//! Joining what was written aside to a trace that has moved meanwhile.

use super::error::TraceError;
use super::message::{Op, Total, Trailers};
use super::tip::Tip;
use super::total::{item_cost, read_item};
use super::tree::{self, Change, TreeEditor, item_path};
use super::write::Stamp;
use crate::git::{NewCommit, Oid, Repo};
use crate::tokens::Encoding;

/// Writes the commit that has both `ours` and `theirs` as parents and ours' items, then what came in or changed from
/// `base` to `theirs`. An item that both have keeps our place; one that we changed or took out stays as we have it.
///
/// Costs what differs between `base` and `theirs`.
///
/// # Errors
///
/// Those of reading and writing objects.
pub(super) fn at_end(
    repo: &Repo,
    stamp: &Stamp,
    encoding: Encoding,
    base: Option<&Tip>,
    ours: &Tip,
    theirs: &Tip,
) -> Result<Oid, TraceError> {
    let live = tree::list(repo, ours.commit.tree)?;
    let find = |id| live.iter().find(|slot| slot.id == id);
    let mut editor = TreeEditor::new(repo, Some(ours.commit.tree))?;
    let mut next_seq = ours.next_seq(repo)?;
    let Total { mut tokens, basis } = ours.total(repo, encoding)?;
    for change in tree::changes(repo, base.map(|tip| tip.commit.tree), theirs.commit.tree)? {
        match change {
            Change::Added(slot) if find(slot.id).is_none() => {
                editor.put(repo, &item_path(next_seq, &slot.item_type, slot.id), slot.blob)?;
                tokens += item_cost(&read_item(repo, &slot)?, encoding);
                next_seq += 1;
            }
            Change::Changed(before, after) => {
                if let Some(unchanged) = find(before.id).filter(|slot| slot.blob == before.blob) {
                    editor.remove(repo, &unchanged.path)?;
                    editor.put(repo, &item_path(unchanged.seq, &after.item_type, after.id), after.blob)?;
                    tokens += item_cost(&read_item(repo, &after)?, encoding);
                    tokens = tokens.saturating_sub(item_cost(&read_item(repo, &before)?, encoding));
                }
            }
            Change::Removed(before) => {
                if let Some(unchanged) = find(before.id).filter(|slot| slot.blob == before.blob) {
                    editor.remove(repo, &unchanged.path)?;
                    tokens = tokens.saturating_sub(item_cost(&read_item(repo, &before)?, encoding));
                }
            }
            Change::Added(_) => {}
        }
    }
    let tree = editor.write(repo)?;
    let at = stamp.at.after(Some(ours.time().max(theirs.time())));
    let trailers = Trailers {
        op: Some(Op::Merge),
        time: Some(at),
        tree: Some(tree.to_string()),
        total: Some(Total { tokens, basis }),
        next: Some(next_seq),
        ..Trailers::default()
    };
    let message = trailers.render("merge what was imported meanwhile");
    let parents = [ours.commit.oid, theirs.commit.oid];
    let commit =
        NewCommit { tree, parents: &parents, author: &stamp.author, committer: &stamp.committer, message: &message };
    Ok(repo.write_commit(&commit)?)
}
