//! Resources: stored data, by address.
//!
//! ```text
//! trace://main                     a trace as text
//! trace://main/3f9a1c2e            an item of it as JSON
//! breadcrumb://auth.method         a breadcrumb as JSON; secrets are read by name and not listed
//! crumb://memory/spark.crumb       a crumb file
//! checkpoint://checkpoints/a.md    a checkpoint
//! ```
//!
//! Other characters are percent-encoded: `crumb://my%20notes.crumb`, `trace://main/%2312`.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;

use super::file;
use super::tools::checkpoint::folder;
use crate::app::context::Context;
use crate::base::bounded;
use crate::base::error::{Context as _, Result, bail};
use crate::git::Git;
use crate::materialize::envelope::{MessageFormat, render};
use crate::materialize::{Options, materialize};
use crate::memory::breadcrumb::{Query, StoreFile};
use crate::trace::model::json;
use crate::trace::model::name::TRACES;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::total;
use crate::trace::store::view::View;
use crate::trace::{Tip, TraceName};

/// The most resources of a kind that are listed; more do not help a model, and the tools find the rest.
const MAX_LISTED: usize = 500;
/// The characters that are encoded in an address: all but those that RFC 3986 allows in a path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b'@')
    .remove(b'+')
    .remove(b',')
    .remove(b'=');
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
const PLAIN: &str = "text/plain";

pub(crate) fn list(context: &Context) -> Result<Vec<Resource>> {
    let one = |scheme: &str, name: &str, kind: &str| {
        Resource::new(format!("{scheme}://{}", utf8_percent_encode(name, ENCODED)), name).with_mime_type(kind)
    };
    let repo = context.repo()?;
    let traces = repo.list_refs(TRACES)?.into_iter().filter_map(|(refname, _)| TraceName::of_ref(&refname));
    let mut listed: Vec<Resource> = traces.take(MAX_LISTED).map(|name| one("trace", name.as_str(), PLAIN)).collect();
    let Ok(root) = context.root() else { return Ok(listed) };
    let query = Query { limit: Some(MAX_LISTED), ..Query::default() };
    for record in context.breadcrumbs(&root)?.list(&query, context.now())?.records {
        if StoreFile::of_key(&record.key) == StoreFile::Shared {
            listed.push(one("breadcrumb", &record.key, JSON));
        }
    }
    let found = Git::in_folder(&root).run(&["ls-files", "-z", "-co", "--exclude-standard"])?;
    let paths = found.split(|b| *b == 0).filter_map(|path| std::str::from_utf8(path).ok());
    let crumbs = paths.filter(|path| has_extension(path, "crumb")).take(MAX_LISTED);
    listed.extend(crumbs.map(|path| one("crumb", path, PLAIN)));
    listed
        .extend(folder(context)?.files()?.iter().take(MAX_LISTED).map(|file| one("checkpoint", &file.path, MARKDOWN)));
    Ok(listed)
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let forms = [
        ("trace://{name}", "trace", PLAIN),
        ("trace://{name}/{item}", "item", JSON),
        ("breadcrumb://{key}", "breadcrumb", JSON),
        ("crumb://{path}", "crumb file", PLAIN),
        ("checkpoint://{path}", "checkpoint", MARKDOWN),
    ];
    forms.into_iter().map(|(uri, name, kind)| ResourceTemplate::new(uri, name).with_mime_type(kind)).collect()
}

pub(crate) fn read(context: &Context, uri: &str) -> Result<ResourceContents> {
    let (scheme, rest) = uri.split_once("://").with_context(|| format!("`{uri}` is not an address"))?;
    let rest = &*percent_decode_str(rest).decode_utf8().with_context(|| format!("`{uri}` is not UTF-8"))?;
    let (text, kind) = match scheme {
        "trace" => trace(context, rest)?,
        "breadcrumb" => match context.breadcrumbs(&context.root()?)?.lookup(rest, context.now())?.record {
            Some(record) => (serde_json::to_string(&record)?, JSON),
            None => bail!("no breadcrumb has the key `{rest}`"),
        },
        "crumb" if has_extension(rest, "crumb") => (read_file(context, rest)?, PLAIN),
        "checkpoint" if has_extension(rest, "md") => (read_file(context, rest)?, MARKDOWN),
        _ => bail!("no resource has the address `{uri}`"),
    };
    Ok(ResourceContents::text(text, uri).with_mime_type(kind))
}

fn has_extension(path: &str, wanted: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == wanted)
}

fn read_file(context: &Context, path: &str) -> Result<String> {
    let bytes = bounded::read_file(&file(context, "uri", path)?).with_context(|| format!("cannot read `{path}`"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A trace or, if no trace has the name, an item of the trace that all but the last part names.
fn trace(context: &Context, rest: &str) -> Result<(String, &'static str)> {
    let repo = context.repo()?;
    let name = rest.parse::<TraceName>();
    if let Ok(name) = &name
        && Tip::find(repo, name)?.is_some()
    {
        let view = View::open(repo, name, None)?;
        let materialized = materialize(repo, &view, &Options::default(), context.counter()?)?;
        let content = render(MessageFormat::Text, &materialized, None)?.content;
        return Ok((String::from_utf8_lossy(&content).into_owned(), PLAIN));
    }
    let Some((name, spec)) = rest.rsplit_once('/') else { bail!("no trace is named `{rest}`") };
    let name: TraceName = name.parse()?;
    let tip = Tip::of_trace(repo, &name)?;
    let item = total::read_item(repo, Resolver::new(repo, &name, &tip)?.live(spec)?)?;
    Ok((Value::Object(json::to_json(&item)).to_string(), JSON))
}
