//! What a trace counted for after each commit of its line, by type, beside its budget.
//!
//! The figures are those of `status`: live items that were not skipped then, each as a message of its own. Of a trace that is
//! shown in part, what it counted for before is one band more.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::data::{Data, Step};
use super::html::Html;
use super::timeline::anchor;
use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::item::ItemType;
use crate::trace::model::trailers::{Basis, Total};
use crate::trace::model::tree::{Change, ItemEntry};
use crate::trace::store::priority::{Level, Setting};
use crate::trace::store::view::LeftOut;
use crate::trace::store::{settings, total};
use crate::trace::{ItemId, Time, Tip, TraceError};

/// How many points are drawn at most; more are thinner than the screen.
const POINTS: usize = 600;
/// The drawing's size, and where its axes stand.
const WIDTH: u64 = 960;
const HEIGHT: u64 = 260;
const LEFT: u64 = 70;
const RIGHT: u64 = 10;
const TOP: u64 = 14;
const BOTTOM: u64 = 24;

/// The state after a commit.
#[derive(Clone, Debug)]
struct Point {
    /// Which of the shown commits, counted from the newest.
    step: usize,
    tokens: Vec<u64>,
    /// The total that rests on a provider's report, where there is one.
    reported: Option<u64>,
}

/// The chart.
#[derive(Debug)]
pub(crate) struct Chart {
    bands: Vec<String>,
    points: Vec<Point>,
    budget: Option<u64>,
}

/// An item as it is counted at one point.
#[derive(Clone, Copy)]
struct Counted {
    band: usize,
    cost: u64,
    left_out: bool,
}

/// The count as it moves through history.
struct Count {
    bands: Vec<String>,
    tokens: Vec<u64>,
    left_out: u64,
    items: HashMap<ItemId, Counted>,
    levels: HashMap<ItemId, Level>,
    superseded: HashSet<ItemId>,
}

/// The band of what came before the commits that are shown.
const EARLIER: usize = 0;

impl Chart {
    /// Counts along the line of commits that are shown.
    pub(crate) fn of(repo: &Repo, data: &Data<'_>, encoding: Encoding) -> Result<Self, TraceError> {
        let mut count = Count::new(data);
        let line: Vec<(usize, &Step)> = data.steps.iter().enumerate().filter(|(_, step)| step.on_line).rev().collect();
        if let Some((_, first)) = line.first().filter(|_| data.has_earlier_steps)
            && let Some(parent) = first.tip.commit.parents.first()
        {
            count.begin(repo, data, &line, *parent, encoding)?;
        }
        let mut settings: Vec<(Time, ItemId, &Setting)> = Vec::new();
        for (id, history) in &data.settings {
            settings.extend(history.iter().map(|setting| (setting.at, *id, setting)));
        }
        settings.sort_by_key(|(at, id, _)| (*at, *id));
        let mut settings = settings.into_iter().peekable();
        let mut points = Vec::new();
        for (index, step) in line {
            while let Some((_, id, setting)) = settings.next_if(|(at, ..)| *at <= step.tip.time()) {
                count.set_level(id, setting.level);
            }
            count.apply(data, &step.changes);
            points.push(count.point(index, step));
        }
        // What was pinned and skipped since the last commit.
        if settings.peek().is_some()
            && let Some(newest) = data.steps.first()
        {
            settings.for_each(|(_, id, setting)| count.set_level(id, setting.level));
            points.push(count.point(0, newest));
        }
        let bands = count.bands;
        for point in &mut points {
            point.tokens.resize(bands.len(), 0);
        }
        Ok(Self { bands, points: thinned(points), budget: settings::number(repo, "trace.budget")? })
    }

    /// The total at the end, as counted.
    pub(crate) fn total(&self) -> u64 {
        self.points.last().map_or(0, Point::total)
    }

    /// The budget.
    pub(crate) fn budget(&self) -> Option<u64> {
        self.budget
    }

    /// The bands that ever counted for something, from the bottom, each with its name.
    fn bands(&self) -> impl Iterator<Item = (usize, &str)> {
        let counts = |band: usize| self.points.iter().any(|point| point.tokens[band] > 0);
        self.bands.iter().enumerate().filter(move |(band, _)| counts(*band)).map(|(band, name)| (band, name.as_str()))
    }

