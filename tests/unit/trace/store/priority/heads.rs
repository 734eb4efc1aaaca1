//! Which change of a priority applies, after any exchange between clones.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Setting, deciding, heads};
use crate::base::time::Time;
use crate::trace::ItemId;
use crate::trace::store::priority::{HISTORY, InForce, Level};

fn item() -> ItemId {
    "3f9a1c2e7b10d4e5".parse().unwrap()
}

fn read(text: &str) -> Vec<Setting> {
    super::super::record::parse(item(), text.as_bytes()).unwrap()
}

fn union(ours: &str, theirs: &str) -> String {
    HISTORY.format.union_of_lines(ours.as_bytes(), theirs.as_bytes()).unwrap_or_else(|| ours.to_owned())
}

/// The text of a clone's file after a change there.
fn set(text: &str, by: &str, level: Level, clock: i64) -> (String, Setting) {
    let settings = read(text);
    let after = heads(&settings).into_iter().map(|head| settings[head].digest()).collect();
    // Lines of the far future do not count.
    let at =
        Time::from_second(clock).after(settings.iter().map(|line| line.at).filter(|at| at.as_second() < 1000).max());
    let setting = Setting { at, by: by.to_owned(), level, seq: None, reason: None, after: Some(after) };
    (union(text, &setting.render()), setting)
}

/// As version 0.1 sets a level: `after` is lost in all lines.
fn set_by_0_1(text: &str, by: &str, level: Level, clock: i64) -> String {
    let mut settings = read(text);
    let at = Time::from_second(clock).after(settings.last().map(|last| last.at));
    settings.push(Setting { at, by: by.to_owned(), level, seq: None, reason: None, after: None });
    settings.into_iter().map(|setting| Setting { after: None, ..setting }.render() + "\n").collect()
}

fn in_force(text: &str) -> (Level, Vec<Level>) {
    let InForce { setting, rivals } = InForce::of(read(text)).unwrap();
    (setting.level, rivals.iter().map(|rival| rival.level).collect())
}

#[test]
fn of_two_concurrent_changes_the_one_that_keeps_more_applies() {
    let (shared, _) = set("", "ada", Level::Normal, 10);
    let (ada, _) = set(&shared, "ada", Level::Pinned, 20);
    let (bob, _) = set(&shared, "bob", Level::Skip, 30);
    let both = union(&ada, &bob);
    assert_eq!(in_force(&both), (Level::Pinned, vec![Level::Skip]));
    assert_eq!(union(&bob, &ada), both);
    assert!(both.lines().last().unwrap().contains("ada"), "the line that applies is the last: {both}");
    // A later change knows both.
    let (settled, _) = set(&both, "bob", Level::Skip, 5);
    assert_eq!(in_force(&settled), (Level::Skip, vec![]));
    assert_eq!(in_force(&union(&ada, &settled)), (Level::Skip, vec![]));
}

#[test]
fn of_two_changes_one_of_which_knew_the_other_the_later_applies() {
    let (ada, _) = set("", "ada", Level::Pinned, 50);
    // Bob's clock is behind.
    let (bob, _) = set(&ada, "bob", Level::Skip, 20);
    assert_eq!(in_force(&bob), (Level::Skip, vec![]));
    assert_eq!(in_force(&union(&ada, &bob)), (Level::Skip, vec![]));
}

#[test]
fn version_0_1_may_add_lines() {
    let (ada, _) = set("", "ada", Level::Pinned, 10);
    let (ada, _) = set(&ada, "ada", Level::Normal, 20);
    let old = set_by_0_1(&ada, "bob", Level::Skip, 30);
    assert_eq!(in_force(&old), (Level::Skip, vec![]));
    assert_eq!(in_force(&union(&ada, &old)), (Level::Skip, vec![]), "it knew the lines that it copied");
    let (later, _) = set(&union(&ada, &old), "ada", Level::Pinned, 40);
    assert_eq!(in_force(&later), (Level::Pinned, vec![]));
    let elsewhere = set_by_0_1("", "eve", Level::Skip, 60);
    assert_eq!(in_force(&union(&later, &elsewhere)), (Level::Pinned, vec![Level::Skip]));
}

