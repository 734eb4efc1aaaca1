//! `git trace init`: chooses the name that the first commit will create.

use crate::app::cli::{Context, Error, Result};
use crate::trace::store::head;
use crate::trace::{Tip, TraceName};

/// Create an empty trace and make it the current one
///
/// The first commit creates its ref. A first commit without `init` creates the trace `main`.
#[derive(clap::Args, Debug)]
pub(crate) struct InitArgs {
    /// Name of the new trace [default: main]
    name: Option<TraceName>,
}

impl InitArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let name = match self.name.as_ref().or(context.named_trace()?.as_ref()) {
            Some(name) => name.clone(),
            None => TraceName::default_name(),
        };
        if Tip::find(context.repo()?, &name)?.is_some() {
            let hint = format!("`git trace switch {name}` makes it the current one");
            return Err(Error::with_hint(format!("trace `{name}` already exists"), hint));
        }
        head::switch(context.repo()?, &name)?;
        writeln!(context.ui, "The current trace is `{name}`; its first commit creates it.")?;
        Ok(())
    }
}
