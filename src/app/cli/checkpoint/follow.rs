//! `git trace checkpoint follow`.

use super::{ExitStatus, Place};
use crate::app::ui::escaped;
use crate::base::error::Result;
use crate::memory::checkpoint::folder::{checkpoints, find};
use crate::memory::checkpoint::follow::json::as_json;
use crate::memory::checkpoint::follow::{self, Followed, Trail, follow, trail_of};
use crate::memory::checkpoint::{CheckpointError, Reference, ReferenceKind};

/// Print what a breadcrumb refers to: the file, the function's source, the reason, the address
///
/// Nothing outside of the repository is read and nothing is fetched. A breadcrumb that leads nowhere is stale: that is said,
/// with its hint, and the breadcrumb stays.
#[derive(clap::Args, Debug)]
pub(crate) struct FollowArgs {
    /// Breadcrumb: its number (`#2`), what it refers to, or a part of that
    breadcrumb: String,

    /// Checkpoint it stands in [default: the current one]
    #[arg(short, long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,

    /// Follow this, whether a checkpoint has it or not: file, function or external
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<ReferenceKind>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl FollowArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let files = place.folder.files()?;
        let known = checkpoints(&files);
        let one = match find(&known, self.checkpoint.as_deref()) {
            Ok(one) => Some(one),
            // What is named with its type needs no checkpoint.
            Err(CheckpointError::NoCurrent) if self.kind.is_some() => None,
            Err(error) => return Err(error.into()),
        };
        let (breadcrumbs, artifacts) = one.map(|one| trail_of(&one.document)).unwrap_or_default();
        let named;
        let reference = match self.kind {
            Some(kind) => {
                let reference = self.breadcrumb.clone();
                named = Reference { kind: kind.to_string(), reference, hint: String::new(), span: 0..0 };
                &named
            }
            None => follow::find(&breadcrumbs, &self.breadcrumb)?,
        };
        let root = &place.folder.root;
        let trail = Trail { root, git: &place.git, breadcrumbs: &breadcrumbs, artifacts: &artifacts };
        let followed = follow(&trail, reference)?;
        if self.json {
            place.ui.json(&as_json(reference, &followed))?;
            return Ok(ExitStatus::Success);
        }
        write(place, reference, &followed)?;
        Ok(ExitStatus::Success)
    }
}

fn write(place: &Place<'_>, reference: &Reference, followed: &Followed) -> Result<()> {
    match followed {
        Followed::File { content, .. } => place.ui.write_content(content)?,
        Followed::Folder { names, .. } => {
            for name in names {
                writeln!(place.ui, "{}", escaped(name))?;
            }
        }
        Followed::Function(definitions) => {
            for (at, one) in definitions.iter().enumerate() {
                if definitions.len() > 1 {
                    let gap = if at == 0 { "" } else { "\n" };
                    place.ui.write_content(format!("{gap}{}:{}:\n", one.path, one.line).as_bytes())?;
                } else {
                    place.ui.note(format!("{}:{}", one.path, one.line));
                }
                place.ui.write_content(one.source.as_bytes())?;
            }
        }
        Followed::Decision(hint) => place.ui.write_content(format!("{hint}\n").as_bytes())?,
        Followed::External(address) => place.ui.write_content(format!("{address}\n").as_bytes())?,
        Followed::Stale(why) => {
            place.ui.note(format!("stale: {why}"));
            if !reference.hint.is_empty() {
                place.ui.write_content(format!("{}\n", reference.hint).as_bytes())?;
            }
        }
    }
    Ok(())
}
