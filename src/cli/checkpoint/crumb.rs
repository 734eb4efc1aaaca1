//! `git trace checkpoint breadcrumbs` and `add-breadcrumb`.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{ExitStatus, Place, brief};
use crate::checkpoint::change::add_breadcrumb;
use crate::checkpoint::edit::RowChange;
use crate::checkpoint::folder::{checkpoints, find};
use crate::checkpoint::follow::cost::{Cost, costs};
use crate::checkpoint::follow::{Trail, trail_of};
use crate::checkpoint::{Reference, ReferenceKind};
use crate::cli::ui::escaped;
use crate::git::Repo;
use crate::trace::resolve::Resolver;
use crate::trace::write::encoding;
use crate::trace::{Item, Tip, head, total};

/// How much of a cell is shown.
const SHOWN_CELL: usize = 60;

/// List the breadcrumbs of a checkpoint: where to look for what it does not say
#[derive(clap::Args, Debug)]
pub(super) struct BreadcrumbsArgs {
    /// Checkpoint [default: the current one]
    checkpoint: Option<String>,

    /// With the tokens that each row takes, and those that following it would
    #[arg(long)]
    cost: bool,

    /// As a JSON array
    #[arg(long)]
    json: bool,
}

/// Add a breadcrumb to a checkpoint, or give one another hint
#[derive(clap::Args, Debug)]
pub(super) struct AddArgs {
    /// Type: file, function, decision or external
    #[arg(required_unless_present = "item", requires = "reference")]
    kind: Option<ReferenceKind>,

    /// What it refers to: a path, `module.name()`, a decision, an address
    reference: Option<String>,

    /// What is to be found there
    #[arg(default_value = "", hide_default_value = true)]
    hint: String,

    /// Make it of an item of the trace: the file it is about, or else the item itself
    #[arg(long, value_name = "ITEM", conflicts_with_all = ["kind", "reference"])]
    item: Option<String>,

    /// Checkpoint [default: the current one]
    #[arg(short, long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &mut Place<'_>, args: &BreadcrumbsArgs) -> Result<ExitStatus> {
    let files = place.folder.files()?;
    let known = checkpoints(&files);
    let one = find(&known, args.checkpoint.as_deref())?;
    let (breadcrumbs, artifacts) = trail_of(&one.document);
    let costs = if args.cost {
        let encoding = encoding(&Repo::open_from_env(place.env.clone())?)?;
        let root = &place.folder.root;
        let trail = Trail { root, git: &place.git, breadcrumbs: &breadcrumbs, artifacts: &artifacts };
        Some(costs(&trail, &one.document, encoding)?)
    } else {
        None
    };
    if args.json {
        let row = |(at, one): (usize, &Reference)| {
            let mut value = json!({ "number": at + 1, "type": one.kind, "reference": one.reference, "hint": one.hint });
            if let Some(cost) = costs.as_ref().and_then(|costs| costs.get(at)) {
                value["row_tokens"] = cost.row.into();
                value["followed_tokens"] = json!(cost.followed);
            }
            value
        };
        let rows = breadcrumbs.iter().enumerate().map(row).collect();
        place.ui.json_line(&Value::Array(rows))?;
        return Ok(ExitStatus::Success);
    }
    write_rows(place, &breadcrumbs, costs.as_deref())?;
    Ok(ExitStatus::Success)
}

fn write_rows(place: &mut Place<'_>, breadcrumbs: &[Reference], costs: Option<&[Cost]>) -> Result<()> {
    let mut rows = Vec::with_capacity(breadcrumbs.len());
    for (at, one) in breadcrumbs.iter().enumerate() {
        let cost = costs.and_then(|costs| costs.get(at));
        let followed = cost.map(|cost| cost.followed.map_or("-".to_owned(), |tokens| tokens.to_string()));
        rows.push((
            format!("#{}", at + 1),
            cost.map(|cost| cost.row.to_string()).unwrap_or_default(),
            followed.unwrap_or_default(),
            brief(&one.kind, 12),
            brief(&one.reference, SHOWN_CELL),
            brief(&one.hint, SHOWN_CELL),
        ));
    }
    let width = |column: fn(&(String, String, String, String, String, String)) -> &str, head: usize| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0).max(head)
    };
    let number = width(|row| &row.0, 0);
    let (kind, reference) = (width(|row| &row.3, 0), width(|row| &row.4, 0));
    if costs.is_some() {
        let (tokens, followed) = (width(|row| &row.1, 3), width(|row| &row.2, 8));
        writeln!(place.ui.out(), "{:number$}  {:>tokens$}  {:>followed$}", "", "row", "followed")?;
        for row in &rows {
            let line =
                format!("{:number$}  {:>tokens$}  {:>followed$}  {:kind$}  {}", row.0, row.1, row.2, row.3, row.4);
            writeln!(place.ui.out(), "{}", line.trim_end())?;
        }
        let (row_sum, followed_sum) = costs
            .unwrap_or_default()
            .iter()
            .fold((0, 0), |(rows, followed), cost| (rows + cost.row, followed + cost.followed.unwrap_or(0)));
        place.ui.note(&format!("tokens: {row_sum} in rows, {followed_sum} if all are followed"));
        return Ok(());
    }
    for row in &rows {
        let line = format!("{:number$}  {:kind$}  {:reference$}  {}", row.0, row.3, row.4, row.5);
        writeln!(place.ui.out(), "{}", line.trim_end())?;
    }
    Ok(())
}

pub(super) fn run_add(place: &mut Place<'_>, args: &AddArgs) -> Result<ExitStatus> {
    let (kind, reference, hint) = match (&args.item, args.kind, &args.reference) {
        (Some(item), _, _) => of_item(place, item, &args.hint)?,
        (None, Some(kind), Some(reference)) => (kind, reference.clone(), args.hint.clone()),
        _ => bail!("a type and a reference are needed"),
    };
    let (path, change) = add_breadcrumb(&place.folder, args.checkpoint.as_deref(), kind, &reference, &hint)?;
    let word = match change {
        RowChange::Added => "added",
        RowChange::Updated => "updated",
        RowChange::Kept => "kept",
    };
    if args.json {
        place.ui.json_line(&json!({
            "path": path, "change": word, "type": kind.as_str(), "reference": reference, "hint": hint,
        }))?;
    } else {
        writeln!(place.ui.out(), "{word} {kind} {} in {}", brief(&reference, 200), escaped(&path))?;
    }
    Ok(ExitStatus::Success)
}

/// The breadcrumb that stands for an item of a trace.
fn of_item(place: &Place<'_>, spec: &str, hint: &str) -> Result<(ReferenceKind, String, String)> {
    let repo = Repo::open_from_env(place.env.clone())?;
    let name = match (&place.trace, place.env.text("GITTRACE_NAME")) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => name.parse()?,
        (None, None) => head::current(&repo)?,
    };
    let tip = Tip::of_trace(&repo, &name)?;
    let resolver = Resolver::new(&repo, &name, &tip)?;
    let slot = resolver.live(spec)?;
    let item: Item = total::read_item(&repo, slot)?;
    let (kind, reference, found) = crate::checkpoint::item::breadcrumb(&item, &place.folder.root);
    Ok((kind, reference, if hint.is_empty() { found } else { hint.to_owned() }))
}
