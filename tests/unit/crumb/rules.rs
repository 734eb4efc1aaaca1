//! The findings in complete files.

use crate::base::finding::Weight;
use crate::memory::crumb::{CrumbFile, check, format, textconv};
use crate::tokens::Counter;

use crate::unit::playground::fixture;

/// The findings in a text, one line per finding, with `!` for errors.
fn verdict(text: impl AsRef<[u8]>) -> String {
    let findings = check(text.as_ref(), Counter::default());
    let line = |finding: &crate::base::finding::Finding| {
        let weight = if finding.weight == Weight::Error { "! " } else { "" };
        format!("{weight}{}\n", finding.in_file("f"))
    };
    findings.iter().map(line).collect()
}

const SAMPLES: [&str; 6] = [
    "complete-example.crumb",
    "getting-started.crumb",
    "minimal.crumb",
    "page-short-example.crumb",
    "spark-live.crumb",
    "team-fragment.crumb",
];

#[test]
fn published_files_round_trip_byte_for_byte() {
    for name in SAMPLES {
        let bytes = fixture(&format!("crumbs/{name}"));
        assert_eq!(CrumbFile::parse(&bytes).unwrap().print(), bytes, "{name}");
    }
    for name in &SAMPLES[..4] {
        assert_eq!(verdict(fixture(&format!("crumbs/{name}"))), "", "{name}");
    }
    insta::assert_snapshot!(verdict(fixture("crumbs/spark-live.crumb")), @"f:18:1: failure-mark: an entry of `failures` starts with `*`; write `~`, or put it into another section");
    insta::assert_snapshot!(verdict(fixture("crumbs/team-fragment.crumb")), @"! f:1:1: bad-header: expected a header, found `=team`; start the file with a line such as `∴CRUMB2 MYAGENT s1`");
}

