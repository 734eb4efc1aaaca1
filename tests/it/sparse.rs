//! Sparse checkouts: a file that git leaves out is not replaced by a new one.

use std::fs;

use crate::repo::{TestRepo, run};

/// A repository whose sparse checkout has only `src/`.
fn sparse(files: &[&str]) -> TestRepo {
    let repo = TestRepo::new();
    for file in files.iter().chain(&["src/a.rs"]) {
        let path = repo.folder().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}\n").unwrap();
    }
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "a"]);
    repo.git(&["sparse-checkout", "set", "--no-cone", "/src/"]);
    repo
}

#[test]
fn breadcrumbs_that_are_not_checked_out_are_neither_read_nor_replaced() {
    let repo = sparse(&[".synapse/breadcrumbs.jsonl"]);
    insta::assert_snapshot!(repo.refused(&["breadcrumb", "set", "a.b", "x"]), @r"
    --- stderr
    error: `.synapse/breadcrumbs.jsonl` is tracked, but this sparse checkout leaves it out
    hint: `git sparse-checkout add <its folder>` adds it
    [exit 2]
    ");
    for args in [&["breadcrumb", "get", "a.b"][..], &["breadcrumb", "list"], &["breadcrumb", "delete", "a.b"]] {
        assert!(repo.refused(args).contains("this sparse checkout leaves it out"));
    }
    assert!(!repo.folder().join(".synapse").exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    repo.git(&["config", "index.sparse", "true"]);
    repo.git(&["sparse-checkout", "set", "--cone", "src"]);
    assert!(repo.refused(&["breadcrumb", "set", "a.b", "x"]).contains("this sparse checkout leaves it out"));
    repo.git(&["sparse-checkout", "disable"]);
    fs::remove_file(repo.folder().join(".synapse/breadcrumbs.jsonl")).unwrap();
    repo.text(&["breadcrumb", "set", "a.b", "x"]);
}

#[test]
fn files_that_are_not_checked_out_are_not_created_anew() {
    let files = ["memory/a.crumb", "checkpoints/active/INDEX.md", ".gitattributes", ".claude/settings.json"];
    let repo = sparse(&files);
    let mut page = String::new();
    for args in [
        &["crumb", "new", "memory/a.crumb"][..],
        &["checkpoint", "new", "b", "--problem", "p", "--intent", "i"],
        &["install"],
        &["install", "--agent", "claude-code"],
    ] {
        page += repo.refused(args).lines().nth(1).unwrap();
        page.push('\n');
    }
    insta::assert_snapshot!(page, @r"
    error: `memory/a.crumb` is tracked, but this sparse checkout leaves it out
    error: `checkpoints/active/INDEX.md` is tracked, but this sparse checkout leaves it out
    error: `.gitattributes` is tracked, but this sparse checkout leaves it out
    error: `.claude/settings.json` is tracked, but this sparse checkout leaves it out
    ");
    assert!(files.iter().all(|file| !repo.folder().join(file).exists()));
    assert_eq!(repo.git(&["config", "--get-regexp", "^core.bare"]), "core.bare false\n");
    assert!(!repo.git_dir().join("hooks/pre-commit").exists());
}

#[test]
fn variables_of_git_that_are_relative_to_a_subfolder_lead_to_the_same_repository() {
    let repo = sparse(&["checkpoints/active/INDEX.md"]);
    let folder = repo.folder().join("src");
    let git_trace = |args: &[&str], input: &[u8]| {
        let mut command = repo.command("git-trace");
        command.args(args).current_dir(&folder).env("GIT_DIR", "../.git").env("GIT_WORK_TREE", "..");
        repo.exact(&run(&mut command, input))
    };
    let new = git_trace(&["checkpoint", "new", "b", "--problem", "p", "--intent", "i"], b"");
    assert!(new.contains("`checkpoints/active/INDEX.md` is tracked, but this sparse checkout leaves it out"), "{new}");
    assert!(!repo.folder().join("checkpoints").exists());
    let found = git_trace(&["recall", "nothing"], b"");
    assert!(!found.contains("error"), "{found}");
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"resources/list"}
"#;
    let listed = git_trace(&["mcp"], call);
    assert!(listed.contains("\"resources\":["), "{listed}");
}

#[test]
fn nothing_is_written_if_git_cannot_tell_what_is_left_out() {
    let repo = sparse(&["memory/a.crumb"]);
    fs::write(repo.git_dir().join("index"), "damaged").unwrap();
    let said = repo.refused(&["crumb", "new", "memory/a.crumb"]);
    assert!(said.contains("index"), "{said}");
}

#[test]
fn hooks_of_the_project_that_are_not_checked_out_are_not_replaced() {
    for folder in [".githooks", ".husky"] {
        let repo = sparse(&[&format!("{folder}/pre-commit")]);
        repo.git(&["config", "core.hooksPath", if folder == ".husky" { ".husky/_" } else { folder }]);
        let said = repo.refused(&["install"]);
        assert!(
            said.contains(&format!("`{folder}/pre-commit` is tracked, but this sparse checkout leaves it out")),
            "{said}"
        );
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
        assert!(repo.run(&["doctor"], b"").stdout.len() > 1);
    }
}

#[cfg(unix)]
#[test]
fn a_store_behind_a_link_to_another_work_tree_may_be_left_out_there() {
    let repo = sparse(&["syn/breadcrumbs.jsonl"]);
    let above = TestRepo::classic(&[]);
    fs::rename(repo.folder(), above.folder().join("sub")).unwrap();
    std::os::unix::fs::symlink("sub/syn", above.folder().join(".synapse")).unwrap();
    for args in [&["breadcrumb", "get", "a.b"][..], &["breadcrumb", "set", "a.b", "x"]] {
        let said = above.refused(args);
        assert!(said.contains("is tracked, but this sparse checkout leaves it out"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn hooks_behind_a_link_that_are_not_checked_out_are_not_replaced() {
    use std::os::unix::fs::symlink;
    // The file that is left out, the link to it or its folder, and where the link leads; the folder for hooks.
    for (file, link, target, hooks) in [
        ("githooks/pre-commit", "src/hk", "../githooks", "src/hk"),
        ("githooks/hk/pre-commit", "src/hk", "../githooks", "src/hk/hk"),
        ("githooks/pre-commit", ".git/hooks", "../githooks", ".git/hooks"),
        ("scripts/h", "src/.husky/pre-commit", "../../scripts/h", "src/.husky/_"),
        ("scripts/pre-commit", "src/.husky", "../scripts", "src/.husky/_"),
    ] {
        let repo = sparse(&[file]);
        let link = repo.folder().join(link);
        let _ = fs::remove_dir_all(&link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        repo.git(&["add", "src"]);
        if hooks != ".git/hooks" {
            repo.git(&["config", "core.hooksPath", hooks]);
        }
        let settings = fs::read(repo.git_dir().join("config")).unwrap();
        let said = repo.refused(&["install"]);
        assert!(
            said.contains(&format!("`{file}` is tracked, but this sparse checkout leaves it out")),
            "{hooks}: {said}"
        );
        assert!(!repo.folder().join(file).exists(), "{hooks}");
        assert_eq!(fs::read(repo.git_dir().join("config")).unwrap(), settings, "{hooks}: nothing is written before");
    }
}

#[cfg(unix)]
#[test]
fn a_list_behind_a_link_that_is_not_checked_out_is_not_replaced() {
    use std::os::unix::fs::symlink;
    let repo = sparse(&["docs/L.md", "docs/I.md"]);
    let left_out = |args: &[&str], file: &str| {
        let said = repo.refused(args);
        assert!(said.contains(&format!("`{file}` is tracked, but this sparse checkout leaves it out")), "{said}");
        assert!(!repo.folder().join("docs").exists());
    };
    let checkpoints = repo.folder().join("checkpoints");
    let (learnings, list) = (checkpoints.join("LEARNINGS.md"), checkpoints.join("active/INDEX.md"));
    repo.text(&["checkpoint", "new", "one", "-p", "x"]);
    symlink("../docs/L.md", &learnings).unwrap();
    let archive = ["checkpoint", "archive", "one", "-o", "done", "-l", "mine"];
    left_out(&archive, "docs/L.md");
    assert!(!checkpoints.join("archive").exists());
    fs::remove_file(&learnings).unwrap();
    fs::remove_file(&list).unwrap();
    symlink("../../docs/I.md", &list).unwrap();
    left_out(&archive, "docs/I.md");
    assert!(!checkpoints.join("archive").exists());
    left_out(&["checkpoint", "new", "two", "-p", "x"], "docs/I.md");
    assert!(!checkpoints.join("active/chk-two.md").exists());
}

#[test]
fn a_hook_that_another_work_tree_leaves_out_is_not_replaced() {
    let mut repo = sparse(&[".githooks/pre-commit"]);
    repo.git(&["config", "core.hooksPath", repo.folder().join(".githooks").to_str().unwrap()]);
    repo.git(&["worktree", "add", "--quiet", "--no-checkout", "../linked"]);
    let linked = repo.home().join("linked");
    repo.within(&linked, |repo| {
        repo.git(&["sparse-checkout", "disable"]);
        assert!(repo.refused(&["install"]).contains("pre-commit` is tracked, but this sparse checkout leaves it out"));
    });
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_hook_that_a_nested_work_tree_leaves_out_is_not_replaced() {
    let repo = TestRepo::new();
    fs::create_dir(repo.folder().join(".githooks")).unwrap();
    fs::write(repo.folder().join(".githooks/pre-commit"), "").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "a"]);
    repo.git(&["worktree", "add", "--quiet", "nested"]);
    repo.git(&["-C", "nested", "sparse-checkout", "set", "--no-cone", "/src/"]);
    repo.git(&["config", "core.hooksPath", repo.folder().join("nested/.githooks").to_str().unwrap()]);
    assert!(repo.refused(&["install"]).contains("pre-commit` is tracked, but this sparse checkout leaves it out"));
    assert_eq!(repo.git(&["-C", "nested", "status", "--porcelain"]), "");
}

#[test]
fn settings_of_the_project_count_if_they_are_not_checked_out() {
    let repo = TestRepo::new();
    fs::create_dir(repo.folder().join("src")).unwrap();
    fs::write(repo.folder().join("src/a.rs"), "").unwrap();
    fs::write(repo.folder().join(".traceconfig"), "[trace]\n\tbudget = 5\n").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "a"]);
    let warning = repo.trace(&["commit", "-m", "one two three four five six seven"]);
    assert!(warning.contains("budget"), "{warning}");
    for pattern in [&["--no-cone", "/src/"][..], &["--no-cone", "/src/", "!/.traceconfig"]] {
        repo.git(&[&["sparse-checkout", "set"], pattern].concat());
        assert!(!repo.folder().join(".traceconfig").exists());
        let again = repo.trace(&["commit", "-m", "one two three four five six seven"]);
        assert!(again.contains("budget"), "{again}");
    }
}

#[test]
fn a_missing_folder_of_checkpoints_is_no_problem_where_it_is_left_out() {
    let repo = sparse(&["checkpoints/active/INDEX.md", "checkpoints/active/chk-a.md"]);
    assert!(!repo.trace(&["checkpoint", "doctor"]).contains("does not exist"));
    assert!(repo.refused(&["checkpoint", "doctor", "--fix"]).contains("this sparse checkout leaves it out"));
    assert!(!repo.folder().join("checkpoints").exists());
}

#[test]
fn a_crumb_file_behind_a_link_that_is_not_checked_out_is_not_replaced() {
    let repo = sparse(&["notes/ada.crumb", "notes/keep"]);
    repo.git(&["sparse-checkout", "set", "--no-cone", "/src/", "/notes/keep"]);
    for (link, target, file) in [("ada.crumb", "notes/ada.crumb", "ada.crumb"), ("linked", "notes", "linked/ada.crumb")]
    {
        std::os::unix::fs::symlink(target, repo.folder().join(link)).unwrap();
        assert!(repo.refused(&["crumb", "new", file]).contains("this sparse checkout leaves it out"));
    }
    assert!(!repo.folder().join("notes/ada.crumb").exists());
}

#[test]
fn a_nearer_store_that_is_not_checked_out_is_not_passed_over() {
    let mut repo = sparse(&[".synapse/breadcrumbs.jsonl", "src/.synapse/breadcrumbs.jsonl", "src/part/b.rs"]);
    repo.git(&["sparse-checkout", "set", "--no-cone", "/.synapse/", "/src/part/"]);
    let part = repo.folder().join("src/part");
    repo.within(&part, |repo| {
        for args in [&["breadcrumb", "get", "a.b"][..], &["breadcrumb", "set", "a.b", "x"]] {
            let said = repo.trace(args);
            assert!(said.contains("`../.synapse/breadcrumbs.jsonl` is tracked"), "{said}");
        }
    });
}

#[test]
fn shared_settings_behind_a_link_count_if_they_are_not_checked_out() {
    let repo = TestRepo::new();
    let write = |file: &str, text: &str| {
        let path = repo.folder().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("settings/shared", "[traceType \"plan\"]\n\tpriority = pinned\n");
    write("src/a.rs", "");
    std::os::unix::fs::symlink("settings/shared", repo.folder().join(".traceconfig")).unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "a"]);
    let types = repo.trace(&["types"]);
    assert!(types.contains("plan"), "{types}");
    repo.git(&["sparse-checkout", "set", "src"]);
    assert_eq!(repo.trace(&["types"]), types);
}

#[test]
fn a_link_that_leads_below_itself_is_refused() {
    let repo = TestRepo::new();
    std::os::unix::fs::symlink(".gitattributes/x", repo.folder().join(".gitattributes")).unwrap();
    assert!(repo.refused(&["install"]).contains(".gitattributes"));
}

#[test]
fn a_link_that_is_not_checked_out_is_not_replaced_by_a_folder() {
    let mut repo = TestRepo::new();
    for folder in ["data", "src"] {
        fs::create_dir(repo.folder().join(folder)).unwrap();
        fs::write(repo.folder().join(folder).join("a"), "").unwrap();
    }
    for link in [".synapse", ".claude"] {
        std::os::unix::fs::symlink("data", repo.folder().join(link)).unwrap();
    }
    fs::create_dir(repo.folder().join(".github")).unwrap();
    std::os::unix::fs::symlink("../data", repo.folder().join(".github/hooks")).unwrap();
    repo.text(&["breadcrumb", "set", "a.b", "x"]);
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "a"]);
    repo.git(&["sparse-checkout", "set", "--no-cone", "/data/", "/src/"]);
    for args in
        [&["breadcrumb", "get", "a.b"][..], &["breadcrumb", "set", "a.b", "y"], &["install", "--agent", "claude-code"]]
    {
        assert!(repo.refused(args).contains("this sparse checkout leaves it out"), "{args:?}");
    }
    let sub = repo.folder().join("src");
    repo.within(&sub, |repo| {
        assert!(repo.refused(&["breadcrumb", "get", "a.b"]).contains("this sparse checkout leaves it out"));
    });
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn lists_beside_the_folder_of_the_checkpoints_are_not_replaced() {
    let repo = sparse(&["checkpoints/LEARNINGS.md", "checkpoints/archive/chk-one.md"]);
    repo.git(&["config", "trace.checkpoints", "checkpoints/active/*.md"]);
    repo.text(&["checkpoint", "new", "one", "--problem", "p"]);
    let archive = ["checkpoint", "archive", "one", "--outcome", "done", "--learnings", "new"];
    assert!(repo.refused(&archive).contains("this sparse checkout leaves it out"));
    assert!(!repo.folder().join("checkpoints/archive").exists());
    assert!(!repo.folder().join("checkpoints/LEARNINGS.md").exists());
}

#[test]
fn breadcrumbs_of_a_nested_clone_that_are_not_checked_out_are_not_replaced() {
    let mut repo = TestRepo::new();
    repo.git(&["init", "-q", ".synapse"]);
    repo.text(&["breadcrumb", "set", "a.b", "x"]);
    let nested = repo.folder().join(".synapse");
    fs::create_dir(nested.join("docs")).unwrap();
    fs::write(nested.join("docs/a"), "").unwrap();
    repo.within(&nested, |repo| {
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "a"]);
        repo.git(&["sparse-checkout", "set", "--no-cone", "/docs/"]);
    });
    for args in [&["breadcrumb", "get", "a.b"][..], &["breadcrumb", "set", "a.c", "y"]] {
        assert!(repo.refused(args).contains("this sparse checkout leaves it out"), "{args:?}");
    }
}
