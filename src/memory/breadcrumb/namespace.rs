//! Namespaces: the standard ones and those a project declares in `.synapse/config.json`.
//!
//! ```text
//! {"breadcrumb_namespaces":{"ml":"Machine learning model configurations"}}
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::key::namespace;

/// Namespaces that every project has, with what they are for.
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

/// The namespaces of one project.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Namespaces {
    /// Those that the project declares, by name, with what they are for.
    pub declared: BTreeMap<String, String>,
}

/// Why the declared namespaces cannot be read.
#[derive(Debug, Error)]
#[error("cannot read `breadcrumb_namespaces`")]
pub struct ConfigError(#[from] serde_json::Error);

impl Namespaces {
    /// Reads the namespaces from the text of `.synapse/config.json`; whatever else stands there is not ours.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] where the text is not JSON, or the member not an object of strings.
    pub fn parse(config: &[u8]) -> Result<Self, ConfigError> {
        #[derive(Deserialize)]
        struct Config {
            #[serde(default)]
            breadcrumb_namespaces: BTreeMap<String, String>,
        }
        let config: Config = serde_json::from_slice(config)?;
        Ok(Self { declared: config.breadcrumb_namespaces })
    }

    /// Whether the namespace of `key` is standard or declared. A declared one may have dots: `ml.vision`.
    #[must_use]
    pub fn know(&self, key: &str) -> bool {
        let name = namespace(key);
        STANDARD.iter().any(|(standard, _)| *standard == name)
            || self.declared.keys().any(|declared| {
                let declared = declared.trim_end_matches(['*', '.']);
                key.strip_prefix(declared).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_adds_to_the_standard_namespaces() {
        let namespaces =
            Namespaces::parse(br#"{"version":1,"breadcrumb_namespaces":{"ml":"Models","a.b":"Nested"}}"#).unwrap();
        assert!(["auth.method", "ml.model", "ml", "a.b.c", "secret.x"].into_iter().all(|key| namespaces.know(key)));
        assert!(["mlops.x", "a.c", "other"].into_iter().all(|key| !namespaces.know(key)));
        assert_eq!(Namespaces::parse(b"{}").unwrap(), Namespaces::default());
        assert!(Namespaces::parse(b"{").is_err());
        assert!(Namespaces::parse(br#"{"breadcrumb_namespaces":["ml"]}"#).is_err());
    }
}
