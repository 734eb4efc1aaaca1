//! Every command that writes, stopped at each system call by which it writes.
//!
//! A command is run once to count its calls, and then, each time in a fresh copy of one repository, with the Nth call failing.
//! The clock does not advance, so a command creates the same oids each time, and results can be compared byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use regex::Regex;

use super::commands::{COMMANDS, Writing, prepare};
use super::tracer::{Mode, tracer};
use crate::repo::{TestRepo, run};

/// A month after the repository was laid out.
const NOW: &str = "1773306000 +0000";

const MODES: [Mode; 6] = [Mode("kill"), Mode("kill-one"), Mode("torn"), Mode("full"), Mode("eio"), Mode("eio-once")];

/// Everything that could be lost, by name: refs, files, settings.
type View = BTreeMap<String, String>;

/// A copy of the repository with its remote and the files next to it.
struct Copy<'t> {
    template: &'t TestRepo,
    folder: PathBuf,
}

impl<'t> Copy<'t> {
    /// A copy for a command, after its preparation.
    fn new(template: &'t TestRepo, name: &str, writing: &Writing) -> Self {
        let folder = template.home().join(name);
        let copied = Command::new("cp").arg("-Rp").arg(template.home().join("all")).arg(&folder).status().unwrap();
        assert!(copied.success());
        let copy = Self { template, folder };
        for args in writing.before {
            let output = copy.git(args);
            assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        copy
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = self.template.command(program.to_str().unwrap());
        command.current_dir(self.folder.join("repo"));
        command.env("GIT_AUTHOR_DATE", NOW).env("GIT_COMMITTER_DATE", NOW);
        command.env("XDG_DATA_HOME", self.folder.join("repo/data"));
        command.env("CLAUDE_CONFIG_DIR", self.folder.join("repo/claude"));
        command
    }

    fn trace(&self, args: &[&str], input: &str) -> Output {
        run(self.command("git-trace".as_ref()).args(args), input.as_bytes())
    }

    fn git(&self, args: &[&str]) -> Output {
        run(self.command("git".as_ref()).args(args), b"")
    }

    /// Runs a command with its Nth call failing; how it ended, how many calls it made, and what the Nth was.
    fn faulted(&self, tracer: &Path, writing: &Writing, mode: Mode, nth: usize) -> (Output, usize, String) {
        let report = self.folder.with_extension("report");
        let mut command = self.command(tracer);
        command.arg(&self.folder).args([mode.0, &nth.to_string()]).arg(&report);
        command.arg(env!("CARGO_BIN_EXE_git-trace")).args(writing.args);
        let output = run(&mut command, writing.input.as_bytes());
        let said = fs::read_to_string(&report).unwrap();
        let (count, call) = said.split_once('\n').unwrap();
        (output, count.parse().unwrap(), call.trim().to_owned())
    }

    fn view(&self) -> View {
        let mut view = View::new();
        let time = Regex::new(r"\d{4}-\d\d-\d\dT[\d:.]+Z").unwrap();
        // Its name has the digest of where the working tree is.
        let note = Regex::new(r"/installed/([a-z-]+)-[0-9a-f]{16}\.json$").unwrap();
        // A session that is written has random ids.
        let id = Regex::new(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
        for repo in ["repo", "remote.git"] {
            let format = "--format=%(refname) %(objectname) %(trailers:key=Trace-Op,valueonly,separator=) %(tree)";
            let listed = self.git(&["-C", &format!("../{repo}"), "for-each-ref", format]);
            assert!(listed.status.success(), "{listed:?}");
            for line in String::from_utf8(listed.stdout).unwrap().lines() {
                let [refname, oid, op, tree] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
                let state = match op {
                    // Tombstones have a random id and salt.
                    _ if refname.ends_with("purged") => "tombstones".to_owned(),
                    "export" => format!("export of {tree}"),
                    _ => oid.to_owned(),
                };
                let refname =
                    if refname.contains("/trace-sessions/") { id.replace(refname, "[ID]") } else { refname.into() };
                view.insert(format!("{repo} {refname}"), state);
            }
        }
        for file in self.files() {
            let path = file.strip_prefix(&self.folder).unwrap().to_str().unwrap().to_owned();
            let state =
                ["repo/.git/TRACE_", "repo/.git/config", "repo/.git/hooks/", "repo/.git/info/", "repo/.git/trace/"];
            let counts = if path.starts_with("repo/.git/") {
                state.iter().any(|start| path.starts_with(start))
                    // The last is git's list for servers that know no git; its gc does not look whether that was written.
                    && !["/locks/", "/ops", "/transcripts/", "/hook.log", "/cache/", "/purging", "/info/refs"]
                        .iter()
                        .any(|part| path.contains(part))
            } else {
                path.starts_with("repo/")
            };
            if counts && !is_leftover(&file) {
                let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
                let text = text.replace(self.folder.to_str().unwrap(), "[COPY]");
                // Breadcrumbs and sessions have the clock's own time.
                let text = time.replace_all(&text, "[TIME]").into_owned();
                if path.starts_with("repo/claude/") {
                    view.insert("repo/claude/".to_owned(), id.replace_all(&text, "[ID]").into_owned());
                } else {
                    view.insert(note.replace(&path, "/installed/$1.json").into_owned(), text);
                }
            }
        }
        view
    }

    fn files(&self) -> Vec<PathBuf> {
        let (mut files, mut folders) = (Vec::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }

    fn leftovers(&self) -> Vec<String> {
        let left = self.files().into_iter().filter(|path| is_leftover(path));
        left.map(|path| path.strip_prefix(&self.folder).unwrap().to_str().unwrap().to_owned()).collect()
    }

    /// Makes it ten minutes later, for locks that were left behind. Those of the remote are its keeper's to remove.
    fn wait(&self) {
        for path in self.files() {
            if path.starts_with(self.folder.join("remote.git")) && path.extension().is_some_and(|end| end == "lock") {
                fs::remove_file(path).unwrap();
                continue;
            }
            if path.extension().is_some_and(|extension| ["lock", "keep", "new"].iter().any(|end| extension == *end)) {
                let file = fs::File::open(path).unwrap();
                file.set_modified(SystemTime::now() - Duration::from_secs(601)).unwrap();
            }
        }
    }

    fn fsck(&self) -> Result<(), String> {
        for repo in ["repo", "remote.git"] {
            let output = self.git(&["-C", &format!("../{repo}"), "fsck", "--strict", "--no-dangling"]);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if !output.status.success() || said.contains("error") || said.contains("warning") {
                return Err(format!("git fsck of {repo}: {said}"));
            }
        }
        Ok(())
    }
}

impl Drop for Copy<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether a name is that of a file that is on its way to another name.
fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    path.extension().is_some_and(|end| end == "lock" || end == "tmp")
        || name.starts_with("tmp_")
        || name.starts_with("reflog-")
}

/// What came of all faults of a command.
#[derive(Default)]
struct Tally {
    calls: usize,
    tried: usize,
    old: usize,
    new: usize,
    between: BTreeMap<String, usize>,
    said: BTreeSet<String>,
    wrong: Vec<String>,
}

fn names(keys: &BTreeSet<&String>) -> String {
    keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(", ")
}

/// Makes every fault of a command, or some `sample` of them.
fn try_command(template: &TestRepo, tracer: &Path, number: usize, sample: Option<usize>) -> Tally {
    let writing = &COMMANDS[number];
    let mut tally = Tally::default();
    let (old, new, calls) = {
        let copy = Copy::new(template, &format!("c{number:02}-whole"), writing);
        let old = copy.view();
        let (output, calls, _) = copy.faulted(tracer, writing, Mode::COUNT, 0);
        assert!(output.status.success(), "{:?}: {output:?}", writing.args);
        (old, copy.view(), calls)
    };
    {
        let copy = Copy::new(template, &format!("c{number:02}-again"), writing);
        assert!(copy.trace(writing.args, writing.input).status.success());
        let again = copy.view();
        if again != new {
            let differs: BTreeSet<_> =
                again.keys().chain(new.keys()).filter(|key| again.get(*key) != new.get(*key)).collect();
            tally.wrong.push(format!("is not the same each time: {}", names(&differs)));
            return tally;
        }
    }
    tally.calls = calls;
    for mode in MODES {
        if sample == Some(0) && !["kill", "torn", "full"].contains(&mode.0) {
            continue;
        }
        // At fewer calls where one is as good as the next: a broken disk stays broken, and most commands are one process.
        let thin = if mode.0 == "eio" || mode.0 == "kill-one" { 7 } else { 1 };
        let step = sample.map_or(thin, |sample| (calls / sample.max(1)).max(1));
        let start = if step == 1 { 1 } else { 1 + number % step };
        for nth in (start..=calls).step_by(step) {
            let copy = Copy::new(template, &format!("c{number:02}-{nth:04}"), writing);
            let (output, _, call) = copy.faulted(tracer, writing, mode, nth);
            tally.tried += 1;
            if let Err(wrong) = judge(&copy, writing, mode, &output, (&old, &new), &mut tally) {
                tally.wrong.push(format!("{} {nth} ({call}): {wrong}", mode.0));
            }
        }
    }
    tally
}

fn judge(
    copy: &Copy<'_>,
    writing: &Writing,
    mode: Mode,
    output: &Output,
    (old, new): (&View, &View),
    tally: &mut Tally,
) -> Result<(), String> {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code();
    let view = copy.view();
    let keys: BTreeSet<&String> = view.keys().chain(old.keys()).chain(new.keys()).collect();
    let torn: BTreeSet<&String> =
        keys.iter().copied().filter(|key| view.get(*key) != old.get(*key) && view.get(*key) != new.get(*key)).collect();
    let moved: BTreeSet<&String> =
        keys.iter().copied().filter(|key| view.get(*key) != old.get(*key) && view.get(*key) == new.get(*key)).collect();
    // A push that is tried again looks at the remote's record once more.
    let counts = |key: &&String| !writing.args.contains(&"push") || !key.contains("/trace-remote-records/");
    let missed: BTreeSet<_> =
        keys.iter().copied().filter(|key| view.get(*key) != new.get(*key)).filter(counts).collect();
    if code == Some(0) && !missed.is_empty() && !writing.never_fails {
        return Err(format!("said it was done, and it is not: {} {stderr}", names(&missed)));
    }
    if view == *new {
        tally.new += 1;
    } else if view == *old {
        tally.old += 1;
    } else {
        let half = if torn.is_empty() { String::new() } else { format!("; on the way: {}", names(&torn)) };
        *tally.between.entry(format!("new: {}{half}", names(&moved))).or_default() += 1;
        in_order(writing, (&moved, &torn), (old, new))?;
    }
    if !mode.kills() {
        if code != Some(0) {
            tally.said.insert(stderr.replace(copy.folder.to_str().unwrap(), ""));
        }
        if !matches!(code, Some(0..=2)) || stderr.contains("panicked") {
            return Err(format!("exit {code:?}: {stderr}"));
        }
        let told = |stdout: &str| stdout.contains("\"error\"") || stdout.contains("not repaired: ");
        let told = stderr.contains("error: ") || told(&String::from_utf8_lossy(&output.stdout));
        if code != Some(0) && !told {
            return Err(format!("no error is reported: {stderr}"));
        }
        if mode.0 == "eio-once" || mode.0 == "full" {
            let left = copy.leftovers();
            if !left.is_empty() {
                tally.said.insert(format!("left behind by {}: {}", mode.0, left.join(", ")));
            }
        }
    }
    let is_between = view != *old && view != *new;
    // A reader sees a consistent state at this point.
    for args in [
        &["materialize", "--json"][..],
        &["log", "--json"],
        &["branch", "--json"],
        &["breadcrumb", "list"],
        &["crumb", "validate", "agent.crumb"],
    ] {
        if !is_between {
            break;
        }
        let output = copy.trace(args, "");
        if !output.status.success() {
            return Err(format!("git trace {args:?} after it: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    copy.wait();
    // Where there is nothing to be seen, such as after packing, it is done again in any case.
    if view != *new || old == new {
        let output = copy.trace(writing.args, writing.input);
        if is_between && writing.refuses {
            // There is nothing left to be done of a part of it, and it says so.
            return copy.fsck();
        }
        if !output.status.success() {
            return Err(format!("the same again: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let again = copy.view();
        // Where a line of the record was written already, it is there twice.
        let counts = |key: &&String| (!is_between || !key.ends_with(" refs/trace-priority")) && counts(key);
        let differs: BTreeSet<_> =
            again.keys().chain(new.keys()).filter(|key| again.get(*key) != new.get(*key)).filter(counts).collect();
        let is_allowed = is_between && writing.repeats;
        if !is_allowed && !differs.is_empty() {
            return Err(format!("the same again came to something else: {}", names(&differs)));
        }
    }
    for args in [&["commit", "-m", "and on", "-p", "skip"][..], &["breadcrumb", "set", "api.next", "1"]] {
        let output = copy.trace(args, "");
        if !output.status.success() {
            return Err(format!("git trace {args:?} after it: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    let left: Vec<String> = copy
        .leftovers()
        .into_iter()
        .filter(|path| !path.contains("/objects/") && !path.contains("packed-refs."))
        .collect();
    // The next import of any session cleans the cache.
    if let Some(own) = left.iter().find(|path| path.contains(".tmp") && !path.contains("/trace/transcripts/")) {
        return Err(format!("nobody removed {own}"));
    }
    if !left.is_empty() {
        tally.said.insert(format!("still there later: {}", left.join(", ")));
    }
    copy.fsck()
}

/// Sees to it that what was done of a command that was stopped on the way is what it does first.
fn in_order(
    writing: &Writing,
    (moved, torn): (&BTreeSet<&String>, &BTreeSet<&String>),
    (old, new): (&View, &View),
) -> Result<(), String> {
    let at = |key: &str| writing.order.iter().position(|start| key.starts_with(start));
    let changes = old.keys().chain(new.keys()).filter(|key| old.get(*key) != new.get(*key));
    let left: BTreeSet<&String> = changes.filter(|key| !moved.contains(*key) && !torn.contains(*key)).collect();
    for key in moved.iter().chain(torn.iter()) {
        let Some(place) = at(key) else { return Err(format!("stopped half-way: {key}")) };
        let late = left.iter().find(|other| at(other).is_some_and(|other| other < place));
        if let Some(late) = late {
            return Err(format!("stopped half-way: {key} before {late}"));
        }
    }
    Ok(())
}

/// `TRACE_TEST_FAULTS`: `all`, or at how many calls of each command; else it is one call of every fifth command, in three
/// modes. `TRACE_TEST_FAULTS_OF` limits it to commands whose words contain that.
#[test]
fn a_command_stopped_at_any_call_leaves_the_old_or_the_new_state() {
    let tracer = match tracer() {
        Ok(tracer) => tracer,
        Err(cause) => return println!("no faults are made: {cause}"),
    };
    let sample = match std::env::var("TRACE_TEST_FAULTS").as_deref() {
        Ok("all") => None,
        Ok(number) => Some(number.parse().unwrap()),
        Err(_) => Some(0),
    };
    let only = std::env::var("TRACE_TEST_FAULTS_OF").unwrap_or_default();
    let template = TestRepo::classic(&[]);
    prepare(&template);
    let all = template.home().join("all");
    fs::create_dir(&all).unwrap();
    let beside = ["many.jsonl", "session.jsonl", "compacted.jsonl", "crumbs.json", "note.md", "other.crumb"];
    for name in ["repo", "remote.git"].into_iter().chain(beside) {
        fs::rename(template.home().join(name), all.join(name)).unwrap();
    }
    fs::create_dir(template.home().join("repo")).unwrap();

    let next = AtomicUsize::new(0);
    let tallies = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(writing) = COMMANDS.get(number) else { return };
                    if sample == Some(0) && number % 5 != 1 {
                        continue;
                    }
                    if writing.args.join(" ").contains(&only) {
                        let tally = try_command(&template, tracer, number, sample);
                        println!("{}", told_of(writing, &tally));
                        tallies.lock().unwrap().insert(number, tally);
                    }
                }
            });
        }
    });
    let tallies = tallies.into_inner().unwrap();
    let tried: usize = tallies.values().map(|tally| tally.tried).sum();
    println!("{} commands, {tried} faults", tallies.len());
    let wrong: usize = tallies.values().map(|tally| tally.wrong.len()).sum();
    assert_eq!(wrong, 0, "the failures are listed above");
}

fn told_of(writing: &Writing, tally: &Tally) -> String {
    let mut text = format!(
        "{}: {} calls, {} faults: {} as it was, {} done, {} between",
        writing.args.join(" "),
        tally.calls,
        tally.tried,
        tally.old,
        tally.new,
        tally.between.values().sum::<usize>()
    );
    text.extend(tally.between.iter().map(|(between, times)| format!("\n    {times} times {between}")));
    if std::env::var_os("TRACE_TEST_FAULTS_SAID").is_some() {
        text.extend(tally.said.iter().map(|said| format!("\n    said: {said}")));
    }
    text.extend(tally.wrong.iter().map(|wrong| format!("\n    WRONG: {wrong}")));
    text
}
