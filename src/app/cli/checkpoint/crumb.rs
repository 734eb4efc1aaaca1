//! `git trace checkpoint breadcrumbs` and `add-breadcrumb`.

use super::CheckpointContext;
use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Error, Plain, Result, Ui, bail, json, one_line};
use crate::app::secrets::{Caller, refuse_secret_text};
use crate::memory::checkpoint::folder::{checkpoints, find};
use crate::memory::checkpoint::follow::cost::{TokenCost, token_costs};
use crate::memory::checkpoint::follow::{FollowContext, is_stale};
use crate::memory::checkpoint::lifecycle::{add_breadcrumb, item, remove_breadcrumb};
use crate::memory::checkpoint::{Reference, ReferenceKind};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::total;

const SHOWN_CELL: usize = 60;

/// List the breadcrumbs of a checkpoint, which lead to further information
#[derive(clap::Args, Debug)]
pub(crate) struct BreadcrumbsArgs {
    /// Checkpoint [default: the current one]
    checkpoint: Option<String>,
    /// List only those whose target does not exist
    #[arg(long, conflicts_with = "cost")]
    stale: bool,
    /// Show the tokens of each row, and those of its target
    #[arg(long)]
    cost: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

/// Add a breadcrumb to a checkpoint, or change the hint of one
#[derive(clap::Args, Debug)]
pub(crate) struct AddArgs {
    /// Type: file, function, decision or external
    #[arg(required_unless_present = "item", requires = "reference")]
    kind: Option<ReferenceKind>,
    /// Reference: a path, `module.name()`, a decision, an address
    reference: Option<String>,
    /// Hint about what the reference leads to
    #[arg(default_value = "", hide_default_value = true)]
    hint: String,
    /// Refer to an item of the trace: its file, or else the item itself
    #[arg(long, value_name = "ITEM", conflicts_with_all = ["kind", "reference"])]
    item: Option<String>,
    /// Checkpoint [default: the current one]
    #[arg(short, long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Remove a breadcrumb from a checkpoint
#[derive(clap::Args, Debug)]
pub(crate) struct RemoveArgs {
    /// Breadcrumb: its number (`#2`), its reference, or a part of the reference
    breadcrumb: String,
    /// Checkpoint [default: the current one]
    #[arg(short, long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl BreadcrumbsArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        self.nul.apply(context);
        let files = context.folder.files()?;
        let known = checkpoints(&files);
        let one = find(&known, self.checkpoint.as_deref())?;
        let following = FollowContext::new(&context.folder.root, &context.git, Some(&one.document));
        let breadcrumbs = &following.breadcrumbs;
        let costs = self.cost.then(|| token_costs(&following, &one.document, context.counter()?).map_err(Error::from));
        let costs = costs.transpose()?;
        let is_shown = |one: &Reference| !self.stale || is_stale(&following, one);
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
            let shown = breadcrumbs.iter().enumerate().filter(|(_, one)| is_shown(one));
            return context.ui.json(&shown.map(row).collect::<Vec<_>>());
        }
        let shown: Vec<_> = breadcrumbs.iter().enumerate().filter(|(_, one)| is_shown(one)).collect();
        print_rows(&context.ui, &shown, costs.as_deref())
    }
}

fn print_rows(ui: &Ui, breadcrumbs: &[(usize, &Reference)], costs: Option<&[TokenCost]>) -> Result<()> {
    let cells = |(at, one): &(usize, &Reference)| {
        [format!("#{}", at + 1), one_line(&one.kind, 12), one_line(&one.reference, SHOWN_CELL)]
    };
    let rows = breadcrumbs.iter().map(cells).collect::<Vec<_>>();
    let Some(costs) = costs else {
        let hints = breadcrumbs.iter().map(|(_, one)| one_line(&one.hint, SHOWN_CELL));
        let rows = rows.into_iter().zip(hints).map(|([number, kind, reference], hint)| [number, kind, reference, hint]);
        return ui.table(&rows.collect::<Vec<_>>());
    };
    let [number, kind] = [0, 1].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    if !ui.ends_with_nul() {
        writeln!(ui, "{:number$}  {:>6}  {:>8}", "", "row", "followed")?;
    }
    for (row, cost) in rows.iter().zip(costs) {
        let followed = cost.followed.map_or("-".to_owned(), |tokens| tokens.to_string());
        let line = format!("{:number$}  {:>6}  {followed:>8}  {:kind$}  {}", row[0], cost.row, row[1], row[2]);
        writeln!(ui, "{}", line.trim_end())?;
    }
    let in_rows: u64 = costs.iter().map(|cost| cost.row).sum();
    let in_all: u64 = costs.iter().filter_map(|cost| cost.followed).sum();
    ui.note(format!("tokens: {in_rows} in rows, {in_all} if all are followed"));
    Ok(())
}

impl RemoveArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        let (path, reference) = remove_breadcrumb(&context.folder, self.checkpoint.as_deref(), &self.breadcrumb)?;
        if self.json {
            return context.ui.json(&json!({ "path": path, "reference": reference }));
        }
        writeln!(context.ui, "removed {} from {}", one_line(&reference, 200), Plain(&path))
    }
}

impl AddArgs {
    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<()> {
        let (kind, reference, hint) = match (&self.item, self.kind, &self.reference) {
            (Some(item), _, _) => of_item(context, item, &self.hint)?,
            (None, Some(kind), Some(reference)) => (kind, reference.clone(), self.hint.clone()),
            _ => bail!("a type and a reference are needed"),
        };
        [&reference, &hint].into_iter().try_for_each(|text| refuse_secret_text(Caller::Person, text))?;
        let (path, change) = add_breadcrumb(&context.folder, self.checkpoint.as_deref(), kind, &reference, &hint)?;
        if self.json {
            return context.ui.json(&json!({
                "path": path, "change": change.as_str(), "type": kind.as_str(), "reference": reference, "hint": hint,
            }));
        }
        writeln!(context.ui, "{change} {kind} {} in {}", one_line(&reference, 200), Plain(&path))
    }
}

fn of_item(context: &CheckpointContext<'_>, spec: &str, hint: &str) -> Result<(ReferenceKind, String, String)> {
    let (repo, name, tip) = context.current(None)?;
    let resolver = Resolver::new(repo, &name, &tip)?;
    let item = total::read_item(repo, resolver.live(spec)?)?;
    let (kind, reference, found) = item::breadcrumb(&item, &context.folder.root);
    Ok((kind, reference, if hint.is_empty() { found } else { hint.to_owned() }))
}
