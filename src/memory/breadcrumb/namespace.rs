//! Namespaces: the standard ones, and those that a project declares in `.synapse/config.json`.
//!
//! ```text
//! {"breadcrumb_namespaces":{"ml":"Machine learning model configurations"}}
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::namespace_of;

pub(crate) const STANDARD: [(&str, &str); 9] = [
    ("api", "API endpoints and behavior"),
    ("auth", "Authentication and authorization"),
    ("build", "Build system discoveries"),
    ("config", "Application configuration"),
    ("db", "Database configuration"),
    ("deploy", "Deployment information"),
    ("error", "Known errors and solutions"),
    ("secret", "Values that git must not see"),
    ("test", "Testing-related knowledge"),
];

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub(crate) struct Namespaces {
    #[serde(default, rename = "breadcrumb_namespaces")]
    pub declared: BTreeMap<String, String>,
}

#[derive(Debug, Error)]
#[error("invalid `breadcrumb_namespaces`")]
pub(crate) struct ConfigError(#[from] serde_json::Error);

/// How to declare a namespace.
pub(crate) fn remedy(name: &str) -> String {
    format!("declare it in `.synapse/config.json`: {{\"breadcrumb_namespaces\": {{\"{name}\": \"DESCRIPTION\"}}}}")
}

impl Namespaces {
    /// Reads the text of `.synapse/config.json`, in which other tools have members too.
    pub(crate) fn parse(config: &[u8]) -> Result<Self, ConfigError> {
        Ok(serde_json::from_slice(config)?)
    }

    /// Whether the namespace of `key` is standard or declared. A declared namespace may contain dots: `ml.vision`.
    pub(crate) fn contains(&self, key: &str) -> bool {
        let name = namespace_of(key);
        STANDARD.iter().any(|(standard, _)| *standard == name)
            || self.declared.keys().any(|declared| {
                let declared = declared.trim_end_matches(['*', '.']);
                key.strip_prefix(declared).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
    }
}
