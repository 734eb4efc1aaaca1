//! Any text as each kind of word in arguments and files: names, ids, times, ages, settings.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use jiff::tz::TimeZone;

use crate::app::mcp::Groups;
use crate::base::when::{Clock, When};
use crate::git::{Repo, parse_bool, parse_number};
use crate::memory::breadcrumb::{self, Key};
use crate::memory::checkpoint::{self, Pathspec};
use crate::secrets::Policy;
use crate::tokens::{BudgetAction, Encoding};
use crate::trace::model::level::Level;
use crate::trace::model::source::Source;
use crate::trace::model::trailers::Op;
use crate::trace::{AgentName, ItemId, ItemType, Time, TraceName};

/// A parsed value survives writing and reading.
fn reads_back<T: FromStr + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    assert_eq!(value.to_string().parse().ok().as_ref(), Some(&value));
    Some(value)
}

pub(super) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    reads_back::<ItemId>(text);
    reads_back::<ItemType>(text);
    reads_back::<Encoding>(text);
    reads_back::<Op>(text);
    reads_back::<Level>(text);
    reads_back::<Source>(text);
    reads_back::<Time>(text);
    if let Some(name) = reads_back::<TraceName>(text) {
        assert!(Repo::is_refname(&name.refname()));
        assert_eq!(TraceName::of_ref(&name.refname()), Some(name));
    }
    if let Some(name) = reads_back::<AgentName>(text) {
        let refname = TraceName::of_agent(&name).refname();
        assert!(Repo::is_refname(&refname));
        assert_eq!(AgentName::of_ref(&refname), Some(name));
    }
    let session = TraceName::of_session("agent", text);
    assert_eq!(TraceName::of_ref(&session.refname()).as_ref(), Some(&session));
    let sub_agent = session.of_sub_agent(text);
    assert_eq!(TraceName::of_ref(&sub_agent.refname()), Some(sub_agent));
    assert_eq!(Source::new("x", text, 0).to_string().parse(), Ok(Source::new("x", text, 0)));

    if let Ok(when) = text.parse::<When>() {
        let rendered = when.to_string();
        assert_eq!(rendered.parse::<When>().map(|again| again.to_string()), Ok(rendered));
        let clock = Clock { now: Time::from_second(1_770_714_000), zone: TimeZone::UTC };
        if let (Ok(before), Ok(after)) = (when.before(&clock), when.after(&clock)) {
            assert!(before <= after);
        }
    }
    if let Some(timestamp) = checkpoint::Timestamp::parse(text) {
        assert_eq!(Some(timestamp.time), timestamp.time.to_string().parse().ok());
    }
    if let Some(time) = breadcrumb::record::parse_time(text) {
        assert!(time.hours_earlier(1).is_none_or(|earlier| earlier < time));
    }
    if let Ok(key) = text.parse::<Key>() {
        assert_eq!(key.as_str(), text);
    }
    let _ = (text.parse::<Groups>(), text.parse::<Policy>(), text.parse::<BudgetAction>());
    let _ = (parse_bool(text), parse_number(text));
    let pathspec = Pathspec::new(Some(text));
    let _ = (pathspec.folder(), pathspec.kind(b"checkpoints/active/chk-a.md"), pathspec.matches(text.as_bytes()));
}
