//! A real git repository in a temporary folder that knows no configuration but its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

/// The committer's clock at the start: 2026-02-10T09:00:00Z.
const START: i64 = 1_770_714_000;

/// How git creates repositories. The suite can also run with other hashes and ref storages.
const FORMATS: [(&str, &str); 2] = [("GIT_DEFAULT_HASH", "sha1"), ("GIT_DEFAULT_REF_FORMAT", "files")];

/// A repository with a fixed identity, and a clock that moves on by a second with each command.
///
/// Token counts, and the oids that depend on them, are redacted in snapshots; [`TestRepo::exact`] keeps them.
pub(crate) struct TestRepo {
    home: TempDir,
    folder: PathBuf,
    seconds: AtomicI64,
    is_classic: bool,
}

/// Whether a command can run on a terminal here.
pub(crate) fn has_terminal() -> bool {
    Command::new("script").arg("--version").output().is_ok()
}

/// The folders in which programs are looked for, without those of a `git-trace` that was installed.
pub(crate) fn path_without_ours() -> Vec<PathBuf> {
    let is_installed = |folder: &PathBuf| folder.join("git-trace").exists() && !folder.join("git").exists();
    std::env::split_paths(&std::env::var_os("PATH").unwrap()).filter(|folder| !is_installed(folder)).collect()
}

/// The `git-trace` that was built with the tests. Cargo names it only for integration tests; unit tests find it next to them.
pub(crate) fn binary() -> PathBuf {
    let built = || std::env::current_exe().unwrap().parent().unwrap().with_file_name("git-trace");
    option_env!("CARGO_BIN_EXE_git-trace").map_or_else(built, PathBuf::from)
}

impl TestRepo {
    /// A repository with a worktree and no commit.
    pub(crate) fn new() -> Self {
        Self::init(&[])
    }

    /// What `git init` makes of these options.
    pub(crate) fn init(options: &[&str]) -> Self {
        let repo = Self::without_git();
        repo.git(&[&["init", "--quiet", "--initial-branch=code"], options].concat());
        repo
    }

    /// The same with SHA-1 and refs as files, whatever the suite is run for: for tests of stored bytes, and of those files.
    pub(crate) fn classic(options: &[&str]) -> Self {
        let repo = Self { is_classic: true, ..Self::without_git() };
        repo.git(&[&["init", "--quiet", "--initial-branch=code"], options].concat());
        repo
    }

    /// A folder that is no repository yet.
    pub(crate) fn without_git() -> Self {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("repo");
        std::fs::create_dir(&folder).unwrap();
        Self { home, folder, seconds: AtomicI64::new(START), is_classic: false }
    }

    /// Where commands run.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder around it, which is the user's home as well.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The git folder.
    pub(crate) fn git_dir(&self) -> PathBuf {
        let dot_git = self.folder.join(".git");
        if dot_git.exists() { dot_git } else { self.folder.clone() }
    }

    /// The same repository, with its commands run in another folder.
    pub(crate) fn within<T>(&mut self, folder: &Path, act: impl FnOnce(&Self) -> T) -> T {
        let before = std::mem::replace(&mut self.folder, folder.to_owned());
        let done = act(self);
        self.folder = before;
        done
    }

