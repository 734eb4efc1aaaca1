//! `git trace edit`: an item's content is replaced.

use serde_json::{Map, Value};

use crate::app::cli::flags::content::{
    BudgetArgs, ContentArgs, Editor, field_name, field_value, keep, key_value, meta_value,
};
use crate::app::cli::{Context, Error, ErrorContext as _, Result, Values, escaped};
use crate::trace::change::append::Committed;
use crate::trace::change::edit::{self, Patch};
use crate::trace::model::schema::SchemaError;
use crate::trace::model::trailers::preview;
use crate::trace::query::select::select_one;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::tombstone::require_no_purge;
use crate::trace::store::total::read_item;
use crate::trace::{ItemType, TraceError};

/// Replace the content of an item; its id and position stay
///
/// Fields that are not given are kept, except the signature of a provider, which is valid only for the old content.
#[derive(clap::Args, Debug)]
pub(crate) struct EditArgs {
    /// Item: #7 (position), id or at least four digits of it, @3 (turn) or a commit that changed it, if that is one item
    #[arg(add = Values::Items)]
    item: String,
    #[command(flatten)]
    content: ContentArgs,
    /// New type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    item_type: Option<ItemType>,
    /// Field to set, such as name=x or status=error
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = field_value)]
    set: Vec<(String, String)>,
    /// Field to drop, such as role, which a new type may not have; `meta` drops all metadata
    #[arg(long, value_name = "FIELD", value_parser = field_name)]
    unset: Vec<String>,
    /// Metadata entry to set; the value may be JSON
    #[arg(long = "meta", value_name = "KEY=VALUE", value_parser = key_value)]
    meta: Vec<(String, String)>,
    /// First line of the commit message [default: a preview of the content]
    #[arg(short = 's', long, value_name = "TEXT")]
    subject: Option<String>,
    /// Reason
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl EditArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (repo, name, tip) = context.current(None)?;
        let resolver = Resolver::new(repo, &name, &tip)?;
        let id = select_one(repo, &name, &tip, &self.item)?;
        let slot = resolver.find_live(id).ok_or_else(|| TraceError::NotLive { item: id, trace: name.clone() })?.clone();

        let item_type = self.item_type.iter().map(|item_type| ("type".to_owned(), item_type.to_string().into()));
        let unset = self.unset.iter().map(|field| (field.clone(), Value::Null));
        let mut fields: Vec<(String, Value)> = item_type.chain(unset).collect();
        for (field, value) in &self.set {
            let value = match field.as_str() {
                "reply_to" => resolver.item(value).context("nothing to reply to")?.to_string(),
                _ => value.clone(),
            };
            fields.push((field.clone(), Value::String(value)));
        }
        if !self.meta.is_empty() {
            let mut meta: Map<String, Value> = read_item(repo, &slot)?.fields.meta;
            meta.extend(self.meta.iter().map(|(key, value)| (key.clone(), meta_value(value))));
            fields.push(("meta".to_owned(), Value::Object(meta)));
        }
        let given = self.content.read()?;
        let is_shown = given.is_none() && fields.is_empty();
        let body = match given {
            None if is_shown => Some(self.content.read_or_edit(context, &read_item(repo, &slot)?.body)?),
            given => given,
        };
        let edited = body.clone().filter(|_| is_shown);
        let made_of = (is_shown || !self.meta.is_empty()).then_some(slot.blob);
        let patch = Patch { body, fields, subject: self.subject.clone(), reason: self.reason.clone(), made_of };
        let warn = |warning: &str| context.ui.note(warning);
        let trace = context.open(&name)?.with_budget(self.budget.policy(context)?).with_warnings(&warn);
        // The user's editor needs no guard: a purge of the item would have changed its file.
        let _no_purge = if is_shown { None } else { Some(require_no_purge(repo)?) };
        let edited = trace.edit(slot.id, patch).map_err(|error| match error {
            TraceError::Schema(SchemaError::NoSuchField { ref field, .. }) => {
                let hint = format!("`--unset {field}` drops it");
                Error::with_hint(error.to_string(), hint)
            }
            TraceError::Changed { .. } => match edited.and_then(|text| keep(repo, Editor::Message, &text).ok()) {
                Some(path) => Error::with_hint(error.to_string(), format!("your text is in `{}`", path.display())),
                None => error.into(),
            },
            error => error.into(),
        })?;
        if self.json {
            return context.ui.json(&edit::to_json(&edited));
        }
        let Committed { item, seq, commit, .. } = edited;
        let subject = self.subject.clone().unwrap_or_else(|| preview(&item));
        let what = match commit {
            Some(_) => format!("revision {}: {}", item.revision, escaped(&subject)),
            None => "unchanged: the trace already has this text".to_owned(),
        };
        writeln!(context.ui, "[{name} #{seq}] {what} {}", context.ui.id(item.id))
    }
}
