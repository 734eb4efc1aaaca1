//! `git trace` refuses and ignores the same as git: both are asked in the same place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repo::{TestRepo, run};

/// A setting that makes `git trace status` fail wherever it is read.
const BAD: &str = "[trace]\n\tencoding = bad\n";

type Variables<'a> = &'a [(&'a str, &'a str)];

/// Whether `git trace` reads [`BAD`], which it must if git does.
fn reads_bad(repo: &TestRepo, variables: Variables<'_>) -> bool {
    let command = |program| {
        let mut command = repo.command(program);
        command.env_remove("GIT_CONFIG_NOSYSTEM").env_remove("GIT_CONFIG_GLOBAL").envs(variables.iter().copied());
        command
    };
    let by_git = run(command("git").args(["config", "trace.encoding"]), b"").stdout == b"bad\n";
    let output = run(command("git-trace").arg("status"), b"");
    let by_us = String::from_utf8_lossy(&output.stderr).contains("`trace.encoding` is `bad`");
    assert_eq!(by_us, by_git, "{variables:?}: {}", repo.exact(&output));
    by_us
}

/// Whether `git trace` opens the repository in the folder, which it must if git does.
fn opens(repo: &mut TestRepo, folder: &Path, variables: Variables<'_>) -> bool {
    repo.within(folder, |repo| {
        let verdict = |program, args: &[&str]| {
            let output = run(repo.command(program).envs(variables.iter().copied()).args(args), b"");
            (output.status.success(), repo.exact(&output))
        };
        let (by_git, said) = verdict("git", &["rev-parse", "--git-dir"]);
        let (by_us, ours) = verdict("git-trace", &["log"]);
        assert_eq!(by_us, by_git, "{variables:?}: {said} {ours}");
        by_us
    })
}

#[test]
fn a_bare_repository_in_a_checkout_is_refused_if_git_refuses_it() {
    let mut repo = TestRepo::new();
    let bare = repo.folder().join("vendor");
    repo.git(&["init", "-q", "--bare", "vendor"]);
    repo.git(&["-C", "vendor", "config", "trace.materializer", "touch ../ran"]);
    let global = repo.home().join("global");
    std::fs::write(&global, "[safe]\n\tbareRepository = explicit\n").unwrap();
    let explicit = [("GIT_CONFIG_GLOBAL", global.to_str().unwrap())];
    repo.within(&bare, |repo| {
        repo.say("x");
        let mut command = repo.command("git-trace");
        let output = run(command.envs(explicit).arg("materialize"), b"");
        insta::assert_snapshot!(repo.exact(&output), @r"
        --- stderr
        error: the bare repository `[HOME]/repo/vendor` is not used, because `safe.bareRepository` is `explicit`
        hint: if you trust it: git --git-dir=<its folder> trace …
        [exit 2]
        ");
        // Its own configuration must not allow it.
        repo.git(&["config", "safe.bareRepository", "all"]);
    });
    assert!(!repo.folder().join("ran").exists());
    assert!(!opens(&mut repo, &bare, &explicit));
    assert!(!opens(&mut repo, &bare.join("refs"), &explicit));
    let command = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.bareRepository")];
    assert!(!opens(&mut repo, &bare, &[&command[..], &[("GIT_CONFIG_VALUE_0", "explicit")]].concat()));
    assert!(opens(&mut repo, &bare, &[&command[..], &[("GIT_CONFIG_VALUE_0", "all")], &explicit].concat()));
    assert!(opens(&mut repo, &bare, &[("GIT_DIR", "."), explicit[0]]));
    assert!(opens(&mut repo, &bare, &[]));
    repo.say("y");
    let git_dir = repo.git_dir();
    assert!(opens(&mut repo, &git_dir, &explicit), "the git folder of a checkout");
}

#[test]
fn safe_directory_is_read_as_by_git() {
    let mut repo = TestRepo::new();
    let folder = repo.folder().to_owned();
    repo.say("x");
    let given = Command::new("chown").args(["-R", "12345"]).arg(&folder).output();
    if !given.is_ok_and(|given| given.status.success()) {
        println!("no other owner: this user may give nothing away");
        return;
    }
    let (path, home) = (folder.to_str().unwrap().to_owned(), repo.home().to_str().unwrap().to_owned());
    let below = format!("{home}/*");
    repo.within(&folder, |repo| repo.run(&["status"], b"")).status.code().filter(|code| *code == 2).unwrap();
    let global = repo.home().join("global");
    for values in [&[][..], &["*"], &[&below], &[&path], &[&home], &["~/repo"], &["*", ""], &["", &path], &["."]] {
        let lines: String = values.iter().map(|value| format!("\tdirectory = {value}\n")).collect();
        std::fs::write(&global, format!("[safe]\n{lines}")).unwrap();
        opens(&mut repo, &folder, &[("GIT_CONFIG_GLOBAL", global.to_str().unwrap())]);
        let value = values.first().copied().unwrap_or_default();
        let key = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", value)];
        opens(&mut repo, &folder, &key);
    }
    std::fs::write(&global, "[safe]\n\tdirectory = *\n").unwrap();
    let trusted = ("GIT_CONFIG_GLOBAL", global.to_str().unwrap());
    let reset = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", "")];
    assert!(opens(&mut repo, &folder, &[trusted]));
    assert!(!opens(&mut repo, &folder, &[&[trusted][..], &reset].concat()));
    opens(&mut repo, &folder, &[("SUDO_UID", "12345")]);
    opens(&mut repo, &folder, &[("SUDO_UID", "12345x")]);
    assert!(opens(&mut repo, &folder, &[("GIT_DIR", ".git")]), "git trusts the repository that GIT_DIR names");
    let mut command = repo.command("git");
    command.args(["-c", "safe.directory=*", "-c", "trace.encoding=cl100k_base", "trace", "commit", "-m", "y"]);
    assert!(run(&mut command, b"").status.success());
}

#[test]
fn settings_come_from_the_files_that_git_reads() {
    let repo = TestRepo::new();
    repo.say("x");
    let home = repo.home();
    let none = [("GIT_CONFIG_GLOBAL", "/dev/null")];
    assert!(!reads_bad(&repo, &[]));
    for folder in [".config/git", "etc", "bin"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    std::fs::write(home.join(".config/git/config"), BAD).unwrap();
    assert!(reads_bad(&repo, &[]));
    assert!(!reads_bad(&repo, &none));
    assert!(!reads_bad(&repo, &[("GIT_CONFIG_GLOBAL", "")]));
    std::fs::rename(home.join(".config/git/config"), home.join(".gitconfig")).unwrap();
    assert!(reads_bad(&repo, &[]));
    assert!(!reads_bad(&repo, &[("GIT_CONFIG_GLOBAL", "")]));
    let file = home.join("file");
    std::fs::rename(home.join(".gitconfig"), &file).unwrap();
    let file = file.to_str().unwrap();
    assert!(reads_bad(&repo, &[("GIT_CONFIG_SYSTEM", file)]));
    assert!(!reads_bad(&repo, &[("GIT_CONFIG_SYSTEM", file), ("GIT_CONFIG_NOSYSTEM", "true")]));
    let include = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "include.path"), ("GIT_CONFIG_VALUE_0", file)];
    assert!(reads_bad(&repo, &include));
    repo.git(&["remote", "add", "origin", "https://example.com/a"]);
    for (condition, expected) in [
        ("hasconfig:remote.*.url:https://example.com/**", true),
        ("hasconfig:remote.*.url:https://example.org/**", false),
        ("onbranch:co*", true),
        ("gitdir:~/repo/", true),
        ("gitdir/i:~/REPO/", true),
        ("gitdir:~/other/", false),
        ("gitdir:./", true),
        ("gitdir:", true),
        ("unknown:x", false),
    ] {
        std::fs::write(home.join(".gitconfig"), format!("[includeIf \"{condition}\"]\n\tpath = {file}\n")).unwrap();
        assert_eq!(reads_bad(&repo, &[]), expected, "{condition}");
    }
    for path in [&*of_user(file), "file", "~/file", ":(optional)file", "/nonexistent"] {
        std::fs::write(home.join(".gitconfig"), format!("[include]\n\tpath = {path}\n")).unwrap();
        reads_bad(&repo, &[]);
    }
}

