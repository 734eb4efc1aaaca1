//! The laws of parser, compressor and merge. Alphabets are tiny, so that collisions are common.

use std::collections::BTreeSet;

use crate::base::finding::Weight;
use crate::base::merge::{ConflictText, Hunk, Markers, MergeInput, Merged, Style};
use crate::memory::crumb::{CrumbFile, EntryKind, LineKind, NewEntry, Tier, check, format, merge, plan};
use crate::tokens::Counter;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const SECTIONS: [&str; 5] = ["core", "failures", "volatile", "own", "team"];

fn entry_line() -> impl Strategy<Value = &'static str> {
    select(vec![
        ". a",
        ". b",
        "! a",
        "* a",
        "> a",
        "n @1 a",
        "n @2 a",
        "n @2 b",
        "n a",
        "c @1-2 a",
        "nS @3 a",
        "fS a",
        "~ a:b x — 1x @1",
        "~ a:b x — 3x @s2",
        "~ a:b y",
        "~ a:c x — 2x @pre3 [T: u]",
        "~S a:b x — 1x @2",
    ])
}

/// A file without an error; a tidy one has no section twice, and no entry in one.
fn valid(is_tidy: bool) -> impl Strategy<Value = String> {
    let section = (select(SECTIONS.to_vec()), vec(entry_line(), 0..4), 0..2_usize);
    let header = (select(vec!["A", "B"]), 1..4_u64);
    (header, select(vec!["§", "="]), vec(section, 1..4), select(vec!["\n", "\r\n"]), any::<bool>()).prop_map(
        move |((identity, session), mark, mut sections, eol, has_end)| {
            if is_tidy {
                let mut seen = BTreeSet::new();
                sections.retain(|(name, ..)| seen.insert(*name));
                for (name, lines, _) in &mut sections {
                    // A failure is identified by its name alone.
                    let mut seen = BTreeSet::new();
                    lines.retain(|line| seen.insert(entries(format!("∴CRUMB2 A s1\n§{name}\n{line}\n").as_bytes())));
                }
            }
            let mut text = format!("∴CRUMB2 {identity} s{session}{eol}");
            for (name, entries, blanks) in sections {
                text.extend([&*eol.repeat(blanks), mark, name, eol]);
                for entry in entries {
                    text.extend([entry, eol]);
                }
            }
            if !has_end {
                text.truncate(text.len() - eol.len());
            }
            text
        },
    )
}

/// Lines as people and damage may leave them.
fn wild() -> impl Strategy<Value = Vec<u8>> {
    let odd =
        select(vec!["", " ", "§core", "=core", "§", "x", "∴CRUMB2 A s2", "<<<<<<< o", "=======", "\u{feff}", "n\r"]);
    let line = prop_oneof![3 => entry_line(), 2 => odd];
    let end = select(vec!["\n", "\n", "\r\n", ""]);
    let head = select(vec!["∴CRUMB2 A s1\n§core\n", "∴CRUMB1 B s3\n", "\u{feff}\n ∴CRUMB2 A s2\r\n=core\n", ""]);
    let text = (head, vec((line, end), 0..8)).prop_map(|(head, lines)| {
        lines.into_iter().fold(head.to_owned(), |text, (line, end)| text + line + end).into_bytes()
    });
    prop_oneof![6 => text, 1 => vec(any::<u8>(), 0..40), 2 => valid(false).prop_map(String::into_bytes)]
}

