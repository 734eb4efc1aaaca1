//! Scripts by which a shell completes `git trace`, through its own completion of git.
//!
//! - bash: the completion of git calls a function `_git_trace`; bash-completion loads a file `git-trace` for it.
//! - zsh: the completion of git calls a function `_git-trace`, which is loaded from a folder of `fpath`.
//! - fish: reads the script when it starts, which adds to the completion of git.
//!
//! All three call `git trace complete-words`, so they are never older than the program.

use std::path::Path;

use super::owned::OwnedFile;
use crate::base::escape::shell_word;
use crate::base::string_enum::string_enum;

string_enum! {
    Shell {
        Bash = "bash",
        Zsh = "zsh",
        Fish = "fish",
    }
}

impl Shell {
    pub(crate) const ALL: [Self; 3] = [Self::Bash, Self::Zsh, Self::Fish];

    pub(crate) fn of_program(path: &Path) -> Option<Self> {
        path.file_name()?.to_str()?.parse().ok()
    }

    /// The script, in the folder of the user's data (`~/.local/share` by default).
    pub(crate) fn script(self, data: &Path) -> OwnedFile {
        let (path, text) = match self {
            Self::Bash => ("bash-completion/completions/git-trace", include_str!("completions/git-trace.bash")),
            Self::Zsh => ("zsh/site-functions/_git-trace", include_str!("completions/_git-trace")),
            Self::Fish => ("fish/vendor_conf.d/git-trace.fish", include_str!("completions/git-trace.fish")),
        };
        OwnedFile { path: data.join(path), text: text.to_owned(), comment: "#" }
    }

    /// The change to the user's settings that makes the shell find the script, if it needs one.
    pub(crate) fn needs(self, script: &Path) -> Option<String> {
        let [path, folder] = [script, script.parent().unwrap_or(script)].map(|path| shell_word(path.display()));
        match self {
            Self::Bash => Some(format!(
                "bash-completion loads it; without bash-completion, add `. {path}` to ~/.bashrc, after git's completion"
            )),
            Self::Zsh => Some(format!("add `fpath=({folder} $fpath)` to ~/.zshrc, before compinit")),
            Self::Fish => None,
        }
    }
}