    /// The figures, for the script.
    pub(crate) fn to_json(&self, data: &Data<'_>) -> Value {
        let bands: Vec<(usize, &str)> = self.bands().collect();
        let points = self.points.iter().enumerate().map(|(index, point)| {
            let step = &data.steps[point.step];
            let tokens: Vec<u64> = bands.iter().map(|(band, _)| point.tokens[*band]).collect();
            json!({ "x": self.x(index), "to": anchor(step), "at": step.tip.time().to_string(), "tokens": tokens,
                "total": point.total(), "reported": point.reported })
        });
        let names: Vec<&str> = bands.iter().map(|(_, name)| *name).collect();
        json!({ "bands": names, "budget": self.budget, "points": points.collect::<Vec<_>>() })
    }

    /// The drawing and what its colours mean.
    pub(crate) fn render(&self, html: &mut Html) {
        let counted = self.points.iter().map(Point::total).max().unwrap_or(0);
        // What is far above would press everything flat; a report counts what the trace does not hold, tools for one.
        let fits = |tokens: &u64| *tokens <= counted.saturating_mul(3);
        let most_reported = self.points.iter().filter_map(|point| point.reported).max();
        let (budget, reported) = (self.budget.filter(fits), most_reported.filter(fits));
        let top = counted.max(budget.unwrap_or(0)).max(reported.unwrap_or(0)).max(1);
        html.raw("<svg id=\"chart\" viewBox=\"0 0 960 260\" role=\"img\" aria-labelledby=\"chart-title\"><title id=\"chart-title\">");
        html.raw("Tokens by type after each commit, ").number(self.total()).raw(" at the end</title>");
        axis(html, top);
        let mut below: Vec<u64> = vec![0; self.points.len()];
        for (band, name) in self.bands() {
            let above: Vec<u64> =
                below.iter().zip(&self.points).map(|(below, point)| below + point.tokens[band]).collect();
            html.raw("<path class=\"band ").raw(colour(name)).raw("\" d=\"M");
            for (index, tokens) in above.iter().enumerate() {
                self.place(html, index, *tokens, top);
            }
            for (index, tokens) in below.iter().enumerate().rev() {
                self.place(html, index, *tokens, top);
            }
            html.raw("Z\"/>");
            below = above;
        }
        if reported.is_some() {
            self.render_reported(html, top);
        }
        if let Some(budget) = budget {
            let y = tenths(y(budget, top));
            html.raw("<line class=\"budget\" x1=\"70\" x2=\"950\" y1=\"").attr(&y).raw("\" y2=\"").attr(&y).raw("\"/>");
            html.raw("<text class=\"budget-word\" x=\"946\" text-anchor=\"end\" y=\"")
                .attr(&tenths(y_of_word(budget, top)));
            html.raw("\">budget ").number(budget).raw("</text>");
        }
        html.raw("<line id=\"cursor\" class=\"cursor\" y1=\"14\" y2=\"236\" x1=\"-9\" x2=\"-9\"/></svg>");
        html.raw("<p id=\"readout\" class=\"readout\" aria-live=\"polite\"></p><ul class=\"legend\">");
        for (_, name) in self.bands() {
            html.raw("<li><span class=\"swatch ").raw(colour(name)).raw("\"></span>").text(name).raw("</li>");
        }
        match (most_reported, reported) {
            (Some(_), Some(_)) => html.raw("<li><span class=\"swatch line\"></span>as a provider reported</li>"),
            (Some(most), None) => html.raw("<li>a provider reported up to ").number(most).raw(", above the chart</li>"),
            _ => html,
        };
        if let Some(far) = self.budget.filter(|far| !fits(far)) {
            html.raw("<li>budget ").number(far).raw(", above the chart</li>");
        }
        html.raw("</ul>");
    }

    fn render_reported(&self, html: &mut Html, top: u64) {
        html.raw("<path class=\"reported\" d=\"M");
        for (index, point) in self.points.iter().enumerate() {
            if let Some(tokens) = point.reported {
                self.place(html, index, tokens, top);
            }
        }
        html.raw("\"/>");
    }

