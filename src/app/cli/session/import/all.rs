//! Importing every session of a folder, or of the machine.
//!
//! Each session is imported on its own, so that an interrupted run keeps what it did, and the next run reads only what is new.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use super::transcript::{compactions, print_tally, to_json};
use super::{ImportArgs, print_report};
use crate::app::cli::{Context, Error, ErrorContext as _, ExitStatus, Plain, Result, Value, error, escaped, json};
use crate::app::progress::Progress;
use crate::git::Repo;
use crate::trace::store::archived;
use crate::trace::store::settings::{self, Recording};
use crate::trace::store::signature::Signature;
use crate::transcript::continuation::{forgotten_exports, is_archived, is_one_of};
use crate::transcript::format::Format;
use crate::transcript::import::{Destination, ImportContext, Imported, session};

pub(super) fn run(context: &Context, args: &ImportArgs) -> Result<ExitStatus> {
    if context.named_trace()?.is_some() {
        let hint = "omit `--trace` and GITTRACE_NAME";
        return Err(Error::with_hint("`--all` imports each session into its own trace", hint));
    }
    let mut other = Vec::new();
    let (mut skipped, mut unlisted) = (Skipped::default(), Vec::new());
    let files = if args.all_folders {
        find_all(context, args, &mut other, &mut skipped, &mut unlisted)?
    } else {
        find(context, &agents(args)?, &mut unlisted)?.into_iter().map(|(format, file)| (0, format, file)).collect()
    };
    let repos: Vec<&Repo> = if args.all_folders { other.iter().collect() } else { vec![context.repo()?] };
    let length = |file: &PathBuf| fs::metadata(file).map_or(0, |file| file.len());
    let total = files.iter().map(|(.., file)| length(file)).sum();
    let bar = Progress::of_bytes(Some(total));
    let mut last = None;
    let mut signature = None;
    let (mut forgotten, mut archived) = (Vec::new(), Vec::new());
    let (mut read, mut grown, mut recorded, mut failed, mut is_complete) = (0, 0, 0, 0, true);
    let mut answers: Vec<Value> = Vec::new();
    for problem in &unlisted {
        answers.push(json!({ "error": format!("{problem:#}") }));
        error::print(problem);
    }
    for (number, (place, format, file)) in files.iter().enumerate() {
        let repo = repos[*place];
        if last.replace(*place) != Some(*place) {
            signature = None;
            forgotten = forgotten_exports(repo)?;
            archived = archived::all(repo)?;
            if args.all_folders && !args.json {
                above(bar.as_ref(), || -> Result<()> {
                    writeln!(context.ui, "in `{}`:", Plain(&root(repo).to_string_lossy()))?;
                    context.ui.flush()
                })?;
            }
        }
        if is_one_of(&forgotten, *format, file) || is_archived(&archived, *format, file) {
            read += length(file);
            continue;
        }
        let signature = match &signature {
            Some(signature) => signature,
            None if args.all_folders => signature.insert(Signature::of_hook(repo, context.now())?),
            None => signature.insert(context.signature()?),
        };
        let writing = ImportContext::new(repo, signature, compactions(repo, args)?)?;
        if let Some(bar) = &bar {
            bar.set_message(format!("session {} of {}", number + 1, files.len()));
        }
        let watch = |bytes| bar.iter().for_each(|bar| bar.set_position(read + bytes));
        let done = session::import(writing, *format, Destination::session_of(file, true), file, &watch);
        read += length(file);
        if let Some(bar) = &bar {
            bar.set_position(read);
        }
        let in_repository = |answer: &mut Value| {
            if args.all_folders {
                answer["repository"] = root(repo).to_string_lossy().into();
            }
        };
        let imported = match done {
            Ok(imported) if !imported.tally.is_foreign() => imported,
            other => {
                // One session that cannot be read stops no other.
                failed += 1;
                let problem: Error = match other {
                    Err(problem) => problem.into(),
                    Ok(_) => Error::msg(format!("`{}` contains no {format} record", file.display())),
                };
                let mut answer = json!({ "file": file.to_string_lossy(), "error": format!("{problem:#}") });
                in_repository(&mut answer);
                answers.push(answer);
                above(bar.as_ref(), || error::print(&problem));
                continue;
            }
        };
        let items: usize = imported.traces.iter().map(|(_, report)| report.recorded).sum();
        recorded += items;
        is_complete &= imported.is_complete();
        grown += usize::from(items > 0);
        if args.json {
            let mut answer = to_json(&imported);
            answer["file"] = file.to_string_lossy().into();
            in_repository(&mut answer);
            answers.push(answer);
        } else if items > 0 || !imported.is_complete() {
            above(bar.as_ref(), || print_imported(context, &imported))?;
        }
    }
    bar.iter().for_each(Progress::clear);
    let sessions = files.len() + unlisted.len();
    let done = Done { sessions, imported: grown, failed: failed + unlisted.len(), recorded };
    print_done(context, args, &done, &answers, args.all_folders.then_some(&skipped))?;
    Ok(ExitStatus::of(done.failed == 0 && is_complete))
}

