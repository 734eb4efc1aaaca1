//! A repository, a setting or a writer that cannot be used.

use super::repo;
use crate::repo::{TestRepo, run};

#[test]
fn an_author_without_an_identity() {
    let repo = repo();
    let before = repo.refs();
    let mut command = repo.command("git");
    for word in ["AUTHOR", "COMMITTER"] {
        for part in ["NAME", "EMAIL"] {
            command.env_remove(format!("GIT_{word}_{part}"));
        }
    }
    let output = run(command.args(["-c", "user.useConfigOnly=true", "trace", "commit", "-m", "x"]), b"");
    insta::assert_snapshot!(repo.snapshot(&output), @r#"
    --- stderr
    error: git does not know who you are: no email was given and auto-detection is disabled
    hint: `git config --global user.name 'Your Name'` and `git config --global user.email you@example.com` set it
    [exit 2]
    "#);
    assert_eq!(repo.refs(), before);
}

#[test]
fn a_repository_with_an_unknown_ref_storage() {
    let repo = TestRepo::classic(&[]);
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["config", "extensions.refStorage", "stone"]);
    insta::assert_snapshot!(repo.trace(&["status"]), @"
    --- stderr
    error: this repository uses the git extension `refStorage=stone`, which git-trace cannot read yet
    [exit 2]
    ");
}

#[test]
fn a_folder_outside_any_repository() {
    let repo = TestRepo::without_git();
    insta::assert_snapshot!(repo.trace(&["commit", "-m", "x"]), @"
    --- stderr
    error: not in a git repository
    hint: run `git init` first, or change into a repository
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace(&["status"]), @"
    --- stderr
    error: not in a git repository
    hint: run `git init` first, or change into a repository
    [exit 2]
    ");

    let output = run(repo.command("git-trace").arg("status").env("GIT_DIR", "nowhere"), b"");
    insta::assert_snapshot!(repo.exact(&output), @r"
    --- stderr
    error: not in a git repository
    hint: run `git init` first, or change into a repository
    [exit 2]
    ");
}

#[test]
fn unreadable_settings() {
    let repo = repo();
    let mut command = repo.command("git");
    insta::assert_snapshot!(repo.snapshot(&run(command.args(["-c", "trace.encoding=nope", "trace", "status"]), b"")), @"
    --- stderr
    error: git config `trace.encoding` is `nope`, which is not the name of an encoding, such as o200k_base or cl100k_base
    [exit 2]
    ");
    let mut command = repo.command("git-trace");
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "Trace.Encoding").env("GIT_CONFIG_VALUE_0", "none");
    insta::assert_snapshot!(repo.snapshot(&run(command.arg("status"), b"")), @"
    --- stderr
    error: git config `trace.encoding` is `none`, which is not the name of an encoding, such as o200k_base or cl100k_base
    [exit 2]
    ");
    let mut command = repo.command("git-trace");
    insta::assert_snapshot!(repo.snapshot(&run(command.env("GIT_CONFIG_COUNT", "many").arg("status"), b"")), @"
    --- stderr
    error: `git config` failed: error: bogus count in GIT_CONFIG_COUNT
      fatal: unable to parse command-line config
    [exit 2]
    ");
    let mut command = repo.command("git-trace");
    insta::assert_snapshot!(repo.snapshot(&run(command.env("GITTRACE_NAME", "a b").arg("status"), b"")), @"
    --- stderr
    error: invalid trace name `a b`: git's rules for branch names apply
    [exit 2]
    ");
    repo.git(&["config", "trace.encoding", "from-a-file"]);
    insta::assert_snapshot!(repo.refused(&["status"]), @"
    --- stderr
    error: git config `trace.encoding` is `from-a-file`, which is not the name of an encoding, such as o200k_base or cl100k_base
    [exit 2]
    ");
}
