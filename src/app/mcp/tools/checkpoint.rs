//! `checkpoint_validate`, `checkpoint_follow`: checkpoints of the working tree.

use serde_json::json;

use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::file;
use crate::base::error::{Context as _, Result};
use crate::base::finding::Weight;
use crate::git::Git;
use crate::memory::checkpoint::folder::{File, checkpoints, find};
use crate::memory::checkpoint::follow::{FollowContext, find_breadcrumb, follow};
use crate::memory::checkpoint::validate::files::validate_files;
use crate::memory::checkpoint::{Folder, Pathspec};
use crate::trace::store::settings;

tools! {
    checkpoint_validate: Reads, "Check a checkpoint file, or all of them; each finding says where, what and how to fix it.";
    r#"{"file": "string: path from the root of the working tree"}"# => r#"{"valid!": "boolean", "errors!": "integer", "warnings!": "integer", "findings!": "array"}"#;

    checkpoint_follow: Reads, "Get what a breadcrumb of a checkpoint points at: a file, a function, a decision, an address.";
    r#"{"breadcrumb!": "string", "checkpoint": "string: default: the current one"}"# => r#"{
        "found!": {"type": ["string", "null"]}, "type!": "string", "reference!": "string", "hint!": "string",
        "stale": "string"
    }"#;
}

pub(crate) fn folder(context: &Context) -> Result<Folder> {
    let setting = settings::text(context.repo()?, "trace.checkpoints")?;
    Ok(Folder { root: context.root()?, pathspec: Pathspec::new(setting.as_deref()) })
}

fn checkpoint_validate(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let files = match arguments.text("file")? {
        Some(shown) => {
            let path = file(context, "file", shown)?;
            vec![File::read_named(&path, shown.to_owned()).context("argument `file`")?]
        }
        None => folder(context)?.files()?,
    };
    let mut findings = Vec::new();
    let (mut errors, mut warnings) = (0_usize, 0_usize);
    for one in validate_files(&files, context.now()) {
        for finding in &one.findings {
            errors += usize::from(finding.weight == Weight::Error);
            warnings += usize::from(finding.weight == Weight::Warning);
            findings.push(one.finding_to_json(finding)?);
        }
    }
    Ok(json!({ "valid": errors == 0, "errors": errors, "warnings": warnings, "findings": findings }).into())
}

fn checkpoint_follow(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let folder = folder(context)?;
    let files = folder.files()?;
    let known = checkpoints(&files);
    let one = find(&known, arguments.text("checkpoint")?).context("argument `checkpoint`")?;
    let git = Git::in_folder(&folder.root);
    let follower = FollowContext::new(&folder.root, &git, Some(&one.document));
    let reference =
        find_breadcrumb(&follower.breadcrumbs, arguments.required("breadcrumb")?).context("argument `breadcrumb`")?;
    Ok(follow(&follower, reference)?.to_json(reference).into())
}
