//! Lines of the user's code, and the commits that added them. Git finds both: `git blame` and `git diff-tree`.

use std::ops::RangeInclusive;
use std::path::Path;

use super::call::Git;
use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;
use super::process::Answer;

/// A line of the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CodeLine {
    /// The commit that added it; `None` if it is not committed.
    pub(crate) commit: Option<Oid>,
    /// The path of its file in that commit, from the root of the repository.
    pub(crate) path: String,
    /// Its number in the file that was asked for, from 1.
    pub(crate) number: usize,
    pub(crate) text: String,
}

impl Repo {
    /// The lines of a file below the folder of `git`, each with the commit that added it. All lines if there is no range.
    pub(crate) fn blamed_lines(
        &self,
        git: &Git,
        file: &Path,
        lines: Option<RangeInclusive<usize>>,
    ) -> Result<Vec<CodeLine>, GitError> {
        let mut args = vec!["blame".into(), "--line-porcelain".into(), "--no-textconv".into()];
        args.extend(lines.map(|lines| format!("-L{},{}", lines.start(), lines.end()).into()));
        args.extend(["--".into(), file.as_os_str().to_owned()]);
        let output = git.run(&args)?;
        let mut found = Vec::new();
        let (mut commit, mut number, mut path) = (None, 0, String::new());
        let mut is_head = true;
        for line in output.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            if let Some(text) = line.strip_prefix('\t') {
                found.push(CodeLine { commit, path: path.clone(), number, text: text.to_owned() });
                is_head = true;
            } else if is_head {
                let mut words = line.split(' ');
                let digits = words.next().unwrap_or_default();
                // Git names the commit of lines that are not committed by zeros.
                commit = Oid::parse(digits, self.object_format()).filter(|_| digits.bytes().any(|digit| digit != b'0'));
                number = words.nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
                is_head = false;
            } else if let Some(name) = line.strip_prefix("filename ") {
                path = unquoted(name);
            }
        }
        Ok(found)
    }

    /// The lines that commits added, in the order of the commits. A merge adds none.
    pub(crate) fn added_lines(&self, commits: &[Oid]) -> Result<Vec<CodeLine>, GitError> {
        let input: String = commits.iter().flat_map(|oid| [oid.to_string(), "\n".to_owned()]).collect();
        let mut command = self.git("diff-tree");
        command.args(["--stdin", "--root", "-r", "-p", "-U0", "-M", "--no-ext-diff", "--no-textconv", "--no-color"]);
        command.args(["--src-prefix=a/", "--dst-prefix=b/"]).input(input);
        let output = Answer::of(&mut command)?.into_stdout()?;
        let mut found = Vec::new();
        let (mut commit, mut number, mut path) = (None, 0, String::new());
        // The lines of the hunk that are still to come.
        let (mut removed, mut added) = (0_usize, 0_usize);
        for line in output.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            match line.as_bytes().first() {
                Some(b'-') if removed > 0 => removed -= 1,
                Some(b'+') if added > 0 => {
                    found.push(CodeLine { commit, path: path.clone(), number, text: line[1..].to_owned() });
                    (number, added) = (number + 1, added - 1);
                }
                Some(b'+') => {
                    if let Some(name) = line.strip_prefix("+++ ") {
                        let name = unquoted(name.strip_suffix('\t').unwrap_or(name));
                        name.strip_prefix("b/").unwrap_or(&name).clone_into(&mut path);
                    }
                }
                Some(b'@') => {
                    let mut counts = line.split(' ').skip(1).take(2).map(|side| {
                        let (start, count) = side.split_once(',').unwrap_or((side, "1"));
                        (start.get(1..).and_then(|start| start.parse().ok()).unwrap_or(0), count.parse().unwrap_or(0))
                    });
                    removed = counts.next().map_or(0, |(_, count): (usize, usize)| count);
                    (number, added) = counts.next().unwrap_or((0, 0));
                }
                Some(_) => commit = Oid::parse(&line, self.object_format()).or(commit),
                None => {}
            }
        }
        Ok(found)
    }
}

/// A path without the quotes that git adds to unusual ones.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else { return path.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        match (byte, if byte == b'\\' { rest.next() } else { None }) {
            (_, None) => bytes.push(byte),
            (_, Some(digit @ b'0'..=b'3')) => {
                let low = [rest.next(), rest.next()].map(|digit| digit.unwrap_or(b'0') & 7);
                bytes.push((digit & 3) << 6 | low[0] << 3 | low[1]);
            }
            (_, Some(letter)) => bytes.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                other => other,
            }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
