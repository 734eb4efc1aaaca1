//! One line of the record.

use serde::{Deserialize, Serialize};

use crate::base::time::Time;
use crate::trace::model::level::Level;

/// One change of an item's priority.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// When.
    pub at: Time,
    /// Who: `Name <email>`.
    pub by: String,
    /// The new level.
    pub level: Level,
    /// The item's position then; a hint where to look first.
    pub seq: Option<u32>,
    /// Why.
    pub reason: Option<String>,
}

/// How it looks as JSON; the fields' order is the format's.
#[derive(Serialize, Deserialize)]
struct Json {
    at: String,
    by: String,
    level: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Setting {
    /// Reads a line; `None` if it is none.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let json: Json = serde_json::from_str(line).ok()?;
        Some(Self {
            at: json.at.parse().ok()?,
            by: json.by,
            level: json.level.parse().ok()?,
            seq: json.seq,
            reason: json.reason,
        })
    }

    /// Writes the line, without its line break.
    pub(crate) fn render(&self) -> String {
        let json = Json {
            at: nine_digits(self.at),
            by: self.by.clone(),
            level: self.level.to_string(),
            seq: self.seq,
            reason: self.reason.clone(),
        };
        serde_json::to_string(&json).expect("texts and numbers are JSON")
    }
}

/// The time with all nine digits of its fraction.
fn nine_digits(at: Time) -> String {
    let text = at.to_string();
    let (seconds, fraction) = text.trim_end_matches('Z').split_once('.').unwrap_or((text.trim_end_matches('Z'), ""));
    format!("{seconds}.{fraction:0<9}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_stored_in_this_very_form() {
        let line =
            r#"{"at":"2026-02-10T09:00:00.000000001Z","by":"A <a@b>","level":"skip","seq":42,"reason":"superseded"}"#;
        assert_eq!(Setting::parse(line).unwrap().render(), line);
        let whole = Setting { at: "2026-02-10T09:00:00Z".parse().unwrap(), ..Setting::parse(line).unwrap() };
        assert!(whole.render().contains("09:00:00.000000000Z"));
    }
}
