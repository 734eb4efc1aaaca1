//! `git trace checkpoint follow`.

use super::CheckpointContext;
use crate::app::cli::{Plain, Result};
use crate::memory::checkpoint::folder::{checkpoints, find};
use crate::memory::checkpoint::follow::{FollowContext, Followed, find_breadcrumb, follow};
use crate::memory::checkpoint::{CheckpointError, Reference, ReferenceKind};

/// Print what a breadcrumb refers to: file, source of a function, reason, or address
///
/// Nothing outside of the repository is read or fetched. If the target of a breadcrumb does not exist, the breadcrumb is
/// stale; the command says so and prints its hint.
#[derive(clap::Args, Debug)]
pub(crate) struct FollowArgs {
    /// Breadcrumb: its number (`#2`), its reference, or a part of the reference
    breadcrumb: String,
    /// Checkpoint that contains it [default: the current one]
    #[arg(short, long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,
    /// Follow this reference of the given type (file, function or external), even if no checkpoint contains it
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    kind: Option<ReferenceKind>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl FollowArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        let files = context.folder.files()?;
        let known = checkpoints(&files);
        let one = match find(&known, self.checkpoint.as_deref()) {
            Ok(one) => Some(one),
            // A path or id given with its type needs no checkpoint.
            Err(CheckpointError::NoCurrent) if self.kind.is_some() => None,
            Err(error) => return Err(error.into()),
        };
        let following = FollowContext::new(&context.folder.root, &context.git, one.map(|one| &one.document));
        let named;
        let reference = match self.kind {
            Some(kind) => {
                let reference = self.breadcrumb.clone();
                named = Reference { kind: kind.to_string(), reference, hint: String::new(), span: 0..0 };
                &named
            }
            None => find_breadcrumb(&following.breadcrumbs, &self.breadcrumb)?,
        };
        let followed = follow(&following, reference)?;
        if self.json {
            return context.ui.json(&followed.to_json(reference));
        }
        print(context, reference, &followed)
    }
}

fn print(context: &CheckpointContext<'_>, reference: &Reference, followed: &Followed) -> Result<()> {
    match followed {
        Followed::File { content, .. } => context.ui.write_content(content)?,
        Followed::Folder { names, .. } => {
            names.iter().try_for_each(|name| writeln!(context.ui, "{}", Plain(name)))?;
        }
        Followed::Function(definitions) => {
            for (at, one) in definitions.iter().enumerate() {
                if definitions.len() > 1 {
                    let gap = if at == 0 { "" } else { "\n" };
                    context.ui.write_content(format!("{gap}{}:{}:\n", Plain(&one.path), one.line))?;
                } else {
                    context.ui.note(format!("{}:{}", one.path, one.line));
                }
                context.ui.write_content(one.source.as_bytes())?;
            }
        }
        Followed::Decision(hint) => context.ui.write_content(format!("{hint}\n"))?,
        Followed::External(address) => context.ui.write_content(format!("{address}\n"))?,
        Followed::Stale(why) | Followed::NotFound(why) => {
            let what = if matches!(followed, Followed::Stale(_)) { "stale" } else { "not found" };
            context.ui.note(format!("{what}: {why}"));
            if !reference.hint.is_empty() {
                context.ui.write_content(format!("{}\n", reference.hint))?;
            }
        }
    }
    Ok(())
}
