//! `git trace fsck`: whether the stored data is intact.

use crate::app::cli::{Context, ExitStatus, Result, Value, json};
use crate::app::progress::Progress;
use crate::base::escape::Plain;
use crate::base::finding::Weight;
use crate::check::fsck::{self, Problem, Repaired, Report};
use crate::trace::TraceName;

/// Check the integrity of traces and related data
///
/// Reads the items and history of every trace, priorities and their tags, forward crumbs, crumb archives, refs and reflogs.
/// Prints one line per finding: `weight: trace: commit: item: rule: problem; remedy`. The exit status is 1 if there are
/// errors; warnings do not count. The effects of plain git commands, such as shared positions, are not findings.
///
/// `doctor` checks the setup, `check` the memory files of a commit.
#[derive(clap::Args, Debug)]
pub(crate) struct FsckArgs {
    /// Traces to check [default: all traces and all related data]
    #[arg(value_name = "TRACE")]
    traces: Vec<TraceName>,
    /// Repair what can be derived from other data: tags, totals, order and unreadable lines of the priority record,
    /// broken refs and reflogs, damaged tips, stale locks
    #[arg(long)]
    repair: bool,
    /// Print only errors
    #[arg(short, long)]
    quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl FsckArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let report = check(context, self)?;
        let mut repaired = Vec::new();
        if self.repair && report.problems.iter().any(|problem| problem.repair.is_some()) {
            let signature = context.signature()?;
            repaired = fsck::repair(context.repo()?, &signature, &report.problems);
        }
        let is_done = |problem: &Problem| {
            let done = repaired.iter().find(|repaired| Some(&repaired.repair) == problem.repair.as_ref());
            done.is_some_and(|repaired| repaired.done.is_ok())
        };
        let left =
            report.problems.iter().filter(|problem| problem.weight == Weight::Error && !is_done(problem)).count();
        if self.json {
            context.ui.json(&to_json(&report, &repaired, is_done)?)?;
        } else {
            for problem in report.problems.iter().filter(|problem| !self.quiet || problem.weight == Weight::Error) {
                context.ui.write_content(format!("{problem}\n"))?;
            }
            for Repaired { repair, done } in &repaired {
                let line = match done {
                    Ok(None) => format!("repaired: {repair}\n"),
                    Ok(Some(note)) => format!("repaired: {repair}: {}\n", Plain(note)),
                    Err(error) => format!("not repaired: {repair}: {error}\n"),
                };
                context.ui.write_content(&line)?;
            }
            let promised = match report.promised {
                0 => String::new(),
                count => format!(", not here but promised by a remote: {count}"),
            };
            context.ui.note(format!(
                "traces checked: {}, commits: {}, items: {}, errors: {}, warnings: {}{promised}",
                report.traces,
                report.commits,
                report.items,
                report.count(Weight::Error),
                report.count(Weight::Warning)
            ));
        }
        Ok(ExitStatus::of(left == 0))
    }
}

fn check(context: &Context, args: &FsckArgs) -> Result<Report> {
    let bar = if args.quiet { None } else { Progress::of_bytes(None) };
    let watch = |commits| bar.iter().for_each(|bar| bar.set_position(commits as u64));
    let report = fsck::check(context.repo()?, &args.traces, context.now(), &watch);
    bar.iter().for_each(Progress::clear);
    Ok(report?)
}

fn to_json(report: &Report, repaired: &[Repaired], is_done: impl Fn(&Problem) -> bool) -> Result<Value> {
    let mut findings = Vec::new();
    for problem in &report.problems {
        let mut value = serde_json::to_value(problem)?;
        value["repairable"] = problem.repair.is_some().into();
        value["repaired"] = is_done(problem).into();
        findings.push(value);
    }
    let repair = |Repaired { repair, done }: &Repaired| match done {
        Ok(None) => json!({ "repair": repair.to_string(), "done": true }),
        Ok(Some(note)) => json!({ "repair": repair.to_string(), "done": true, "note": note }),
        Err(error) => json!({ "repair": repair.to_string(), "done": false, "error": error.to_string() }),
    };
    let repairs: Vec<_> = repaired.iter().map(repair).collect();
    Ok(json!({
        "findings": findings,
        "repairs": repairs,
        "traces": report.traces,
        "commits": report.commits,
        "items": report.items,
        "promised": report.promised,
        "errors": report.count(Weight::Error),
        "warnings": report.count(Weight::Warning),
    }))
}
