//! Verdicts on real files, and that no bytes are too odd.

use crate::base::finding::Finding;
use crate::memory::checkpoint::{Document, Rules, validate, validate_index, validate_set};
use proptest::prelude::*;

use crate::unit::playground::{fixture, sound};

const LATER: &str = "2026-02-10T09:00:00Z";

fn rules() -> Rules {
    Rules { advise_at: Some(LATER.parse().unwrap()), is_archived: false }
}

fn shown(findings: &[Finding]) -> String {
    let line = |finding: &Finding| format!("{} {}\n", finding.weight, finding.in_file("f"));
    findings.iter().map(line).collect()
}

fn judged(name: &str, rules: Rules) -> String {
    shown(&validate(&fixture(&format!("checkpoints/{name}")), rules))
}

#[test]
fn real_files_get_the_expected_findings() {
    insta::assert_snapshot!(judged("chk-003-breadcrumbs.md", rules()));
    insta::assert_snapshot!(judged("chk-auth-phase-complete.md", rules()));
    insta::assert_snapshot!(judged("chk-auth-system-two-deltas.md", rules()));
    insta::assert_snapshot!(judged("doc-with-fenced-checkpoint.md", rules()));
    let archived = Rules { is_archived: true, ..rules() };
    insta::assert_snapshot!(judged("chk-checkpoint-branches-plan.md", archived));
    insta::assert_snapshot!(judged("chk-dialectic-audit.md", archived));
    insta::assert_snapshot!(shown(&validate_index(&fixture("checkpoints/INDEX-two-active.md"), None)));
    insta::assert_snapshot!(shown(&validate_index(&fixture("checkpoints/INDEX-empty.md"), None)));
    assert_eq!(shown(&validate_index(&fixture("checkpoints/INDEX-archive.md"), None)), "");
}

fn codes(text: &str) -> Vec<&'static str> {
    validate(text.as_bytes(), rules()).into_iter().map(|finding| finding.code).collect()
}

#[test]
fn artifacts_of_deltas_count() {
    let without = sound("", "").replace("| a | created | b |\n", "");
    assert_eq!(codes(&without), ["no-artifacts"]);
    let delta = "## Delta: 2026-02-10T08:00:00Z\n\n### What Changed\n\nx\n\n### Artifacts\n\n\
        | File | Action | Description |\n|---|---|---|\n| a | created | b |\n";
    assert_eq!(codes(&format!("{without}\n---\n\n{delta}")), [""; 0]);
}

#[test]
fn each_rule_reports_its_violation() {
    assert_eq!(codes(&sound("", "")), [""; 0]);
    let front = |line: &str, with: &str| sound("", "").replace(line, with);
    for (text, code) in [
        (front("checkpoint: chk-a\n", ""), "missing-key"),
        (front("checkpoint: chk-a", "checkpoint: 3"), "bad-id"),
        (front("checkpoint: chk-a", "checkpoint: ''"), "bad-id"),
        (front("created: 2026-02-10T08:00:00Z", "created: soon"), "bad-time"),
        (front("created: 2026-02-10T08:00:00Z", "created: 2026-02-10T08:00:00"), "no-zone"),
        (front("anchor: x\n", ""), "missing-key"),
        (front("parent: null", "parent: [a]"), "bad-parent"),
        (front("parent: null", "parent: {a: b\n"), "bad-yaml"),
        (front("parent: null", "checkpoint: chk-b"), "bad-yaml"),
        (sound("status: done\n", ""), "unknown-status"),
        (sound("", "").replace("## Problem", "## The Problem"), "missing-heading"),
        (sound("", "").replace("### Decisions", "#### Decisions"), "missing-heading"),
        (sound("", "### Breadcrumbs\n\n| Type | Reference | Hint |\n|---|---|---|\n| file | a |\n\n"), "bad-row"),
        (
            sound("", "### Breadcrumbs\n\n| Type | Reference | Hint |\n|---|---|---|\n| file | a | b | c |\n\n"),
            "bad-row",
        ),
        (sound("", "### Breadcrumbs\n\n| Type | Reference | Hint |\n|---|---|\n| file | a | b |\n\n"), "bad-table"),
        (
            sound("", "### Breadcrumbs\n\n| Type | Reference | Hint |\n|---|---|---|\n| link | a | b |\n\n"),
            "unknown-type",
        ),
        (sound("", "") + "\n<<<<<<< HEAD\n", "conflict-marker"),
        (sound("", "") + "\n---\n\n## Delta: 2026-02-10T08:00:00Z\n\n### What Changed\n\nx\n", "missing-delta-part"),
        (
            sound("", "") + "\n---\n\n## Delta: 2026-02-10T08:30:00Z\n\n### What Changed\n\n### Artifacts\n",
            "stale-last-delta",
        ),
        (front("created: 2026-02-10", "created: 2026-01-10"), "old"),
        (front("- [x] done\n- [ ] open\n", ""), "no-actions"),
    ] {
        assert!(codes(&text).contains(&code), "{code}: {:?}\n{text}", codes(&text));
    }
    // A heading that only holds the words, a zone that is another, CRLF and a byte order mark are all in order.
    for good in [
        front("### Decisions", "### User DECISIONS so far"),
        front("last_delta: 2026-02-10T08:00:00Z", "last_delta: 2026-02-10T09:00:00+01:00"),
        sound("", "").replace('\n', "\r\n"),
        format!("\u{feff}{}", sound("status: current\n", "")),
        sound("", "```\n## Problem\n<<<<<<< x\n```\n\n"),
    ] {
        assert_eq!(codes(&good), [""; 0], "{good}");
    }
    assert_eq!(validate(b"---\na: \xff\n---\n", rules())[0].code, "not-utf8");
}

