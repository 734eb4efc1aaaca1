use super::*;
use crate::git::ObjectFormat;

fn oid(letter: char) -> Oid {
    let digits = format!("{:040x}", u32::from(letter));
    Oid::parse(&digits, ObjectFormat::Sha1).unwrap()
}

/// Draws commits, each as its letter and those of its parents.
fn drawn(commits: &[&str]) -> String {
    let mut graph = Graph::default();
    let mut lines = Vec::new();
    for commit in commits {
        let mut letters = commit.chars();
        let commit = letters.next().unwrap();
        let parents: Vec<Oid> = letters.map(oid).collect();
        lines.extend(graph.draw(oid(commit), &parents, &commit.to_string()));
    }
    lines.join("\n")
}

#[test]
fn a_line_of_commits_is_a_column() {
    insta::assert_snapshot!(drawn(&["cb", "ba", "a"]), @"
    * c
    * b
    * a
    ");
}

#[test]
fn branches_and_merges_open_and_join_columns() {
    insta::assert_snapshot!(drawn(&["fed", "dc", "eb", "cb", "ba", "a"]), @r"
    *   f
    |\
    | * d
    * | e
    | * c
    |/
    * b
    * a
    ");
}

#[test]
fn a_branch_joins_a_column_that_is_not_beside_it() {
    insta::assert_snapshot!(drawn(&["ca", "db", "ea", "b", "a"]), @"
    * c
    | * d
    | | * e
    |_|/
    | * b
    * a
    ");
}

#[test]
fn a_merge_of_three_and_a_history_of_its_own() {
    insta::assert_snapshot!(drawn(&["edcb", "ba", "ca", "da", "a", "x"]), @r"
    *     e
    |\
    |\ \
    | * | b
    | | * c
    | |/
    * | d
    |/
    * a
    * x
    ");
}
