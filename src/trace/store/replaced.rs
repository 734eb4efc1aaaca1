//! Objects of traces that `git replace` replaces.
//!
//! Replacements are ignored: they are local and are not fetched, an item's totals and signatures are about what was written, and
//! a commit on top of a replaced one must not depend on them. Git shows the replacement, so commands warn.

use crate::git::{Oid, Repo};
use crate::trace::{Tip, TraceError};

const REPLACEMENTS: &str = "refs/replace/";

/// The replaced objects that may belong to a trace: its commits, and all trees and blobs. None if git ignores replacements too.
pub(crate) fn replaced(repo: &Repo) -> Result<Vec<Oid>, TraceError> {
    let is_off = repo.env().is_set("GIT_NO_REPLACE_OBJECTS");
    if is_off || repo.config()?.boolean("core.useReplaceRefs")? == Some(false) {
        return Ok(Vec::new());
    }
    let refs = repo.list_refs(REPLACEMENTS)?;
    let oids = refs.iter().filter_map(|(refname, _)| Oid::parse(&refname[REPLACEMENTS.len()..], repo.object_format()));
    let is_of_code = |oid: &Oid| Tip::read(repo, *oid).is_ok_and(|tip| !tip.is_ours());
    Ok(oids.filter(|oid| !is_of_code(oid)).collect())
}