#[test]
fn one_cause_gives_one_finding() {
    let whole = sound("", "");
    let without_essential = whole.replace("## Essential Information", "## Other");
    let without_front = &whole[whole[3..].find("---").unwrap() + 7..];
    for (text, expected) in [
        ("", vec!["empty"]),
        ("\u{feff}\n \n", vec!["empty"]),
        (without_front, vec!["no-frontmatter"]),
        ("# A page\n\ntext\n", vec!["no-frontmatter"]),
        (&without_essential, vec!["missing-heading"]),
    ] {
        assert_eq!(codes(text), expected, "{text}");
    }
    // The line of the quote, not the line where YAML ends.
    let text = whole.replace("anchor: x", "anchor: \"x");
    insta::assert_snapshot!(shown(&validate(text.as_bytes(), rules())), @"error f:4:9: bad-yaml: the quote is not closed; close it on this line");
    let future = whole.replace("created: 2026-02-10", "created: 2027-02-10");
    assert_eq!(codes(&future), ["future"]);
}

#[test]
fn a_completion_is_read_as_people_write_it() {
    use crate::memory::checkpoint::validate::completion_field;
    for text in [
        "- **Status**: Done\n- **Learnings**:\n  - one\n  - two\n- **Date**: today\n",
        "**Status**: Done\n\n**Learnings**: - one\n  - two\n\n**Date**: today\n",
        "* Status: Done\n* **Learnings:** - one\n  - two\n---\n",
        "Status: Done\nLearnings: - one\n  - two\n\n## Next\n",
    ] {
        let text = format!("---\na: b\n---\n## Completion\n\n{text}");
        let document = Document::parse(&text);
        let section = document.section("Completion").unwrap();
        assert_eq!(completion_field(&document, &section, "Learnings"), Some("- one\n  - two"), "{text}");
        assert_eq!(completion_field(&document, &section, "Status"), Some("Done"), "{text}");
        assert_eq!(completion_field(&document, &section, "Outcome"), None, "{text}");
    }
}

#[test]
fn next_actions_may_be_a_table() {
    let table = "| # | Action | Status |\n|---|---|---|\n| 1 | Write it | done |\n| 2 | `Test` it | open |\n";
    let text = sound("", "").replace("- [x] done\n- [ ] open\n", table);
    assert_eq!(Document::parse(&text).open_actions(), ["`Test` it"]);
}

#[test]
fn findings_across_files_are_reported() {
    let text = |id: &str, parent: &str, status: &str| {
        sound(&format!("status: {status}\n"), "")
            .replace("chk-a", id)
            .replace("parent: null", &format!("parent: {parent}"))
    };
    let texts =
        [text("a", "b", "current"), text("b", "a", "current"), text("c", "null", "active"), text("c", "x", "active")];
    let documents: Vec<_> = texts.iter().map(|text| Document::parse(text)).collect();
    let named: Vec<_> = ["1.md", "2.md", "3.md", "4.md"].into_iter().zip(&documents).collect();
    let codes: Vec<Vec<_>> =
        validate_set(&named).iter().map(|found| found.iter().map(|finding| finding.code).collect()).collect();
    assert_eq!(
        codes,
        [vec!["cycle", "two-current"], vec!["cycle", "two-current"], vec!["duplicate-id"], vec!["duplicate-id"]]
    );
}

#[test]
fn lists_are_validated() {
    let good = String::from_utf8(fixture("checkpoints/INDEX-two-active.md")).unwrap();
    let codes = |text: &str, files: Option<&[Vec<String>]>| {
        let found = validate_index(text.as_bytes(), files);
        found.iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    for (from, to, code) in [
        ("# Active Checkpoints", "# Checkpoints", "bad-title"),
        ("| Last Updated |", "| Updated |", "bad-columns"),
        ("2026-01-06", "2026-02-30", "bad-date"),
        ("2026-01-06", "06.01.2026", "bad-date"),
        ("| 2026-01-06 |", "|", "bad-row"),
        ("## chk-v170-cli-commands", "## chk-other", "row-without-part"),
        ("| chk-v170-cli-commands |", "| chk-other |", "part-without-row"),
        ("**Scope**: Stop hook", "**Scope**:\n\n**Reach**: Stop hook", "empty-field"),
        ("**Problem**: CLI", "Problem: CLI", "empty-field"),
    ] {
        assert!(codes(&good.replacen(from, to, 1), None).contains(&code), "{code}");
    }
    let files = [vec!["chk-v170-cli-commands".to_owned()], vec!["chk-new".to_owned()]];
    assert_eq!(codes(&good, Some(&files)), ["row-without-file", "file-without-row"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_validated(bytes in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        "(---\r?\n|a: b\n|checkpoint: x\n|created: [0-9T:-]{0,12}\n|## Problem\n|### Decisions\n|\\| a \\|\n|\\|--\\|\n|- \\[x\\] y\n|```\n|\u{feff}|ü|\n|## Delta: 2026-01-01\n|<<<<<<< a\n|\t|  |\\\\\\||\\*\\*Problem\\*\\*: ){0,24}"
            .prop_map(String::into_bytes),
    ]) {
        let found = validate(&bytes, Rules { is_archived: true, ..rules() });
        let lists = validate_index(&bytes, Some(&[]));
        for finding in found.iter().chain(&lists) {
            prop_assert!(finding.span.start <= finding.span.end && finding.span.end <= bytes.len());
        }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let document = Document::parse(text);
            let named = [("a", &document), ("b", &document)];
            prop_assert_eq!(validate_set(&named).len(), 2);
            let _ = (document.breadcrumbs(), document.artifacts(), document.open_actions(), document.problem_line());
        }
    }
}
