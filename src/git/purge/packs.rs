//! Removing objects from packs: each pack that contains some is replaced by one of its other objects.
//!
//! `git repack` cannot do this: it drops or keeps all unreachable objects alike, and some may be the user's.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::process::{Answer, text_of};
use crate::git::purge::remove::remove_derived;

/// The files of a pack. The index is last: git ignores one without a pack, and a repeated purge finds the pack by it.
const PARTS: [&str; 6] = ["keep", "pack", "rev", "bitmap", "mtimes", "idx"];

impl Repo {
    pub(super) fn drop_from_packs(&self, oids: &HashSet<Oid>) -> Result<(), GitError> {
        let folder = self.objects.join("pack");
        let mut is_changed = false;
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let index = entry.path();
            if index.extension().is_none_or(|extension| extension != "idx") {
                continue;
            }
            let listed = self.packed_oids(&index)?;
            let has_pack = index.with_extension("pack").exists();
            let kept: Vec<Oid> = listed.iter().copied().filter(|oid| !oids.contains(oid)).collect();
            if kept.len() == listed.len() && has_pack {
                continue;
            }
            if !is_changed {
                self.drop_pack_caches()?;
                is_changed = true;
            }
            if has_pack {
                self.pack_again(&folder, &kept)?;
            }
            for part in PARTS {
                remove_derived(&index.with_extension(part))?;
            }
        }
        Ok(())
    }

    fn packed_oids(&self, index: &Path) -> Result<Vec<Oid>, GitError> {
        let failed = |source| GitError::io("read the pack's index", index, source);
        let file = fs::File::open(index).map_err(failed)?;
        let mut command = self.git("show-index");
        command.arg(if self.oid_len() == 20 { "--object-format=sha1" } else { "--object-format=sha256" }).stdin(file);
        // `<offset> <oid> (<crc>)`
        let printed = text_of(&mut command)?;
        printed.lines().filter_map(|line| line.split(' ').nth(1)).map(|oid| self.parse_oid(oid)).collect()
    }

    fn oid_len(&self) -> usize {
        crate::git::tree::raw_len(self.object_format())
    }

    /// Writes a pack of these objects, and verifies that it has them all.
    fn pack_again(&self, folder: &Path, oids: &[Oid]) -> Result<(), GitError> {
        if oids.is_empty() {
            return Ok(());
        }
        let input: String = oids.iter().flat_map(|oid| [oid.to_string(), "\n".to_owned()]).collect();
        let mut command = self.git_with(&["pack.readReverseIndex=false"], "pack-objects");
        command.args(["-q", "--delta-base-offset"]).arg(folder.join("pack"));
        let printed = Answer::of(command.input(input))?.into_stdout()?;
        let mut missing: HashSet<Oid> = oids.iter().copied().collect();
        for name in String::from_utf8_lossy(&printed).lines() {
            for oid in self.packed_oids(&folder.join(format!("pack-{name}.idx")))? {
                missing.remove(&oid);
            }
        }
        missing.into_iter().next().map_or(Ok(()), |oid| Err(GitError::MissingObject { oid }))
    }

    /// Removes what describes several packs or commits, and may name removed ones. Git works without it and writes it again.
    fn drop_pack_caches(&self) -> Result<(), GitError> {
        for name in ["multi-pack-index.d", "multi-pack-index"] {
            remove_derived(&self.objects.join("pack").join(name))?;
        }
        let entries = fs::read_dir(self.objects.join("pack")).into_iter().flatten().flatten();
        let of_several: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        let is_cache = |path: &&PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("multi-pack-index-"))
        };
        of_several.iter().filter(is_cache).try_for_each(|path| remove_derived(path))
    }

    /// Removes the commit graph, which names commits that were removed. Git writes it again.
    pub(super) fn drop_commit_graph(&self) -> Result<(), GitError> {
        let info = self.objects.join("info");
        ["commit-graph", "commit-graphs"].iter().try_for_each(|name| remove_derived(&info.join(name)))
    }
}
