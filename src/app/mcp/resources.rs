//! Resources: what is kept here, by address.
//!
//! ```text
//! trace://main                     a trace as a page to read
//! trace://main/3f9a1c2e            an item of it as JSON
//! breadcrumb://auth.method         a breadcrumb as JSON; secrets are read by name and not listed
//! crumb://memory/spark.crumb       a crumb file
//! checkpoint://checkpoints/a.md    a checkpoint
//! ```
//!
//! What an address has no letter for is percent-encoded: `crumb://my%20notes.crumb`, `trace://main/%2312`.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;

use super::place::Place;
use crate::base::bounded;
use crate::base::error::{Context as _, Result, bail};
use crate::git::Git;
use crate::materialize::envelope::{MessageFormat, render};
use crate::materialize::{Options, materialize};
use crate::memory::breadcrumb::{Query, StoreFile};
use crate::memory::checkpoint::{Folder, Pathspec};
use crate::trace::change::branch;
use crate::trace::model::json;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::settings::encoding;
use crate::trace::store::view::View;
use crate::trace::store::{settings, total};
use crate::trace::{Tip, TraceName};

/// How many of a kind are listed; a model is not helped by more, and the tools find the rest.
const MAX_LISTED: usize = 500;
/// What is encoded in an address: all but what RFC 3986 lets stand in a path as it is, and letters beyond ASCII too.
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

/// The resources that are there now.
pub(crate) fn list(place: &Place) -> Result<Vec<Resource>> {
    let one = |scheme: &str, name: &str, kind: &str| {
        Resource::new(format!("{scheme}://{}", utf8_percent_encode(name, ENCODED)), name).with_mime_type(kind)
    };
    let repo = place.repo()?;
    let traces = branch::list(&repo, encoding(&repo)?)?;
    let mut listed: Vec<Resource> =
        traces.iter().take(MAX_LISTED).map(|trace| one("trace", trace.name.as_str(), PLAIN)).collect();
    if place.root().is_err() {
        return Ok(listed);
    }
    let query = Query { limit: Some(MAX_LISTED), ..Query::default() };
    for record in place.store()?.list(&query, place.now())?.records {
        if StoreFile::of_key(&record.key) == StoreFile::Shared {
            listed.push(one("breadcrumb", &record.key, JSON));
        }
    }
    let found = Git::in_folder(place.root()?).run(&["ls-files", "-z", "-co", "--exclude-standard"])?;
    let crumbs = found.split(|b| *b == 0).filter_map(|path| std::str::from_utf8(path).ok());
    for path in crumbs.filter(|path| is_crumb(path)).take(MAX_LISTED) {
        listed.push(one("crumb", path, PLAIN));
    }
    let setting = settings::text(&repo, "trace.checkpoints")?;
    let folder = Folder { root: place.root()?.to_owned(), pathspec: Pathspec::new(setting.as_deref()) };
    for file in folder.files()?.iter().take(MAX_LISTED) {
        listed.push(one("checkpoint", &file.path, MARKDOWN));
    }
    Ok(listed)
}

/// The forms of addresses.
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

/// What an address leads to.
pub(crate) fn read(place: &Place, uri: &str) -> Result<ResourceContents> {
    let (scheme, rest) = uri.split_once("://").with_context(|| format!("`{uri}` is not an address"))?;
    let rest = &*percent_decode_str(rest).decode_utf8().with_context(|| format!("`{uri}` is not UTF-8"))?;
    let (text, kind) = match scheme {
        "trace" => trace(place, rest)?,
        "breadcrumb" => match place.store()?.lookup(rest, place.now())?.record {
            Some(record) => (serde_json::to_string(&record)?, JSON),
            None => bail!("there is no breadcrumb `{rest}`"),
        },
        "crumb" if is_crumb(rest) => (file(place, rest)?, PLAIN),
        "checkpoint" if is_markdown(rest) => (file(place, rest)?, MARKDOWN),
        _ => bail!("nothing has the address `{uri}`"),
    };
    Ok(ResourceContents::text(text, uri).with_mime_type(kind))
}

fn is_crumb(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|extension| extension == "crumb")
}

fn is_markdown(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|extension| extension == "md")
}

fn file(place: &Place, path: &str) -> Result<String> {
    let bytes = bounded::read_file(&place.file("uri", path)?).with_context(|| format!("cannot read `{path}`"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A trace, or, where the last part names no trace, an item of one.
fn trace(place: &Place, rest: &str) -> Result<(String, &'static str)> {
    let repo = place.repo()?;
    let name = rest.parse::<TraceName>();
    if let Ok(name) = &name
        && Tip::find(&repo, name)?.is_some()
    {
        let view = View::open(&repo, name, None)?;
        let materialized = materialize(&repo, &view, &Options::default(), encoding(&repo)?)?;
        let content = render(MessageFormat::Text, &materialized, None)?.content;
        return Ok((String::from_utf8_lossy(&content).into_owned(), PLAIN));
    }
    let Some((name, spec)) = rest.rsplit_once('/') else { bail!("no trace is named `{rest}`") };
    let name: TraceName = name.parse()?;
    let tip = Tip::of_trace(&repo, &name)?;
    let resolver = Resolver::new(&repo, &name, &tip)?;
    let item = total::read_item(&repo, resolver.live(spec)?)?;
    Ok((Value::Object(json::to_json(&item)).to_string(), JSON))
}
