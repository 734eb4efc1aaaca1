//! The tokens of a trace after each commit on its first-parent line, by type, with its budget.
//!
//! The figures are those of `status`: live items that were not skipped then, each as a separate message. If only a part of
//! the trace is shown, the items before it are one more band.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};
use serde_json::{Value, json};

use super::data::{Data, Step};
use super::html::{color, number};
use super::timeline::anchor;
use crate::git::{Oid, Repo, short_oid};
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::item::ItemType;
use crate::trace::model::trailers::{Basis, Total};
use crate::trace::model::tree::{Change, ItemEntry};
use crate::trace::store::priority::{Level, Setting};
use crate::trace::store::view::LeftOut;
use crate::trace::store::{settings, total};
use crate::trace::{ItemId, Tip, TraceError};

/// The most points; more would be thinner than the screen.
const MAX_POINTS: usize = 600;
pub(super) const WIDTH: u64 = 960;
pub(super) const HEIGHT: u64 = 260;
pub(super) const LEFT: u64 = 70;
pub(super) const RIGHT: u64 = 10;
const TOP: u64 = 14;
pub(super) const BOTTOM: u64 = 24;

struct Point {
    /// The index of the commit among those that are shown.
    step: usize,
    tokens: Vec<u64>,
    reported: Option<u64>,
}

pub(crate) struct Chart {
    bands: Vec<String>,
    points: Vec<Point>,
    /// By the index of the commit.
    sizes: HashMap<usize, u64>,
    pub(crate) budget: Option<u64>,
}

#[derive(Clone, Copy)]
struct Counted {
    band: usize,
    cost: u64,
    left_out: bool,
}

struct Count {
    bands: Vec<String>,
    tokens: Vec<u64>,
    left_out: u64,
    items: HashMap<ItemId, Counted>,
    levels: HashMap<ItemId, Level>,
    superseded: HashSet<ItemId>,
}

/// The band of the items before the commits that are shown.
const EARLIER: usize = 0;

impl Chart {
    pub(crate) fn of(repo: &Repo, data: &Data<'_>, counter: Counter) -> Result<Self, TraceError> {
        let mut count = Count::new(data);
        let line: Vec<(usize, &Step)> = data.steps.iter().enumerate().filter(|(_, step)| step.on_line).rev().collect();
        if let Some((_, first)) = line.first().filter(|_| data.has_earlier_steps)
            && let Some(parent) = first.tip.commit.parents.first()
        {
            count.begin(repo, data, &line, *parent, counter)?;
        }
        let settings = data.settings.iter().flat_map(|(id, history)| history.iter().map(|setting| (*id, setting)));
        let mut settings: Vec<(ItemId, &Setting)> = settings.collect();
        settings.sort_by_key(|(id, setting)| (setting.at, *id));
        let mut settings = settings.into_iter().peekable();
        let mut points = Vec::new();
        for (index, step) in line {
            while let Some((id, setting)) = settings.next_if(|(_, setting)| setting.at <= step.tip.time()) {
                count.set_level(id, setting.level);
            }
            count.apply(data, &step.changes);
            points.push(count.point(index, step));
        }
        // Priorities that were set after the last commit.
        if settings.peek().is_some()
            && let Some(newest) = data.steps.first()
        {
            settings.for_each(|(id, setting)| count.set_level(id, setting.level));
            points.push(count.point(0, newest));
        }
        let bands = count.bands;
        for point in &mut points {
            point.tokens.resize(bands.len(), 0);
        }
        let sizes = points.iter().map(|point| (point.step, point.reported.unwrap_or(point.total()))).collect();
        Ok(Self { bands, points: thinned(points), sizes, budget: settings::number(repo, "trace.budget")? })
    }

    /// The bands that have tokens at some point, from the bottom.
    fn bands(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_used = |band: usize| self.points.iter().any(|point| point.tokens[band] > 0);
        self.bands.iter().map(String::as_str).enumerate().filter(move |(band, _)| is_used(*band))
    }

    pub(crate) fn to_json(&self, data: &Data<'_>) -> Value {
        let (bands, names): (Vec<usize>, Vec<&str>) = self.bands().unzip();
        let points = self.points.iter().enumerate().map(|(index, point)| {
            let step = &data.steps[point.step];
            let tokens: Vec<u64> = bands.iter().map(|band| point.tokens[*band]).collect();
            json!({ "x": self.x(index), "to": anchor(data, step),
                "commit": short_oid(step.tip.commit.oid), "at": step.tip.time().to_string(), "tokens": tokens,
                "total": point.total(), "reported": point.reported })
        });
        json!({ "bands": names, "budget": self.budget, "points": points.collect::<Vec<_>>() })
    }

    /// The size of the context after the commit at an index: as reported, else as counted.
    pub(crate) fn size_after(&self, step: usize) -> Option<u64> {
        self.sizes.get(&step).copied()
    }

