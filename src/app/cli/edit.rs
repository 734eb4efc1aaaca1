//! `git trace edit`: an item's content is replaced.

use serde_json::{Map, Value};

use super::budget::BudgetArgs;
use super::input::{ContentArgs, key_value, meta_value};
use super::ui::{ID, escaped};
use super::{ExitStatus, Session};
use crate::base::error::{Context as _, Result};
use crate::trace::change::edit::{self, Edited, Patch, apply};
use crate::trace::model::trailers::preview;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::total::read_item;
use crate::trace::store::write::Signature;
use crate::trace::{ItemType, Tip};

/// Replace the content of an item; its id and its place stay
///
/// Fields that are not given are kept, a provider's signature excepted: it signed what was there before.
#[derive(clap::Args, Debug)]
pub(crate) struct EditArgs {
    /// Item: its id or four digits of it, #<position>, or a commit that touched it
    item: String,

    #[command(flatten)]
    content: ContentArgs,

    /// New type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    item_type: Option<ItemType>,

    /// Field to set, such as name=x or status=error
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,

    /// Entry of the open dictionary to set; the value may be JSON
    #[arg(long = "meta", value_name = "KEY=VALUE", value_parser = key_value)]
    meta: Vec<(String, String)>,

    /// First line of the commit, in place of a preview of the content
    #[arg(short = 's', long, value_name = "TEXT")]
    subject: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,

    #[command(flatten)]
    budget: BudgetArgs,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(session: &mut Session, args: &EditArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let tip = Tip::of_trace(repo, &name)?;
    let resolver = Resolver::new(repo, &name, &tip)?;
    let slot = resolver.live(&args.item)?.clone();

    let mut fields: Vec<(String, Value)> = Vec::new();
    for (field, value) in &args.set {
        let value = match field.as_str() {
            "reply_to" => resolver.item(value).context("nothing to reply to")?.to_string(),
            _ => value.clone(),
        };
        fields.push((field.clone(), Value::String(value)));
    }
    if let Some(item_type) = &args.item_type {
        fields.push(("type".to_owned(), Value::String(item_type.to_string())));
    }
    if !args.meta.is_empty() {
        let mut meta: Map<String, Value> = read_item(repo, &slot)?.fields.meta;
        meta.extend(args.meta.iter().map(|(key, value)| (key.clone(), meta_value(value))));
        fields.push(("meta".to_owned(), Value::Object(meta)));
    }
    let body = match args.content.read()? {
        Some(body) => Some(body),
        None if !fields.is_empty() => None,
        None => Some(args.content.read_or_edit(session, &read_item(repo, &slot)?.body)?),
    };
    let patch = Patch { body, fields, subject: args.subject.clone(), reason: args.reason.clone() };
    let signature = Signature::take(repo, session.now())?;
    let guard = args.budget.guard(session)?;
    let edited = apply(repo, &name, &signature, &guard, |warning| session.ui.note(warning), (slot.id, patch))?;
    if args.json {
        session.ui.json_line(&edit::to_json(&edited))?;
        return Ok(ExitStatus::Success);
    }
    let Edited { item, seq, commit } = edited;
    session.ui.settle_colour(&session.repo)?;
    let id = session.ui.styled(ID, &item.id.to_string());
    let subject = args.subject.clone().unwrap_or_else(|| preview(&item));
    let what = match commit {
        Some(_) => format!("revision {}: {}", item.revision, escaped(&subject)),
        None => "unchanged: this text is there already".to_owned(),
    };
    writeln!(session.ui.out(), "[{name} #{seq}] {what} {id}")?;
    Ok(ExitStatus::Success)
}