#[test]
fn files_are_parsed_as_by_git() {
    let repo = TestRepo::new();
    repo.say("x");
    let home = repo.home();
    let texts = [
        "[trace]\n\tencoding = \\\n\t\tbad\n",
        "[trace]\n\tencoding = \\\r\n\t\tbad\n",
        "[trace]\n\tencoding = \"\" bad\n",
        "[x]\n\ty = \"a\\\\\";comment\n[trace]\n\tencoding = bad\n",
    ];
    for text in texts {
        std::fs::write(home.join(".gitconfig"), text).unwrap();
        assert!(reads_bad(&repo, &[]), "{text}");
        std::fs::write(home.join("other"), text).unwrap();
        for path in ["other", "~/other"] {
            std::fs::write(home.join(".gitconfig"), format!("[include]\n\tpath = {path}\n")).unwrap();
            assert!(reads_bad(&repo, &[]), "{text}");
        }
    }
}

/// A trace, and a linked worktree of the code.
fn add_worktree(repo: &TestRepo) {
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("x");
    repo.git(&["worktree", "add", "-q", "../other"]);
}

#[test]
fn hooks_of_a_file_in_a_variable_see_the_heads_of_other_worktrees() {
    let repo = TestRepo::new();
    add_worktree(&repo);
    repo.git(&["-C", "../other", "trace", "switch", "-c", "idea"]);
    let (hooks, log) = (repo.home().join("hooks"), repo.home().join("log"));
    repo.set_hook("reference-transaction", &format!("#!/bin/sh\ncat >> '{}'\n", log.display()));
    std::fs::rename(repo.git_dir().join("hooks"), &hooks).unwrap();
    repo.git(&["config", "--global", "core.hooksPath", hooks.to_str().unwrap()]);
    repo.text(&["branch", "-m", "idea", "plan"]);
    let seen = std::fs::read_to_string(log).unwrap();
    assert!(seen.lines().any(|line| line.ends_with(" TRACE_HEAD")), "{seen}");
}

#[test]
fn the_working_tree_is_the_one_of_git() {
    let mut repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let (home, folder) = (repo.home().to_owned(), repo.folder().to_owned());
    let other = home.join("other");
    for folder in [&other, &folder.join("sub")] {
        std::fs::create_dir(folder).unwrap();
    }
    let global = home.join("gitconfig");
    let mut compare = |folder: &Path, settings: &str, variables: Variables<'_>| {
        std::fs::write(&global, settings).unwrap();
        repo.within(folder, |repo| {
            let run =
                |program, args: &[&str]| run(repo.command(program).envs(variables.iter().copied()).args(args), b"");
            let by_git = run("git", &["rev-parse", "--show-toplevel"]);
            let by_us = run("git-trace", &["breadcrumb", "set", "a.b", "1"]);
            let root = Path::new(std::str::from_utf8(&by_git.stdout).unwrap().trim_end());
            let store = root.join(".synapse");
            let said = format!("{settings} {variables:?}: {}{}", repo.exact(&by_git), repo.exact(&by_us));
            assert_eq!(by_us.status.success(), by_git.status.success(), "{said}");
            if by_git.status.success() {
                std::fs::remove_dir_all(store).expect(&said);
            }
        });
    };
    let elsewhere = format!("[core]\n\tworktree = {}\n", other.display());
    let variable = other.to_str().unwrap();
    compare(&folder, &elsewhere, &[]);
    compare(&folder, "", &[("GIT_WORK_TREE", variable)]);
    compare(&folder, "", &[("GIT_WORK_TREE", "sub")]);
    compare(&folder.join("sub"), "", &[("GIT_WORK_TREE", "../sub/..")]);
    compare(&home, "", &[("GIT_DIR", "repo/.git"), ("GIT_WORK_TREE", "repo/sub")]);
    compare(&other, "", &[("GIT_DIR", "../repo/.git")]);
    compare(&other, "", &[("GIT_DIR", "../repo/.git"), ("GIT_WORK_TREE", variable)]);
    compare(&folder.join("sub"), "", &[("GIT_DIR", "../.git")]);
    compare(&folder.join("sub"), "", &[("GIT_DIR", "../.git"), ("GIT_IMPLICIT_WORK_TREE", "0")]);
    let config = folder.join(".git/config");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(folder.join(".git/included"), &elsewhere).unwrap();
    std::fs::write(&config, format!("{text}[include]\n\tpath = included\n")).unwrap();
    compare(&folder, "", &[]);
    std::fs::write(&config, text.replace("bare = false", "")).unwrap();
    compare(&folder, "[core]\n\tbare = true\n", &[]);
    std::fs::write(&config, text.replace("bare = false", "bare = true")).unwrap();
    compare(&folder.join(".git"), "", &[]);
    compare(&folder.join(".git"), "", &[("GIT_WORK_TREE", variable)]);
}

