#![expect(clippy::format_collect, reason = "a line of input reads best as it is written, and tests write few")]

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::json;

use super::draw::draw;
use super::{Decision, Next, State};
use crate::clean::{Action, Parameters, Plan, Session};
use crate::git::{Env, Repo};
use crate::tokens::Counter;
use crate::trace::query::size::ContextSize;
use crate::trace::{TraceName, View};
use crate::unit::repo::TestRepo;

/// Two turns: a long read and its edit, then twelve short steps.
fn plan() -> (Plan, ContextSize) {
    let test = TestRepo::new();
    let long = |text: &str| (0..60).map(|line| format!("{text} {line}\n")).collect::<String>();
    let mut lines = vec![json!({ "text": "Where is the lock taken?" })];
    let mut pair = |id: usize, name: &str, arguments: &str, result: String| {
        lines.push(json!({ "type": "tool_io", "direction": "call", "name": name, "call_id": id.to_string(),
            "turn": format!("t{id}"), "text": arguments }));
        lines.push(json!({ "type": "tool_io", "direction": "result", "call_id": id.to_string(), "text": result }));
    };
    pair(1, "Read", r#"{"file_path":"src/lock.rs"}"#, long("lock\t\u{1b}[2J"));
    pair(2, "Edit", r#"{"file_path":"src/lock.rs","old_string":"a"}"#, long("edited"));
    for id in 20..32 {
        pair(id, "Glob", r#"{"pattern":"*"}"#, "none".to_owned());
    }
    lines.insert(15, json!({ "text": "And where is it released?" }));
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    test.bytes_with(&["commit", "--batch"], lines.as_bytes());
    let repo = Repo::open(test.folder(), Env::capture([])).unwrap();
    let view = View::open(&repo, &TraceName::default_name(), None).unwrap();
    let session = Session::read(&repo, &view, Counter::default()).unwrap();
    let size = ContextSize::of(&repo, &view, Counter::default(), Some(2_000)).unwrap();
    (Plan::new(session, Parameters::new(&[], None)), size)
}

fn press(state: &mut State<'_>, keys: &str) -> Next {
    let mut next = Next::Stay;
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            key => KeyCode::Char(key),
        };
        next = state.press(KeyEvent::new(code, KeyModifiers::NONE));
    }
    next
}

fn screen(state: &mut State<'_>, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(state, frame)).unwrap();
    let shown = terminal.backend().to_string();
    // Ids depend on the time.
    let id = regex::Regex::new("[0-9a-f]{8}").unwrap();
    let lines = shown.lines().map(|line| line.trim_matches('"').trim_end());
    id.replace_all(&lines.collect::<Vec<_>>().join("\n"), "[ITEM ID]").into_owned()
}

#[test]
fn turns_open_into_items() {
    let (mut plan, size) = plan();
    let mut state = State::new(&mut plan, &size);
    insta::assert_snapshot!("closed", screen(&mut state, (60, 12)));
    press(&mut state, "\njjj");
    insta::assert_snapshot!("open", screen(&mut state, (60, 12)));
    press(&mut state, "\t");
    insta::assert_snapshot!("preview", screen(&mut state, (60, 12)));
    insta::assert_snapshot!("wide", screen(&mut state, (140, 14)));
    press(&mut state, "?");
    insta::assert_snapshot!("help", screen(&mut state, (80, 24)));
}

#[test]
fn marks_change_the_total_and_can_be_undone() {
    let (mut plan, size) = plan();
    let planned = (plan.after(), plan.marks());
    let mut state = State::new(&mut plan, &size);
    // Cutting again what the presets cut keeps it; all of the first turn is kept then.
    press(&mut state, " ");
    assert_eq!(state.plan.saved(), 0);
    press(&mut state, "z");
    assert_eq!((state.plan.after(), state.plan.marks()), planned);
    press(&mut state, "Z");
    assert_eq!(state.plan.saved(), 0);
    press(&mut state, "z\njd");
    assert_eq!(state.message.as_deref(), Some("cannot delete this"));
    press(&mut state, "jd");
    assert!(state.plan.after() < planned.0);
}

#[test]
fn a_cut_that_saves_nothing_is_not_done() {
    let (mut plan, size) = plan();
    let planned = plan.after();
    let small = plan.rows.iter().position(|row| row.entry.item.body == b"none").unwrap();
    assert!(!plan.mark(small, Action::Cut) && !plan.mark(small, Action::Trim));
    let mut state = State::new(&mut plan, &size);
    // The last item is the result of a short call.
    press(&mut state, "G\nGc");
    assert_eq!(state.message.as_deref(), Some("cannot cut this, or it saves nothing"));
    press(&mut state, "t");
    assert_eq!(state.message.as_deref(), Some("cannot trim this, or it saves nothing"));
    assert_eq!((state.plan.after(), state.plan.size_after(&size) <= size.size.tokens), (planned, true));
    screen(&mut state, (60, 12));
}

#[test]
fn a_protected_item_stays_whatever_presets_say() {
    let (mut plan, size) = plan();
    let mut state = State::new(&mut plan, &size);
    press(&mut state, "\njjjp");
    let protected = state.plan.saved();
    press(&mut state, "bbb");
    assert_eq!(state.message.as_deref(), Some("bundle aggressive, keep 5"));
    let row = &state.plan.rows[2];
    assert_eq!((row.after, row.preset), (row.entry.tokens, None));
    press(&mut state, "zzz");
    assert_eq!(state.plan.saved(), protected);
}

#[test]
fn a_range_is_summarized_with_complete_pairs() {
    let (mut plan, size) = plan();
    let mut state = State::new(&mut plan, &size);
    // From the call of the first step to the call of the second: the result of that joins them.
    press(&mut state, "\njvjjjS");
    let marked = |state: &State<'_>| {
        let rows = state.plan.rows.iter().enumerate();
        rows.filter(|(_, row)| row.action == Action::Summarize).map(|(index, _)| index).collect::<Vec<_>>()
    };
    assert_eq!(marked(&state), [0, 1, 2, 3, 4]);
    assert!(state.plan.saved() > 0 && state.plan.after() < state.plan.before);
    let shown = screen(&mut state, (60, 12));
    assert_eq!(shown.lines().filter(|line| line.starts_with('S')).count(), 5, "{shown}");
    // Another mark on one half of a pair takes both out of the summary.
    press(&mut state, "gjjjj ");
    assert_eq!(marked(&state), [0, 1, 2]);
    press(&mut state, "zz");
    assert_eq!(marked(&state), [0_usize; 0]);
    press(&mut state, "Z");
    assert_eq!(marked(&state), [0, 1, 2, 3, 4]);
}

#[test]
fn the_answer_is_to_write_or_to_quit() {
    let (mut plan, size) = plan();
    let mut state = State::new(&mut plan, &size);
    assert_eq!(press(&mut state, "q"), Next::Leave(Decision::Quit));
    assert_eq!(press(&mut state, "e"), Next::Edit);
    assert_eq!(press(&mut state, "w"), Next::Leave(Decision::Write));
    press(&mut state, " ");
    assert_eq!(press(&mut state, "w"), Next::Stay);
    assert_eq!(state.message.as_deref(), Some("nothing is selected"));
}

#[test]
fn a_search_opens_the_turn_of_the_match() {
    let (mut plan, size) = plan();
    let mut state = State::new(&mut plan, &size);
    press(&mut state, "/RELEASED\n");
    insta::assert_snapshot!("found", screen(&mut state, (60, 8)));
    press(&mut state, "/nowhere\n");
    assert_eq!(state.message.as_deref(), Some("not found"));
}
