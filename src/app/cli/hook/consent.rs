//! Tells the user once per repository that its sessions are recorded, or how they can be.

use std::path::PathBuf;

use crate::git::Repo;
use crate::transcript::import::told::{Message, remember};

pub(super) fn tell_recording(repo: &Repo) -> Option<String> {
    let place = place(repo);
    remember(repo, Message::Recording).then(|| {
        format!(
            "git-trace: sessions in this repository are recorded with prompts, answers, and outputs of tools, in `{place}` under \
             refs/traces/. They stay on this machine until you push them. `git trace sessions` lists them, and \
             `git trace disable` stops recording."
        )
    })
}

pub(super) fn tell_asking(repo: &Repo) -> Option<String> {
    let place = place(repo);
    remember(repo, Message::Asking).then(|| {
        format!(
            "git-trace: sessions in this repository are not recorded. `git trace enable` records them with prompts, \
             answers, and outputs of tools, in `{place}` under refs/traces/."
        )
    })
}

/// The git folder, without the slash at its end.
fn place(repo: &Repo) -> String {
    repo.common_dir().components().collect::<PathBuf>().display().to_string()
}