#[test]
fn forged_lines_leave_a_head() {
    let (one, first) = set("", "ada", Level::Pinned, 10);
    let second = set(&one, "bob", Level::Skip, 20).1;
    // Two lines that name each other, and one that names itself.
    let forged = Setting { after: Some(vec![second.digest(), first.digest()]), ..first };
    let text = union(&forged.render(), &second.render());
    assert_eq!(in_force(&text), (Level::Pinned, vec![]), "in a circle, the level that keeps more applies");
    assert_eq!(in_force(&set(&text, "ada", Level::Skip, 30).0), (Level::Skip, vec![]), "until a line knows of it");
    assert_eq!(deciding(&[]), None);
}

#[test]
fn a_line_of_the_far_future_does_not_rule() {
    for after in [Some(vec![]), None] {
        let at: Time = "9999-12-30T22:00:00.999999999Z".parse().unwrap();
        let forged = Setting { at, by: "eve".to_owned(), level: Level::Skip, seq: None, reason: None, after };
        assert_eq!(in_force(&forged.render()), (Level::Skip, vec![]));
        let mut text = forged.render();
        for level in [Level::Pinned, Level::Normal, Level::Skip] {
            text = set(&text, "ada", level, 30).0;
            assert_eq!(in_force(&text), (level, vec![]), "{text}");
            assert!(text.lines().last().unwrap().contains("ada"), "{text}");
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Set { clone: usize, level: Level, clock: i64 },
    Pull { to: usize, from: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let level = prop::sample::select(vec![Level::Skip, Level::Normal, Level::Pinned]);
    prop_oneof![
        (0..3_usize, level, prop_oneof![0..9_i64, Just(253_402_207_200)]).prop_map(|(clone, level, clock)| Step::Set {
            clone,
            level,
            clock
        }),
        (0..3_usize, 0..3_usize).prop_map(|(to, from)| Step::Pull { to, from }),
    ]
}

/// A change, and the changes that its writer knew.
struct Event {
    level: Level,
    known: BTreeSet<usize>,
}

proptest! {
    #[test]
    fn clones_agree_in_any_order_and_with_what_their_writers_knew(steps in prop::collection::vec(step(), 1..16)) {
        let mut files = [const { String::new() }; 3];
        let mut known = [const { BTreeSet::new() }; 3];
        let mut events: Vec<Event> = Vec::new();
        for step in steps {
            match step {
                Step::Set { clone, level, clock } => {
                    // Each change has its own author, so that no two lines are the same.
                    files[clone] = set(&files[clone], &format!("author {}", events.len()), level, clock).0;
                    events.push(Event { level, known: known[clone].clone() });
                    known[clone].insert(events.len() - 1);
                }
                Step::Pull { to, from } => {
                    files[to] = union(&files[to], &files[from].clone());
                    let learned = known[from].clone();
                    known[to].extend(learned);
                }
            }
            for (file, known) in files.iter().zip(&known).filter(|(_, known)| !known.is_empty()) {
                let is_head = |event: &&usize| !known.iter().any(|later| events[*later].known.contains(*event));
                let levels: BTreeSet<Level> = known.iter().filter(is_head).map(|head| events[*head].level).collect();
                let (level, rivals) = in_force(file);
                prop_assert_eq!(Some(&level), levels.last());
                let told: BTreeSet<Level> = rivals.into_iter().chain([level]).collect();
                prop_assert_eq!(told, levels);
                prop_assert_eq!(Setting::parse(file.lines().last().unwrap()).unwrap().level, level);
            }
        }
        let [one, two, three] = &files;
        let all = union(&union(one, two), three);
        prop_assert_eq!(&union(&union(three, one), two), &all);
        prop_assert_eq!(&union(two, &union(one, three)), &all);
        prop_assert_eq!(&union(&all, one), &all);
        let lines: BTreeSet<&str> = files.iter().flat_map(|file| file.lines()).collect();
        prop_assert_eq!(all.lines().collect::<BTreeSet<_>>(), lines);
    }
}