#[cfg(unix)]
#[test]
fn heads_are_read_as_links_and_written_as_files() {
    let repo = TestRepo::classic(&[]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.git(&["config", "core.preferSymlinkRefs", "true"]);
    repo.git(&["config", "core.logAllRefUpdates", "always"]);
    repo.say("x");
    repo.text(&["switch", "-c", "idea"]);
    let path = repo.git_dir().join("TRACE_HEAD");
    assert!(path.symlink_metadata().unwrap().is_file());
    repo.git(&["symbolic-ref", "TRACE_HEAD", "refs/traces/main"]);
    assert!(repo.text(&["status"]).contains("On trace main"));
    // As git itself has made it, in any version.
    for name in ["HEAD", "TRACE_HEAD"] {
        let target = repo.git(&["symbolic-ref", name]);
        std::fs::remove_file(repo.git_dir().join(name)).unwrap();
        std::os::unix::fs::symlink(target.trim(), repo.git_dir().join(name)).unwrap();
    }
    repo.git(&["config", "branch.code.remote", "up"]);
    repo.git(&["remote", "add", "up", "../nowhere"]);
    assert!(repo.text(&["status"]).contains("On trace main"));
    let said = repo.exact(&repo.run(&["push"], b""));
    assert!(said.contains("nowhere"), "{said}");
    repo.text(&["switch", "idea"]);
    assert!(path.symlink_metadata().unwrap().is_file());
}

/// The absolute path, as seen from the home folder of the user in the system's list, which is not `HOME`.
fn of_user(path: &str) -> String {
    let name = Command::new("id").arg("-un").output().unwrap().stdout;
    format!("~{}/{}{path}", String::from_utf8(name).unwrap().trim(), "../".repeat(20))
}

#[test]
fn settings_in_variables_are_read_and_refused_as_by_git() {
    let repo = TestRepo::new();
    repo.say("x");
    let accepts = |program, args: &[&str], variables: Variables<'_>| {
        run(repo.command(program).args(args).envs(variables.iter().copied()), b"").status.success()
    };
    let key = |key| [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", key)];
    let value = |value| [("GIT_CONFIG_VALUE_0", value)];
    let mut cases = vec![
        vec![("GIT_CONFIG_COUNT", "")],
        vec![("GIT_CONFIG_COUNT", "-1")],
        vec![("GIT_CONFIG_COUNT", "2"), ("GIT_CONFIG_KEY_0", "a.b"), ("GIT_CONFIG_VALUE_0", "")],
        key("a.b").to_vec(),
        vec![("GIT_CONFIG_PARAMETERS", "'a_b.c=1'")],
        vec![("GIT_CONFIG_PARAMETERS", "'a.b c.d=1'")],
        vec![("GIT_CONFIG_PARAMETERS", "'a'")],
    ];
    for name in ["a.b", "A.B-c", "a.b c.d", "a.\n.b", "a", "", ".b", "a.", "a b.c", "a.b_c", "a.1b", "1.b"] {
        cases.push([key(name).to_vec(), value("").to_vec()].concat());
    }
    for variables in cases {
        let by_git = accepts("git", &["config", "--list"], &variables);
        assert_eq!(accepts("git-trace", &["status"], &variables), by_git, "{variables:?}");
    }
    // Only `git config` reads this one, and no setting is read from it or written to it here.
    let file = repo.home().join("file");
    std::fs::write(&file, BAD).unwrap();
    let other = [("GIT_CONFIG", file.to_str().unwrap())];
    repo.git(&["config", "includeIf.hasconfig:remote.*.url:x.path", "/nonexistent"]);
    assert!(accepts("git-trace", &["status"], &other));
    assert!(accepts("git-trace", &["install"], &other));
    assert_eq!(std::fs::read_to_string(file).unwrap(), BAD);
    for variable in ["GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"] {
        repo.run(&["breadcrumb", "set", "a", "b"], b"");
        assert!(accepts("git-trace", &["breadcrumb", "history", "a"], &[(variable, "1")]), "{variable}");
    }
}

#[cfg(unix)]
#[test]
fn a_value_that_is_not_utf_8_hides_no_other() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let repo = TestRepo::new();
    repo.say("x");
    let latin1 = OsStr::from_bytes(b"user.name=J\xf6rg");
    let said = |command: &mut Command| repo.exact(&run(command, b""));
    let mut command = repo.command("git");
    let bad = said(command.args(["-c", "trace.encoding=bad", "-c"]).arg(latin1).args(["trace", "status"]));
    assert!(bad.contains("`trace.encoding` is `bad`"), "{bad}");
    let mut command = repo.command("git-trace");
    let named = said(command.env("GITTRACE_NAME", OsStr::from_bytes(b"J\xf6rg")).args(["commit", "-m", "y"]));
    assert!(named.contains("invalid trace name"), "{named}");
    assert_eq!(repo.git(&["for-each-ref", "--format=%(refname)"]), "refs/traces/main\n");
}

#[cfg(unix)]
#[test]
fn identities_are_those_of_git() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let repo = TestRepo::new();
    repo.git(&["config", "user.name", "User"]);
    repo.git(&["config", "user.email", "private@example.com"]);
    let latin1 = OsStr::from_bytes(b"J\xf6rg");
    let none = OsStr::new("");
    for (variable, settings) in [
        (None, &["user.name=", "author.name=Author", "author.email="][..]),
        (None, &["user.email="]),
        (Some(("NAME", latin1)), &[]),
        (Some(("NAME", none)), &[]),
        (Some(("EMAIL", none)), &[]),
    ] {
        let written = |args: &[&str], rev: &str| {
            let mut command = repo.command("git");
            for word in ["AUTHOR", "COMMITTER"] {
                command.env_remove(format!("GIT_{word}_NAME")).env_remove(format!("GIT_{word}_EMAIL"));
                command.envs(variable.map(|(part, value)| (format!("GIT_{word}_{part}"), value)));
            }
            command.args(settings.iter().flat_map(|setting| ["-c", setting]));
            let is_done = run(command.args(args), b"").status.success();
            let mut log = repo.command("git");
            log.args(["log", "-1", "--format=%an <%ae>", rev]);
            is_done.then(|| String::from_utf8_lossy(&run(&mut log, b"").stdout).into_owned())
        };
        let by_git = written(&["commit", "-q", "--allow-empty", "-m", "x"], "HEAD");
        assert_eq!(written(&["trace", "commit", "-m", "x"], "refs/traces/main"), by_git, "{variable:?} {settings:?}");
    }
    // The same in a file.
    repo.git(&["config", "--unset", "user.name"]);
    let mut config = std::fs::read(repo.git_dir().join("config")).unwrap();
    config.extend(b"[user]\n\tname = J\xf6rg\n");
    std::fs::write(repo.git_dir().join("config"), config).unwrap();
    let mut command = repo.command("git-trace");
    command.env_remove("GIT_AUTHOR_NAME").env_remove("GIT_COMMITTER_NAME");
    let output = run(command.args(["commit", "-m", "y"]), b"");
    assert!(output.status.success(), "{}", repo.exact(&output));
}

