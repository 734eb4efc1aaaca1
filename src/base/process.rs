//! Running other programs: the only place that starts one.
//!
//! - stdin is written by a second thread while stdout is read, so neither side waits for the other.
//! - A shell runs only commands that the user configured or typed; see [`Process::shell`].

mod coprocess;

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufReader, Read, Write as _};
use std::path::{Path, PathBuf, absolute};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use thiserror::Error;

pub(crate) use self::coprocess::Coprocess;
use super::cancel::{Cancelable, ends_programs};
use super::error::Diagnostic;
use super::terminal::Uninterrupted;

/// Variables that are relative to the folder in which git starts. `GIT_INDEX_FILE` is relative to the root of the work tree.
const RELATIVE: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];

/// The folder that this process changed to, as it was named. Git matches `includeIf.gitdir` with it, too.
static CHANGED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Changes the current folder. The programs that are started later see it as a shell shows it: by the path of `PWD` if that leads there or to a
/// folder in it.
pub(crate) fn change_folder(folder: &Path) -> io::Result<()> {
    let real = folder.canonicalize()?;
    let shown = std::env::var_os("PWD").map(PathBuf::from).unwrap_or_default();
    let is_it = |above: &&Path| above.is_absolute() && above.canonicalize().is_ok_and(|above| above == real);
    let named = shown.ancestors().find(is_it).map(Path::to_path_buf).or_else(|| absolute(folder).ok());
    std::env::set_current_dir(folder)?;
    *CHANGED.lock().unwrap_or_else(PoisonError::into_inner) = named;
    Ok(())
}

#[derive(Debug, Error)]
pub(crate) enum ProcessError {
    #[error("cannot run `{command}`")]
    Start { command: String, source: io::Error },
    #[error("`{command}` ended with {status}")]
    Failed { command: String, status: ExitStatus },
}

impl Diagnostic for ProcessError {}

pub(crate) struct Process {
    command: Command,
    name: String,
    input: Option<Vec<u8>>,
    has_stdin: bool,
    has_stdout: bool,
    shows_stderr: bool,
    /// For stdout and stderr.
    shows_lines: Option<[Shows; 2]>,
}

/// Where a program runs, and the repository that git finds there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    /// Whether variables may lead to another repository.
    pub(crate) is_elsewhere: bool,
    /// If git would search from the folder, and find another one.
    pub(crate) git_dir: Option<PathBuf>,
}

impl Place {
    pub(crate) fn apply(&self, process: &mut Process) {
        if self.is_elsewhere {
            process.elsewhere();
        }
        process.current_dir(&self.folder);
        if let Some(git_dir) = self.git_dir.as_ref().and_then(|git_dir| absolute(git_dir).ok()) {
            process.env("GIT_DIR", git_dir);
        }
    }
}

