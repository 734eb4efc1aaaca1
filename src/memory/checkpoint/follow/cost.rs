//! The tokens of breadcrumbs and of their targets.

use super::{FollowContext, FollowError, Followed, follow};
use crate::memory::checkpoint::document::{Document, Reference};
use crate::tokens::Counter;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TokenCost {
    pub row: u64,
    /// What following the breadcrumb prints; `None` if it is stale or outside of the repository.
    pub followed: Option<u64>,
}

/// Counts the tokens of all breadcrumbs of a checkpoint, in order. This follows every one of them.
pub(crate) fn token_costs(
    context: &FollowContext<'_>,
    document: &Document<'_>,
    counter: Counter,
) -> Result<Vec<TokenCost>, FollowError> {
    let cost = |reference: &Reference| {
        let row = counter.count(document.text[reference.span.clone()].as_bytes());
        let followed = match follow(context, reference) {
            Ok(followed) => content(&followed).map(|text| counter.count(&text)),
            Err(FollowError::Git(error)) => return Err(FollowError::Git(error)),
            Err(_) => None,
        };
        Ok(TokenCost { row, followed })
    };
    context.breadcrumbs.iter().map(cost).collect()
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
        // Addresses are not fetched, so their size is unknown.
        Followed::External(_) | Followed::Stale(_) | Followed::NotFound(_) => None,
    }
}