    /// Where a point stands from left to right.
    fn x(&self, index: usize) -> u64 {
        let (index, last) = (index as u64, self.points.len().saturating_sub(1) as u64);
        // The only point of a trace is drawn as a line across: see `place`.
        LEFT + (WIDTH - LEFT - RIGHT) * index / last.max(1)
    }

    fn place(&self, html: &mut Html, index: usize, tokens: u64, top: u64) {
        let y = tenths(y(tokens, top));
        html.raw(" ").attr(&self.x(index).to_string()).raw(" ").attr(&y);
        if self.points.len() == 1 {
            html.raw(" ").attr(&(WIDTH - RIGHT).to_string()).raw(" ").attr(&y);
        }
    }
}

impl Point {
    fn total(&self) -> u64 {
        self.tokens.iter().sum::<u64>() + PER_REPLY
    }
}

impl Count {
    fn new(data: &Data<'_>) -> Self {
        let slots = data.view.slots.iter();
        let superseded = slots.filter(|slot| data.view.left_out(slot) == Some(LeftOut::Superseded));
        let bands: Vec<String> = std::iter::once("earlier").chain(ItemType::BUILT_IN).map(str::to_owned).collect();
        let tokens = vec![0; bands.len()];
        Self {
            bands,
            tokens,
            left_out: 0,
            items: HashMap::new(),
            levels: HashMap::new(),
            superseded: superseded.map(|slot| slot.id).collect(),
        }
    }

    /// Takes up what counted before the first commit that is shown: items that were ever set or are left out one by one, so that
    /// they can come and go, and the others as a sum.
    fn begin(
        &mut self,
        repo: &Repo,
        data: &Data<'_>,
        line: &[(usize, &Step)],
        parent: Oid,
        encoding: Encoding,
    ) -> Result<(), TraceError> {
        // The bands above are counted, so a provider's report does not go with them.
        let parent = Tip::read(repo, parent)?;
        let total = match parent.total(repo, encoding)? {
            Total { basis: Basis::Reported, .. } => total::recount(repo, parent.commit.tree, encoding)?,
            Total { tokens, .. } => tokens,
        };
        // The file that each item had before the first shown commit; `None`: it came in later.
        let mut then: HashMap<ItemId, Option<&ItemEntry>> = HashMap::new();
        for change in line.iter().flat_map(|(_, step)| &step.changes) {
            let before = match change {
                Change::Added(_) => None,
                Change::Removed(before) | Change::Changed(before, _) => Some(before),
            };
            then.entry(change.entry().id).or_insert(before);
        }
        let kept = data.view.slots.iter().filter_map(|slot| then.get(&slot.id).copied().unwrap_or(Some(slot)));
        let gone = then.values().copied().flatten().filter(|slot| !data.is_live(slot.id));
        let mut others = total.saturating_sub(PER_REPLY);
        for slot in kept.chain(gone) {
            let left_out = self.is_left_out(data, slot);
            if left_out || data.settings.contains_key(&slot.id) {
                let cost = data.cost(slot.blob);
                others = others.saturating_sub(cost);
                self.put_on(slot.id, Counted { band: EARLIER, cost, left_out });
            }
        }
        self.tokens[EARLIER] += others;
        Ok(())
    }

    fn band(&mut self, item_type: &ItemType) -> usize {
        let name = item_type.as_str();
        self.bands.iter().skip(1).position(|band| band == name).map_or_else(
            || {
                self.bands.push(name.to_owned());
                self.tokens.push(0);
                self.bands.len() - 1
            },
            |band| band + 1,
        )
    }

    fn apply(&mut self, data: &Data<'_>, changes: &[Change]) {
        for change in changes {
            let (before, after) = match change {
                Change::Added(after) => (None, Some(after)),
                Change::Removed(before) => (Some(before), None),
                Change::Changed(before, after) => (Some(before), Some(after)),
            };
            if let Some(before) = before
                && !self.take_off(before.id)
            {
                self.tokens[EARLIER] = self.tokens[EARLIER].saturating_sub(data.cost(before.blob));
            }
            if let Some(after) = after {
                let band = self.band(&after.item_type);
                let left_out = self.is_left_out(data, after);
                self.put_on(after.id, Counted { band, cost: data.cost(after.blob), left_out });
            }
        }
    }