    pub(crate) fn render(&self) -> Markup {
        let counted = self.points.iter().map(Point::total).max().unwrap_or(0);
        // A much higher line would flatten everything else. Reports count what the trace does not contain, such as tools.
        let fits = |tokens: &u64| *tokens <= counted.saturating_mul(3);
        let most_reported = self.points.iter().filter_map(|point| point.reported).max();
        let (budget, reported) = (self.budget.filter(fits), most_reported.filter(fits));
        let top = counted.max(budget.unwrap_or(0)).max(reported.unwrap_or(0)).max(1);
        let last = self.points.last().map_or(0, Point::total);
        let line = reported.map(|_| {
            let points = self.points.iter().enumerate();
            self.path(points.filter_map(|(index, point)| Some((index, point.reported?))), top)
        });
        html! {
            svg #chart viewBox="0 0 960 260" role="img" aria-labelledby="chart-title" {
                title #chart-title { "Tokens by type after each commit, " (number(last)) " at the end" }
                (axis(top))
                @for (name, path) in self.areas(top) { path.band.(color(name)) d={ "M" (path) "Z" } {} }
                @if let Some(line) = line { path.reported d={ "M" (line) } {} }
                @if let Some(budget) = budget { (budget_line(budget, top)) }
                line #cursor.cursor y1="14" y2="236" x1="-9" x2="-9" {}
            }
            p #readout.readout aria-live="polite" {}
            ul.legend {
                @for (_, name) in self.bands() { li { span.swatch.(color(name)) {} (name) } }
                @match (most_reported, reported) {
                    (Some(_), Some(_)) => li { span.swatch.line {} "as a provider reported" },
                    (Some(most), None) => li { "a provider reported up to " (number(most)) ", above the chart" },
                    _ => {},
                }
                @if let Some(far) = self.budget.filter(|far| !fits(far)) {
                    li { "budget " (number(far)) ", above the chart" }
                }
            }
        }
    }

    /// The outline of each band, from the bottom.
    fn areas(&self, top: u64) -> Vec<(&str, String)> {
        let mut below: Vec<u64> = vec![0; self.points.len()];
        let area = |(band, name)| {
            let above: Vec<u64> =
                below.iter().zip(&self.points).map(|(below, point)| below + point.tokens[band]).collect();
            let forth = above.iter().copied().enumerate();
            let back = below.iter().copied().enumerate().rev();
            let path = self.path(forth.chain(back), top);
            below = above;
            (name, path)
        };
        self.bands().map(area).collect()
    }

    fn x(&self, index: usize) -> u64 {
        let (index, last) = (index as u64, self.points.len().saturating_sub(1) as u64);
        LEFT + (WIDTH - LEFT - RIGHT) * index / last.max(1)
    }

    /// The coordinates of a path. The only point of a trace becomes a line across.
    fn path(&self, points: impl Iterator<Item = (usize, u64)>, top: u64) -> String {
        let mut path = String::new();
        for (index, tokens) in points {
            let y = tenths(y(tokens, top));
            path.extend([" ", &self.x(index).to_string(), " ", &y]);
            if self.points.len() == 1 {
                path.extend([" ", &(WIDTH - RIGHT).to_string(), " ", &y]);
            }
        }
        path
    }
}

impl Point {
    fn total(&self) -> u64 {
        self.tokens.iter().sum::<u64>() + PER_REPLY
    }
}

impl Count {
    fn new(data: &Data<'_>) -> Self {
        let items = data.view.slots.iter();
        let superseded = items.filter(|entry| data.view.left_out(entry) == Some(LeftOut::Superseded));
        let bands: Vec<String> = std::iter::once("earlier").chain(ItemType::BUILT_IN).map(str::to_owned).collect();
        Self {
            tokens: vec![0; bands.len()],
            bands,
            left_out: 0,
            items: HashMap::new(),
            levels: HashMap::new(),
            superseded: superseded.map(|entry| entry.id).collect(),
        }
    }

    /// Counts the items before the first commit that is shown: those that were ever set or are left out one by one, because
    /// they can change, and the others as a sum.
    fn begin(
        &mut self,
        repo: &Repo,
        data: &Data<'_>,
        line: &[(usize, &Step)],
        parent: Oid,
        counter: Counter,
    ) -> Result<(), TraceError> {
        // The other bands are counted, so a reported total does not fit them.
        let parent = Tip::read(repo, parent)?;
        let total = match parent.total(repo, counter)? {
            Total { basis: Basis::Reported, .. } => total::recount(repo, parent.commit.tree, counter)?,
            Total { tokens, .. } => tokens,
        };
        // The entry of each item before its first change that is shown; `None`: it was added then.
        let mut then: HashMap<ItemId, Option<&ItemEntry>> = HashMap::new();
        for change in line.iter().flat_map(|(_, step)| &step.changes) {
            then.entry(change.entry().id).or_insert(change.sides().0);
        }
        let live = data.view.slots.iter().filter_map(|entry| then.get(&entry.id).copied().unwrap_or(Some(entry)));
        let gone = then.values().copied().flatten().filter(|entry| !data.is_live(entry.id));
        let mut others = total.saturating_sub(PER_REPLY);
        for entry in live.chain(gone) {
            let left_out = self.is_left_out(data, entry);
            if left_out || data.settings.contains_key(&entry.id) {
                let cost = data.cost(entry.blob);
                others = others.saturating_sub(cost);
                self.add(entry.id, Counted { band: EARLIER, cost, left_out });
            }
        }
        self.tokens[EARLIER] += others;
        Ok(())
    }

