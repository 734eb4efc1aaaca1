//! A folder with repositories in it, real git, and the command as users have it: `git trace` on the path.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::Regex;

use super::repo::path_without_ours;

/// A repository `repo` with no configuration but its own, a fixed identity and fixed times.
pub(crate) struct Playground {
    folder: tempfile::TempDir,
    /// Where commands run, below the folder.
    pub(crate) at: PathBuf,
    clock: std::cell::Cell<u32>,
}

impl Playground {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("bin")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(super::repo::binary(), root.join("bin/git-trace")).unwrap();
        let place = Self { at: root.clone(), folder, clock: std::cell::Cell::new(0) };
        place.git(&["init", "-q", "-b", "main", "repo"]);
        Self { at: root.join("repo"), ..place }
    }

    /// A repository with `git trace install` done and committed, its hooks left out.
    pub(crate) fn installed() -> Self {
        let place = Self::new();
        place.ok(&["install", "--no-hooks"]);
        place.commit("install");
        place
    }

    /// The folder of everything.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// The same playground with commands running elsewhere in it.
    pub(crate) fn cd(&mut self, path: &str) {
        self.at = self.root().join(path);
    }

    /// Takes the command off the path, and puts it back.
    pub(crate) fn hide_binary(&self, hidden: bool) {
        let (here, away) = (self.root().join("bin/git-trace"), self.root().join("bin/away"));
        if hidden { fs::rename(here, away).unwrap() } else { fs::rename(away, here).unwrap() }
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::join_paths([vec![self.root().join("bin")], path_without_ours()].concat()).unwrap();
        command.current_dir(&self.at).env_clear().env("PATH", path).env("HOME", self.root()).env("TZ", "UTC");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", self.root().join("gitconfig"));
        let time = format!("{} +0000", 1_770_714_000 + self.clock.get());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@b");
            command.env(format!("GIT_{who}_DATE"), &time);
        }
        command.env("GIT_MERGE_AUTOEDIT", "no").env("GIT_EDITOR", "true").stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, program: &str, args: &[&str], input: &str) -> Output {
        let mut command = self.command(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Who does not read it, does not.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Runs git, which must succeed; gives its stdout.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.run("git", args, "");
        assert!(output.status.success(), "git {args:?}: {}", show(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs git, which may fail; gives all it did as text.
    pub(crate) fn try_git(&self, args: &[&str]) -> String {
        self.redact(&show(&self.run("git", args, "")))
    }

    /// Runs `git trace`; gives all it did as text, times and folders redacted.
    pub(crate) fn trace(&self, args: &[&str]) -> String {
        self.trace_with(args, "")
    }

    pub(crate) fn trace_with(&self, args: &[&str], input: &str) -> String {
        let args: Vec<_> = std::iter::once("trace").chain(args.iter().copied()).collect();
        self.redact(&show(&self.run("git", &args, input)))
    }

    /// Runs `git trace`, which must succeed; gives its stdout.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let args: Vec<_> = std::iter::once("trace").chain(args.iter().copied()).collect();
        self.git(&args)
    }

    /// Adds and commits everything, a second later than before.
    pub(crate) fn commit(&self, subject: &str) {
        self.clock.set(self.clock.get() + 1);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at.join(path)).unwrap()
    }

    fn redact(&self, text: &str) -> String {
        let text = text.replace(self.root().to_str().unwrap(), "[ROOT]");
        let time = Regex::new(r"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z").unwrap();
        let minute = Regex::new(r"20(2[6-9]|[3-9]\d)-\d\d-\d\d \d\d:\d\d").unwrap();
        let oid = Regex::new(r"(?m)^[0-9a-f]{7} ").unwrap();
        let text = oid.replace_all(&text, "[OID] ");
        let text = time.replace_all(&text, "[TIME]");
        minute.replace_all(&text, "[TIME]").into_owned()
    }
}

fn show(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.stderr.is_empty() {
        text += "--- stderr\n";
        text += &String::from_utf8_lossy(&output.stderr);
    }
    match output.status.code() {
        Some(0) => text,
        Some(code) => text + &format!("[exit {code}]\n"),
        None => text + "[killed]\n",
    }
}

/// Where the store is in a repository.
pub(crate) const STORE: &str = ".synapse/breadcrumbs.jsonl";

/// A line of a store.
pub(crate) fn line(key: &str, value: &str, hour: u32) -> String {
    format!(
        "{{\"key\":\"{key}\",\"value\":\"{value}\",\"created_at\":\"2025-01-01T00:00:00Z\",\
         \"updated_at\":\"2025-01-01T{hour:02}:00:00Z\"}}\n"
    )
}

/// A data file of the tests.
pub(crate) fn fixture(path: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)).unwrap()
}

/// A checkpoint that is in order, with more frontmatter, and more of Essential Information.
pub(crate) fn sound(front: &str, breadcrumbs: &str) -> String {
    let words = "word ".repeat(40);
    format!(
        "---\ncheckpoint: chk-a\ncreated: 2026-02-10T08:00:00Z\nanchor: x\nlast_delta: 2026-02-10T08:00:00Z\nparent: null\n\
         {front}---\n\n## Problem\n\n{words}\n\n## Session Intent\n\nx\n\n## Essential Information\n\n### Decisions\n\n- a\n- b\n\n\
         ### Technical Context\n\nx\n\n{breadcrumbs}### Play-By-Play\n\n- a\n- b\n\n### Artifact Trail\n\n\
         | File | Status | Key Change |\n|---|---|---|\n| a | created | b |\n\n### Current State\n\n{words}\n\n\
         ### Next Actions\n\n- [x] done\n- [ ] open\n"
    )
}
