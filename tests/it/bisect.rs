//! `bisect run`: the first item whose presence makes a command fail.

use crate::repo::TestRepo;

fn twelve() -> TestRepo {
    let repo = TestRepo::new();
    for number in 0..12 {
        repo.say(&format!("item {number}{}", if number == 7 { " poison" } else { "" }));
    }
    repo
}

#[test]
fn the_first_item_that_makes_a_command_fail_is_found() {
    let repo = twelve();
    let before = repo.refs();
    let objects = repo.git(&["count-objects"]);
    insta::assert_snapshot!(repo.trace(&["bisect", "run", "sh", "-c", "! grep -q poison"]), @"
    first bad: #7 dialogue user: item 7 poison [ID]
    [exit 0]
    ");
    // The file holds the same, in the form that was asked for.
    let script = r#"cmp - "$GITTRACE_CANDIDATE" || exit 200; ! grep -q '"parts".*poison' "$GITTRACE_CANDIDATE""#;
    insta::assert_snapshot!(repo.trace(&["bisect", "run", "--json", "--format", "gemini", "sh", "-c", script]), @r#"
    {"items":[{"id":"[ID]","seq":7,"type":"dialogue"}],"outcome":"first_bad","tests":6}
    [exit 0]
    "#);
    let ids = repo.lines(&["log", "--json"]);
    let tenth = ids[2]["items"][0]["id"].as_str().unwrap();
    let script = format!(r#"[ "$GITTRACE_CANDIDATE_ITEM" = {tenth} ] && exit 3; ! grep -q 'item 9'"#);
    let found = repo.json(&["bisect", "run", "--json", "sh", "-c", &script]);
    assert_eq!(found["items"][0]["id"], tenth);
    assert_eq!(repo.refs(), before);
    assert_eq!(repo.git(&["count-objects"]), objects, "nothing is written");
}

#[test]
fn skipped_items_are_not_shown_and_pinned_ones_are() {
    let repo = twelve();
    repo.text(&["skip", "#7"]);
    repo.text(&["pin", "#9"]);
    insta::assert_snapshot!(repo.trace(&["bisect", "run", "sh", "-c", "! grep -q poison"]), @"
    --- stderr
    the command does not fail with all items present
    [exit 1]
    ");
    insta::assert_snapshot!(repo.trace(&["bisect", "run", "sh", "-c", "! grep -q 'item 9'"]), @"
    first bad: #9 dialogue user: item 9 [ID]
    [exit 0]
    ");
}

#[test]
fn bisect_narrows_down_what_it_cannot_decide() {
    let repo = twelve();
    let script = r#"case "$(cat)" in *'item 8'*) exit 1;; *'item 5'*) exit 125;; esac"#;
    insta::assert_snapshot!(repo.trace(&["bisect", "run", "sh", "-c", script]), @"
    #5 dialogue user: item 5 [ID]
    #6 dialogue user: item 6 [ID]
    #7 dialogue user: item 7 poison [ID]
    #8 dialogue user: item 8 [ID]
    --- stderr
    the command cannot tell which of these it is:
    [exit 1]
    ");
    insta::assert_snapshot!(repo.trace(&["bisect", "run", "false"]), @"
    --- stderr
    the command fails without any item
    [exit 1]
    ");
    insta::assert_snapshot!(repo.trace(&["bisect", "run", "sh", "-c", "exit 125"]), @"
    --- stderr
    the command cannot tell (125) with all items, or without any
    [exit 1]
    ");
}

#[test]
fn bisect_names_a_command_that_cannot_run_or_aborts() {
    let repo = twelve();
    insta::assert_snapshot!(repo.refused(&["bisect", "run", "./no-such-program", "-x"]), @"
    --- stderr
    error: cannot run `./no-such-program -x`: No such file or directory (os error 2)
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["bisect", "run", "sh", "-c", "echo seen; exit 128"]), @"
    --- stderr
    seen
    error: `sh -c echo seen; exit 128` ended with exit status: 128, which stops the search
    [exit 2]
    ");
}