fn print_imported(context: &Context, imported: &Imported) -> Result<()> {
    for (name, report) in imported.traces.iter().filter(|(_, report)| report.recorded > 0 || !report.is_complete()) {
        print_report(context, name, report)?;
    }
    if !imported.tally.is_complete() {
        print_tally(context, &imported.tally);
    }
    context.ui.flush()
}

/// How many sessions there are, were imported, and failed, and how many items were recorded.
struct Done {
    sessions: usize,
    imported: usize,
    failed: usize,
    recorded: usize,
}

fn print_done(
    context: &Context,
    args: &ImportArgs,
    done: &Done,
    answers: &[Value],
    skipped: Option<&Skipped>,
) -> Result<()> {
    let Done { sessions, imported, failed, recorded } = *done;
    let unchanged = sessions - imported - failed;
    if args.json {
        let mut counts = json!({ "sessions": answers, "imported": imported, "unchanged": unchanged, "failed": failed,
            "recorded": recorded });
        if let Some(skipped) = skipped {
            counts["without_repository"] = skipped.without_repository.into();
            counts["unwanted"] = skipped.unwanted.into();
        }
        return context.ui.json(&counts);
    }
    writeln!(
        context.ui,
        "{sessions} sessions: {imported} imported with {recorded} items, {unchanged} unchanged, {failed} failed"
    )?;
    let Some(Skipped { without_repository, unwanted }) = skipped else { return Ok(()) };
    for (count, cause) in [
        (without_repository, "git opens no repository in their folder"),
        (unwanted, "`trace.record` is false or ask in their repository"),
    ] {
        if *count > 0 {
            context.ui.note(format!("sessions not imported: {count}, because {cause}"));
        }
    }
    Ok(())
}

fn agents(args: &ImportArgs) -> Result<Vec<Format>> {
    let Some(name) = &args.first else { return Ok(Format::all().collect()) };
    let format = name.to_str().and_then(|name| name.parse().ok());
    let unknown = || {
        let message = format!("`{}` is not an agent", name.display());
        Error::with_hint(message, "git trace import --all claude-code (or codex, gemini-cli)")
    };
    Ok(vec![format.ok_or_else(unknown)?])
}

/// Prints above the progress.
fn above<T>(bar: Option<&Progress>, print: impl FnOnce() -> T) -> T {
    match bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// The sessions of the current folder and of the root of its working tree, oldest first for each agent.
fn find(context: &Context, agents: &[Format], unlisted: &mut Vec<Error>) -> Result<Vec<(Format, PathBuf)>> {
    let folders = context.session_folders()?;
    let mut files = Vec::new();
    for format in agents {
        let Some(home) = format.home(context.repo()?.env()) else { continue };
        let mut found = Vec::new();
        for folder in &folders {
            let sessions = format.sessions(&home, folder);
            match sessions.with_context(|| format!("cannot search `{}`", escaped(&home.to_string_lossy()))) {
                Ok(sessions) => found.extend(sessions),
                // An agent whose sessions cannot be listed stops no other.
                Err(problem) => unlisted.push(problem),
            }
        }
        files.extend(found.into_iter().rev().map(|file| (*format, file)));
    }
    Ok(files)
}

/// Sessions of other folders that are left alone.
#[derive(Default)]
struct Skipped {
    without_repository: usize,
    /// In repositories whose user does not want recordings.
    unwanted: usize,
}

/// All sessions of the machine, each with the index of the repository in which it ran, by repository.
fn find_all(
    context: &Context,
    args: &ImportArgs,
    repos: &mut Vec<Repo>,
    skipped: &mut Skipped,
    unlisted: &mut Vec<Error>,
) -> Result<Vec<(usize, Format, PathBuf)>> {
    let mut known: HashMap<PathBuf, Option<usize>> = HashMap::new();
    let recording = |repo: &Repo| -> Result<Recording> {
        compactions(repo, args)?;
        Ok(settings::recording(repo)?)
    };
    let mut files = Vec::new();
    for format in &agents(args)? {
        let Some(home) = format.home(&context.env) else { continue };
        let sessions = format.all_sessions(&home);
        for (folder, file) in
            sessions.with_context(|| format!("cannot search `{}`", escaped(&home.to_string_lossy())))?
        {
            let place = *known.entry(folder).or_insert_with_key(|folder| {
                let repo = Repo::containing(folder, context.env.clone()).ok().filter(|_| folder.is_absolute())?;
                // Worktrees may have other settings.
                let is_same = |other: &Repo| other.git_dir() == repo.git_dir();
                Some(repos.iter().position(is_same).unwrap_or_else(|| {
                    repos.push(repo);
                    repos.len() - 1
                }))
            });
            let Some(place) = place else {
                skipped.without_repository += 1;
                continue;
            };
            let wanted = recording(&repos[place]);
            match wanted.with_context(|| format!("cannot import `{}`", escaped(&file.to_string_lossy()))) {
                Ok(Recording::Unwanted | Recording::Ask) => skipped.unwanted += 1,
                Ok(_) => files.push((place, *format, file)),
                // Settings of one repository stop no other.
                Err(problem) => unlisted.push(problem),
            }
        }
    }
    files.sort_by_key(|(place, ..)| *place);
    Ok(files)
}

/// The folder by which a user knows a repository.
fn root(repo: &Repo) -> PathBuf {
    repo.worktree().unwrap_or_else(|| repo.common_dir().to_owned())
}