/// The actions of an agent in a session.
#[derive(Clone, Debug)]
enum Deed {
    Fail(&'static str),
    Remove(usize),
    Add(EntryKind, &'static str, &'static str),
    /// Summarize the sessions up to a number.
    Summarize(&'static str),
    /// Add words and a tag to a failure that the base has.
    Reword(&'static str, &'static str),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let kind = select(vec![EntryKind::Fact, EntryKind::Note, EntryKind::Warning]);
    let deed = prop_oneof![
        select(vec!["a:a", "a:b", "a:c"]).prop_map(Deed::Fail),
        (0..6_usize).prop_map(Deed::Remove),
        (kind, select(SECTIONS.to_vec()), select(vec!["x", "y", "z"]))
            .prop_map(|(kind, to, text)| Deed::Add(kind, to, text)),
        select(vec!["c @1-2 a", "c @1-3 a", "c @1-3 b", "c @2-4 a", "c @3 a"]).prop_map(Deed::Summarize),
        (select(vec!["slow", "slower", "red / blue", ""]), select(vec![" [T: u]", " [T: v]", " [S] [T]", ""]))
            .prop_map(|(words, tags)| Deed::Reword(words, tags)),
    ];
    vec(deed, 0..6)
}

/// The file after these actions, in a separate session. Failures are counted first, because a removal may name one.
fn after(base: &str, sessions: usize, deeds: &[Deed]) -> Vec<u8> {
    let mut crumb = CrumbFile::parse(base.as_bytes()).unwrap();
    for _ in 0..sessions {
        crumb.start_session().unwrap();
    }
    for deed in deeds {
        if let Deed::Fail(key) = deed {
            crumb.add_failure(key, "it", None).unwrap();
        }
    }
    for deed in deeds {
        match deed {
            Deed::Fail(_) => {}
            Deed::Summarize(line) => crumb.append("volatile", (*line).to_owned()).unwrap(),
            Deed::Reword(words, tags) => {
                for line in crumb.lines.iter_mut().filter(|line| line.text.starts_with("~ a:b it")) {
                    line.text = format!("~ a:b it {words} — 1x @3{tags}").into();
                }
            }
            Deed::Remove(n) => {
                let at = crumb.entries().map(|(at, ..)| at).nth(*n);
                at.map(|at| crumb.remove(at));
            }
            Deed::Add(kind, section, text) => {
                crumb.add(&NewEntry { kind: *kind, section, agent: None, text }).unwrap();
            }
        }
    }
    crumb.print()
}

const BASE: &str = "∴CRUMB2 A s7\n\n§core\n. x\n. old\n\n§failures\n~ a:a it — 2x @3\n~ a:b it\n\n§volatile\nn @7 y\n";

fn merged<'a>(
    base: &'a [u8],
    ours: &'a [u8],
    theirs: &'a [u8],
) -> Option<Merged<'a, crate::memory::crumb::merge::MergeNote>> {
    merge(MergeInput { base, ours, theirs })
}

fn bytes(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    merged(base, ours, theirs).unwrap().to_bytes(&Markers::default())
}

fn is_valid(text: &[u8]) -> bool {
    check(text, Counter::default()).iter().all(|finding| finding.weight != Weight::Error)
}

