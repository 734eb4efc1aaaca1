//! Git's patterns of lines where functions begin: those that `git grep -p` and the headers of hunks use.
//!
//! A pattern belongs to a driver, which the attribute `diff` of a path names. Git applies a pattern to one line at a time and
//! prints no patterns, so [`Git::function_lines`] gives it lines, and git tells which ones match.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::call::Git;
use super::error::GitError;
use super::process::{Answer, git};

/// A line that follows each line in question. It contains no word.
const MARK: &str = "--";

impl Git {
    /// The attribute `diff` of each path: a driver, `set`, `unset`, or `unspecified`.
    pub(crate) fn diff_attributes(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let answer = self.ask_with(&["check-attr", "-z", "--stdin", "diff"], paths.join("\0"))?.into_stdout()?;
        let answer = String::from_utf8_lossy(&answer);
        // `<path>\0diff\0<value>\0`
        Ok(answer.split('\0').skip(2).step_by(3).map(str::to_owned).collect())
    }

    /// Whether a function begins in each of these lines, by the pattern of the driver in front of it. `set` means git's
    /// default pattern. `settings` define more drivers.
    pub(crate) fn function_lines(&self, lines: &[(&str, &str)], settings: &[&str]) -> Result<Vec<bool>, GitError> {
        let mut answer = vec![false; lines.len()];
        let mut drivers: Vec<_> = lines.iter().map(|(driver, _)| *driver).collect();
        drivers.sort_unstable();
        drivers.dedup();
        if drivers.is_empty() {
            return Ok(answer);
        }
        // Each file has the lines of one driver, and a mark after each of them. Git prints the marks, and the nearest function line
        // between a mark and the previous one.
        let temporary = tempfile::tempdir().map_err(|error| GitError::io("create", Path::new("a folder"), error))?;
        let folder = temporary.path();
        let write = |name: &str, text: String| {
            fs::write(folder.join(name), text).map_err(|error| GitError::io("write", folder.join(name), error))
        };
        let mut attributes = String::new();
        let mut places = Vec::new();
        for (file, driver) in drivers.iter().enumerate() {
            let value = if *driver == "set" { "diff".to_owned() } else { format!("diff={driver}") };
            let _ = writeln!(attributes, "/{file} {value}");
            let own: Vec<_> = (0..lines.len()).filter(|index| lines[*index].0 == *driver).collect();
            write(&file.to_string(), own.iter().flat_map(|index| [lines[*index].1, "\n", MARK, "\n"]).collect())?;
            places.push(own);
        }
        write(".gitattributes", attributes)?;
        // The repository may define drivers too.
        let git_dir = self.path(&["rev-parse", "--absolute-git-dir"])?;
        let mut command = git("grep");
        command.current_dir(folder).env("GIT_DIR", git_dir).env("GIT_WORK_TREE", folder);
        for setting in settings {
            command.args(["-c", setting]);
        }
        command.args(["grep", "--no-index", "-G", "-a", "-z", "-n", "-p", "--no-column", "--no-color", "-e"]);
        command.arg(format!("^{MARK}$")).arg("--").args((0..drivers.len()).map(|file| file.to_string()));
        let answered = Answer::of(&mut command)?.into_stdout()?;
        for line in String::from_utf8_lossy(&answered).split('\n') {
            // `<file>\0<number>\0<text>`
            let mut parts = line.splitn(3, '\0');
            let mut number = || parts.next()?.parse::<usize>().ok();
            let (Some(file), Some(number)) = (number(), number()) else { continue };
            if parts.next() != Some(MARK)
                && let Some(index) = places.get(file).and_then(|own| own.get(number / 2))
            {
                answer[*index] = true;
            }
        }
        Ok(answer)
    }
}