#[cfg(unix)]
#[test]
fn the_settings_of_the_system_are_read_where_git_was_installed() {
    use std::os::unix::fs::PermissionsExt;
    let repo = TestRepo::new();
    repo.say("x");
    let home = repo.home();
    let path = repo.command("git").get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
    let git = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.exists()).unwrap();
    for folder in ["etc", "bin"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    let file = home.join("etc/gitconfig");
    std::fs::write(&file, BAD).unwrap();
    let wrapper = format!(
        "#!/bin/sh\nif [ \"$1 $2\" = 'var GIT_CONFIG_SYSTEM' ]; then echo '{file}'; exit; fi\n\
        GIT_CONFIG_SYSTEM='{file}' exec '{git}' \"$@\"\n",
        file = file.display(),
        git = git.display()
    );
    std::fs::write(home.join("bin/git"), wrapper).unwrap();
    std::fs::set_permissions(home.join("bin/git"), PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::join_paths([home.join("bin")].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut command = repo.command("git-trace");
    let output = run(command.env("PATH", path).env_remove("GIT_CONFIG_NOSYSTEM").arg("status"), b"");
    assert!(repo.exact(&output).contains("`trace.encoding` is `bad`"), "{}", repo.exact(&output));
}

#[test]
fn a_namespace_does_not_change_the_refs_of_local_commands() {
    let repo = TestRepo::new();
    repo.say("x");
    let refs = repo.git(&["for-each-ref", "--format=%(refname)"]);
    for args in [&["commit", "-m", "y"][..], &["pin", "#0"], &["unpin", "#0"], &["branch", "other"]] {
        let output = run(repo.command("git-trace").env("GIT_NAMESPACE", "guest").args(args), b"");
        assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
    }
    let expected = format!("refs/trace-priority\n{refs}").replace("main\n", "main\nrefs/traces/other\n");
    let found = repo.git(&["for-each-ref", "--format=%(refname)", "refs/trace-priority", "refs/traces"]);
    assert_eq!(found, expected);
    assert!(!repo.git(&["for-each-ref"]).contains("refs/namespaces/"));
    assert_eq!(repo.bodies("main").len(), 2);
}

#[test]
fn refs_do_not_move_while_git_has_objects_in_quarantine() {
    let repo = TestRepo::new();
    repo.say("x");
    let before = repo.git(&["for-each-ref"]);
    let quarantine = repo.home().join("incoming");
    std::fs::create_dir(&quarantine).unwrap();
    for args in [&["commit", "-m", "y"][..], &["pin", "#0"], &["switch", "-c", "new"]] {
        let mut command = repo.command("git-trace");
        command.env("GIT_QUARANTINE_PATH", &quarantine).env("GIT_OBJECT_DIRECTORY", &quarantine);
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", repo.git_dir().join("objects"));
        let output = run(command.args(args), b"");
        assert_eq!(
            repo.exact(&output),
            "--- stderr\nerror: refs cannot move while git receives a push, whose objects are in quarantine\nhint: use the post-receive hook\n[exit 2]",
            "{args:?}"
        );
    }
    assert_eq!(repo.git(&["for-each-ref"]), before);
}

#[test]
fn extensions_of_git_that_change_nothing_for_us_are_accepted() {
    let mut repo = TestRepo::classic(&[]);
    let folder = repo.folder().to_owned();
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["remote", "add", "origin", "https://example.invalid/x"]);
    repo.say("x");
    for (extension, value) in [("partialClone", "origin"), ("preciousObjects", "true"), ("worktreeConfig", "true")] {
        repo.git(&["config", &format!("extensions.{extension}"), value]);
        assert!(opens(&mut repo, &folder, &[]), "{extension}");
    }
    repo.say("y");
    repo.git(&["config", "extensions.unknown", "true"]);
    assert!(!opens(&mut repo, &folder, &[]));
    // Without a value, in a repository of another version, or both.
    let mut repo = TestRepo::classic(&[]);
    let folder = repo.folder().to_owned();
    repo.say("x");
    let path = repo.git_dir().join("config");
    let config = std::fs::read_to_string(&path).unwrap();
    for version in ["0", "1"] {
        for line in ["noop-v1", "objectFormat", "objectFormat = sha1", "refStorage = files", "partialClone"] {
            let lines = format!("[core]\n\trepositoryFormatVersion = {version}\n[extensions]\n\t{line}\n");
            std::fs::write(&path, config.clone() + &lines).unwrap();
            opens(&mut repo, &folder, &[]);
        }
    }
}

#[cfg(unix)]
#[test]
fn new_files_have_the_permissions_of_core_shared_repository() {
    use std::os::unix::fs::PermissionsExt;
    const WRITES: &str = "umask 077
        git trace commit -m x && git trace pin '#0' && git trace switch -c other && git trace branch -m other a/b
        git trace import jsonl - && git trace undo && git trace branch -D main";
    let paths = |repo: &TestRepo| -> BTreeMap<PathBuf, (bool, u32)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![repo.git_dir()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let metadata = entry.metadata().unwrap();
                found.insert(entry.path(), (metadata.is_dir(), metadata.permissions().mode() & 0o7777));
                folders.extend(metadata.is_dir().then(|| entry.path()));
            }
        }
        found
    };
    for (shared, expected) in [
        ("umask", "[folder 700, object 400, other 600]"),
        ("group", "[folder 2770, object 440, other 660]"),
        ("0640", "[folder 2750, object 440, other 640]"),
        ("all", "[folder 2775, object 444, other 664]"),
    ] {
        let repo = TestRepo::classic(&[&format!("--shared={shared}")]);
        let old = paths(&repo);
        let items: String = (0..50).map(|n| format!("{{\"text\":\"{n}\"}}\n")).collect();
        let output = run(repo.command("sh").args(["-c", WRITES]), items.as_bytes());
        assert!(output.status.success(), "{}", repo.exact(&output));
        let mut found = BTreeSet::new();
        for (path, (is_folder, mode)) in paths(&repo).into_iter().filter(|(path, _)| !old.contains_key(path)) {
            let is_object = path.strip_prefix(repo.git_dir().join("objects")).is_ok();
            let kind = if is_folder {
                "folder"
            } else if is_object {
                "object"
            } else {
                "other"
            };
            found.insert(format!("{kind} {mode:o}"));
        }
        assert_eq!(format!("[{}]", found.into_iter().collect::<Vec<_>>().join(", ")), expected, "{shared}");
    }
    let repo = TestRepo::classic(&[]);
    repo.git(&["config", "core.sharedRepository", "0400"]);
    insta::assert_snapshot!(repo.refused(&["commit", "-m", "x"]), @r"
    --- stderr
    error: git config `core.sharedRepository` is `0400`, which is not umask, group, all, or an octal mode with read and write for the owner
    [exit 2]
    ");
}

#[cfg(unix)]
#[test]
fn the_reference_transaction_hook_sees_and_may_refuse_each_move() {
    use std::os::unix::fs::PermissionsExt;
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    let folder = repo.folder().join("hooks");
    std::fs::create_dir(&folder).unwrap();
    let hook = folder.join("reference-transaction");
    std::fs::write(&hook, "#!/bin/sh\nsed \"s/^/$1 /\" >>moves\ntest ! -e refuse\n").unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    repo.git(&["config", "core.hooksPath", "hooks"]);
    repo.say("y");
    repo.text(&["pin", "#0"]);
    let moves = std::fs::read_to_string(repo.folder().join("moves")).unwrap();
    let moved = moves.lines().filter(|line| line.starts_with("committed "));
    let moved: Vec<&str> = moved.map(|line| line.rsplit(' ').next().unwrap()).collect();
    let id = repo.json(&["show", "#0", "--json"])["id"].as_str().unwrap().to_owned();
    assert_eq!(moved, ["refs/traces/main", "refs/trace-priority", &format!("refs/trace-tags/pinned/{id}")]);
    std::fs::write(repo.folder().join("refuse"), "").unwrap();
    let refusal = repo.refused(&["commit", "-m", "z"]);
    assert!(refusal.contains("ref updates aborted by hook"), "{refusal}");
    assert_eq!(repo.bodies("main"), ["x", "y"]);
    repo.git(&["config", "--unset", "core.hooksPath"]);
    let log = repo.home().join("log");
    let is_moved_by_git = || {
        let output = run(repo.command("git-trace").env("GIT_TRACE2_EVENT", &log).args(["commit", "-m", "z"]), b"");
        assert!(output.status.success(), "{}", repo.exact(&output));
        std::fs::read_to_string(&log).is_ok_and(|log| log.contains("update-ref"))
    };
    assert!(!is_moved_by_git());
    // Git 2.54 and later run it.
    repo.git(&["config", "hook.watch.event", "reference-transaction"]);
    assert!(is_moved_by_git());
    repo.git(&["config", "--remove-section", "hook.watch"]);
    let path = folder.to_str().unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    for path in [path, &of_user(path), "../repo/hooks", "", "~/repo/hooks", ":(optional)hooks"] {
        repo.git(&["config", "core.hooksPath", path]);
        let by_git = run(repo.command("git").args(["update-ref", "refs/other/ref", "refs/traces/main"]), b"");
        let output = repo.run(&["commit", "-m", "z"], b"");
        assert_eq!(output.status.success(), by_git.status.success(), "{path}: {}", repo.exact(&output));
    }
}

#[test]
fn items_are_read_without_replacements() {
    let repo = TestRepo::classic(&[]);
    repo.say("true");
    let blob = repo.git(&["ls-tree", "-r", "--format=%(objectname)", "refs/traces/main", "00"]).trim().to_owned();
    let other = repo.git(&["rev-parse", &format!("{blob}^{{blob}}")]).trim().to_owned();
    let text = repo.git(&["cat-file", "blob", &other]).replace("true", "FALSE");
    std::fs::write(repo.folder().join("false"), text).unwrap();
    let replacement = repo.git(&["hash-object", "-w", "false"]).trim().to_owned();
    repo.git(&["replace", &blob, &replacement]);
    assert_eq!(repo.text(&["show", "#0"]), "true");
    let path = repo.git_dir().join("objects").join(&blob[..2]).join(&blob[2..]);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "damaged").unwrap();
    let said = repo.exact(&repo.run(&["show", "#0"], b""));
    assert!(said.contains("is damaged") && !said.contains("FALSE"), "{said}");
}