    /// Whether the item is left out at this point. An instruction that another replaces is so from its start.
    fn is_left_out(&self, data: &Data<'_>, slot: &ItemEntry) -> bool {
        let default = || data.view.types().rules(&slot.item_type).priority;
        let level = self.levels.get(&slot.id).copied().unwrap_or_else(default);
        level == Level::Skip || self.superseded.contains(&slot.id)
    }

    fn set_level(&mut self, id: ItemId, level: Level) {
        self.levels.insert(id, level);
        let Some(counted) = self.items.get(&id).copied() else { return };
        self.take_off(id);
        self.put_on(id, Counted { left_out: level == Level::Skip || self.superseded.contains(&id), ..counted });
    }

    /// Takes an item off the count; `false` if it was not on it.
    fn take_off(&mut self, id: ItemId) -> bool {
        let Some(Counted { band, cost, left_out }) = self.items.remove(&id) else { return false };
        let from = if left_out { &mut self.left_out } else { &mut self.tokens[band] };
        *from = from.saturating_sub(cost);
        true
    }

    fn put_on(&mut self, id: ItemId, counted: Counted) {
        let to = if counted.left_out { &mut self.left_out } else { &mut self.tokens[counted.band] };
        *to += counted.cost;
        self.items.insert(id, counted);
    }

    fn point(&self, step: usize, of: &Step) -> Point {
        let reported = of.tip.trailers.total.filter(|total| of.tip.is_ours() && total.basis == Basis::Reported);
        let reported = reported.map(|total| total.tokens.saturating_sub(self.left_out));
        Point { step, tokens: self.tokens.clone(), reported }
    }
}

/// As many points as are drawn, the last of each stretch.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    let stretch = points.len().div_ceil(POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = |index: usize| index == 0 || index == last || (last - index).is_multiple_of(stretch);
    points.into_iter().enumerate().filter(|(index, _)| kept(*index)).map(|(_, point)| point).collect()
}

/// The class that gives a type its colour; custom types share one.
pub(crate) fn colour(item_type: &str) -> &'static str {
    match item_type {
        "instruction" => "k0",
        "dialogue" => "k1",
        "tool_io" => "k2",
        "reasoning" => "k3",
        "artifact" => "k4",
        "output" => "k5",
        "freeform" => "k6",
        "earlier" => "k8",
        _ => "k7",
    }
}

/// How high a number of tokens stands, in tenths.
fn y(tokens: u64, top: u64) -> u64 {
    let height = u128::from(HEIGHT - TOP - BOTTOM) * 10;
    let up = u128::from(tokens) * height / u128::from(top);
    (u128::from((HEIGHT - BOTTOM) * 10)).saturating_sub(up).try_into().unwrap_or(0)
}

/// Where the word beside a line stands: above it, or below where that would be outside.
fn y_of_word(tokens: u64, top: u64) -> u64 {
    let y = y(tokens, top);
    if y < TOP * 10 + 100 { y + 120 } else { y - 40 }
}

fn tenths(number: u64) -> String {
    format!("{}.{}", number / 10, number % 10)
}

/// Lines across at round numbers of tokens.
fn axis(html: &mut Html, top: u64) {
    let mut unit = 1;
    // Of 1, 2 and 5 times a power of ten, the first that makes no more than five lines.
    let step = loop {
        match [1, 2, 5].into_iter().map(|digit| unit * digit).find(|step| top / step <= 5) {
            Some(step) => break step,
            None => unit *= 10,
        }
    };
    for tokens in (0..=5).map(|line| line * step).take_while(|tokens| *tokens <= top) {
        let y = y(tokens, top);
        html.raw("<line class=\"grid\" x1=\"70\" x2=\"950\" y1=\"").attr(&tenths(y));
        html.raw("\" y2=\"").attr(&tenths(y)).raw("\"/><text class=\"axis\" x=\"62\" text-anchor=\"end\" y=\"");
        html.attr(&tenths(y + 40)).raw("\">").number(tokens).raw("</text>");
    }
}