    /// A command that sees no variable but ours. `git trace` finds the built binary.
    pub(crate) fn command(&self, program: &str) -> Command {
        let date = format!("{} +0000", self.seconds.fetch_add(1, Ordering::Relaxed) + 1);
        let binary = binary();
        let mut path = vec![binary.parent().unwrap().to_owned()];
        path.extend(path_without_ours());
        let mut command = Command::new(if program == "git-trace" { binary.as_os_str() } else { program.as_ref() });
        command.env_clear().current_dir(&self.folder).env("PATH", std::env::join_paths(path).unwrap());
        command.env("HOME", self.home.path()).env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        // Not /dev/null: git replaces the file that it configures, and root may replace that one.
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", self.home.path().join("gitconfig"));
        for (variable, classic) in FORMATS {
            let format = std::env::var_os(variable).filter(|_| !self.is_classic);
            command.env(variable, format.unwrap_or_else(|| classic.into()));
        }
        command.env("GIT_CEILING_DIRECTORIES", self.home.path()).env("GIT_EDITOR", "true");
        for word in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{word}_NAME"), "A U Thor").env(format!("GIT_{word}_EMAIL"), "author@example.com");
            command.env(format!("GIT_{word}_DATE"), &date);
        }
        command
    }

    /// Runs a shell line on a terminal, where `input` is typed, and returns what the terminal got.
    pub(crate) fn on_a_terminal(&self, line: &str, input: &str) -> String {
        let mut command = self.command("script");
        command.args(["-qec", line, "/dev/null"]).env("TERM", "xterm").env("PAGER", "cat");
        String::from_utf8(run(&mut command, input.as_bytes()).stdout).unwrap()
    }

    /// Runs a shell script in the home folder, with the real time, and returns its stdout.
    pub(crate) fn sh(&self, script: &str) -> String {
        let mut command = self.command("sh");
        command.env_remove("GIT_AUTHOR_DATE").env_remove("GIT_COMMITTER_DATE").current_dir(self.home());
        let output = run(command.args(["-c", script]), b"");
        String::from_utf8_lossy(&output.stdout).replace(self.home().to_str().unwrap(), "HOME")
    }

    /// Runs `git trace` with `input` on stdin.
    pub(crate) fn run(&self, args: &[&str], input: &[u8]) -> Output {
        run(self.command("git-trace").args(args), input)
    }

    /// What `git trace` answers, in the form of a snapshot.
    pub(crate) fn trace(&self, args: &[&str]) -> String {
        self.trace_with(args, b"")
    }

    /// As [`TestRepo::trace`], with `input` on stdin.
    pub(crate) fn trace_with(&self, args: &[&str], input: &[u8]) -> String {
        self.snapshot(&self.run(args, input))
    }

    /// An answer as a snapshot: stdout, stderr, exit status; oids, ids, token counts and folders redacted.
    pub(crate) fn snapshot(&self, output: &Output) -> String {
        redact(&self.exact(output))
    }

    /// An answer as a snapshot, with folders redacted and nothing else.
    pub(crate) fn exact(&self, output: &Output) -> String {
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.stderr.is_empty() {
            text.extend(["--- stderr\n", &String::from_utf8_lossy(&output.stderr)]);
        }
        text.extend(["[exit ", &output.status.code().map_or("signal".to_owned(), |code| code.to_string()), "]"]);
        text.replace(self.home.path().to_str().unwrap(), "[HOME]")
    }

    /// The bytes that a successful `git trace` prints.
    pub(crate) fn bytes(&self, args: &[&str]) -> Vec<u8> {
        self.bytes_with(args, b"")
    }

    /// As [`TestRepo::bytes`], with `input` on stdin.
    pub(crate) fn bytes_with(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let output = self.run(args, input);
        assert!(output.status.success(), "git trace {args:?}: {}", self.exact(&output));
        output.stdout
    }

    /// The text that a successful `git trace` prints.
    pub(crate) fn text(&self, args: &[&str]) -> String {
        String::from_utf8(self.bytes(args)).unwrap()
    }

    /// The lines of JSON that a successful `git trace` prints.
    pub(crate) fn lines(&self, args: &[&str]) -> Vec<Value> {
        self.text(args).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The one line of JSON that a successful `git trace` prints.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.bytes(args)).unwrap()
    }

    /// Imports the output of `export`, and returns the answer. The status says whether a purge refused something.
    pub(crate) fn import(&self, name: &str, file: &Path) -> Value {
        let output = self.run(&["--trace", name, "import", "--json", "jsonl", file.to_str().unwrap()], b"");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let is_partial = answer["traces"][0]["purged"].is_u64();
        assert_eq!(output.status.code(), Some(is_partial.into()), "{}", self.exact(&output));
        answer
    }

    /// Commits a text of the user's and returns its id.
    pub(crate) fn say(&self, text: &str) -> String {
        self.commit(&["-m", text])
    }

    /// Commits an item and returns its id.
    pub(crate) fn commit(&self, args: &[&str]) -> String {
        let answer = self.json(&[&["commit", "--json"], args].concat());
        answer["id"].as_str().unwrap().to_owned()
    }

    /// The answer of a command that must refuse: status 2, nothing on stdout, every ref as it was.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        self.refused_with(args, b"")
    }

    /// As [`TestRepo::refused`], with `input` on stdin.
    pub(crate) fn refused_with(&self, args: &[&str], input: &[u8]) -> String {
        let before = self.refs();
        let output = self.run(args, input);
        let snapshot = self.snapshot(&output);
        assert_eq!(output.status.code(), Some(2), "{snapshot}");
        assert!(output.stdout.is_empty(), "{snapshot}");
        assert_eq!(self.refs(), before, "a command that refuses changes nothing");
        snapshot
    }

    /// What successful git prints.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = run(self.command("git").args(args), b"");
        assert!(output.status.success(), "git {args:?}: {}", self.exact(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Lets git run `script` as its hook of this name.
    pub(crate) fn set_hook(&self, name: &str, script: &str) {
        let folder = self.git_dir().join("hooks");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), script).unwrap();
        std::fs::set_permissions(folder.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Every ref with its target, and the current trace.
    pub(crate) fn refs(&self) -> String {
        let listed = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        match self.trace_head().as_str() {
            "" => listed,
            head => format!("{listed}ref: {head}"),
        }
    }

    /// The ref that `TRACE_HEAD` names; empty where there is none.
    pub(crate) fn trace_head(&self) -> String {
        let now = self.seconds.load(Ordering::Relaxed);
        let output = run(self.command("git").args(["symbolic-ref", "--quiet", "TRACE_HEAD"]), b"");
        self.seconds.store(now, Ordering::Relaxed);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Sees to it that git finds nothing wrong.
    ///
    /// Waits for upkeep in the background: what it packs away while fsck looks at it would be told as missing.
    pub(crate) fn fsck(&self) {
        let locks = ["objects/maintenance.lock", "gc.pid"].map(|name| self.git_dir().join(name));
        for _ in 0..600 {
            if !locks.iter().any(|lock| lock.exists()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let output = run(self.command("git").args(["fsck", "--strict", "--no-dangling"]), b"");
        let said = self.exact(&output);
        assert!(output.status.success() && !said.contains("error") && !said.contains("warning"), "{said}");
    }

    /// Sees to it that all that is said of a trace's size agrees, and returns the total.
    ///
    /// A provider's report counts what the trace does not hold; only what was counted equals the request.
    pub(crate) fn total(&self, name: &str) -> u64 {
        let tokens = self.json(&["status", "--json", name])["tokens"].clone();
        let status = tokens["total"].as_u64().unwrap();
        let joined = self.json(&["materialize", "--json", name]);
        let apart = self.json(&["materialize", "--json", "--aggregate", "none", name]);
        assert_eq!(joined["tokens"]["total"], status, "materialize and status agree on `{name}`");
        assert_eq!(apart["tokens"]["total"], status, "however it is joined");
        if tokens["source"] == "counted" {
            assert_eq!(apart["tokens"]["request"], status, "the total counts one message per item in `{name}`");
        }
        status
    }

    /// The texts that a trace holds, in reading order, skipped items included.
    pub(crate) fn bodies(&self, name: &str) -> Vec<String> {
        let paths = self.git(&["ls-tree", "-r", "-z", "--name-only", &format!("refs/traces/{name}")]);
        let body = |path: &str| {
            let file = self.git(&["cat-file", "blob", &format!("refs/traces/{name}:{path}")]);
            file.split_once("\n\n").unwrap().1.to_owned()
        };
        paths.split_terminator('\0').map(body).collect()
    }
}

/// Runs a command with `input` on its stdin.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A command that refuses may not read what it is given.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

/// Replaces everything that depends on token counts.
pub(crate) fn redact(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, replacement) in [
        (r"\b([0-9a-f]{64}|[0-9a-f]{40})\b", "[OID]"),
        (r"\b[0-9a-f]{16}\b", "[ID]"),
        (r"\b[0-9a-f]{7,8}\b", "[SHORT]"),
        (r"\b\d+ tokens", "[N] tokens"),
        (r"\btokens: \d+", "tokens: [N]"),
        (r#""(tokens|total|request)":\d+"#, r#""$1":"[N]""#),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, replacement).into_owned();
    }
    text
}
