//! What differs between two states, by item.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::git::{Env, Repo};
use crate::tokens::Counter;
use crate::trace::change::branch;
use crate::trace::change::edit::Patch;
use crate::trace::model::tree::ItemEntry;
use crate::trace::query::diff::between;
use crate::trace::store::priority::{self, Level, Request};
use crate::trace::store::resolve::{State, state};
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;
use crate::trace::{Draft, Fields, ItemId, ItemType, Time, Tip, TraceName};
use proptest::prelude::*;

use crate::unit::repo::TestRepo;

/// Two traces that went apart: one item edited, one taken out, two new.
fn apart() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "--name", "rules", "-m", "Be kind."]);
    repo.say("one\ntwo\nthe limit is ten\nfour\n");
    repo.say("gone");
    repo.say("stays");
    repo.text(&["switch", "-c", "idea"]);
    repo.text(&["edit", "#1", "-m", "one\ntwo\nthe limit is twelve\nfour\nfive"]);
    repo.text(&["delete", "#2"]);
    repo.commit(&["-r", "assistant", "-m", "new"]);
    repo.bytes_with(&["commit", "-t", "artifact", "--set", "path=a.png", "-"], b"\x89PNG\0\xff");
    repo
}

/// Makes a commit of trace `name` in which files are named otherwise, as plain git can.
fn rename_files(repo: &TestRepo, name: &str, renamed: &[(u32, u32)]) {
    let refname = format!("refs/traces/{name}");
    let listed = repo.git(&["ls-tree", "-r", &refname]);
    let index = repo.home().join("index");
    let git = |args: &[&str]| {
        let output = repo.command("git").env("GIT_INDEX_FILE", &index).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    for line in listed.lines() {
        let (head, path) = line.split_once('\t').unwrap();
        let blob = head.split(' ').nth(2).unwrap();
        let seq: u32 = path[6..12].parse().unwrap();
        let seq = renamed.iter().find(|(from, _)| *from == seq).map_or(seq, |(_, to)| *to);
        git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},00/00/{seq:06}{}", &path[12..])]);
    }
    let commit = git(&["commit-tree", &git(&["write-tree"]), "-p", &refname, "-m", "renamed by hand"]);
    git(&["update-ref", &refname, &commit]);
    std::fs::remove_file(index).unwrap();
}

#[test]
fn items_are_added_removed_and_edited() {
    let repo = apart();
    insta::assert_snapshot!(repo.trace(&["diff", "main"]), @"
    2 added, 1 removed, 1 edited, 2 unchanged, +[N] tokens

    edited #1 dialogue user [ID]
    @@ -1,4 +1,5 @@
     one
     two
    -the limit is ten
    +the limit is twelve
     four
    +five
    \\ No newline at end

    removed #2 dialogue user [ID]
    -gone

    added #4 dialogue assistant [ID]
    +new

    added #5 artifact a.png [ID]
    binary: none → 6 bytes
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["diff", "-U", "0", "--word-diff", "main..idea"]), @"
    2 added, 1 removed, 1 edited, 2 unchanged, +[N] tokens

    edited #1 dialogue user [ID]
    @@ -3,1 +3,1 @@
    -the limit is [-ten-]
    +the limit is {+twelve+}
    @@ -4,0 +5,1 @@
    +five
    \\ No newline at end

    removed #2 dialogue user [ID]
    -gone

    added #4 dialogue assistant [ID]
    +new

    added #5 artifact a.png [ID]
    binary: none → 6 bytes
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["diff", "--stat", "idea", "main"]), @"
     edited       #1 [SHORT] dialogue user: one two the limit is ten four       | +1 -2
     added        #2 [SHORT] dialogue user: gone                                | +1 -0
     removed      #4 [SHORT] dialogue assistant: new                            | +0 -1
     removed      #5 [SHORT] artifact a.png: 6 bytes                            | 6 → 0 bytes
    1 added, 2 removed, 1 edited, 2 unchanged, -[N] tokens
    [exit 0]
    ");
    assert_eq!(repo.text(&["diff", "--name-only", "main"]).lines().count(), 4);
    let json = repo.json(&["diff", "--json", "main"]);
    assert_eq!(json["tokens"], repo.total("idea").cast_signed() - repo.total("main").cast_signed());
    assert_eq!(
        json["counts"].to_string(),
        r#"{"added":2,"edited":1,"moved":0,"priority":0,"removed":1,"unchanged":2}"#
    );
    assert_eq!(json["items"][0]["lines"]["added"], 2);
    assert_eq!(json["items"][0]["before"]["text"], "one\ntwo\nthe limit is ten\nfour\n");
    assert_eq!(json["items"][3]["after"]["base64"], "iVBORwD/");
    assert_eq!(json["before"]["ref"], "refs/traces/main");
    insta::assert_snapshot!(repo.trace(&["diff", "idea"]), @"[exit 0]");
    assert_eq!(repo.run(&["diff", "--exit-code", "main"], b"").status.code(), Some(1));
    assert_eq!(repo.run(&["diff", "--exit-code", "idea"], b"").status.code(), Some(0));
}

