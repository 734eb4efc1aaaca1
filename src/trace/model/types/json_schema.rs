//! JSON Schemas of types, which bodies must satisfy when they are committed.
//!
//! That needs the cargo feature `schemas`; without it, a type with a schema is an error.

use thiserror::Error;

use crate::trace::model::item::ItemType;

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("the body of {item_type} must satisfy `traceType.{item_type}.schema`: {place}: {cause}")]
pub struct BadBody {
    pub item_type: ItemType,
    /// The position in the body, as a JSON path from its root `$`.
    pub place: String,
    pub cause: String,
}

#[cfg(feature = "schemas")]
pub(crate) use compiled::Check;

#[cfg(feature = "schemas")]
mod compiled {
    use boon::{Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
    use serde_json::Value;

    use super::BadBody;
    use crate::git::Repo;
    use crate::trace::model::item::ItemType;
    use crate::trace::model::types::BadRule;
    use crate::trace::model::types::schema_limits::Limits;

    /// The address of a schema while it is in use.
    const ADDRESS: &str = "trace:/schema";

    pub(crate) struct Check {
        limits: Limits,
        schemas: Schemas,
        index: SchemaIndex,
    }

    /// Refuses to load what a schema names, such as the schema of another dialect.
    struct Nothing;

    impl UrlLoader for Nothing {
        fn load(&self, _: &str) -> Result<Value, Box<dyn std::error::Error>> {
            Err("a schema must stand alone: it cannot refer to other files or addresses".into())
        }
    }

    impl Check {
        /// Reads a type's schema: JSON, or the path of a file that the project shares.
        pub(crate) fn compile(repo: &Repo, item_type: &ItemType, schema: &str) -> Result<Self, BadRule> {
            let bad = |cause: String| BadRule::Schema { item_type: item_type.clone(), cause };
            let is_json = schema.starts_with('{') || matches!(schema, "true" | "false");
            let text = if is_json {
                schema.as_bytes().to_vec()
            } else {
                repo.read_shared(schema)?.ok_or_else(|| bad(format!("there is no file `{}`", schema.escape_debug())))?
            };
            let limits = Limits::read(&text).map_err(bad)?;
            let mut schemas = Schemas::new();
            let mut compiler = Compiler::new();
            compiler.use_loader(Box::new(Nothing));
            let refused = |error: boon::CompileError| {
                // The long form says why.
                let cause = format!("{error:#}");
                bad(cause.lines().map(str::trim).collect::<Vec<_>>().join("; ").replace(ADDRESS, ""))
            };
            compiler.add_resource(ADDRESS, limits.schema().clone()).map_err(refused)?;
            let index = compiler.compile(ADDRESS, &mut schemas).map_err(refused)?;
            Ok(Self { limits, schemas, index })
        }

        /// Checks a body and returns the first error.
        pub(crate) fn judge(&self, item_type: &ItemType, body: &[u8]) -> Result<(), BadBody> {
            let bad = |place, cause| BadBody { item_type: item_type.clone(), place, cause };
            let body: Value = serde_json::from_slice(body)
                .map_err(|error| bad("$".to_owned(), format!("it is not JSON: {error}")))?;
            self.limits.check(&body).map_err(|cause| bad("$".to_owned(), cause.to_owned()))?;
            self.schemas.validate(&body, self.index).map_err(|error| {
                let first = innermost(&error);
                let place = first.instance_location.tokens.iter().fold("$".to_owned(), |place, token| match token {
                    boon::InstanceToken::Prop(name) => format!("{place}.{name}"),
                    boon::InstanceToken::Item(index) => format!("{place}[{index}]"),
                });
                bad(place, first.kind.to_string())
            })
        }
    }

    fn innermost<'e, 's, 'v>(error: &'e ValidationError<'s, 'v>) -> &'e ValidationError<'s, 'v> {
        error.causes.first().map_or(error, innermost)
    }
}

#[cfg(not(feature = "schemas"))]
pub(crate) enum Check {}

#[cfg(not(feature = "schemas"))]
impl Check {
    pub(crate) fn compile(_: &crate::git::Repo, item_type: &ItemType, _: &str) -> Result<Self, super::BadRule> {
        Err(super::BadRule::NoSchemas { item_type: item_type.clone() })
    }

    pub(crate) fn judge(&self, _: &ItemType, _: &[u8]) -> Result<(), BadBody> {
        match *self {}
    }
}
