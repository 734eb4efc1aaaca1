//! `git trace checkpoint breadcrumbs` and `add-breadcrumb`.

use crate::base::error::{Result, bail};
use serde_json::{Value, json};

use super::{ExitStatus, Place, brief};
use crate::app::ui::escaped;
use crate::memory::checkpoint::change::add_breadcrumb;
use crate::memory::checkpoint::edit::RowChange;
use crate::memory::checkpoint::folder::{checkpoints, find};
use crate::memory::checkpoint::follow::cost::{Cost, costs};
use crate::memory::checkpoint::follow::{Trail, trail_of};
use crate::memory::checkpoint::{Reference, ReferenceKind};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::total;
use crate::trace::{Item, Tip};

/// How much of a cell is shown.
const SHOWN_CELL: usize = 60;

/// List the breadcrumbs of a checkpoint: where to look for what it does not say
#[derive(clap::Args, Debug)]
pub(crate) struct BreadcrumbsArgs {
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
pub(crate) struct AddArgs {
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

impl BreadcrumbsArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let files = place.folder.files()?;
        let known = checkpoints(&files);
        let one = find(&known, self.checkpoint.as_deref())?;
        let (breadcrumbs, artifacts) = trail_of(&one.document);
        let costs = if self.cost {
            let encoding = place.context.encoding()?;
            let root = &place.folder.root;
            let trail = Trail { root, git: &place.git, breadcrumbs: &breadcrumbs, artifacts: &artifacts };
            Some(costs(&trail, &one.document, encoding)?)
        } else {
            None
        };
        if self.json {
            let row = |(at, one): (usize, &Reference)| {
                let mut value =
                    json!({ "number": at + 1, "type": one.kind, "reference": one.reference, "hint": one.hint });
                if let Some(cost) = costs.as_ref().and_then(|costs| costs.get(at)) {
                    value["row_tokens"] = cost.row.into();
                    value["followed_tokens"] = json!(cost.followed);
                }
                value
            };
            let rows = breadcrumbs.iter().enumerate().map(row).collect();
            place.ui.json(&Value::Array(rows))?;
            return Ok(ExitStatus::Success);
        }
        write_rows(place, &breadcrumbs, costs.as_deref())?;
        Ok(ExitStatus::Success)
    }
}

fn write_rows(place: &Place<'_>, breadcrumbs: &[Reference], costs: Option<&[Cost]>) -> Result<()> {
    let mut rows = Vec::with_capacity(breadcrumbs.len());
    for (at, one) in breadcrumbs.iter().enumerate() {
        let (number, kind) = (format!("#{}", at + 1), brief(&one.kind, 12));
        rows.push([number, kind, brief(&one.reference, SHOWN_CELL), brief(&one.hint, SHOWN_CELL)]);
    }
    let [number, kind, reference] =
        [0, 1, 2].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let Some(costs) = costs else {
        for row in &rows {
            let line = format!("{:number$}  {:kind$}  {:reference$}  {}", row[0], row[1], row[2], row[3]);
            writeln!(place.ui, "{}", line.trim_end())?;
        }
        return Ok(());
    };
    writeln!(place.ui, "{:number$}  {:>6}  {:>8}", "", "row", "followed")?;
    for (row, cost) in rows.iter().zip(costs) {
        let followed = cost.followed.map_or("-".to_owned(), |tokens| tokens.to_string());
        let line = format!("{:number$}  {:>6}  {followed:>8}  {:kind$}  {}", row[0], cost.row, row[1], row[2]);
        writeln!(place.ui, "{}", line.trim_end())?;
    }
    let in_rows: u64 = costs.iter().map(|cost| cost.row).sum();
    let in_all: u64 = costs.iter().filter_map(|cost| cost.followed).sum();
    place.ui.note(format!("tokens: {in_rows} in rows, {in_all} if all are followed"));
    Ok(())
}

impl AddArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let (kind, reference, hint) = match (&self.item, self.kind, &self.reference) {
            (Some(item), _, _) => of_item(place, item, &self.hint)?,
            (None, Some(kind), Some(reference)) => (kind, reference.clone(), self.hint.clone()),
            _ => bail!("a type and a reference are needed"),
        };
        let (path, change) = add_breadcrumb(&place.folder, self.checkpoint.as_deref(), kind, &reference, &hint)?;
        let word = match change {
            RowChange::Added => "added",
            RowChange::Updated => "updated",
            RowChange::Kept => "kept",
        };
        if self.json {
            place.ui.json(&json!({
                "path": path, "change": word, "type": kind.as_str(), "reference": reference, "hint": hint,
            }))?;
        } else {
            writeln!(place.ui, "{word} {kind} {} in {}", brief(&reference, 200), escaped(&path))?;
        }
        Ok(ExitStatus::Success)
    }
}

/// The breadcrumb that stands for an item of a trace.
fn of_item(place: &Place<'_>, spec: &str, hint: &str) -> Result<(ReferenceKind, String, String)> {
    let repo = place.context.repo()?;
    let name = place.context.trace_name(None)?;
    let tip = Tip::of_trace(repo, &name)?;
    let resolver = Resolver::new(repo, &name, &tip)?;
    let slot = resolver.live(spec)?;
    let item: Item = total::read_item(repo, slot)?;
    let (kind, reference, found) = crate::memory::checkpoint::item::breadcrumb(&item, &place.folder.root);
    Ok((kind, reference, if hint.is_empty() { found } else { hint.to_owned() }))
}
