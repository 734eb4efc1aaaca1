//! What breadcrumbs cost, and what following them would.

use super::{FollowError, Followed, Trail, follow};
use crate::memory::checkpoint::document::Document;
use crate::tokens::Encoding;

/// What one breadcrumb costs, in tokens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cost {
    /// The row itself, as it stands in the checkpoint.
    pub row: u64,
    /// What following it would print; `None` where that is not in the repository, or is stale.
    pub followed: Option<u64>,
}

/// The costs of the breadcrumbs of a checkpoint, in their order. Every one of them is followed.
///
/// # Errors
///
/// [`FollowError::Git`]; what leads out of the repository has no cost.
pub(crate) fn costs(trail: &Trail<'_>, document: &Document<'_>, encoding: Encoding) -> Result<Vec<Cost>, FollowError> {
    let cost = |reference: &crate::memory::checkpoint::Reference| {
        let row = encoding.count(document.text[reference.span.clone()].as_bytes());
        let followed = match follow(trail, reference) {
            Ok(followed) => content(&followed).map(|text| encoding.count(&text)),
            Err(FollowError::Git(error)) => return Err(FollowError::Git(error)),
            Err(_) => None,
        };
        Ok(Cost { row, followed })
    };
    trail.breadcrumbs.iter().map(cost).collect()
}

fn content(followed: &Followed) -> Option<Vec<u8>> {
    match followed {
        Followed::File { content, .. } => Some(content.clone()),
        Followed::Folder { names, .. } => Some(names.join("\n").into_bytes()),
        Followed::Function(definitions) => {
            let sources: Vec<_> = definitions.iter().map(|one| one.source.as_str()).collect();
            Some(sources.join("\n").into_bytes())
        }
        Followed::Decision(hint) => Some(hint.clone().into_bytes()),
        // What is behind the address is not known, and not fetched.
        Followed::External(_) | Followed::Stale(_) => None,
    }
}
