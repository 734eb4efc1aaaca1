//! Verdicts on real files, and that no bytes are too odd.

use git_trace::checkpoint::{Rules, validate, validate_index};
use git_trace::finding::Finding;

use crate::playground::fixture;

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
fn real_files_get_the_verdicts_of_the_format() {
    insta::assert_snapshot!(judged("chk-003-breadcrumbs.md", rules()));
    insta::assert_snapshot!(judged("chk-auth-phase-complete.md", rules()));
    insta::assert_snapshot!(judged("chk-auth-system-two-deltas.md", rules()));
    insta::assert_snapshot!(judged("doc-with-fenced-checkpoint.md", rules()));
    let archived = Rules { is_archived: true, ..rules() };
    insta::assert_snapshot!(judged("chk-checkpoint-branches-plan.md", archived));
    insta::assert_snapshot!(judged("chk-dialectic-audit.md", archived));
    insta::assert_snapshot!(shown(&validate_index(&fixture("checkpoints/INDEX-two-active.md"), None)));
    insta::assert_snapshot!(shown(&validate_index(&fixture("checkpoints/INDEX-empty.md"), None)));
    insta::assert_snapshot!(shown(&validate_index(&fixture("checkpoints/INDEX-archive.md"), None)));
}