#[test]
fn damage_in_any_alternate_is_an_error() {
    let mut repo = TestRepo::classic(&[]);
    repo.say("x");
    let blob = repo.git(&["ls-tree", "-r", "--format=%(objectname)", "refs/traces/main", "00"]).trim().to_owned();
    let refs = "+refs/*:refs/*";
    for (from, to) in [("repo", "middle"), ("middle", "last")] {
        let [from, to] = [from, to].map(|name| repo.home().join(name).display().to_string());
        repo.git(&["clone", "-q", "--shared", &from, &to]);
        repo.git(&["-C", &to, "fetch", "-q", &from, refs]);
    }
    let objects = repo.git_dir().join("objects");
    let path = objects.join(&blob[..2]).join(&blob[2..]);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let shown = |repo: &TestRepo, objects: &Path| {
        let mut command = repo.command("timeout");
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects).args(["20", "git-trace", "show", "#0"]);
        repo.exact(&run(&mut command, b""))
    };
    let last = repo.home().join("last");
    assert!(repo.within(&last, |repo| shown(repo, Path::new("/nonexistent"))).contains("is damaged"));
    let empty = repo.home().join("empty");
    std::fs::create_dir(&empty).unwrap();
    repo.within(&empty, |repo| {
        repo.git(&["init", "-q"]);
        let mut command = repo.command("git");
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects);
        let tip = repo.git(&["-C", "../repo", "rev-parse", "refs/traces/main"]);
        assert!(run(command.args(["update-ref", "refs/traces/main", tip.trim()]), b"").status.success());
        assert!(shown(repo, &objects).contains("is damaged"));
    });
}

#[test]
fn names_of_alternates_may_be_quoted() {
    let repo = TestRepo::new();
    repo.say("loose");
    repo.git(&["clone", "-q", "--shared", ".", "../borrower"]);
    repo.git(&["-C", "../borrower", "fetch", "-q", "../repo", "+refs/*:refs/*"]);
    let borrower = repo.home().join("borrower");
    let alternates = borrower.join(".git/objects/info/alternates");
    let below = borrower.join("below");
    fs::create_dir(&below).unwrap();
    let shown_in = |folder: &Path, variable: Option<&str>| {
        let shown = |program: &str, args: &[&str]| {
            let mut command = repo.command(program);
            command.envs(variable.map(|value| ("GIT_ALTERNATE_OBJECT_DIRECTORIES", value))).args(args);
            run(command.current_dir(folder), b"").status.success()
        };
        let by_us = shown("git-trace", &["show", "#0"]);
        assert_eq!(by_us, shown("git", &["cat-file", "-e", "refs/traces/main"]), "{variable:?}");
        by_us
    };
    let shown = |variable: Option<&str>| shown_in(&borrower, variable);
    for _ in ["loose", "packed"] {
        let quoted = format!("\"{}/\\157bjects\"", repo.git_dir().display());
        for (line, is_borrowed) in [("\"../../../repo/.git/objects\"", true), (&*quoted, true), ("# nothing", false)] {
            std::fs::write(&alternates, format!("{line}\n")).unwrap();
            assert_eq!(shown(None), is_borrowed, "{line}");
        }
        assert!(shown(Some(&format!("/nonexistent:{quoted}"))));
        // Git resolves them after it has changed into the root.
        assert!(shown_in(&below, Some("../repo/.git/objects")));
        repo.git(&["gc", "-q"]);
    }
}

#[test]
fn users_of_a_shared_repository_share_hooks_attributes_and_excludes() {
    use std::os::unix::fs::PermissionsExt;
    let repo = TestRepo::new();
    for folder in ["hooks", "info"] {
        let _ = fs::remove_dir_all(repo.git_dir().join(folder));
    }
    repo.git(&["config", "core.sharedRepository", "group"]);
    fs::set_permissions(repo.git_dir(), fs::Permissions::from_mode(0o2770)).unwrap();
    let secret = "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----";
    for args in [&["install", "--private"][..], &["breadcrumb", "set", "secret.a", secret]] {
        let mut shell = repo.command("sh");
        shell.args(["-c", "umask 077; exec git-trace \"$@\"", "sh"]).args(args);
        assert!(run(&mut shell, b"").status.success());
    }
    for (path, wanted) in [("hooks", 0o070), ("info", 0o070), ("hooks/pre-commit", 0o070)] {
        let mode = fs::metadata(repo.git_dir().join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, wanted, "{path} has {mode:o}");
    }
    for path in ["info/attributes", "info/exclude"] {
        let mode = fs::metadata(repo.git_dir().join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0o060, "{path} has {mode:o}");
    }
}

#[test]
fn attributes_of_the_user_are_added_to_the_file_that_git_reads() {
    let repo = TestRepo::new();
    let own = repo.home().join("own-attributes");
    fs::write(&own, "*.png binary\n").unwrap();
    let more = repo.home().join("more");
    fs::write(&more, format!("[core]\n\tattributesFile = {}\n", own.display())).unwrap();
    repo.git(&["config", "--global", "include.path", more.to_str().unwrap()]);
    repo.text(&["install", "--global"]);
    assert!(repo.git(&["check-attr", "merge", ".synapse/breadcrumbs.jsonl"]).contains(": trace"));
    assert!(fs::read_to_string(&own).unwrap().starts_with("*.png binary\n"));
}

#[test]
fn a_session_is_not_imported_into_a_repository_that_only_libgit2_finds() {
    let repo = TestRepo::new();
    let folder = repo.folder().join("ceiling/project");
    fs::create_dir_all(&folder).unwrap();
    let projects = repo.home().join(".claude/projects/project");
    fs::create_dir_all(&projects).unwrap();
    let session = "11111111-1111-4111-8111-111111111111";
    let record = serde_json::json!({ "type": "user", "uuid": "u1", "parentUuid": null, "sessionId": session, "cwd": folder,
        "timestamp": "2026-02-10T09:00:00.000Z", "message": { "role": "user", "content": "private text" } });
    fs::write(projects.join(format!("{session}.jsonl")), format!("{record}\n")).unwrap();
    let import = |ceiling: &Path| {
        let mut command = repo.command("git-trace");
        let output = run(command.env("GIT_CEILING_DIRECTORIES", ceiling).args(["import", "--all-folders"]), b"");
        assert!(output.status.success(), "{output:?}");
        repo.git(&["for-each-ref", "refs/traces"])
    };
    assert_eq!(import(&repo.folder().join("ceiling")), "");
    assert!(import(repo.home()).contains("refs/traces/claude-code/"));
}

