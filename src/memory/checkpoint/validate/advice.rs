//! Advice on checkpoints that are valid but could be better.

use crate::base::finding::{Findings, Weight};
use crate::memory::checkpoint::document::{Document, Timestamp};
use crate::trace::Time;

const MIN_PROBLEM_WORDS: usize = 20;
const MIN_STATE_WORDS: usize = 30;
const MIN_DECISIONS: usize = 2;
const MIN_STEPS: usize = 2;
const MAX_BREADCRUMBS: usize = 50;
const MAX_AGE_DAYS: i64 = 7;
const MAX_IDLE_DAYS: i64 = 3;
const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

pub(crate) fn advise(findings: &mut Findings<'_>, document: &Document<'_>, now: Time, is_archived: bool) {
    let mut advise = |code, span, message: String, remedy: &str| {
        findings.add(Weight::Advice, code, span, message, remedy);
    };
    let mut check_words = |section, title: &str, code, min: usize, remedy: &str| {
        let Some(section) = section else { return };
        let count = document.word_count(&section);
        if count < min {
            let message = format!("the {title} has {count} words, fewer than {min}");
            advise(code, section.head, message, remedy);
        }
    };
    let remedy = "describe what is wrong, for whom, and why it matters";
    check_words(document.section("Problem"), "Problem", "short-problem", MIN_PROBLEM_WORDS, remedy);
    let remedy = "describe what works, what fails, and what remains to be done";
    check_words(document.essential("Current State"), "Current State", "short-state", MIN_STATE_WORDS, remedy);
    let points: [(&str, &str, usize, &'static str); 4] = [
        ("Decisions", "few-decisions", MIN_DECISIONS, "list decisions and their reasons"),
        ("Play-By-Play", "few-steps", MIN_STEPS, "list the steps that were taken"),
        ("Artifact Trail", "no-artifacts", 1, "list the files that were changed"),
        ("Next Actions", "no-actions", 1, "list what to do next"),
    ];
    for (title, code, min, remedy) in points {
        let Some(section) = document.essential(title) else { continue };
        let mut count = document.point_count(&section);
        if title == "Artifact Trail" {
            let deltas = document.deltas().filter_map(|delta| document.part(&delta.section, "Artifacts"));
            count += deltas.map(|artifacts| document.point_count(&artifacts)).sum::<usize>();
        }
        if count < min {
            advise(code, section.head, format!("{title} lists {count}, fewer than {min}"), remedy);
        }
    }
    let breadcrumbs = document.breadcrumbs();
    if let (true, Some(first)) = (breadcrumbs.len() > MAX_BREADCRUMBS, breadcrumbs.first()) {
        let message = format!("there are {} breadcrumbs, more than {MAX_BREADCRUMBS}", breadcrumbs.len());
        advise("many-breadcrumbs", first.span.clone(), message, "split the checkpoint, or summarize their targets");
    }
    for key in ["created", "last_delta"] {
        if let Some(timestamp) = document.key(key).and_then(Timestamp::parse)
            && timestamp.time > now
        {
            advise(
                "future",
                document.key_span(key).unwrap_or_default(),
                format!("`{key}` is in the future"),
                "correct it",
            );
        }
    }
    if is_archived {
        return;
    }
    let age = |since: Timestamp| now.as_second() - since.time.as_second();
    if let (Some(created), Some(span)) = (document.created(), document.key_span("created"))
        && age(created) > MAX_AGE_DAYS * SECONDS_PER_DAY
    {
        let message = format!("it was created {} days ago", age(created).div_euclid(SECONDS_PER_DAY));
        advise("old", span, message, "finish and archive it, or write a new one");
    }
    let last_delta = document.key("last_delta").and_then(Timestamp::parse);
    if let Some(last) = document.newest_delta().into_iter().chain(last_delta).max_by_key(|last| last.time)
        && age(last) > MAX_IDLE_DAYS * SECONDS_PER_DAY
    {
        let message = format!("its last delta is {} days old", age(last).div_euclid(SECONDS_PER_DAY));
        advise("idle", document.key_span("last_delta").unwrap_or_default(), message, "add a delta, or archive it");
    }
}
