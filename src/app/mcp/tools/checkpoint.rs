//! `checkpoint_validate`, `checkpoint_follow`: checkpoints of the working tree.

use serde_json::json;

use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::place::Place;
use crate::app::mcp::tool::{Answer, Effect, Group, Tool};
use crate::base::error::{Context as _, Result};
use crate::base::finding::Weight;
use crate::git::Git;
use crate::memory::checkpoint::folder::{File, checkpoints, find};
use crate::memory::checkpoint::follow::{FollowContext, find_breadcrumb, follow};
use crate::memory::checkpoint::validate::files::validate_files;
use crate::memory::checkpoint::{Folder, Pathspec};
use crate::trace::store::settings;

pub(crate) const TOOLS: [Tool; 2] = [
    Tool {
        name: "checkpoint_validate",
        group: Group::Checkpoint,
        by_default: false,
        description: "Check a checkpoint file, or all of them; each finding says where, what and how to mend it.",
        effect: Effect::Reads,
        input: r#"{"file": {"type": "string", "description": "path from the root of the working tree"}}"#,
        required: &[],
        output: r#"{"valid": {"type": "boolean"}, "errors": {"type": "integer"}, "warnings": {"type": "integer"}, "findings": {"type": "array"}}"#,
        answered: &["valid", "errors", "warnings", "findings"],
        run: validate,
    },
    Tool {
        name: "checkpoint_follow",
        group: Group::Checkpoint,
        by_default: false,
        description: "Get what a breadcrumb of a checkpoint points at: a file, a function, a decision, an address.",
        effect: Effect::Reads,
        input: r#"{"breadcrumb": {"type": "string"}, "checkpoint": {"type": "string", "description": "default: the current one"}}"#,
        required: &["breadcrumb"],
        output: r#"{"found": {"type": ["string", "null"]}, "type": {"type": "string"}, "reference": {"type": "string"}, "hint": {"type": "string"}, "stale": {"type": "string"}}"#,
        answered: &["found", "type", "reference", "hint"],
        run: run_follow,
    },
];

fn folder(place: &Place) -> Result<Folder> {
    let setting = settings::text(&place.repo()?, "trace.checkpoints")?;
    Ok(Folder { root: place.root()?.to_owned(), pathspec: Pathspec::new(setting.as_deref()) })
}

fn validate(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let files = match arguments.text("file")? {
        Some(shown) => {
            let path = place.file("file", shown)?;
            vec![File::read_named(&path, shown.to_owned()).context("argument `file`")?]
        }
        None => folder(place)?.files()?,
    };
    let mut findings = Vec::new();
    let (mut errors, mut warnings) = (0_usize, 0_usize);
    for one in validate_files(&files, place.now()) {
        for finding in &one.findings {
            errors += usize::from(finding.weight == Weight::Error);
            warnings += usize::from(finding.weight == Weight::Warning);
            findings.push(one.finding_to_json(finding)?);
        }
    }
    Ok(json!({ "valid": errors == 0, "errors": errors, "warnings": warnings, "findings": findings }).into())
}

fn run_follow(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let folder = folder(place)?;
    let files = folder.files()?;
    let known = checkpoints(&files);
    let one = find(&known, arguments.text("checkpoint")?).context("argument `checkpoint`")?;
    let git = Git::in_folder(&folder.root);
    let context = FollowContext::new(&folder.root, &git, Some(&one.document));
    let reference =
        find_breadcrumb(&context.breadcrumbs, arguments.required("breadcrumb")?).context("argument `breadcrumb`")?;
    Ok(follow(&context, reference)?.to_json(reference).into())
}