#[test]
fn settings_of_a_worktree_of_another_user_run_nothing() {
    for repo in [Some(TestRepo::classic(&[])), crate::reftable::reftable()].into_iter().flatten() {
        let is_files = !repo.git_dir().join("reftable").exists();
        repo.git(&["config", "extensions.worktreeConfig", "true"]);
        add_worktree(&repo);
        repo.git(&["-C", "../other", "trace", "switch", "-c", "idea"]);
        let (evil, ran) = (repo.home().join("evil"), repo.home().join("ran"));
        repo.git(&["clone", "-q", "--bare", ".", evil.to_str().unwrap()]);
        let hook = evil.join("hooks/reference-transaction");
        fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        let hooks = evil.join("hooks").display().to_string();
        repo.git(&["-C", "../other", "config", "--worktree", "core.hooksPath", &hooks]);
        repo.git(&["-C", evil.to_str().unwrap(), "config", "core.hooksPath", &hooks]);
        let other = repo.git_dir().join("worktrees/other");
        if std::os::unix::fs::chown(&other, Some(12345), None).is_err() {
            return;
        }
        let names = |name: &str| {
            let named = repo.git(&["symbolic-ref", "worktrees/other/TRACE_HEAD"]);
            named == format!("refs/traces/{}\n", if is_files { name } else { "idea" })
        };
        let rename = |old: &str, new: &str| {
            let said = repo.trace(&["branch", "-m", old, new]);
            // Git refuses to run there.
            let stays = said.contains("worktrees still name trace `") && said.contains("dubious ownership");
            assert!(if is_files { said.ends_with("[exit 0]") } else { stays }, "{said}");
        };
        rename("idea", "plan");
        assert!(!ran.exists() && names("plan"));
        repo.text(&["undo"]);
        assert!(!ran.exists() && names("idea"));
        fs::write(other.join("commondir"), evil.as_os_str().as_encoded_bytes()).unwrap();
        rename("idea", "plan");
        repo.text(&["branch"]);
        repo.trace(&["fsck"]);
        assert!(!ran.exists() && names("plan"));
    }
}

#[test]
fn undo_takes_a_head_away_that_a_rename_made_for_another_user() {
    let repo = TestRepo::classic(&[]);
    add_worktree(&repo);
    let other = repo.git_dir().join("worktrees/other");
    // Only the superuser may do that.
    let _ = std::os::unix::fs::chown(&other, Some(12345), None);
    repo.text(&["branch", "-m", "main", "trunk"]);
    assert_eq!(fs::read_to_string(other.join("TRACE_HEAD")).unwrap(), "ref: refs/traces/trunk\n");
    repo.text(&["undo"]);
    assert!(!other.join("TRACE_HEAD").exists());
    assert!(repo.refs().contains("refs/traces/main") && !repo.refs().contains("refs/traces/trunk"));
}

#[test]
fn an_undo_that_leaves_the_head_of_another_worktree_is_done() {
    let repo = TestRepo::classic(&[]);
    add_worktree(&repo);
    repo.say("y");
    repo.git(&["-C", "../other", "trace", "switch", "-c", "idea"]);
    repo.text(&["branch", "-m", "idea", "plan"]);
    repo.set_hook("reference-transaction", "#!/bin/sh\n! grep -q 'refs/traces/idea TRACE_HEAD'\n");
    let said = repo.trace(&["undo"]);
    assert!(said.contains("done, but worktrees still name trace `plan`: `"), "{said}");
    assert!(repo.text(&["undo"]).contains("[main] is now at dialogue user: x"));
}

#[test]
fn a_trace_that_is_current_elsewhere_is_not_undone() {
    let repo = TestRepo::classic(&[]);
    add_worktree(&repo);
    repo.text(&["switch", "-c", "idea"]);
    repo.git(&["-C", "../other", "trace", "switch", "idea"]);
    assert!(repo.refused(&["undo"]).contains("idea"));
    assert!(repo.refs().contains("refs/traces/idea"));
}

#[test]
fn another_repository_in_place_of_a_moved_worktree_is_not_written() {
    let repo = TestRepo::classic(&[]);
    add_worktree(&repo);
    repo.git(&["-C", "../other", "trace", "switch", "-c", "idea"]);
    fs::rename(repo.home().join("other"), repo.home().join("moved")).unwrap();
    repo.git(&["init", "-q", "../other"]);
    // With a hook, git moves the head.
    repo.set_hook("reference-transaction", "#!/bin/sh\n");
    repo.text(&["branch", "-m", "idea", "plan"]);
    assert!(!repo.home().join("other/.git/TRACE_HEAD").exists());
    let head = repo.git_dir().join("worktrees/other/TRACE_HEAD");
    assert_eq!(fs::read_to_string(head).unwrap(), "ref: refs/traces/plan\n");
}

#[test]
fn a_worktree_that_stays_on_a_renamed_trace_is_named() {
    for repo in [Some(TestRepo::classic(&[])), crate::reftable::reftable()].into_iter().flatten() {
        repo.git(&["config", "extensions.worktreeConfig", "true"]);
        add_worktree(&repo);
        repo.git(&["-C", "../other", "trace", "switch", "-c", "idea"]);
        repo.set_hook("reference-transaction", "#!/bin/sh\n! grep -q TRACE_HEAD\n");
        let said = repo.trace(&["branch", "-m", "idea", "plan"]);
        assert!(said.contains("done, but worktrees still name trace `idea`: `"), "{said}");
        assert!(repo.refs().contains("refs/traces/plan") && !repo.refs().contains("refs/traces/idea"), "{said}");
        repo.set_hook("reference-transaction", "#!/bin/sh\n");
        fs::write(repo.git_dir().join("worktrees/other/config.worktree"), "[core").unwrap();
        repo.text(&["branch", "-m", "plan", "idea"]);
        repo.text(&["branch"]);
        repo.trace(&["fsck"]);
    }
}

#[test]
fn an_object_in_a_cruft_pack_is_written_again() {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    repo.say("y");
    repo.text(&["delete", "#1"]);
    repo.git(&["update-ref", "refs/traces/main", "refs/traces/main~1"]);
    for reference in repo.git(&["for-each-ref", "--format=%(refname)", "refs/trace-orig"]).lines() {
        repo.git(&["update-ref", "-d", reference]);
    }
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["repack", "-q", "-d", "--cruft", "--cruft-expiration=never"]);
    repo.text(&["delete", "#1"]);
    // As `git gc` does with objects that were unreachable when it began.
    for entry in fs::read_dir(repo.git_dir().join("objects/pack")).unwrap().map(Result::unwrap) {
        let cruft = entry.path().with_extension("mtimes");
        if entry.path() == cruft {
            for part in ["pack", "idx", "rev", "mtimes"] {
                let _ = fs::remove_file(cruft.with_extension(part));
            }
        }
    }
    repo.fsck();
}

#[test]
fn a_worktree_that_was_moved_by_hand_is_where_git_finds_it() {
    let mut repo = TestRepo::classic(&[]);
    add_worktree(&repo);
    let moved = repo.home().join("moved");
    fs::rename(repo.home().join("other"), &moved).unwrap();
    repo.git(&["init", "-q", "../other"]);
    fs::create_dir(moved.join("below")).unwrap();
    for folder in [moved.clone(), moved.join("below")] {
        repo.within(&folder, |repo| repo.text(&["breadcrumb", "set", "a.b", "x"]));
    }
    assert!(moved.join(".synapse/breadcrumbs.jsonl").exists());
    assert!(!repo.home().join("other/.synapse").exists());
    // From the git folder of the worktree, as before.
    let git_dir = repo.git_dir().join("worktrees/other");
    repo.within(&git_dir, |repo| repo.text(&["log"]));
    // Below its earlier place.
    let below = repo.home().join("other/moved");
    fs::rename(&moved, &below).unwrap();
    repo.within(&below, |repo| repo.text(&["checkpoint", "new", "two"]));
    assert!(below.join("checkpoints").exists());
    assert!(!repo.home().join("other/checkpoints").exists());
}

