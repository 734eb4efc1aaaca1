//! The agents whose sessions are recorded, and the settings that make each of them call our hooks.

use std::path::{Path, PathBuf};

use crate::git::Env;
use crate::transcript::format::Format;

pub(crate) struct Agent {
    pub(crate) format: Format,
    /// The file of a project, below the root of its working tree.
    pub(super) file: &'static str,
    /// The file of the user, below [`Agent::home`].
    pub(super) user_file: &'static str,
    /// The folder of the user's settings, if it is not that of the sessions.
    home: Option<fn(&Env) -> Option<PathBuf>>,
    pub(super) hooks: Hooks,
    /// The event at which a new session gets its brief, if the agent takes what we print.
    pub(crate) brief_event: Option<&'static str>,
}

pub(super) enum Hooks {
    /// Commands by event, in a JSON file.
    Commands {
        /// The events after which there is something to record.
        events: &'static [&'static str],
        /// An entry in the list of an event, with `COMMAND` for the command as a JSON string.
        entry: &'static str,
        /// A new file.
        empty: &'static str,
    },
    /// A file that is ours completely, with `PROGRAM` for our program as a JSON string.
    Plugin { text: &'static str },
}

/// How Claude Code writes a command, which other agents took over. Some count seconds, some milliseconds.
const SECONDS: &str = r#"{ "hooks": [{ "type": "command", "command": COMMAND, "timeout": 30 }] }"#;
const MILLISECONDS: &str = r#"{ "hooks": [{ "type": "command", "command": COMMAND, "timeout": 30000 }] }"#;
const VERSIONED: &str = "{\n  \"version\": 1\n}\n";

/// Sources: the hook references of the agents; Claude Code, Codex, Gemini CLI, Qwen Code, GitHub Copilot CLI, and opencode were
/// tried. The names of events that GitHub Copilot CLI shares with Claude Code give its input the same members.
pub(crate) static AGENTS: [Agent; 8] = [
    Agent {
        format: Format::ClaudeCode,
        file: ".claude/settings.json",
        user_file: "settings.json",
        home: None,
        hooks: Hooks::Commands { events: &["Stop", "PreCompact", "SessionEnd"], entry: SECONDS, empty: "" },
        brief_event: Some("SessionStart"),
    },
    Agent {
        format: Format::Codex,
        file: ".codex/hooks.json",
        user_file: "hooks.json",
        home: None,
        hooks: Hooks::Commands { events: &["Stop", "PreCompact"], entry: SECONDS, empty: "" },
        brief_event: Some("SessionStart"),
    },
    Agent {
        format: Format::GeminiCli,
        file: ".gemini/settings.json",
        user_file: "settings.json",
        home: None,
        hooks: Hooks::Commands { events: &["AfterAgent", "PreCompress", "SessionEnd"], entry: MILLISECONDS, empty: "" },
        brief_event: Some("SessionStart"),
    },
    Agent {
        format: Format::QwenCode,
        file: ".qwen/settings.json",
        user_file: "settings.json",
        home: None,
        hooks: Hooks::Commands { events: &["Stop", "PreCompact", "SessionEnd"], entry: MILLISECONDS, empty: "" },
        brief_event: Some("SessionStart"),
    },
    Agent {
        format: Format::Opencode,
        file: ".opencode/plugins/git-trace.js",
        user_file: "plugins/git-trace.js",
        home: Some(|env| {
            let named = env.os("OPENCODE_CONFIG_DIR").map(PathBuf::from);
            let config = env.os("XDG_CONFIG_HOME").map(PathBuf::from);
            let config = config.or_else(|| env.os("HOME").map(|home| Path::new(home).join(".config")));
            named.or_else(|| Some(config?.join("opencode")))
        }),
        hooks: Hooks::Plugin { text: include_str!("opencode.js") },
        brief_event: None,
    },
    Agent {
        format: Format::CopilotCli,
        file: ".github/hooks/git-trace.json",
        user_file: "hooks/git-trace.json",
        home: None,
        hooks: Hooks::Commands {
            events: &["Stop", "PreCompact", "SessionEnd"],
            entry: r#"{ "type": "command", "bash": COMMAND, "timeoutSec": 30 }"#,
            empty: VERSIONED,
        },
        brief_event: None,
    },
    Agent {
        format: Format::Droid,
        file: ".factory/settings.json",
        user_file: "settings.json",
        home: None,
        hooks: Hooks::Commands { events: &["Stop", "PreCompact", "SessionEnd"], entry: SECONDS, empty: "" },
        brief_event: Some("SessionStart"),
    },
    Agent {
        format: Format::Cursor,
        file: ".cursor/hooks.json",
        user_file: "hooks.json",
        home: None,
        hooks: Hooks::Commands {
            events: &["stop", "preCompact", "sessionEnd"],
            entry: r#"{ "command": COMMAND }"#,
            empty: VERSIONED,
        },
        brief_event: None,
    },
];

impl Agent {
    /// The names of all in the table.
    pub(crate) const NAMES: &[&str] =
        &["claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "copilot-cli", "droid", "cursor"];

    pub(crate) fn find(format: Format) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.format == format)
    }

    /// The names of all, as a sentence lists them.
    pub(crate) fn names() -> String {
        let (last, others) = Self::NAMES.split_last().expect("the table is not empty");
        format!("{}, and {last}", others.join(", "))
    }

    /// The folder of the user's settings.
    pub(crate) fn home(&self, env: &Env) -> Option<PathBuf> {
        self.home.map_or_else(|| self.format.home(env), |home| home(env))
    }

    pub(super) fn events(&self) -> &'static [&'static str] {
        match self.hooks {
            Hooks::Commands { events, .. } => events,
            Hooks::Plugin { .. } => &[],
        }
    }
}
