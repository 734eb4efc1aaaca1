//! `git trace breadcrumb set` and `rename`.

use std::path::PathBuf;

use super::{BreadcrumbContext, shown_value};
use crate::app::breadcrumbs::stored_value;
use crate::app::cli::flags::content::read;
use crate::app::cli::{Error, Result, Values, bail, json};
use crate::app::secrets::{Caller, refuse_secret_breadcrumb};
use crate::base::when::{Clock, InvalidWhen, When};
use crate::memory::breadcrumb::store::write::{Expiry, SetRequest};
use crate::memory::breadcrumb::{Key, namespace, namespace_of};

/// Set a breadcrumb, or update an existing one
///
/// An update keeps the creation time, the task unless one is given, and members that this version does not know.
#[derive(clap::Args, Debug)]
pub(crate) struct SetArgs {
    /// Key: letters, digits, dots and underscores, such as `auth.method`
    key: Key,
    /// Value, of at most 10 KiB
    #[arg(required_unless_present = "file", allow_hyphen_values = true, value_parser = not_stdin)]
    value: Option<String>,
    /// Read the value from a file, without its last line ending (`-` is stdin)
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "value")]
    file: Option<PathBuf>,
    /// Task in which it was learned
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..))]
    task_id: Option<i64>,
    /// When it expires: a time, such as `tomorrow`, `30d` (in 30 days), or `2027-01-01`, or `never`
    #[arg(long, value_name = "TIME", value_parser = until)]
    expires: Option<Until>,
    /// Set a member of the `metadata` of the record; an empty value removes it
    #[arg(long, value_name = "NAME=VALUE", value_parser = member)]
    metadata: Vec<(String, String)>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Somebody who pipes a secret to `set KEY -` expects that it is read.
fn not_stdin(text: &str) -> Result<String, String> {
    if text == "-" { Err("`-` does not mean stdin here; use `-F -`".to_owned()) } else { Ok(text.to_owned()) }
}

fn member(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

#[derive(Clone, Copy, Debug)]
enum Until {
    Never,
    At(When),
}

fn until(text: &str) -> Result<Until, InvalidWhen> {
    if text == "never" { Ok(Until::Never) } else { text.parse().map(Until::At) }
}

/// Change the key of a breadcrumb
#[derive(clap::Args, Debug)]
pub(crate) struct RenameArgs {
    /// Current key
    #[arg(add = Values::Keys)]
    from: String,
    /// New key
    to: Key,
    /// Replace a breadcrumb that already has the new key
    #[arg(long)]
    force: bool,
}

impl SetArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<()> {
        let value = self.value()?;
        refuse_secret_breadcrumb(Caller::Person, self.key.as_str(), &value)?;
        self.metadata
            .iter()
            .try_for_each(|(_, value)| refuse_secret_breadcrumb(Caller::Person, self.key.as_str(), value))?;
        let now = context.now();
        let expiry = match self.expires {
            None => Expiry::Kept,
            Some(Until::Never) => Expiry::Never,
            Some(Until::At(when)) => Expiry::not_past(when.after(&Clock { now, ..context.clock() })?, now)?,
        };
        let value = stored_value(context, self.key.as_str(), &value)?;
        let setting =
            SetRequest { key: &self.key, value: &value, task_id: self.task_id, expiry, metadata: &self.metadata };
        let set = context.write(|writer| Ok(writer.set(&setting, now)?))?;
        if self.json {
            context.ui.json(&json!({
                "success": true, "key": set.record.key, "created": set.is_new, "updated_at": set.record.updated_at,
            }))?;
        } else {
            context.ui.write_content(format!("{} = {}\n", set.record.key, shown_value(&set.record, 60)))?;
        }
        context.warn_bad_times([&set.record]);
        if set.is_new {
            warn(context, self.key.as_str());
        }
        Ok(())
    }

    fn value(&self) -> Result<String> {
        if let Some(value) = &self.value {
            return Ok(value.clone());
        }
        let bytes = read(self.file.as_deref().unwrap_or("-".as_ref()))?;
        let Ok(value) = String::from_utf8(bytes) else { bail!("the value is not UTF-8") };
        let line = value.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        Ok(line.unwrap_or(&value).to_owned())
    }
}

fn warn(context: &BreadcrumbContext<'_>, key: &str) {
    match context.store.namespaces() {
        Ok(namespaces) if !namespaces.contains(key) => {
            let name = namespace_of(key);
            let text = format!("the namespace `{name}` is neither standard nor declared; {}", namespace::remedy(name));
            context.ui.note(format!("warning: {text}"));
        }
        Ok(_) => {}
        Err(error) => context.ui.note(format!("warning: {:#}", Error::from(error))),
    }
}

impl RenameArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<()> {
        // A value that was kept out of git may get a key that is committed.
        if let Some(record) = context.store.lookup(&self.from, context.now())?.record {
            refuse_secret_breadcrumb(Caller::Person, self.to.as_str(), &record.value)?;
        }
        let record = context.write(|writer| Ok(writer.rename(&self.from, &self.to, self.force, context.now())?))?;
        context.warn_bad_times([&record]);
        context.ui.write_content(format!("{} -> {}\n", self.from, self.to.as_str()))?;
        warn(context, self.to.as_str());
        Ok(())
    }
}
