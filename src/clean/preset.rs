//! Presets: named rules that select items, and bundles of them.

use std::collections::BTreeSet;
use std::str::FromStr;

use crate::base::string_enum::{UnknownVariant, string_enum};

string_enum! {
    /// A rule that selects items, least harm first. [`super::rules`] says what each selects.
    Preset("preset") {
        Duplicates = "duplicates",
        Reminders = "reminders",
        StaleReads = "stale-reads",
        EditEchoes = "edit-echoes",
        Images = "images",
        Failures = "failures",
        Thinking = "thinking",
        EditedReads = "edited-reads",
        OldResults = "old-results",
        Oversize = "oversize",
        OldReads = "old-reads",
        AgentReports = "agent-reports",
        OldCalls = "old-calls",
    }
}

string_enum! {
    /// Presets that are used together.
    Bundle("bundle") {
        Safe = "safe",
        Default = "default",
        Aggressive = "aggressive",
    }
}

impl Preset {
    pub(crate) const ALL: [Self; 13] = [
        Self::Duplicates,
        Self::Reminders,
        Self::StaleReads,
        Self::EditEchoes,
        Self::Images,
        Self::Failures,
        Self::Thinking,
        Self::EditedReads,
        Self::OldResults,
        Self::Oversize,
        Self::OldReads,
        Self::AgentReports,
        Self::OldCalls,
    ];
}

impl Bundle {
    fn last(self) -> Preset {
        match self {
            Self::Safe => Preset::Thinking,
            Self::Default => Preset::Oversize,
            Self::Aggressive => Preset::OldCalls,
        }
    }

    /// How many of the newest steps the bundle keeps.
    fn keep(self) -> usize {
        match self {
            Self::Safe | Self::Default => 10,
            Self::Aggressive => 5,
        }
    }
}

/// A preset or a bundle by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    Preset(Preset),
    Bundle(Bundle),
}

impl Choice {
    /// The names of all bundles and presets.
    pub(crate) const NAMES: [&str; 16] = {
        let mut names = [""; 16];
        let mut next = 0;
        while next < 16 {
            names[next] = if next < 3 { Bundle::VALUES[next] } else { Preset::VALUES[next - 3] };
            next += 1;
        }
        names
    };
}

impl FromStr for Choice {
    type Err = UnknownVariant;

    fn from_str(text: &str) -> Result<Self, UnknownVariant> {
        let unknown = |_| UnknownVariant { noun: "preset", text: text.to_owned(), accepted: &Self::NAMES };
        text.parse().map(Self::Bundle).or_else(|_| text.parse().map(Self::Preset)).map_err(unknown)
    }
}

/// What to select.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parameters {
    pub presets: BTreeSet<Preset>,
    /// Items of the newest steps, this many, are not selected.
    pub keep: usize,
}

impl Parameters {
    /// The chosen presets, by default the bundle `default`. Without `keep`, the smallest of the bundles applies, else 10.
    pub(crate) fn new(choices: &[Choice], keep: Option<usize>) -> Self {
        let choices = if choices.is_empty() { &[Choice::Bundle(Bundle::Default)] } else { choices };
        let presets = choices.iter().flat_map(|choice| match choice {
            Choice::Preset(preset) => vec![*preset],
            Choice::Bundle(bundle) => Preset::ALL.into_iter().filter(|preset| *preset <= bundle.last()).collect(),
        });
        let of_bundle = |choice: &Choice| match choice {
            Choice::Preset(_) => None,
            Choice::Bundle(bundle) => Some(bundle.keep()),
        };
        let keep = keep.or_else(|| choices.iter().filter_map(of_bundle).min()).unwrap_or(10);
        Self { presets: presets.collect(), keep }
    }

    /// The presets in the order in which they select. A reminder is removed only from what no other preset cuts.
    pub(super) fn in_order(&self) -> Vec<Preset> {
        let last = |preset: &Preset| match preset {
            Preset::Reminders => 2,
            Preset::Oversize => 1,
            _ => 0,
        };
        let mut presets: Vec<Preset> = self.presets.iter().copied().collect();
        presets.sort_by_key(last);
        presets
    }
}