#[test]
fn a_git_directory_elsewhere_has_no_work_tree_around_it() {
    let mut repo = TestRepo::classic(&[]);
    let hub = repo.home().join("hub");
    fs::create_dir(&hub).unwrap();
    repo.git(&["init", "-q", "--separate-git-dir", "../hub/apart.git", "../apart"]);
    repo.git(&["init", "-q", "--bare", "../hub/bare.git"]);
    repo.git(&["--git-dir", "../hub/bare.git", "config", "--unset", "core.bare"]);
    for name in ["apart.git", "bare.git"] {
        repo.within(&hub.join(name), |repo| {
            for args in [&["breadcrumb", "set", "a.b", "x"][..], &["checkpoint", "new", "two"], &["install"]] {
                repo.run(args, b"");
            }
            repo.text(&["commit", "-m", "hello"]);
        });
    }
    let mut left: Vec<_> = fs::read_dir(&hub).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["apart.git", "bare.git"]);
}

#[test]
fn without_a_home_no_settings_of_the_current_folder_are_those_of_the_user() {
    let repo = TestRepo::classic(&[]);
    for folder in [".config/git", "git"] {
        fs::create_dir_all(repo.folder().join(folder)).unwrap();
        fs::write(repo.folder().join(folder).join("config"), "[trace]\n\tmaterializer = touch ran; cat\n").unwrap();
    }
    repo.say("hello");
    for (empty, absent) in [("HOME", "XDG_CONFIG_HOME"), ("XDG_CONFIG_HOME", "HOME")] {
        let mut command = repo.command("git-trace");
        command.arg("materialize").env(empty, "").env_remove(absent).env_remove("GIT_CONFIG_GLOBAL");
        assert!(run(&mut command, b"").status.success());
        assert!(!repo.folder().join("ran").exists(), "{empty}");
    }
}

