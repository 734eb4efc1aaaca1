//! The answers of `git push`, and the messages that it shows meanwhile.

use std::process::Stdio;

use super::error::GitError;
use super::network::{Destination, PushFate, PushedRef};
use super::open::Repo;
use super::process::Answer;
use crate::base::effect;
use crate::base::process::Process;

/// The answers of git and its servers if another push interferes. A hook's own words, such as "blocked", are final.
const CONTENDED: [&str; 4] = ["cannot lock ref", "failed to lock", "failed to update ref", "incorrect old value"];

impl Repo {
    /// The answers in what `git push --porcelain` printed.
    pub(super) fn pushed_refs(&self, to: Destination<'_>, answer: &Answer) -> Vec<PushedRef> {
        let (mut pushed, mut address) = (Vec::new(), None);
        let text = String::from_utf8_lossy(&answer.stdout);
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let one = pushed_ref(line);
            // The last line of a hook need not have an end.
            let mut is_begun = || lines.peek().is_some_and(|next| *next == "Done" || pushed_ref(next).is_some());
            match line.strip_prefix("To ") {
                Some(named) if !named.contains("To ") => address = Some(named.to_owned()),
                _ if one.is_none() && line.contains("To ") && is_begun() => {
                    let known = self.addresses(to.remote, true).unwrap_or_default();
                    let mut named = line.match_indices("To ").map(|(at, word)| &line[at + word.len()..]);
                    let last = named.clone().last();
                    address = named.find(|named| known.iter().any(|one| one == named)).or(last).map(str::to_owned);
                }
                _ => pushed.extend(one.map(|one| PushedRef { address: address.clone(), ..one })),
            }
        }
        if !pushed.is_empty() {
            effect::note_change();
        }
        pushed
    }
}

/// The line of git that is not shown: the caller gives another summary, and pushes again if another push was faster.
pub(super) const HIDDEN: &[u8] = b"error: failed to push some refs";

/// Runs `git push`, and shows at once what a `pre-push` hook prints before git prints what it pushed to each address.
pub(super) fn answer_of_push(command: &mut Process) -> Result<Answer, GitError> {
    // An address is a path, or has one.
    let is_address = |line: &[u8]| line.starts_with(b"To ") && line.contains(&b'/');
    let mut has_begun = false;
    let is_flag = |byte: &u8| b" +-*=!".contains(byte);
    let of_hook = move |line: &[u8], is_complete: bool| {
        if !is_complete {
            let may_be_ref = line.first().is_some_and(is_flag) && line.get(1).is_none_or(|byte| *byte == b'\t');
            let may_be_address = is_address(line) || has_begun && line.starts_with(b"To ");
            return !may_be_ref
                && !may_be_address
                && ["To ", "Done"].iter().all(|word| !word.as_bytes().starts_with(line));
        }
        has_begun |= is_address(line);
        let text = String::from_utf8_lossy(line);
        !is_address(line) && text.trim_end() != "Done" && pushed_ref(text.trim_end()).is_none()
    };
    let of_git =
        |line: &[u8], is_complete: bool| !line.starts_with(HIDDEN) && (is_complete || !HIDDEN.starts_with(line));
    Answer::of(command.stdin(Stdio::inherit()).show_lines(of_hook, of_git))
}

/// Reads `<flag>\t<from>:<to>\t<summary>`.
fn pushed_ref(line: &str) -> Option<PushedRef> {
    let mut parts = line.splitn(3, '\t');
    let (flag, names, summary) = (parts.next()?, parts.next()?, parts.next()?);
    let refname = names.rsplit_once(':')?.1.to_owned();
    let has = |causes: &[&str]| causes.iter().any(|cause| summary.contains(cause));
    let fate = match flag {
        "=" => PushFate::UpToDate,
        "!" if has(&["fetch first", "non-fast-forward", "stale info"]) => PushFate::Behind,
        "!" if has(&CONTENDED) => PushFate::Contended,
        "!" => PushFate::Refused,
        _ => PushFate::Moved,
    };
    Some(PushedRef::new(refname, fate, summary))
}

#[cfg(test)]
#[path = "../../tests/unit/git/pushed.rs"]
mod tests;
