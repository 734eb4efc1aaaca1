//! What items say, and who brought it: grep and blame.

use crate::repo::TestRepo;

/// Texts with two revisions, one taken out, and one that is no text.
fn searched() -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
    repo.commit(&["-t", "instruction", "--name", "limit", "-m", "Be kind."]);
    repo.say("The limit is ten.\nNo, the Limit is (nine).\n");
    repo.say("gone: limit");
    repo.bytes_with(&["commit", "-t", "artifact", "-"], b"limit\0\xff");
    repo.text(&["edit", "#1", "-m", "The limit is ten.\nNo, the Limit is (eight).\nSure."]);
    repo.text(&["delete", "#2"]);
    repo
}

#[test]
fn grep_finds_lines_of_live_items() {
    let repo = searched();
    insta::assert_snapshot!(repo.trace(&["grep", "limit"]), @"
    #1 [ID]:1:The limit is ten.
    #3 [ID]: binary content matches
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["grep", "-i", "-c", "limit"]), @"
    #1 [ID]:2
    #3 [ID]:1
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["grep", "-F", "(eight)."]), @"
    #1 [ID]:2:No, the Limit is (eight).
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["grep", "--type", "artifact", "-l", "limit"]), @"
    [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["grep", "--json", "^Sure.$"]), @r#"
    {"encoding":"o200k_base","id":"[ID]","lines":[{"line":3,"text":"Sure."}],"priority":"normal","revision":2,"role":"user","seq":1,"tokens":"[N]","type":"dialogue"}
    [exit 0]
    "#);
    insta::assert_snapshot!(repo.trace(&["grep", "kind|name|role: user"]), @"
    #0 [ID]:1:Be kind.
    [exit 0]
    ");
    for nothing in ["nowhere", "ten\\.\\sNo", "gone"] {
        assert_eq!(repo.trace(&["grep", nothing]), "[exit 1]");
    }
    insta::assert_snapshot!(repo.refused(&["grep", "(eight"]), @"
    --- stderr
    error: cannot search for `(eight`: unclosed group
    hint: `git trace grep -F TEXT` searches for plain text
    [exit 2]
    ");
}

#[test]
fn grep_of_history_names_the_commit_that_added_a_text() {
    let repo = searched();
    repo.text(&["branch", "side"]);
    repo.say("on main");
    insta::assert_snapshot!(repo.trace(&["grep", "--all-history", "(?i)limit"]), @"
    [SHORT] #1 [ID]:1:The limit is ten.
    [SHORT] #1 [ID]:2:No, the Limit is (eight).
    [SHORT] #3 [ID]: binary content matches
    [SHORT] #2 [ID]:1:gone: limit
    [SHORT] #1 [ID]:1:The limit is ten.
    [SHORT] #1 [ID]:2:No, the Limit is (nine).
    [exit 0]
    ");
    let hits = repo.lines(&["grep", "--all-history", "--json", "nine"]);
    let first = repo.git(&["rev-parse", "refs/traces/main~5"]);
    assert_eq!(hits[0]["commit"], first.trim());
    assert_eq!(hits.len(), 1);
}

#[test]
fn grep_finds_what_git_grep_finds() {
    let repo = TestRepo::new();
    for number in 0..30 {
        repo.say(&format!("{} words\nof {}\n", ["some", "other"][number % 2], number * 7));
    }
    for pattern in ["some", "^of", "7$", "[0-9]{3}", "other words", "nothing"] {
        let output = repo.command("git").args(["grep", "-h", "-E", pattern, "refs/traces/main"]).output().unwrap();
        let theirs = String::from_utf8(output.stdout).unwrap();
        let ours = repo.run(&["grep", pattern], b"");
        let lines = String::from_utf8(ours.stdout).unwrap();
        let ours: String = lines.lines().map(|line| line.splitn(3, ':').last().unwrap().to_owned() + "\n").collect();
        // git searches the headers too.
        let bodies: String =
            theirs.lines().filter(|line| !line.contains(": ")).map(|line| line.to_owned() + "\n").collect();
        assert_eq!(ours, bodies, "{pattern}");
    }
}

#[test]
fn blame_names_the_commit_that_added_each_line() {
    let repo = searched();
    insta::assert_snapshot!(repo.trace(&["blame", "#1"]), @"
    [SHORT] (A U Thor 2026-02-10T09:00:04Z code [SHORT] 1) The limit is ten.
    [SHORT] (A U Thor 2026-02-10T09:00:07Z code [SHORT] 2) No, the Limit is (eight).
    [SHORT] (A U Thor 2026-02-10T09:00:07Z code [SHORT] 3) Sure.
    [exit 0]
    ");
    let lines = repo.lines(&["blame", "--json", "#1"]);
    assert_eq!(lines[0]["commit"], repo.git(&["rev-parse", "refs/traces/main~4"]).trim());
    assert_eq!(lines[1]["commit"], repo.git(&["rev-parse", "refs/traces/main~1"]).trim());
    assert_eq!((&lines[0]["revision"], &lines[2]["revision"]), (&1.into(), &2.into()));
    insta::assert_snapshot!(repo.refused(&["blame", "#3"]), @"
    --- stderr
    error: item [ID] is not text
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["blame", "#2"]), @"
    --- stderr
    error: item [ID] was removed from trace `main`
    hint: restore it with `git trace restore [ID]`
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["blame", "#9"]), @"
    --- stderr
    error: no item of trace `main` is named `#9`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
}

#[test]
fn blame_follows_lines_through_a_merge_by_plain_git() {
    let repo = TestRepo::new();
    repo.say("one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    repo.text(&["branch", "side"]);
    repo.text(&["edit", "#0", "-m", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n"]);
    repo.text(&["--trace", "side", "edit", "#0", "-m", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n"]);
    let (ours, theirs) = ("refs/traces/main", "refs/traces/side");
    // The headers of both sides differ in the count of tokens alone.
    let blob = repo.git(&["rev-parse", &format!("{ours}:00/00")]);
    assert!(!blob.is_empty());
    let path = repo.git(&["ls-tree", "-r", "--name-only", ours]);
    let file = repo.git(&["show", &format!("{ours}:{}", path.trim())]).replace("seven", "SEVEN");
    std::fs::write(repo.folder().join("merged"), file).unwrap();
    let blob = repo.git(&["hash-object", "-w", "merged"]);
    let index = repo.folder().join("index");
    let git = |args: &[&str]| {
        let output = repo.command("git").env("GIT_INDEX_FILE", &index).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["update-index", "--add", "--cacheinfo", &format!("100644,{},{}", blob.trim(), path.trim())]);
    let tree = git(&["write-tree"]);
    let merge = git(&["commit-tree", &tree, "-p", ours, "-p", theirs, "-m", "merge by hand"]);
    git(&["update-ref", ours, &merge]);
    let lines = repo.lines(&["blame", "--json", "#0"]);
    let commit = |line: usize| lines[line]["commit"].as_str().unwrap().to_owned();
    assert_eq!(commit(0), repo.git(&["rev-parse", &format!("{merge}^1")]).trim());
    assert_eq!(commit(3), repo.git(&["rev-parse", &format!("{merge}^1~1")]).trim());
    assert_eq!(commit(6), repo.git(&["rev-parse", &format!("{merge}^2")]).trim());
}

#[test]
fn item_text_is_escaped_and_forges_no_line() {
    let repo = TestRepo::new();
    repo.say("a\u{1b}[31m limit\rhidden\nmore");
    insta::assert_snapshot!(repo.trace(&["grep", "limit"]), @r"
    #0 [ID]:1:a\u001b[31m limit\u000dhidden
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["blame", "#0"]), @r"
    [SHORT] (A U Thor 2026-02-10T09:00:02Z 1) a\u001b[31m limit\u000dhidden
    [SHORT] (A U Thor 2026-02-10T09:00:02Z 2) more
    [exit 0]
    ");
}