#[test]
fn sessions_of_all_folders_follow_the_settings_of_their_worktrees() {
    let repo = TestRepo::classic(&[]);
    add_worktree(&repo);
    repo.git(&["config", "extensions.worktreeConfig", "true"]);
    let other = repo.home().join("other");
    repo.git(&["-C", other.to_str().unwrap(), "config", "--worktree", "trace.record", "false"]);
    for (folder, id) in [(repo.folder(), "own"), (other.as_path(), "private")] {
        let path = folder.canonicalize().unwrap().to_str().unwrap().to_owned();
        let name: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let project = repo.home().join(".claude/projects").join(name);
        fs::create_dir_all(&project).unwrap();
        let line = serde_json::json!({ "type": "user", "uuid": "u1", "sessionId": id, "cwd": path,
            "timestamp": "2026-01-01T00:00:01Z", "message": { "role": "user", "content": id } });
        fs::write(project.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
    }
    repo.text(&["import", "--all-folders"]);
    assert_eq!(
        repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces/claude-code"]),
        "refs/traces/claude-code/own\n"
    );
}

#[test]
fn a_work_tree_of_the_environment_is_that_of_the_repository_of_the_current_folder() {
    let repo = TestRepo::classic(&[]);
    fs::create_dir(repo.folder().join(".synapse")).unwrap();
    fs::write(repo.folder().join(".synapse/breadcrumbs.jsonl"), "{bad\n").unwrap();
    repo.git(&["add", "."]);
    for name in ["other", "plain"] {
        let folder = repo.home().join(name);
        fs::create_dir(&folder).unwrap();
        if name == "other" {
            repo.git(&["init", "-q", folder.to_str().unwrap()]);
        }
        let mut command = repo.command("git-trace");
        let output = run(command.args(["check", "--staged"]).env("GIT_WORK_TREE", &folder), b"");
        assert_eq!(output.status.code(), Some(1), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("breadcrumbs.jsonl:1:"), "{name}");
    }
}

#[test]
fn a_trial_of_the_hook_follows_no_settings_for_text_files() {
    let repo = TestRepo::new();
    repo.text(&["install"]);
    repo.git(&["config", "--global", "core.autocrlf", "true"]);
    repo.git(&["config", "--global", "core.safecrlf", "true"]);
    fs::write(repo.folder().join(".gitattributes"), "*.jsonl eol=lf\n").unwrap();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let mut command = repo.command("git-trace");
    let output = run(command.arg("doctor").env("GIT_ATTR_SOURCE", "HEAD"), b"");
    let said = repo.exact(&output);
    assert!(said.contains("hooks: invalid commits are refused"), "{said}");
}

#[test]
fn a_file_of_settings_that_git_refuses_is_refused() {
    let mut repo = TestRepo::new();
    repo.say("x");
    let (folder, config) = (repo.folder().to_owned(), repo.git_dir().join("config"));
    let settings = fs::read_to_string(&config).unwrap();
    for lines in [
        "[trace]\n\t1x = y",
        "[trace]\n\t-x = y",
        "[trace]\n\tx_y = z",
        "[trace]\n\tx # y",
        "[trace] 1x = y",
        "[core]\n\tnotes = \"abc",
        "[include]\n\tpath = /",
        "[include]\n\tpath",
    ] {
        fs::write(&config, format!("{settings}{lines}\n")).unwrap();
        assert!(!opens(&mut repo, &folder, &[]), "{lines}");
    }
    for lines in ["[a \"b]c\"] x = \"#\" ; \"", "[alias]\n\tx = \"!f() { echo \\\"$1\\\"; }; f\"", "[core]\n\tx"] {
        fs::write(&config, format!("{settings}{lines}\n")).unwrap();
        assert!(opens(&mut repo, &folder, &[]), "{lines}");
    }
}

#[test]
fn the_folder_around_a_git_directory_belongs_to_the_user() {
    let mut repo = TestRepo::new();
    repo.say("x");
    repo.git(&["config", "core.bare", "true"]);
    let folder = repo.folder().to_owned();
    fs::create_dir(folder.join("sub")).unwrap();
    // Only the superuser may do that.
    let is_given = std::os::unix::fs::chown(&folder, Some(12345), None).is_ok();
    for place in [folder.clone(), folder.join("sub")] {
        assert_eq!(opens(&mut repo, &place, &[]), !is_given);
    }
}

#[test]
fn a_git_directory_in_another_repository_has_not_its_work_tree() {
    let mut repo = TestRepo::new();
    repo.git(&["init", "-q", "other"]);
    let inner = repo.folder().join("inner.git");
    fs::rename(repo.folder().join("other/.git"), &inner).unwrap();
    repo.within(&inner, |repo| {
        assert!(repo.refused(&["breadcrumb", "set", "team.x", "y"]).contains("needs a working tree"));
    });
    assert!(!repo.folder().join(".synapse").exists());
}

#[test]
fn a_condition_with_a_slash_after_the_git_directory_is_as_for_git() {
    let repo = TestRepo::new();
    repo.say("x");
    let (home, git_dir) = (repo.home().display(), repo.git_dir());
    fs::write(repo.home().join("included"), "[trace]\n\tmaterializer = echo ran; cat\n").unwrap();
    // Git is asked about a file with a name that has no value.
    let include = format!("[includeIf \"gitdir:{}/\"]\n\tpath = {home}/included\n", git_dir.display());
    fs::write(repo.home().join("gitconfig"), format!("[diff]\n\tnoprefix\n{include}")).unwrap();
    assert!(!run(repo.command("git").args(["config", "trace.materializer"]), b"").status.success());
    assert!(!repo.text(&["materialize"]).contains("ran"));
}

#[test]
fn conditions_with_links_and_homes_with_colons_are_those_of_git() {
    let mut repo = TestRepo::new();
    repo.say("x");
    let home = repo.home().to_owned();
    fs::write(home.join("included"), BAD).unwrap();
    let include = |pattern: &str| format!("[includeIf \"gitdir:{pattern}\"]\n\tpath = {}/included\n", home.display());
    fs::create_dir(home.join("dot")).unwrap();
    fs::write(home.join("dot/gitconfig"), include("./work/")).unwrap();
    repo.git(&["init", "-q", "../dot/work/project"]);
    // A home that is a link, and settings that are one.
    std::os::unix::fs::symlink(".", home.join("link")).unwrap();
    let linked = home.join("link");
    let of_link = [("HOME", linked.to_str().unwrap())];
    fs::write(home.join(".gitconfig"), include("~/repo/")).unwrap();
    assert!(reads_bad(&repo, &of_link));
    fs::write(home.join(".gitconfig"), include("~/other/")).unwrap();
    assert!(!reads_bad(&repo, &of_link));
    fs::remove_file(home.join(".gitconfig")).unwrap();
    std::os::unix::fs::symlink("dot/gitconfig", home.join(".gitconfig")).unwrap();
    repo.within(&home.join("dot/work/project"), |repo| {
        run(repo.command("git-trace").env("HOME", repo.folder()).args(["commit", "-m", "x"]), b"");
        assert!(reads_bad(repo, &[]));
    });
    // A git directory behind a link.
    fs::create_dir(home.join("store")).unwrap();
    fs::rename(repo.folder().join(".git"), home.join("store/repo.git")).unwrap();
    std::os::unix::fs::symlink("../store/repo.git", repo.folder().join(".git")).unwrap();
    fs::remove_file(home.join(".gitconfig")).unwrap();
    fs::write(home.join(".gitconfig"), include(home.canonicalize().unwrap().join("store/").to_str().unwrap())).unwrap();
    assert!(reads_bad(&repo, &[]));
    // A list of paths would have two entries.
    fs::create_dir(home.join("corp:ada")).unwrap();
    fs::create_dir(repo.folder().join("ada")).unwrap();
    fs::write(repo.folder().join("ada/.gitconfig"), BAD).unwrap();
    assert!(!reads_bad(&repo, &[("HOME", home.join("corp:ada").to_str().unwrap())]));
}

#[test]
fn settings_without_a_value_and_bad_ones_are_refused_as_by_git() {
    let repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("x");
    let config = repo.git_dir().join("config");
    let settings = fs::read_to_string(&config).unwrap();
    for line in ["hooksPath", "fsync", "fsyncMethod", "logAllRefUpdates", "logAllRefUpdates = maybe"] {
        fs::write(&config, format!("{settings}[core]\n\t{line}\n")).unwrap();
        assert!(!run(repo.command("git").args(["update-ref", "refs/heads/x", "HEAD"]), b"").status.success(), "{line}");
        assert_eq!(repo.run(&["commit", "-m", "y"], b"").status.code(), Some(2), "{line}");
    }
    fs::write(&config, format!("{settings}[trace]\n\tageRecipient\n")).unwrap();
    repo.refused(&["breadcrumb", "set", "secret.a", "x"]);
    fs::write(&config, format!("{settings}[core]\n\tsharedRepository\n")).unwrap();
    repo.say("y");
}

#[test]
fn a_hook_below_a_home_that_is_not_set_is_left_to_git() {
    let repo = TestRepo::new();
    repo.say("x");
    fs::create_dir(repo.home().join("hooks")).unwrap();
    let hook = repo.home().join("hooks/reference-transaction");
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    repo.git(&["config", "core.hooksPath", "~/hooks"]);
    repo.refused(&["commit", "-m", "y"]);
    let output = run(repo.command("git-trace").env_remove("HOME").args(["commit", "-m", "y"]), b"");
    assert_eq!(output.status.code(), Some(2), "{}", repo.exact(&output));
}

#[test]
fn programs_of_another_repository_are_those_in_it() {
    let repo = TestRepo::new();
    repo.git(&["init", "-q", "../other"]);
    let other = repo.home().join("other").canonicalize().unwrap();
    let path = other.to_str().unwrap();
    for folder in [repo.folder(), other.as_path()] {
        fs::create_dir(folder.join("tools")).unwrap();
        let ran = repo.home().join(format!("ran-{}", folder.file_name().unwrap().to_str().unwrap()));
        for (name, rest) in [("sign", "exit 1"), ("count", "while read -r line; do echo 3; done")] {
            let program = folder.join("tools").join(name);
            fs::write(&program, format!("#!/bin/sh\ntouch '{}-{name}'\n{rest}\n", ran.display())).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let settings = [("trace.tokenCounter", "tools/count"), ("trace.sign", "true"), ("gpg.program", "tools/sign")];
    for (key, value) in settings {
        repo.git(&["-C", path, "config", key, value]);
    }
    let project = repo.home().join(".claude/projects/other");
    fs::create_dir_all(&project).unwrap();
    let line = serde_json::json!({ "type": "user", "uuid": "u1", "sessionId": "s", "cwd": path,
        "timestamp": "2026-01-01T00:00:01Z", "message": { "role": "user", "content": "hi" } });
    fs::write(project.join("s.jsonl"), format!("{line}\n")).unwrap();
    assert!(!repo.run(&["import", "--all-folders"], b"").status.success());
    let ran = |name: &str| repo.home().join(name).exists();
    assert!(ran("ran-other-sign") && !ran("ran-repo-sign"));
    repo.git(&["-C", path, "config", "trace.sign", "false"]);
    repo.text(&["import", "--all-folders"]);
    assert!(ran("ran-other-count") && !ran("ran-repo-count"));
}

#[test]
fn values_that_are_not_utf8_of_what_is_not_used_stop_nothing() {
    let repo = TestRepo::new();
    repo.git(&["init", "-q", "--bare", "../hub"]);
    repo.git(&["remote", "add", "origin", "../hub"]);
    let settings = fs::read(repo.git_dir().join("config")).unwrap();
    let odd = b"[remote \"usb\"]\n\turl = /media/caf\xe9\n[hook \"x\"]\n\tcommand = \xe9\n[url \"\xe9\"]\n\tinsteadOf = \xe9\n";
    fs::write(repo.git_dir().join("config"), [settings, odd.to_vec()].concat()).unwrap();
    repo.say("x");
    repo.text(&["push", "origin"]);
    repo.text(&["pull", "origin"]);
}

#[test]
fn programs_run_in_the_root_of_a_worktree_in_its_bare_repository() {
    let mut repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.git(&["clone", "-q", "--bare", ".", "../hub"]);
    let hub = repo.home().join("hub");
    repo.within(&hub, |repo| repo.git(&["worktree", "add", "-q", "tree"]));
    let root = hub.join("tree");
    for (folder, words) in [("tools", "root"), ("vendor/tools", "vendor")] {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("show"), format!("echo {words}")).unwrap();
        let hook = root.join(folder).join("reference-transaction");
        fs::write(&hook, format!("#!/bin/sh\n[ {words} = vendor ]\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
    repo.within(&root.join("vendor"), |repo| {
        repo.say("x");
        repo.git(&["config", "trace.materializer", "sh tools/show"]);
        assert_eq!(repo.text(&["materialize"]), "root\n");
        repo.git(&["config", "core.hooksPath", "tools"]);
        repo.refused(&["commit", "-m", "y"]);
    });
}