impl Process {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let name = program.as_ref().to_string_lossy().into_owned();
        Self::named(program, name)
    }

    /// A program that errors call `name`.
    pub(crate) fn named(program: impl AsRef<OsStr>, name: impl Into<String>) -> Self {
        let mut command = Command::new(program);
        if let Some(folder) = &*CHANGED.lock().unwrap_or_else(PoisonError::into_inner) {
            command.env("PWD", folder);
        }
        Self {
            command,
            name: name.into(),
            input: None,
            has_stdin: false,
            has_stdout: false,
            shows_stderr: false,
            shows_lines: None,
        }
    }

    /// A command of the user's, run by the shell, as git runs those in its configuration.
    pub(crate) fn shell(command: &str) -> Self {
        let mut shell = Self::named("sh", command);
        shell.args(["-c", command]);
        shell
    }

    /// What [`Self::shell`] runs for a command on the terminal. As in git, no shell waits for a program that is a single word: Ctrl-C would
    /// end the shell, but not an editor.
    pub(crate) fn on_terminal(command: &str) -> String {
        // No program, but a command of the shell.
        let is_plain =
            command != ":" && !command.contains(|c: char| c.is_whitespace() || "|&;<>()$`\\\"'*?[#~=%".contains(c));
        let exec = if is_plain { "exec " } else { "" };
        format!("{exec}{command}")
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.command.env(name, value);
        self
    }

    /// Removes the variables that lead git to the caller's repository, as `git rev-parse --local-env-vars` lists them.
    pub(crate) fn elsewhere(&mut self) -> &mut Self {
        for variable in [
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_COMMON_DIR",
            "GIT_DIR",
            "GIT_GRAFT_FILE",
            "GIT_IMPLICIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_NAMESPACE",
            "GIT_OBJECT_DIRECTORY",
            "GIT_PREFIX",
            "GIT_QUARANTINE_PATH",
            "GIT_REPLACE_REF_BASE",
            "GIT_SHALLOW_FILE",
            "GIT_WORK_TREE",
        ] {
            self.env_remove(variable);
        }
        self
    }

    pub(crate) fn env_remove(&mut self, name: &str) -> &mut Self {
        self.command.env_remove(name);
        self
    }

    /// Variables that lead git to a repository by a relative path still lead to the same one.
    pub(crate) fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.command.current_dir(folder);
        for name in RELATIVE {
            let is_decided = self.command.get_envs().any(|(decided, _)| decided == name);
            // An empty one stays: it has no absolute path.
            if !is_decided && let Some(Ok(path)) = std::env::var_os(name).map(absolute) {
                self.command.env(name, path);
            }
        }
        self
    }

    /// Bytes for its stdin, which otherwise is empty ([`Self::output`]) or this process's ([`Self::status`]).
    pub(crate) fn input(&mut self, input: impl Into<Vec<u8>>) -> &mut Self {
        self.input = Some(input.into());
        self
    }

    pub(crate) fn stdin(&mut self, stdin: impl Into<Stdio>) -> &mut Self {
        self.command.stdin(stdin);
        self.has_stdin = true;
        self
    }

    /// Its output is not read.
    pub(crate) fn stdout(&mut self, stdout: impl Into<Stdio>) -> &mut Self {
        self.command.stdout(stdout);
        self.has_stdout = true;
        self
    }

    /// Sends its stdout to stderr, because stdout carries the answer of this process.
    pub(crate) fn stdout_to_stderr(&mut self) -> &mut Self {
        self.stdout(io::stderr())
    }

    /// Lets the user see its stderr, instead of collecting it.
    pub(crate) fn show_stderr(&mut self) -> &mut Self {
        self.shows_stderr = true;
        self
    }

    /// Shows lines of its stdout and stderr at once, instead of at the end.
    pub(crate) fn show_lines(
        &mut self,
        of_stdout: impl FnMut(&[u8], bool) -> bool + Send + 'static,
        of_stderr: impl FnMut(&[u8], bool) -> bool + Send + 'static,
    ) -> &mut Self {
        self.shows_lines = Some([Box::new(of_stdout), Box::new(of_stderr)]);
        self
    }

    pub(crate) fn output(&mut self) -> Result<Output, ProcessError> {
        if !self.has_stdout {
            self.command.stdout(Stdio::piped());
        }
        self.command.stderr(if self.shows_stderr { Stdio::inherit() } else { Stdio::piped() });
        if !self.has_stdin {
            self.command.stdin(Stdio::null());
        }
        let shows_lines = self.shows_lines.take();
        self.wait(|mut child| {
            let Some([of_stdout, of_stderr]) = shows_lines else { return child.wait_with_output() };
            let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
            let copies = stdout.map(|stdout| thread::Builder::new().spawn(|| copy(stdout, of_stdout))).transpose()?;
            let errors = stderr.map(|stderr| copy(stderr, of_stderr)).unwrap_or_default();
            let copied = |thread: JoinHandle<Vec<u8>>| thread.join().unwrap_or_default();
            Ok(Output { status: child.wait()?, stdout: copies.map(copied).unwrap_or_default(), stderr: errors })
        })
    }

    /// Runs it and returns its stdout; an exit status other than 0 is an error. Its stderr is shown.
    pub(crate) fn filter(&mut self) -> Result<Vec<u8>, ProcessError> {
        let output = self.show_stderr().output()?;
        if output.status.success() { Ok(output.stdout) } else { Err(self.failed(output.status)) }
    }

    /// Runs it with this process's stdout and stderr, unless they were set, and returns its exit status.
    pub(crate) fn status(&mut self) -> Result<ExitStatus, ProcessError> {
        self.wait(|mut child| child.wait())
    }

    /// As [`Self::status`], for a program that the user works with on the terminal: Ctrl-C is for it alone.
    pub(crate) fn interact(&mut self) -> Result<ExitStatus, ProcessError> {
        self.wait(|mut child| {
            let _uninterrupted = Uninterrupted::new();
            child.wait()
        })
    }

    /// Runs it in place of this process, which has its terminal, its signals, and its exit status from then on. Returns its exit
    /// status where a process cannot be replaced.
    pub(crate) fn replace_this(&mut self) -> Result<ExitStatus, ProcessError> {
        #[cfg(unix)]
        {
            let error = std::os::unix::process::CommandExt::exec(&mut self.command);
            Err(self.cannot_start(error))
        }
        #[cfg(not(unix))]
        self.status()
    }

    /// An exit status other than 0 is an error.
    pub(crate) fn run(&mut self) -> Result<(), ProcessError> {
        let status = self.status()?;
        if status.success() { Ok(()) } else { Err(self.failed(status)) }
    }

    /// Starts it with a pipe to its stdin, which the caller writes and closes.
    pub(crate) fn start_writing(&mut self) -> io::Result<Child> {
        self.command.stdin(Stdio::piped()).spawn()
    }

    /// Runs it, and talks to it on both of its streams: `write` runs on a second thread. Kills it if `read` fails.
    pub(crate) fn stream<T, E>(
        &mut self,
        write: impl FnOnce(ChildStdin) + Send,
        read: impl FnOnce(BufReader<ChildStdout>) -> Result<T, E>,
    ) -> Result<Result<T, E>, ProcessError> {
        self.stream_with_status(write, read).map(|(answer, _)| answer)
    }

    /// As [`Self::stream`], for output that is read to its end, which a program that failed cuts off.
    pub(crate) fn stream_all<T, E>(
        &mut self,
        write: impl FnOnce(ChildStdin) + Send,
        read: impl FnOnce(BufReader<ChildStdout>) -> Result<T, E>,
    ) -> Result<Result<T, E>, ProcessError> {
        match self.stream_with_status(write, read)? {
            (Ok(_), status) if !status.success() => Err(ProcessError::Failed { command: self.name.clone(), status }),
            (answer, _) => Ok(answer),
        }
    }

    fn stream_with_status<T, E>(
        &mut self,
        write: impl FnOnce(ChildStdin) + Send,
        read: impl FnOnce(BufReader<ChildStdout>) -> Result<T, E>,
    ) -> Result<(Result<T, E>, ExitStatus), ProcessError> {
        let mut answer = None;
        let read = Box::new(|stdout| {
            let read = read(stdout);
            let is_done = read.is_ok();
            answer = Some(read);
            is_done
        });
        let status = self.stream_both(Box::new(write), read)?;
        Ok((answer.unwrap_or_else(|| unreachable!("a program that was started is read")), status))
    }

    /// The same for any types, so that it is compiled once. `read` returns false if it failed.
    fn stream_both(
        &mut self,
        write: Box<dyn FnOnce(ChildStdin) + Send + '_>,
        read: Box<dyn FnOnce(BufReader<ChildStdout>) -> bool + '_>,
    ) -> Result<ExitStatus, ProcessError> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (mut child, _cancelable) = self.start().map_err(|source| self.cannot_start(source))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are piped");
        };
        let result = thread::scope(|scope| {
            thread::Builder::new().spawn_scoped(scope, move || write(stdin))?;
            // `read` owns stdout: when it returns early, a blocked child gets a broken pipe, and `write` ends with it.
            Ok(read(BufReader::with_capacity(1 << 16, stdout)))
        });
        if !matches!(result, Ok(true)) {
            let _ = child.kill();
        }
        let status = child.wait();
        result.and(status).map_err(|source| self.cannot_start(source))
    }

    /// Starts it beside this process, to answer lines with lines. Its stderr is shown.
    pub(crate) fn start_answering(&mut self) -> Result<Coprocess, ProcessError> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let (child, _) = self.start().map_err(|source| self.cannot_start(source))?;
        Ok(Coprocess::new(self.name.clone(), child))
    }

    /// Starts it in the background, in its own process group, with its output discarded. Its input is written first.
    pub(crate) fn detach(&mut self) -> io::Result<()> {
        let input = self.input.take();
        self.command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut self.command, 0);
        let mut child = self.command.spawn()?;
        match child.stdin.take() {
            Some(mut stdin) => stdin.write_all(&input.unwrap_or_default()),
            None => Ok(()),
        }
    }

    /// Starts it. A cancellation ends it if this process is a server.
    fn start(&mut self) -> io::Result<(Child, Option<Cancelable>)> {
        #[cfg(unix)]
        if ends_programs() {
            std::os::unix::process::CommandExt::process_group(&mut self.command, 0);
        }
        let child = self.command.spawn()?;
        let cancelable = ends_programs().then(|| Cancelable::new(&child));
        Ok((child, cancelable))
    }

    /// Starts it, writes its input on a second thread, and calls `wait`.
    fn wait<T>(&mut self, wait: impl FnOnce(Child) -> io::Result<T>) -> Result<T, ProcessError> {
        let input = self.input.take();
        if input.is_some() {
            self.command.stdin(Stdio::piped());
        }
        let done = self.start().and_then(|(mut child, _cancelable)| {
            let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) else { return wait(child) };
            let writer = thread::Builder::new().spawn(move || stdin.write_all(&input))?;
            let done = wait(child)?;
            match writer.join() {
                // A program that needs only the first lines may stop reading.
                Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
                _ => Ok(done),
            }
        });
        done.map_err(|source| self.cannot_start(source))
    }

    fn cannot_start(&self, source: io::Error) -> ProcessError {
        ProcessError::Start { command: self.name.clone(), source }
    }

    fn failed(&self, status: ExitStatus) -> ProcessError {
        ProcessError::Failed { command: self.name.clone(), status }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command.fmt(f)
    }
}

/// Decides whether a line that a program has written so far is shown. The second argument says whether it is complete.
type Shows = Box<dyn FnMut(&[u8], bool) -> bool + Send>;

/// Reads all that a program writes, and copies lines to stderr at once, because they may be questions.
fn copy(mut read: impl Read, mut shows: Shows) -> Vec<u8> {
    let (mut chunk, mut all, mut line, mut shown) = ([0; 4096], Vec::new(), Vec::new(), 0);
    while let Ok(len @ 1..) = read.read(&mut chunk) {
        for part in chunk[..len].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            let is_complete = line.ends_with(b"\n");
            if shows(&line, is_complete) {
                let _ = io::stderr().write_all(&line[shown..]);
                shown = line.len();
            }
            if is_complete {
                line.clear();
                shown = 0;
            }
        }
        all.extend_from_slice(&chunk[..len]);
    }
    all
}

#[cfg(test)]
#[path = "../../tests/unit/base/process.rs"]
mod tests;