#[test]
fn headers_have_version_1_or_2() {
    for good in ["∴CRUMB1 A s1\n§a\n", "∴CRUMB2 A s1\n§a", "∴CRUMB2  Ä\ts007\n=a\n"] {
        assert_eq!(verdict(good), "", "{good:?}");
    }
    let all = [
        "",
        "\n",
        "∴CRUMB3 A s1\n§a",
        "∴CRUMB2\n§a",
        "∴CRUMB2 A\n§a",
        "∴CRUMB2 A 1\n§a",
        "∴CRUMB2 A s1 x\n§a",
        "∴CRUMB2 A s99999999999999999999\n§a",
        "# notes\n§a",
        "BEGIN CRUMB\nx=1\nEND CRUMB",
        ". an entry\n§a",
    ];
    insta::assert_snapshot!(all.map(verdict).concat(), @"
    ! f:1:1: bad-header: the file is empty; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: no-section: the file has no section; add a line such as `§core`
    ! f:1:1: bad-header: the file is empty; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: no-section: the file has no section; add a line such as `§core`
    ! f:1:1: bad-header: unsupported version `∴CRUMB3`: expected 1 or 2; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: bad-header: the header has no identity; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: bad-header: the header has no session; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: bad-header: expected a session such as `s1`, found `1`; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: bad-header: unexpected `x` after the session; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: bad-header: expected a session such as `s1`, found `s99999999999999999999`; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: bad-header: expected a header, found `# notes`; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: other-format: the file starts with `BEGIN CRUMB`: it has another format with the extension `.crumb`; give it another name
    ! f:1:1: bad-header: expected a header, found `. an entry`; start the file with a line such as `∴CRUMB2 MYAGENT s1`
    ! f:1:1: entry-before-section: the entry is before the first section; put it below a line such as `§core`
    ");
}

#[test]
fn every_rule_reports_its_violation() {
    insta::assert_snapshot!(verdict("\u{feff}\n  ∴CRUMB2 A s5\n. early\n§core\nx what\n.glued\n  . indented\nf x\n§\n∴CRUMB2 B s1\n=team\nfS a fact\n"), @"
    f:1:1: byte-order-mark: the file starts with a byte order mark; save it as UTF-8 without one
    f:1:2: blank-before-header: a blank line is before the header; remove it
    f:2:1: indented-header: the header is indented; remove the indent
    ! f:3:1: entry-before-section: the entry is before the first section; put it below a line such as `§core`
    ! f:5:1: unknown-mark: `x` is not the mark of an entry; start it with one of `. ! ~ * > n c` and a space
    ! f:6:1: unknown-mark: the mark `.` needs a space after it; start it with one of `. ! ~ * > n c` and a space
    ! f:7:1: unknown-mark: the line is indented; start it with one of `. ! ~ * > n c` and a space
    ! f:8:1: unknown-mark: the mark `f` needs an agent's letter and a space after it; start it with one of `. ! ~ * > n c` and a space
    ! f:9:1: bad-section: a section has no name directly after its mark; write it as in `§core`
    ! f:10:1: second-header: the file has a second header; keep one
    ! f:11:1: mixed-marks: line 11 marks a section with `=`, and line 4 with `§`; use only one of the two
    f:12:1: shared-mark: the mark `f` is for shared files, whose sections are marked with `=`; write `.` with the agent's letter
    ");
    insta::assert_snapshot!(verdict("∴CRUMB2 A s5\n"), @"! f:1:1: no-section: the file has no section; add a line such as `§core`");
    insta::assert_snapshot!(verdict("∴CRUMB2 A s5\n§core\nfS a\n. \n§core\n. bell \u{7} and \u{1b}[31m\n"), @r"
    f:3:1: shared-mark: the mark `f` is for shared files, whose sections are marked with `=`; write `.` with the agent's letter
    f:4:1: empty-entry: the entry has no text; add text or delete it
    f:5:1: section-twice: the section `core` already starts on line 2; merge the two
    f:6:8: control-character: the line contains the control character \u{7}; remove it
    ");
    insta::assert_snapshot!(verdict("∴CRUMB2 A s5\n§volatile\nn none\nn @x bad\nc @4-2 back\nn @6 late\nc @1-7 late\n~ a:b late — 2x @s8\n~ a:b bad — 2x @then\nn @pre4 fine\n. @any one\n"), @"
    f:3:1: no-reference: an entry with the mark `n` names no session; write the session after the mark, such as `@15`
    ! f:4:3: bad-reference: `@x` does not name a session; write `@15`, `@10-13`, `@s8` or `@pre122`
    f:5:1: backward-range: the range @4-2 runs backwards; put the earlier session first
    f:6:1: future-session: session 6 is later than session 5 of the header; correct it, or `git trace crumb start` the session
    f:7:1: future-session: session 7 is later than session 5 of the header; correct it, or `git trace crumb start` the session
    f:7:1: overlapping-summaries: the summary of @1-7 overlaps that of @4-2 on line 5; keep one, or run `git trace crumb compress`
    f:8:1: future-session: session 8 is later than session 5 of the header; correct it, or `git trace crumb start` the session
    ! f:9:13: bad-reference: `2x @then` does not name a session; write `@15`, `@10-13`, `@s8` or `@pre122`
    ");
    insta::assert_snapshot!(verdict("∴CRUMB2 A s5\n§failures\n~ a:1\n~ a:2\n~ a:3\n~ a:4\n~ a:5\n~ a:6\n~ a:7\n. b\n<<<<<<< ours\n=======\n>>>>>>> theirs\n"), @"
    f:8:1: too-many-failures: the section has more than 5 failures; `git trace crumb compress` archives those that failed least
    f:10:1: failure-mark: an entry of `failures` starts with `.`; write `~`, or put it into another section
    ! f:11:1: conflict-marker: the line is a conflict marker; edit it, or merge it by entry: `git trace install`, then `git checkout -m FILE`
    ! f:12:1: conflict-marker: the line is a conflict marker; edit it, or merge it by entry: `git trace install`, then `git checkout -m FILE`
    ! f:13:1: conflict-marker: the line is a conflict marker; edit it, or merge it by entry: `git trace install`, then `git checkout -m FILE`
    ");
    insta::assert_snapshot!(verdict(format!("∴CRUMB2 A s5\n§core\n. {}\n", "word ".repeat(400))), @"f:1:1: too-long: the file has 414 tokens, more than 400; run `git trace crumb compress`, or delete what nobody needs");
    insta::assert_snapshot!(verdict(b"\xe2\x88\xb4CRUMB2 A s5\n\xa7core\n"), @"! f:2:1: not-utf8: invalid UTF-8 at byte 15; save it as UTF-8, or restore it from git");
}

#[test]
fn formatting_changes_only_whitespace() {
    let text = "\u{feff}\n ∴CRUMB2   A\ts5 \r\n§core\r\n\r\n. a  b  \r\n§rules\n! c";
    let formatted = format(&CrumbFile::parse(text.as_bytes()).unwrap());
    assert_eq!(String::from_utf8(formatted).unwrap(), "∴CRUMB2 A s5\n\n§core\n. a  b\n\n§rules\n! c\n");
    for name in &SAMPLES[..4] {
        let bytes = fixture(&format!("crumbs/{name}"));
        let expected = [bytes.strip_suffix(b"\n").unwrap_or(&bytes), b"\n"].concat();
        assert_eq!(format(&CrumbFile::parse(&bytes).unwrap()), expected, "{name}");
    }
}

#[test]
fn diffs_show_entries() {
    insta::assert_snapshot!(textconv(b"\xe2\x88\xb4CRUMB2 A s5\n\n=core\n. a\n=failures\n~S a:b went [wrong] \xe2\x80\x94 3x @s4 [TAG: x]\nodd \x1b[2J\n\xff\n"), @r"
    CRUMB2 A, session 5
    =core
    core: . a
    =failures
    failures: ~S a:b went [wrong] [TAG: x]
    failures: a:b happened 3x @s4
    failures: odd \u{1b}[2J
    failures: �
    ");
}

#[test]
fn section_names_are_escaped() {
    let text = "∴CRUMB2 A s1\n§a\u{1b}[2J\n. fact\n~a:b [2x @1] words\nx\n";
    assert!(!textconv(text.as_bytes()).contains('\u{1b}'));
}

#[test]
fn a_line_that_is_a_header_after_trimming_is_formatted_as_one() {
    let once = format(&CrumbFile::parse(" ∴CRUMB2  ADA s15\u{b}\n\n§core\n. x\n".as_bytes()).unwrap());
    assert_eq!(String::from_utf8(once.clone()).unwrap(), "∴CRUMB2 ADA s15\n\n§core\n. x\n");
    assert_eq!(format(&CrumbFile::parse(&once).unwrap()), once);
}

#[test]
fn overlapping_summaries_odd_names_and_line_endings_are_found() {
    let text = "∴CRUMB2 A s40\r\n§core\n§odd name!\n§Core\n§volatile\nc @1-15 a\nc @10-16 b\ncS @16 b\nc @17 c\nn @16 \u{200b}x\n";
    insta::assert_snapshot!(verdict(text), @r"
    f:1:14: mixed-line-endings: some lines end with CR and LF, others with LF; `git trace crumb fmt` makes them LF
    f:3:1: odd-section-name: the section name `odd name!` is not one word of letters and digits; write it as in `§core`, with `-` between words
    f:4:1: section-twice: the section `Core` already starts on line 2; merge the two
    f:7:1: overlapping-summaries: the summary of @10-16 overlaps that of @1-15 on line 6; keep one, or run `git trace crumb compress`
    f:10:7: control-character: the line contains the invisible character \u{200b}; remove it
    ");
    assert!(!format(&CrumbFile::parse(text.as_bytes()).unwrap()).contains(&b'\r'));
    insta::assert_snapshot!(verdict("∴CRUMB2 A s1\r\n§core\r\n. a\r\n"), @"f:1:13: crlf: the lines end with CR and LF; `git trace crumb fmt` makes them LF");
}