#[test]
fn sides_have_the_names_that_git_uses() {
    let repo = apart();
    repo.text(&["switch", "main"]);
    repo.say("on main");
    let ids = |args: &[&str]| repo.text(&[&["diff", "--name-only"], args].concat()).lines().count();
    assert_eq!(ids(&[]), 1, "what the last commit changed");
    assert_eq!(ids(&["TRACE_HEAD~2"]), 2);
    assert_eq!(ids(&["idea"]), 5);
    assert_eq!(ids(&["idea..main"]), 5);
    assert_eq!(ids(&["idea.."]), 5);
    assert_eq!(ids(&["..idea"]), 5);
    assert_eq!(ids(&["main...idea"]), 4, "from their common part");
    assert_eq!(ids(&["idea...main"]), 1);
    assert_eq!(ids(&["idea", "#3"]), 4, "an item among two is the commit that touched it last");
    assert_eq!(ids(&["2026-02-10T09:00:02Z", "main"]), 4);
    repo.text(&["switch", "-c", "first", "#0"]);
    assert_eq!(ids(&[]), 1, "the first commit is against nothing");
    insta::assert_snapshot!(repo.refused(&["diff", "nope"]), @"
    --- stderr
    error: no trace, commit, item, or time is named `nope`
    hint: `git trace branch` lists traces, `git trace log` their commits and items
    [exit 2]
    ");
    repo.refused(&["diff", "main", "idea", "first"]);
}

#[test]
fn an_item_diff_shows_its_revisions() {
    let repo = apart();
    repo.text(&["edit", "#1", "-m", "other", "--set", "name=Ann"]);
    insta::assert_snapshot!(repo.trace(&["diff", "#1"]), @"
    commit [OID] 2026-02-10T09:00:11Z, A U Thor <author@example.com>
    edited #1 dialogue user Ann [ID]
    +name: Ann
    @@ -1,5 +1,1 @@
    -one
    -two
    -the limit is twelve
    -four
    -five
    +other

    commit [OID] 2026-02-10T09:00:07Z, A U Thor <author@example.com>
    edited #1 dialogue user [ID]
    @@ -1,4 +1,5 @@
     one
     two
    -the limit is ten
    +the limit is twelve
     four
    +five
    \\ No newline at end

    commit [OID] 2026-02-10T09:00:03Z, A U Thor <author@example.com>
    added #1 dialogue user [ID]
    +one
    +two
    +the limit is ten
    +four
    [exit 0]
    ");
    assert_eq!(repo.lines(&["diff", "--json", "#2"]).len(), 2, "one that was taken out has its history too");
}

#[test]
fn only_items_that_changed_order_are_moved() {
    let repo = TestRepo::new();
    for text in ["a", "b", "c", "d"] {
        repo.say(text);
    }
    repo.text(&["branch", "closed"]);
    repo.text(&["delete", "#1"]);
    rename_files(&repo, "main", &[(0, 5), (2, 1), (3, 2)]);
    insta::assert_snapshot!(repo.trace(&["diff", "closed"]), @"
    1 removed, 1 moved, 2 unchanged, -[N] tokens

    removed #1 dialogue user [ID]
    -b

    moved #5 (was #0) dialogue user: a [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["diff", "--stat", "closed"]), @"
     removed      #1 [SHORT] dialogue user: b                                   | +0 -1
     moved        #5 [SHORT] dialogue user: a
    1 removed, 1 moved, 2 unchanged, -[N] tokens
    [exit 0]
    ");
}

#[test]
fn priorities_are_compared_with_an_older_commit() {
    let repo = TestRepo::new();
    repo.say("a");
    repo.say("b");
    repo.text(&["skip", "#0"]);
    repo.say("c");
    repo.text(&["pin", "#1"]);
    insta::assert_snapshot!(repo.trace(&["diff", "#1", "main"]), @"
    1 added, 2 with another priority, +[N] tokens

    priority #0 dialogue user: a (normal → skip) [ID]

    priority #1 dialogue user: b (normal → pinned) [ID]

    added #2 dialogue user [ID]
    +c
    [exit 0]
    ");
}

#[test]
fn a_comment_is_safe_for_any_item_text() {
    let repo = TestRepo::new();
    repo.say("base");
    repo.text(&["switch", "-c", "@team/`x`"]);
    repo.say("````\n</details><script>@everyone</script>\n# head");
    repo.commit(&["-t", "instruction", "--name", "@all `<b>", "-m", "x"]);
    insta::assert_snapshot!(repo.trace(&["diff", "main", "--markdown"]), @r#"
    **Context**: 2 added, 1 unchanged, +[N] tokens (`main` `[SHORT]` → `` @team/`x` `` `[SHORT]`)

    **added** `#1` `````dialogue user: ```` </details><script>@everyone</script> # head````` `[ID]`

    `````diff
    +````
    +</details><script>@everyone</script>
    +# head
    `````

    **added** `#2` ``instruction @all `<b>: x`` `[ID]`

    ```diff
    +x
    ```
    [exit 0]
    "#);
}

#[test]
fn no_text_imitates_our_lines() {
    let repo = TestRepo::new();
    repo.say("base");
    repo.say("a\u{1b}[2J\radded #9 fake\nedited #0 dialogue user\n@@ -1 +1 @@");
    insta::assert_snapshot!(repo.trace(&["diff"]), @r"
    1 added, 1 unchanged, +[N] tokens

    added #1 dialogue user [ID]
    +a\u001b[2J\u000dadded #9 fake
    +edited #0 dialogue user
    +@@ -1 +1 @@
    [exit 0]
    ");
}

/// The library on a repository with two traces.
struct Real {
    repo: Repo,
    seconds: Cell<i64>,
}

#[derive(Clone, Debug)]
enum Op {
    Say(usize),
    Instruct(usize, usize),
    Edit(usize, usize),
    Delete(usize),
    Restore(usize),
    Level(usize, usize),
}

const TEXTS: [&str; 5] = ["", "a", "a longer text of several words", "two\nlines\n", "ä👍"];
const LEVELS: [Level; 3] = [Level::Skip, Level::Normal, Level::Pinned];

fn op() -> impl Strategy<Value = (bool, Op)> {
    let text = 0..TEXTS.len();
    let item = 0..6_usize;
    let op = prop_oneof![
        4 => text.clone().prop_map(Op::Say),
        2 => (0..2_usize, text.clone()).prop_map(|(name, text)| Op::Instruct(name, text)),
        3 => (item.clone(), text).prop_map(|(item, text)| Op::Edit(item, text)),
        2 => item.clone().prop_map(Op::Delete),
        1 => item.clone().prop_map(Op::Restore),
        3 => (item, 0..3_usize).prop_map(|(item, level)| Op::Level(item, level)),
    ];
    (any::<bool>(), op)
}

impl Real {
    fn signature(&self) -> Signature {
        self.seconds.set(self.seconds.get() + 1);
        Signature::take(&self.repo, Time::from_second(self.seconds.get())).unwrap()
    }

    fn trace(&self, name: &TraceName) -> Trace<'_> {
        Trace::new(&self.repo, name.clone(), self.signature())
    }

    fn append(&self, name: &TraceName, fields: Fields, text: &str) {
        let draft = Draft { fields, body: text.as_bytes().to_owned() };
        self.trace(name).append(draft).unwrap();
    }

    /// Changes a trace once; an impossible change is skipped.
    fn act(&self, name: &TraceName, ever: &[ItemId], op: &Op) {
        let pick = |item: usize| ever.get(item.checked_rem(ever.len())?).copied();
        match *op {
            Op::Say(text) => self.append(name, Fields::new(ItemType::dialogue()), TEXTS[text]),
            Op::Instruct(number, text) => {
                let mut fields = Fields::new(ItemType::instruction());
                fields.name = Some(["rules", "style"][number].to_owned());
                self.append(name, fields, TEXTS[text]);
            }
            Op::Edit(item, text) => {
                let patch = Patch { body: Some(TEXTS[text].as_bytes().to_owned()), ..Patch::default() };
                drop(pick(item).map(|id| self.trace(name).edit(id, patch)));
            }
            Op::Delete(item) => {
                drop(pick(item).map(|id| self.trace(name).delete(id, None)));
            }
            Op::Restore(item) => {
                drop(pick(item).map(|id| self.trace(name).restore(id, None, None)));
            }
            Op::Level(item, level) => {
                let tip = Tip::of_trace(&self.repo, name).unwrap();
                let Some(id) = pick(item) else { return };
                let Some(introduced) = priority::tags::introduction(&self.repo, &tip, id).unwrap() else { return };
                let signature = self.signature();
                let (level, at) = (LEVELS[level], signature.at);
                let request = Request::now(id, level, at, introduced);
                priority::set(&self.repo, &signature, &[request]).unwrap();
            }
        }
    }

    fn view(&self, state: &State) -> View {
        View::at(&self.repo, state.tip.clone(), state.at).unwrap()
    }
}

/// Checks a comparison against the two complete lists.
fn check(real: &Real, before: &State, after: &State) {
    let counter = Counter::default();
    let diff = between(&real.repo, Some(before.clone()), after.clone(), counter).unwrap();
    let (old, new) = (real.view(before), real.view(after));
    let total = |view: &View| i128::from(view.total(&real.repo, counter).unwrap().tokens);
    assert_eq!(diff.tokens, total(&new) - total(&old), "the difference of the totals");

    let by_id = |view: &View| -> BTreeMap<ItemId, ItemEntry> {
        view.slots.iter().map(|slot| (slot.id, slot.clone())).collect()
    };
    let (old_slots, new_slots) = (by_id(&old), by_id(&new));
    let mut expected: BTreeMap<ItemId, Vec<&str>> = BTreeMap::new();
    for id in old_slots.keys().chain(new_slots.keys()).collect::<BTreeSet<_>>() {
        let words = match (old_slots.get(id), new_slots.get(id)) {
            (None, _) => vec!["added"],
            (_, None) => vec!["removed"],
            (Some(before), Some(after)) => {
                let edited = (before.blob != after.blob).then_some("edited");
                let level = (old.level(before).level() != new.level(after).level()).then_some("priority");
                edited.into_iter().chain(level).collect()
            }
        };
        if !words.is_empty() {
            expected.insert(*id, words);
        }
    }
    // These operations move nothing.
    let found: BTreeMap<ItemId, Vec<&str>> =
        diff.items.iter().map(|item| (item.entry().unwrap().id, item.changes())).collect();
    assert_eq!(found, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_comparison_matches_comparing_full_lists(
        shared in proptest::collection::vec(op(), 1..8),
        ops in proptest::collection::vec(op(), 1..12),
    ) {
        let test = TestRepo::new();
        let variables = ["AUTHOR", "COMMITTER"].iter().flat_map(|who| {
            [("NAME", "A"), ("EMAIL", "a@example.com")].map(|(part, value)| (format!("GIT_{who}_{part}").into(), value.into()))
        });
        let repo = Repo::open(test.folder(), Env::capture(variables)).unwrap();
        let real = Real { repo, seconds: Cell::new(1_770_714_000) };
        let main = TraceName::default_name();
        let side: TraceName = "side".parse().unwrap();
        real.append(&main, Fields::new(ItemType::dialogue()), "base");
        let ever = |name: &TraceName| -> Vec<ItemId> {
            let tip = Tip::of_trace(&real.repo, name).unwrap();
            View::at(&real.repo, tip, None).unwrap().slots.iter().map(|slot| slot.id).collect()
        };
        let mut known = ever(&main);
        for (_, op) in &shared {
            real.act(&main, &known, op);
            known.extend(ever(&main));
        }
        let base = Tip::of_trace(&real.repo, &main).unwrap();
        branch::create(&real.repo, &side, &real.signature().committer, base.commit.oid, "main").unwrap();
        for (on_side, op) in &ops {
            let name = if *on_side { &side } else { &main };
            real.act(name, &known, op);
            known.extend(ever(name));
        }
        let named = |spec: &str| state(&real.repo, &main, spec).unwrap();
        let base = base.commit.oid.to_string();
        let states = [named("main"), named("side"), named(&base), named("2026-02-10T09:00:04Z")];
        for before in &states {
            for after in &states {
                check(&real, before, after);
            }
        }
    }
}

#[test]
fn a_comment_fits_the_limit_of_hosts() {
    let repo = TestRepo::new();
    repo.say("base");
    repo.text(&["branch", "before"]);
    repo.say(&"long ".repeat(20_000));
    let lines: String = (0..400).map(|number| format!("{{\"text\":\"{number} {}\"}}\n", "x".repeat(200))).collect();
    repo.bytes_with(&["import", "jsonl", "-"], lines.as_bytes());
    let page = repo.text(&["diff", "--markdown", "before"]);
    assert!(page.len() < 65_536 && page.len() > 55_000, "{}", page.len());
    assert_eq!(page.lines().nth(4), Some("its text is too long to be shown here"));
    let shown = page.matches("**added**").count();
    assert_eq!(page.lines().last().unwrap(), format!("and {} more; `git trace diff` shows them", 401 - shown));
}
