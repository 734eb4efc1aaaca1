//! `git trace breadcrumb set` and `rename`.

use std::path::PathBuf;
use std::str::FromStr;

use serde_json::json;

use super::{ExitStatus, Place, brief_value};
use crate::app::cli::input;
use crate::app::secrets::refuse_secret_breadcrumb;
use crate::base::error::{Error, Result, bail};
use crate::memory::breadcrumb::key::namespace;
use crate::memory::breadcrumb::query::{BadMoment, Moment};
use crate::memory::breadcrumb::store::LARGE_FILE_LEN;
use crate::memory::breadcrumb::writer::{Existing, Expiry, SetRequest};
use crate::memory::breadcrumb::{Key, StoreFile, Writer};

/// How much of a value is shown when it was set.
const SHOWN_VALUE: usize = 60;

/// Set a breadcrumb, or update an old one
///
/// An update keeps when it was created, its task unless one is given, and members this version does not know.
#[derive(clap::Args, Debug)]
pub(crate) struct SetArgs {
    /// Key: letters, digits, dots and underscores, such as `auth.method`
    key: Key,

    /// Value, of at most 10 KiB
    #[arg(required_unless_present = "file", allow_hyphen_values = true)]
    value: Option<String>,

    /// Take the value from a file without its last line end (`-` is stdin)
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "value")]
    file: Option<PathBuf>,

    /// Task that found it out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    task_id: Option<i64>,

    /// Until when it is to be read: an age from now (30d, 12h), a time, or `never`
    #[arg(long, value_name = "WHEN")]
    expires: Option<Until>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Until when a breadcrumb is to be read, as people write it.
#[derive(Clone, Copy, Debug)]
enum Until {
    Never,
    At(Moment),
}

impl FromStr for Until {
    type Err = BadMoment;

    fn from_str(text: &str) -> Result<Self, BadMoment> {
        if text == "never" { Ok(Self::Never) } else { text.parse().map(Self::At) }
    }
}

/// Give a breadcrumb another key
#[derive(clap::Args, Debug)]
pub(crate) struct RenameArgs {
    /// Key it has
    from: String,

    /// Key it is to have
    to: Key,

    /// Replace what has that key already
    #[arg(long)]
    force: bool,
}

pub(crate) fn run_set(place: &mut Place<'_>, args: &SetArgs) -> Result<ExitStatus> {
    let value = value(args)?;
    refuse_secret_breadcrumb(args.key.as_str(), &value)?;
    let now = place.now();
    let expiry = match args.expires {
        None => Expiry::Kept,
        Some(Until::Never) => Expiry::Never,
        Some(Until::At(moment)) => Expiry::At(moment.after(now)),
    };
    let is_ignored = place.is_ignored();
    let writer = Writer::new(&place.store, &is_ignored, Writer::PATIENCE);
    let setting = SetRequest { key: &args.key, value: &value, task_id: args.task_id, expiry };
    let set = writer.set(&setting, now)?;
    if args.json {
        place.ui.json_line(&json!({
            "success": true, "key": set.record.key, "created": set.is_new, "updated_at": set.record.updated_at,
        }))?;
    } else {
        let line = format!("{} = {}\n", set.record.key, brief_value(&set.record, SHOWN_VALUE));
        place.ui.write_content(line.as_bytes())?;
    }
    warn(place, args.key.as_str(), set.file_len);
    Ok(ExitStatus::Success)
}

fn value(args: &SetArgs) -> Result<String> {
    let bytes = match (&args.value, &args.file) {
        (Some(value), _) => return Ok(value.clone()),
        (None, Some(path)) => input::read(path)?,
        (None, None) => input::read_stdin()?,
    };
    let Ok(mut value) = String::from_utf8(bytes) else { bail!("the value is not UTF-8") };
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
    Ok(value)
}

/// Says what a keeper of the store should know after a write.
fn warn(place: &Place<'_>, key: &str, file_len: u64) {
    match place.store.namespaces() {
        Ok(namespaces) if !namespaces.know(key) => {
            let name = namespace(key);
            place.ui.note(&format!(
                "warning: the namespace `{name}` is neither standard nor declared in `.synapse/config.json`"
            ));
        }
        Ok(_) => {}
        Err(error) => place.ui.note(&format!("warning: {:#}", Error::from(error))),
    }
    if file_len > LARGE_FILE_LEN {
        let file = place.shown(StoreFile::of_key(key));
        place.ui.note(&format!("warning: `{file}` has {file_len} bytes, more than 1 MiB; delete what nobody needs"));
    }
}

pub(crate) fn run_rename(place: &mut Place<'_>, args: &RenameArgs) -> Result<ExitStatus> {
    let is_ignored = place.is_ignored();
    let writer = Writer::new(&place.store, &is_ignored, Writer::PATIENCE);
    let existing = if args.force { Existing::Replaced } else { Existing::Refused };
    writer.rename(&args.from, &args.to, existing, place.now())?;
    place.ui.write_content(format!("{} -> {}\n", args.from, args.to).as_bytes())?;
    warn(place, args.to.as_str(), 0);
    Ok(ExitStatus::Success)
}