/// Section and text of every entry; failures with their names alone.
fn entries(text: &[u8]) -> BTreeSet<(String, String)> {
    let crumb = CrumbFile::parse(text).unwrap();
    let said = crumb.entries().map(|(at, section, entry)| {
        let failure = entry.key().filter(|_| section == "failures").map(|key| format!("{:?} {key}", entry.agent));
        (section.to_owned(), failure.unwrap_or_else(|| crumb.lines[at].text.to_string()))
    });
    said.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_print_as_they_were_read(text in wild()) {
        if let Ok(crumb) = CrumbFile::parse(&text) {
            prop_assert_eq!(&crumb.print(), &text);
            let formatted = format(&crumb);
            let again = format(&CrumbFile::parse(&formatted).unwrap());
            prop_assert_eq!(&again, &formatted);
        }
    }

    #[test]
    fn findings_lie_within_the_file(text in wild()) {
        for finding in check(&text, Counter::default()) {
            prop_assert!(finding.span.start <= finding.span.end && finding.span.end <= text.len(), "{:?}", finding);
        }
    }

    #[test]
    fn any_bytes_can_be_shown(text in wild()) {
        let shown = crate::memory::crumb::textconv(&text);
        prop_assert!(!shown.bytes().any(|b| b == 0x1b));
    }

    #[test]
    fn added_text_forges_no_syntax(text in "[§=∴CRUMB2 n@1\\[\\]:\u{2028}\u{85}\u{1b}\r\n—~.a-]{0,20}", n in 0..4_usize) {
        let mut crumb = CrumbFile::parse(BASE.as_bytes()).unwrap();
        let before = crumb.clone();
        let kind = [EntryKind::Fact, EntryKind::Note, EntryKind::Directive, EntryKind::Lesson][n];
        let added = match kind {
            EntryKind::Lesson => crumb.add_failure("new:one", &text, None).is_ok(),
            _ => crumb.add(&NewEntry { kind, section: "core", agent: None, text: &text }).is_ok(),
        };
        let printed = crumb.print();
        let read = CrumbFile::parse(&printed).unwrap();
        prop_assert_eq!(&read.lines, &crumb.lines);
        prop_assert_eq!(read.lines.len(), before.lines.len() + usize::from(added));
        prop_assert_eq!(read.header(), before.header());
        prop_assert_eq!(read.sections().len(), before.sections().len());
        let entry = read.entries().find(|(at, ..)| before.lines.get(*at).is_none_or(|line| line.text != read.lines[*at].text));
        prop_assert!(!added || entry.is_some_and(|(_, _, entry)| entry.kind == kind && entry.agent.is_none()));
        prop_assert!(!printed.contains(&0x1b));
        if kind == EntryKind::Lesson && added {
            let counter = read.entries().find_map(|(_, _, entry)| entry.counter.filter(|_| entry.key() == Some("new:one")));
            prop_assert_eq!(counter.map(|counter| (counter.count, counter.last.number)), Some((1, 7)));
        }
    }

    #[test]
    fn compressing_is_idempotent(text in valid(false), session in 1..40_u64) {
        let text = text.replacen("s1", &format!("s{session}"), 1);
        let mut crumb = CrumbFile::parse(text.as_bytes()).unwrap();
        let before = crumb.clone();
        let first = plan(&crumb);
        first.apply(&mut crumb);
        prop_assert!(plan(&crumb).is_empty());
        prop_assert!(is_valid(&crumb.print()));
        let session = crumb.header().unwrap().session;
        let mut seen = BTreeSet::new();
        for (at, section, entry) in crumb.entries() {
            let place = crumb.sections().iter().rposition(|section| section.start < at);
            let heat = entry.reference.map(|reference| Tier::of(reference.later().latest(), session));
            match heat.filter(|_| entry.kind.is_dated()) {
                None | Some(Tier::Hot) => prop_assert!(before.lines.iter().any(|line| line.text == crumb.lines[at].text)),
                Some(Tier::Warm) => prop_assert!(seen.insert((place, entry.agent, entry.latest()))),
                Some(Tier::Cold) => prop_assert!(seen.insert((place, entry.agent, None))),
            }
            let _ = section;
        }
        let said = |crumb: &CrumbFile<'_>| crumb.lines.iter().filter(|line| line.kind == LineKind::Section).count();
        prop_assert_eq!(said(&crumb), said(&before));
    }

    #[test]
    fn an_unchanged_side_yields_the_other(base in wild(), side in wild()) {
        prop_assert_eq!(&bytes(&base, &base, &side), &side);
        prop_assert_eq!(&bytes(&base, &side, &base), &side);
        prop_assert_eq!(&bytes(&base, &side, &side), &side);
    }

    #[test]
    fn merging_is_commutative(base in wild(), ours in wild(), theirs in wild()) {
        let one_way = merged(&base, &ours, &theirs);
        let mut other_way = merged(&base, &theirs, &ours);
        for hunk in other_way.iter_mut().flat_map(|merged| &mut merged.hunks) {
            if let Hunk::Conflict(contested) = hunk {
                let ConflictText { ours, theirs, .. } = contested;
                std::mem::swap(ours, theirs);
            }
        }
        let markers = Markers { style: Style::Diff3, ..Markers::default() };
        prop_assert_eq!(one_way.map(|merged| merged.to_bytes(&markers)), other_way.map(|merged| merged.to_bytes(&markers)));
    }

    #[test]
    fn merging_valid_files_gives_a_valid_file(base in valid(false), ours in valid(false), theirs in valid(false)) {
        let merged = merged(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        prop_assert!(merged.is_some());
        let merged = merged.unwrap();
        prop_assert!(!merged.is_clean() || is_valid(&merged.to_bytes(&Markers::default())));
    }

    #[test]
    fn an_entry_disappears_only_if_a_side_removed_it(base in valid(true), ours in valid(true), theirs in valid(true)) {
        let merged = merged(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).unwrap();
        prop_assume!(merged.is_clean());
        let result = entries(&merged.to_bytes(&Markers::default()));
        let [base, ours, theirs] = [base, ours, theirs].map(|text| entries(text.as_bytes()));
        for entry in ours.union(&theirs) {
            let is_everywhere = ours.contains(entry) && theirs.contains(entry);
            prop_assert!(result.contains(entry) || (base.contains(entry) && !is_everywhere), "{:?}", entry);
        }
        for entry in &result {
            prop_assert!(ours.contains(entry) || theirs.contains(entry), "{:?}", entry);
            let is_failure = entry.0 == "failures";
            let was_taken_out = base.contains(entry) && !(ours.contains(entry) && theirs.contains(entry));
            prop_assert!(is_failure || !was_taken_out, "{:?}", entry);
        }
    }

    #[test]
    fn merging_three_branches_is_associative(a in deeds(), b in deeds(), c in deeds()) {
        let [a, b, c] = [after(BASE, 1, &a), after(BASE, 2, &b), after(BASE, 3, &c)];
        let base = BASE.as_bytes();
        let orders = [[&a, &b, &c], [&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]];
        let results: BTreeSet<String> = orders
            .iter()
            .map(|[a, b, c]| String::from_utf8(bytes(base, &bytes(base, a, b), c)).unwrap())
            .collect();
        prop_assert_eq!(results.len(), 1, "{:#?}", results);
    }

    #[test]
    fn merging_is_idempotent(a in deeds(), b in deeds()) {
        let (a, b) = (after(BASE, 1, &a), after(BASE, 2, &b));
        let once = bytes(BASE.as_bytes(), &a, &b);
        prop_assert_eq!(&bytes(&a, &once, &a), &once);
        prop_assert_eq!(&bytes(&b, &b, &once), &once);
    }
}