    fn band(&mut self, item_type: &ItemType) -> usize {
        // A custom type may be named as the band of the earlier items.
        let own = self.bands.iter().skip(EARLIER + 1).position(|band| band == item_type.as_str());
        own.map_or_else(
            || {
                self.bands.push(item_type.as_str().to_owned());
                self.tokens.push(0);
                self.bands.len() - 1
            },
            |band| EARLIER + 1 + band,
        )
    }

    fn apply(&mut self, data: &Data<'_>, changes: &[Change]) {
        for change in changes {
            let (before, after) = change.sides();
            if let Some(before) = before
                && !self.remove(before.id)
            {
                self.tokens[EARLIER] = self.tokens[EARLIER].saturating_sub(data.cost(before.blob));
            }
            if let Some(after) = after {
                let band = self.band(&after.item_type);
                let left_out = self.is_left_out(data, after);
                self.add(after.id, Counted { band, cost: data.cost(after.blob), left_out });
            }
        }
    }

    /// Whether the item is left out at this point. An instruction that was replaced later is left out from its start.
    fn is_left_out(&self, data: &Data<'_>, entry: &ItemEntry) -> bool {
        let default = || data.view.types().rules(&entry.item_type).priority;
        let level = self.levels.get(&entry.id).copied().unwrap_or_else(default);
        level == Level::Skip || self.superseded.contains(&entry.id)
    }

    fn set_level(&mut self, id: ItemId, level: Level) {
        self.levels.insert(id, level);
        let Some(counted) = self.items.get(&id).copied() else { return };
        self.remove(id);
        self.add(id, Counted { left_out: level == Level::Skip || self.superseded.contains(&id), ..counted });
    }

    /// Removes an item from the count; `false` if it was not counted individually.
    fn remove(&mut self, id: ItemId) -> bool {
        let Some(Counted { band, cost, left_out }) = self.items.remove(&id) else { return false };
        let from = if left_out { &mut self.left_out } else { &mut self.tokens[band] };
        *from = from.saturating_sub(cost);
        true
    }

    fn add(&mut self, id: ItemId, counted: Counted) {
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

fn thinned(points: Vec<Point>) -> Vec<Point> {
    let stretch = points.len().div_ceil(MAX_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let is_kept = |index: usize| index == 0 || index == last || (last - index).is_multiple_of(stretch);
    points.into_iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|(_, point)| point).collect()
}

pub(super) fn y(tokens: u64, top: u64) -> u64 {
    let height = u128::from(HEIGHT - TOP - BOTTOM) * 10;
    let up = u128::from(tokens) * height / u128::from(top);
    (u128::from((HEIGHT - BOTTOM) * 10)).saturating_sub(up).try_into().unwrap_or(0)
}

pub(super) fn tenths(number: u64) -> String {
    format!("{}.{}", number / 10, number % 10)
}

fn budget_line(budget: u64, top: u64) -> Markup {
    let y = y(budget, top);
    // Above the line, or below it where that would be outside.
    let text = tenths(if y < TOP * 10 + 100 { y + 120 } else { y - 40 });
    let y = tenths(y);
    html! {
        line.budget x1="70" x2="950" y1=(y) y2=(y) {}
        text.budget-word x="946" text-anchor="end" y=(text) { "budget " (number(budget)) }
    }
}

pub(super) fn axis(top: u64) -> Markup {
    // The smallest step of 1, 2, or 5 times a power of ten with at most five lines.
    let units = std::iter::successors(Some(1_u64), |unit| unit.checked_mul(10));
    let mut steps = units.flat_map(|unit| [1, 2, 5].map(|digit| unit.saturating_mul(digit)));
    let step = steps.find(|step| top / step <= 5).unwrap_or(top);
    html! {
        @for tokens in (0..=5).map(|line| line * step).take_while(|tokens| *tokens <= top) {
            line.grid x1="70" x2="950" y1=(tenths(y(tokens, top))) y2=(tenths(y(tokens, top))) {}
            text.axis x="62" text-anchor="end" y=(tenths(y(tokens, top) + 40)) { (number(tokens)) }
        }
    }
}
