//! Scripts by which a shell completes `git trace`, through its own completion of git.
//!
//! - bash: git's completion calls a function `_git_trace`, and asks bash-completion to load a file `git-trace` for it.
//! - zsh: its completion of git calls a function `_git-trace`, which is loaded from a folder of `fpath`.
//! - fish: adds to its completion of git; it reads the script when it starts.
//!
//! All three ask `git trace complete-words`, so that they never are older than the program.

use std::path::Path;

use super::owned::OwnedFile;

/// A shell that `git trace` can be completed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Bash, Self::Zsh, Self::Fish];

    /// The shell of a program, such as `/bin/bash`.
    #[must_use]
    pub(crate) fn of_program(path: &Path) -> Option<Self> {
        let name = path.file_name()?;
        Self::ALL.into_iter().find(|shell| name == shell.name())
    }

    /// What the shell is called as.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// The script as a file below the folder of the user's data, `~/.local/share` by custom.
    #[must_use]
    pub(crate) fn script(self, data: &Path) -> OwnedFile {
        let (path, text) = match self {
            Self::Bash => ("bash-completion/completions/git-trace", include_str!("completions/git-trace.bash")),
            Self::Zsh => ("zsh/site-functions/_git-trace", include_str!("completions/_git-trace")),
            Self::Fish => ("fish/vendor_conf.d/git-trace.fish", include_str!("completions/git-trace.fish")),
        };
        OwnedFile { path: data.join(path), text: text.to_owned(), comment: "#" }
    }

    /// What is to be in the user's settings so that the shell finds the script; `None` where it does by itself.
    #[must_use]
    pub(crate) fn needs(self, script: &Path) -> Option<String> {
        let folder = script.parent().unwrap_or(script).display();
        match self {
            Self::Bash => Some(format!(
                "bash loads it where bash-completion is set up; elsewhere `. '{}'` goes into ~/.bashrc, behind git's completion",
                script.display()
            )),
            Self::Zsh => Some(format!("`fpath=('{folder}' $fpath)` goes into ~/.zshrc, before compinit")),
            Self::Fish => None,
        }
    }
}
