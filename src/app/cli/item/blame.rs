//! `git trace blame`: which commit brought each line of an item.

use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Context, DIM, Result, Values, escaped, json};
use crate::trace::query::blame::{Blame, blame};
use crate::trace::query::select::select_one;
use crate::trace::store::resolve::Resolver;
use crate::trace::{Item, Tip, TraceError};

/// Show which commit last changed each line of an item
///
/// Each line is shown with its commit, author and time, the agent whose session it was imported from, and the code commit at that time.
#[derive(clap::Args, Debug)]
pub(crate) struct BlameArgs {
    /// Item: #7 (position), id or at least four digits of it, @3 (turn) or a commit that changed it, if that is one item
    #[arg(add = Values::Items)]
    item: String,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl BlameArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.nul.apply(context);
        let (repo, name, tip) = context.current(None)?;
        let id = select_one(repo, &name, &tip, &self.item)?;
        let resolver = Resolver::new(repo, &name, &tip)?;
        let slot = resolver.find_live(id).ok_or_else(|| TraceError::NotLive { item: id, trace: name.clone() })?;
        let Blame { lines, commits } = blame(repo, &tip, slot)?;
        if self.json {
            for (number, line) in lines.iter().enumerate() {
                let (tip, item) = &commits[line.commit];
                let mut object = json!({
                    "line": number + 1,
                    "text": line.text,
                    "commit": tip.commit.oid.to_string(),
                    "by": tip.commit.author,
                    "at": tip.time().to_string(),
                    "revision": item.revision,
                });
                if let Some(source) = &item.fields.source {
                    object["source"] = source.to_string().into();
                }
                if let Some(code) = &tip.trailers.code {
                    object["code"] = code.as_str().into();
                }
                context.ui.json(&object)?;
            }
            return Ok(());
        }
        let whos: Vec<String> = commits.iter().map(|(tip, item)| who(tip, item)).collect();
        let width = whos.iter().map(|who| who.chars().count()).max().unwrap_or(0);
        let digits = lines.len().to_string().len();
        for (number, line) in lines.iter().enumerate() {
            let oid = context.ui.oid(commits[line.commit].0.commit.oid);
            let who = context.ui.styled(DIM, &format!("({:<width$} {:>digits$})", whos[line.commit], number + 1));
            writeln!(context.ui, "{oid} {who} {}", escaped(&line.text))?;
        }
        Ok(())
    }
}

fn who(tip: &Tip, item: &Item) -> String {
    let author = tip.commit.author.split(" <").next().unwrap_or_default();
    let mut who = format!("{} {}", escaped(author), tip.time());
    if let Some(source) = &item.fields.source {
        who.push(' ');
        who.push_str(&escaped(source.format()));
    }
    if let Some(code) = &tip.trailers.code {
        who.push_str(" code ");
        who.extend(escaped(code).chars().take(7));
    }
    who
}
