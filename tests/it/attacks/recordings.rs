//! Attacks on recorded sessions: by pushes of a colleague, by a second recording of one session, and by commands between two hooks of a session.

use super::{COUNT, sh};

/// Functions for scripts: `rec SESSION ID PARENT TEXT` adds a message to a session of the current folder, `say SESSION COUNT TEXT` writes one with
/// that many, and `hook SESSION` tells the recording.
const SESSIONS: &str = r#"
    export CLAUDE_CONFIG_DIR=$PWD/claude
    file() { echo $CLAUDE_CONFIG_DIR/projects/$(echo $PWD | sed 's,[^A-Za-z0-9],-,g')/$1.jsonl; }
    rec() { mkdir -p $(dirname $(file $1)); p=null; [ "$3" = - ] || p="\"$3\""; printf '{"parentUuid":%s,"uuid":"%s","sessionId":"%s","type":"user","message":{"role":"user","content":"%s"},"timestamp":"2026-01-06T14:55:%02d.000Z","cwd":"%s"}\n' $p $2 $1 "$4" $((${#2} % 60)) $PWD >>$(file $1); }
    say() { rm -f $(file $1); for i in $(seq $2); do rec $1 $1-$i - "text $i $3"; done; sleep 0.05; }
    hook() { printf '{"session_id":"%s","transcript_path":"%s","hook_event_name":"Stop"}' $1 ${2:-$(file $1)} | git-trace hook claude-code --wait; }
    told() { say $1 $2 "$3"; hook $1 >/dev/null 2>&1; }
    traces() { git for-each-ref --format='%(refname:lstrip=3)' refs/traces | tr '\n' ' '; echo; }
    clones() { git init -q --bare hub; for c in a b; do git init -q $c; git -C $c commit -q --allow-empty -m x; git -C $c remote add origin ../hub; done; }
"#;

fn recorded(script: &str) -> String {
    sh(&format!("{SESSIONS}\n{script}"))
}

#[test]
fn what_a_person_deleted_stays_deleted_if_a_colleague_calls_it_rewound() {
    let said = recorded(
        r"clones; cd a; rec s u1 - one; rec s u2 u1 two; rec s u3 u2 three; hook s >/dev/null; export GITTRACE_NAME=claude-code/s; git trace push -q origin claude-code/s; git -C ../b trace pull -q 2>/dev/null
        git trace delete '#2' >/dev/null; sleep 1.1; cd ../b; git trace delete '#2' --reason rewound >/dev/null; git trace push -q origin claude-code/s; cd ../a; git trace pull >/dev/null
        rec s u4 u1 four; hook s; rec s u5 u3 five; hook s; git trace materialize --format text | grep -c three; git trace materialize --format text | grep -c two",
    );
    assert_eq!(said, "0\n1\n");
}

#[test]
fn what_a_remote_decides_about_a_recording_is_listed_without_an_operation_log() {
    let said = recorded(
        r"clones; cd a; rec s u1 - one; rec s u2 u1 two; hook s >/dev/null; git trace commit -qm kestrel --trace other; printf kestrel | git trace purge --text - -y >/dev/null 2>&1; export GITTRACE_NAME=claude-code/s; git trace push -q origin claude-code/s
        cd ../b; git trace pull -q 2>/dev/null; git trace delete '#1' >/dev/null; git trace revert $(git rev-parse refs/traces/claude-code/s) >/dev/null; git trace push -q origin claude-code/s; cd ../a; git trace pull | tail -1; git trace branch -m claude-code/s feature >/dev/null; unset GITTRACE_NAME; git trace push -q origin feature
        cd ../b; git trace pull -q 2>/dev/null; export GITTRACE_NAME=feature; git trace delete '#1' >/dev/null; git trace revert $(git rev-parse refs/traces/feature) >/dev/null; git trace push -q origin feature; cd ../a; git trace pull origin feature | tail -1",
    );
    let changed = "changed and changed back by the pull: #1\n";
    assert_eq!(said, format!("claude-code/s: {changed}feature: {changed}"));
}

#[test]
fn items_that_nobody_changed_are_not_listed_as_changed() {
    let said = recorded(
        r"clones; cd a; rec s u0 - text0; rec s u1 u0 text1; rec s u2 u1 text2; hook s >/dev/null; export GITTRACE_NAME=claude-code/s; git trace push -q origin claude-code/s; cd ../b; git trace pull -q 2>/dev/null
        git trace pin '#1' >/dev/null; git trace push -q origin claude-code/s; cd ../a; git trace pin '#1' >/dev/null; git trace pull | grep 'the pull'; git trace push -q origin claude-code/s
        cd ../b; git trace pull -q 2>/dev/null; git trace switch -q -c feature claude-code/s; unset GITTRACE_NAME; git trace --trace feature edit '#0' -m One >/dev/null; cd ../a; rec s u3 u2 text3; hook s >/dev/null; git trace push -q origin claude-code/s
        cd ../b; git trace pull -q 2>/dev/null; git trace merge claude-code/s >/dev/null; git trace switch -q claude-code/s; git trace merge feature >/dev/null; git trace push -q origin claude-code/s; cd ../a; git trace pull | grep 'the pull'",
    );
    assert_eq!(said, "claude-code/s: edited by the pull: #0\n");
}

#[test]
fn a_mark_for_a_session_without_marks_is_listed() {
    let said = recorded(
        r#"gen() { printf '{"sessionId":"11111111-2222-3333-4444-555555555555","projectHash":"ab","startTime":"2026-01-06T14:55:00.000Z","lastUpdated":"2026-01-06T14:55:00.000Z","messages":['; for i in $(seq $1); do [ $i = 1 ] || printf ,; printf '{"id":"m%s","timestamp":"2026-01-06T14:55:00.000Z","type":"user","content":"text %s"}' $i $i; done; printf ']}'; }
        clones; cd a; gen 3 >../s.json; printf '{"session_id":"11111111-2222-3333-4444-555555555555","transcript_path":"%s","hook_event_name":"AfterAgent"}' $PWD/../s.json | git-trace hook gemini-cli --wait >/dev/null; T=$(git for-each-ref --format='%(refname:lstrip=2)' refs/traces); git trace push -q origin $T; cd ../b; git trace pull -q 2>/dev/null; R=refs/traces/$T
        { printf 'Gemini CLI session\n\nTrace-Op: export\n'; git log -1 --format=%B $R | grep -E '^Trace-(Total|Tree|Next|Family|Counted|Time): '; echo 'Trace-Source: 11111111-2222-3333-4444-555555555555 10 0123456789abcdef0123456789abcdef as-seen'; } >m
        git push -q origin $(git commit-tree -p $R -F m $R^{tree}):$R; cd ../a; git trace pull | grep -c 'recorded otherwise'"#,
    );
    assert_eq!(said, "1\n");
}

#[test]
fn a_new_worktree_records_nothing_from_before_it_was_added() {
    let said = recorded(
        r"git init -q a; cd a; git commit -q --allow-empty -m x; told first 2; git worktree add -q ../w; cd ../w; told gone 3; git trace branch -D claude-code/gone >/dev/null 2>&1; cd ../a; git worktree remove ../w; git worktree add -q ../w w; cd ../w; told new 2; traces
        cd ../a; mkdir ../v; cd ../v; say client 3; cd ../a; rm -r ../v; git worktree add -q ../v; cd ../v; say killed 2; told new2 2; told new2 3; traces",
    );
    assert_eq!(said, "first new \nfirst killed new new2 \n");
}

#[test]
fn each_worktree_is_asked_whether_it_records() {
    let said = recorded(
        r"for how in branch env; do git init -q a; cd a; git commit -q --allow-empty -m x; git worktree add -q ../b; told s 2; (cd ../b; told t 2; say killed 3)
        if [ $how = branch ]; then git config -f ../off trace.record false; git config includeIf.onbranch:private/.path $PWD/../off; git switch -qc private/x; told secret 2; else GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=trace.record GIT_CONFIG_VALUE_0=false told secret 2; fi
        cd ../b; told t 3; told t 4; traces; cd ..; rm -rf a b claude; done
        git init -q a; cd a; git commit -q --allow-empty -m x; git worktree add -q ../b; told s 2; (cd ../b; told t 2); git sparse-checkout init --cone; git config trace.record false; (cd ../b; say unwanted 3); told s2 2; git config trace.record true; cd ../b; told t 3; told t 4; traces",
    );
    assert_eq!(said, "killed s t \nkilled s t \ns t \n");
}

#[test]
fn sessions_that_a_setting_refuses_stop_no_other() {
    let said = recorded(
        r"git init -q a; cd a; git commit -q --allow-empty -m x; git config trace.secrets refuse; git config trace.record true; told first 2; say killed 2; for i in 1 2 3 4 5 6 7 8; do say bad$i 2 'key AKIAIOSFODNN7EXAMPLQ'; hook bad$i >/dev/null 2>&1; done
        for i in 3 4 5; do told first $i; done; traces; say first 6; hook first",
    );
    assert_eq!(said, "first killed \n");
}

#[test]
fn turns_that_a_session_brings_back_keep_their_order_after_a_renumbering() {
    let said = recorded(
        r"git init -q a; cd a; git commit -q --allow-empty -m x; p=-; for i in 1 2 3 4 5 6; do rec s u$i $p text$i; p=u$i; done; hook s >/dev/null; p=u1; for i in 7 8; do rec s u$i $p text$i; p=u$i; done; hook s; git trace --trace claude-code/s gc --renumber >/dev/null 2>&1
        rec s u9 u6 text9; hook s; git trace materialize claude-code/s --format text | grep -o 'text[0-9]' | tr '\n' ' '",
    );
    assert_eq!(said, "text1 text2 text3 text4 text5 text6 text9 ");
}

/// A real session with signed reasoning.
const THINKING: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts/claude-code/small-thinking-tools.jsonl");

#[test]
fn two_recordings_of_one_session_merge_without_a_loss() {
    let said = recorded(&format!(
        r#"clones; for c in a b; do git -C $c config trace.contextRemote origin; done; T=claude-code/488c5296-fc78-4fdf-8cfd-f1cae9454bd0; count() {{ git -C $1 trace materialize $T --format anthropic 2>/dev/null | grep -o '"type":"thinking"' | wc -l; }}
        head -n 14 '{THINKING}' >s.jsonl; git -C a trace import $PWD/s.jsonl >/dev/null; git -C a trace push -q origin '*'; git -C b trace pull -q 2>/dev/null; cp '{THINKING}' s.jsonl; for c in a b; do git -C $c trace import $PWD/s.jsonl >/dev/null; done; git -C a trace push -q origin '*'; git -C b trace pull | grep 'the pull'; count a; count b
        git -C b trace push -q origin '*'; git -C a trace pull -q; git -C a trace commit -qm 'a note' --trace $T; git -C a trace push -q origin '*'; git -C b trace pull -q; git -C b trace commit -qm other --trace $T; git -C b trace pull -q; count b"#
    ));
    assert_eq!(said, "6\n6\n6\n");
    let said = recorded(&format!(
        r#"clones; for c in a b; do git -C $c config trace.contextRemote origin; done; git -C b config trace.encoding cl100k_base; for c in a b; do git -C $c trace import '{THINKING}' >/dev/null; done; git -C a trace push -q origin '*'; git -C b trace pull >/dev/null; echo "exit $?""#
    ));
    assert_eq!(said, "exit 0\n");
}

#[test]
fn reasoning_before_a_note_of_others_is_still_signed() {
    let said = recorded(&format!(
        r#"clones; for c in a b; do git -C $c config trace.contextRemote origin; done; T=claude-code/488c5296-fc78-4fdf-8cfd-f1cae9454bd0; count() {{ git -C $1 trace materialize $T --format anthropic 2>/dev/null | grep -o '"type":"thinking"' | wc -l; }}
        head -n 14 '{THINKING}' >s.jsonl; git -C a trace import $PWD/s.jsonl >/dev/null; git -C a trace push -q origin '*'; git -C b trace pull -q 2>/dev/null; git -C b trace commit -qm 'a note' --trace $T; git -C b trace push -q origin '*'; count a; cp '{THINKING}' s.jsonl; git -C a trace import $PWD/s.jsonl >/dev/null; git -C a trace pull -q 2>/dev/null; count a"#
    ));
    // The last one before the note was the end of the session, so it was not sent alone.
    assert_eq!(said, "2\n3\n");
}

#[test]
fn what_one_of_two_recordings_compacted_stays_compacted() {
    let session = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts/claude-code/compact-boundary.jsonl");
    let said = recorded(&format!(
        r#"clones; for c in a b; do git -C $c config trace.contextRemote origin; done; N=$(grep -n compact_boundary '{session}' | head -1 | cut -d: -f1); head -n $((N-1)) '{session}' >s.jsonl; git -C a trace import $PWD/s.jsonl >/dev/null; T=$(git -C a for-each-ref --format='%(refname:lstrip=2)' refs/traces); cp '{session}' s.jsonl; git -C b trace import $PWD/s.jsonl >/dev/null
        lines() {{ git -C $1 trace materialize $T --format text 2>/dev/null | cksum; }}; git -C b trace push -q origin '*'; git -C a trace pull -q 2>/dev/null; [ "$(lines a)" = "$(lines b)" ] && echo equal; git -C a trace import $PWD/s.jsonl >/dev/null; git -C a trace push -q origin '*'; git -C b trace pull -q; [ "$(lines a)" = "$(lines b)" ] && echo equal"#
    ));
    assert_eq!(said, "equal\nequal\n");
}

#[test]
fn an_undo_during_an_import_stays_undone() {
    let said = sh(r#"
        git init -q a; cd a; for i in 0 1 2; do git trace commit -qm text$i; done; git trace delete '#1' >/dev/null; mkfifo ../p; git trace import jsonl - <../p >/dev/null & exec 3>../p; echo '{"text":"first"}' >&3; sleep 1; git trace undo >/dev/null; echo '{"text":"second"}' >&3; exec 3>&-; wait; git trace materialize --format text | grep -c text1; git trace materialize --format text | grep -c second
    "#);
    assert_eq!(said, "1\n1\n");
}

#[test]
fn an_item_that_is_pinned_while_a_model_compresses_stays() {
    let said = sh(r#"
        git init -q a; cd a; git config trace.compressor 'touch ../go; while [ ! -e ../pinned ]; do sleep 0.02; done; echo SUMMARY'; for i in 0 1 2 3; do git trace commit -qm "text $i with some more words"; done; git trace compress '#0..#2' >/dev/null 2>&1 & while [ ! -e ../go ]; do sleep 0.02; done; git trace pin '#1' >/dev/null; touch ../pinned; wait; git trace materialize --format text | grep -c 'text 1'
    "#);
    assert_eq!(said, "1\n");
}

#[test]
fn priorities_of_compressed_items_are_shared() {
    let said = recorded(
        r#"clones; a() { git -C a trace "$@" >/dev/null; }; a commit -m 'X one'; a commit -m two; a skip '#0'; a push origin; git -C b trace pull -q; a unpin '#0'; a compress '#0..#1' -m sum; a push origin; git -C b trace pull | grep -c 'skip'; git -C b trace expand '#0' >/dev/null; git -C b trace materialize --format text | grep -c 'X one'"#,
    );
    assert_eq!(said, "1\n1\n");
}

#[test]
fn subjects_that_repeat_a_purged_summary_go_in_all_clones() {
    for how in ["expand '#1'", "revert refs/traces/main"] {
        let said = recorded(&format!(
            r"{COUNT}; clones; cd a; for t in base one two; do git trace commit -qm $t; done; git trace compress '#1..#2' -m 'the key is kestrel' >/dev/null; S=$(git log -1 --format='%(trailers:key=Trace-Item,valueonly)' refs/traces/main); git trace push -q origin; cd ../b; git trace pull -q; git trace {how} >/dev/null
            cd ../a; git trace purge $S -y --push origin >/dev/null 2>&1; cd ../b; git trace pull >/dev/null 2>&1; git trace push -q origin; cd ../a; git trace pull >/dev/null 2>&1; cd ..; count a kestrel; git -C hub log --format=%s refs/traces/main | grep -c kestrel; git -C b log --format=%s refs/traces/main | grep -c kestrel"
        ));
        assert_eq!(said, "0\n0\n0\n", "{how}");
        let said = recorded(&format!(
            r"{COUNT}; clones; cd a; git trace commit -qm base; git trace branch feature >/dev/null; git trace commit -qm moved; git trace switch -q feature; git trace commit -qm one; git trace commit -qm two; git trace compress '#1..#2' -m 'the key is kestrel' >/dev/null; S=$(git log -1 --format='%(trailers:key=Trace-Item,valueonly)' refs/traces/feature)
            git trace {} >/dev/null; git trace rebase main >/dev/null; git trace push -q origin; cd ../b; git trace pull -q; git trace purge $S -y >/dev/null 2>&1; echo $?; cd ..; count b kestrel",
            how.replace("refs/traces/main", "refs/traces/feature")
        ));
        assert_eq!(said, "0\n0\n", "{how}");
    }
}

#[test]
fn the_hook_of_an_archived_session_keeps_nothing_purged() {
    let said = recorded(&format!(
        r#"{COUNT}; git init -q --bare cold; git init -q r; cd r; git commit -q --allow-empty -m i; git config trace.record true; git remote add cold ../cold; for i in $(seq 25); do rec s u$i - "text $i about notarization"; done; hook s >/dev/null; git trace branch two claude-code/s >/dev/null; git trace switch -q two; git trace archive cold claude-code/s >/dev/null
        printf notarization | git trace purge --text - --yes >/dev/null 2>&1; rec s u26 - more; hook s >/dev/null 2>&1; count . notarization; git for-each-ref --format='%(refname)' refs/trace-remotes; grep -c 'writing to the object database' .git/trace/hook.log; grep -c 'contains content that was purged' .git/trace/hook.log"#
    ));
    assert_eq!(said, "0\n0\n1\n");
}

#[test]
fn a_merge_keeps_what_was_restored_after_the_other_side_had_taken_the_removal_over() {
    let said = recorded(
        r"git init -q r; cd r; rec s u0 - text0; for i in 1 2 3 4 5; do rec s u$i u$((i-1)) text$i; done; hook s >/dev/null; T=claude-code/s; git trace switch -q $T; git trace branch exp >/dev/null; git trace commit --trace exp -qm note; git trace compress '#1..#3' -m 'a summary' >/dev/null; git trace --trace exp merge $T >/dev/null; git trace expand '#1' >/dev/null; git trace merge exp >/dev/null
        git trace materialize --format text | grep -c -e text -e note; git trace --trace exp merge $T >/dev/null; git trace materialize exp --format text | grep -c -e text -e note",
    );
    assert_eq!(said, "7\n7\n");
}

#[test]
fn a_pull_of_a_purged_line_renames_the_file_of_the_archive() {
    let said = recorded(
        r"clones; cd a; git trace crumb new ada.crumb --identity ADA >/dev/null; for i in 1 2 3 4; do git trace crumb start ada.crumb; git trace crumb note ada.crumb 'note '$i' about quokka number '$i' and more words'; done >/dev/null; for i in $(seq 7 22); do git trace crumb start ada.crumb >/dev/null; done; git trace crumb compress ada.crumb >/dev/null; git add .; git commit -qm compressed; R=refs/crumb-archive/ADA; git trace push -q origin $R; git push -q origin HEAD
        cd ../b; git pull -q origin HEAD --rebase 2>/dev/null; git trace pull -q origin $R 2>/dev/null; cd ../a; printf 'quokka number 2' | git trace purge --text - --yes --push origin >/dev/null 2>&1; cd ../b; git trace pull -q origin $R 2>/dev/null; git trace push -q origin $R; for c in a b hub; do git -C ../$c ls-tree -r --name-only $R; done | sort -u | wc -l",
    );
    assert_eq!(said, "1\n");
}

#[test]
fn a_recording_that_is_ahead_keeps_its_signatures_in_either_order() {
    let compacted =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts/claude-code/compact-boundary.jsonl");
    let said = recorded(&format!(
        r#"count() {{ git -C $1 trace materialize $T --format anthropic 2>/dev/null | grep -o '"type":"thinking"' | wc -l; }}; push() {{ git -C $1 trace push -q origin '*'; }}; pull() {{ git -C $1 trace pull -q 2>/dev/null; }}; import() {{ git -C $1 trace import $PWD/s.jsonl >/dev/null 2>&1; }}
        clones; for c in a b; do git -C $c config trace.contextRemote origin; done; T=claude-code/488c5296-fc78-4fdf-8cfd-f1cae9454bd0; head -n 6 '{THINKING}' >s.jsonl; import a; push a; pull b; head -n 14 '{THINKING}' >s.jsonl; import b; push b; head -n 20 '{THINKING}' >s.jsonl; import a; count a; pull a; count a; cp '{THINKING}' s.jsonl; import a; count a; rm -rf hub a b
        for how in plain counted; do clones; for c in a b; do git -C $c config trace.contextRemote origin; done; [ $how = plain ] || git -C b config trace.encoding cl100k_base; T=claude-code/198393f2-22db-477b-ac77-1825bea883ae; head -n $(($(grep -n compact_boundary '{compacted}' | head -1 | cut -d: -f1) - 1)) '{compacted}' >s.jsonl; import a; cp '{compacted}' s.jsonl; import b; count b; push a; pull b; count b; push b; pull a; count a; for c in a b; do git -C $c ls-tree -r --name-only refs/traces/$T | wc -l; done; rm -rf hub a b; done"#
    ));
    assert_eq!(said, "4\n4\n6\n6\n6\n6\n23\n23\n6\n6\n6\n23\n23\n");
}

#[test]
fn a_turn_that_the_session_took_up_again_stays_in_both_recordings() {
    let said = recorded(
        r"clones; for c in a b; do git -C $c config user.name $c; git -C $c config trace.contextRemote origin; done; show() { git trace materialize claude-code/s --format text | grep -o 'text[0-9]' | tr '\n' ' '; echo; }; export GIT_AUTHOR_NAME=a GIT_COMMITTER_NAME=a; cd a; rec s u1 - text1; rec s u2 u1 text2; rec s u3 u2 text3; hook s >/dev/null; git trace push -q origin '*'; git -C ../b trace pull -q 2>/dev/null; rec s u4 u1 text4; git trace import $(file s) >/dev/null 2>&1; show; rec s u5 u3 text5; F=$(file s)
        export GIT_AUTHOR_NAME=b GIT_COMMITTER_NAME=b; cd ../b; git trace import $F >/dev/null 2>&1; show; git trace push -q origin '*'; cd ../a; git trace pull -q; show; rec s u6 u5 text6; hook s; show",
    );
    assert_eq!(
        said,
        "text1 text4 \ntext1 text2 text3 text5 \ntext1 text2 text3 text5 \ntext1 text2 text3 text5 text6 \n"
    );
}

#[test]
fn a_deletion_that_was_taken_back_by_a_pick_is_none_of_a_person() {
    let said = recorded(
        r"git init -q r; cd r; rec s u1 - text1; rec s u2 u1 text2; rec s u3 u2 text3; hook s >/dev/null; export GITTRACE_NAME=claude-code/s; git trace branch copy >/dev/null; I=$(git ls-tree -r --name-only refs/traces/copy | tail -1 | sed 's/.*-//'); git trace delete '#2' >/dev/null; git trace cherry-pick copy $I >/dev/null; rec s u4 u1 text4; hook s; rec s u7 u3 text7; hook s; git trace materialize --format text | grep -o 'text[0-9]' | tr '\n' ' '",
    );
    assert_eq!(said, "text1 text2 text3 text7 ");
}

#[test]
fn a_deletion_still_shows_after_a_restoration_or_a_renumbering() {
    let said = recorded(&format!(
        r#"count() {{ git trace materialize $T --format anthropic 2>/dev/null | grep -o '"type":"thinking"' | wc -l; }}; T=claude-code/488c5296-fc78-4fdf-8cfd-f1cae9454bd0
        git init -q a; cd a; git trace import '{THINKING}' >/dev/null 2>&1; export GITTRACE_NAME=$T; git trace delete '#4' >/dev/null; count; git trace restore $(git log --format='%(trailers:key=Trace-Item,valueonly)' --grep 'Trace-Reason: title' refs/traces/$T | grep . | head -1) >/dev/null; count
        cd ..; git init -q b; cd b; grep -v '"type":"summary"' '{THINKING}' >../all.jsonl; head -n 9 ../all.jsonl >../s.jsonl; git trace import $PWD/../s.jsonl >/dev/null 2>&1; N=$(git ls-tree -r --name-only refs/traces/$T | tail -1 | sed 's/.*-//'); git trace delete $N >/dev/null; git trace gc --renumber >/dev/null 2>&1; B=$(count); cp ../all.jsonl ../s.jsonl; git trace import $PWD/../s.jsonl >/dev/null 2>&1; [ $(count) = $B ] && echo same"#
    ));
    assert_eq!(said, "0\n0\nsame\n");
}

#[test]
fn summaries_that_replaced_other_items_are_one_record() {
    let compacted =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts/claude-code/compact-boundary.jsonl");
    let said = recorded(&format!(
        r"clones; for c in a b; do git -C $c config user.name $c; git -C $c config trace.contextRemote origin; done; T=claude-code/198393f2-22db-477b-ac77-1825bea883ae; head -n $(($(grep -n compact_boundary '{compacted}' | head -1 | cut -d: -f1) - 1)) '{compacted}' >s.jsonl; git -C a trace import $PWD/s.jsonl >/dev/null 2>&1; git -C a trace push -q origin '*'; git -C b trace pull -q 2>/dev/null; git -C a trace delete '#4' --trace $T >/dev/null; cp '{compacted}' s.jsonl; for c in a b; do git -C $c trace import $PWD/s.jsonl >/dev/null 2>&1; done; git -C a trace push -q origin '*'; git -C b trace pull >/dev/null; echo $?"
    ));
    assert_eq!(said, "0\n");
}

#[test]
fn a_batch_goes_on_after_a_purge() {
    let said = recorded(
        r#"git init -q a; cd a; (echo '{"text":"one"}'; while [ ! -e ../go ]; do sleep 0.02; done; echo '{"text":"two","priority":"pinned"}') | git trace commit --batch >../out & while ! git trace materialize >/dev/null 2>&1; do sleep 0.05; done; git trace commit -qm kestrel --trace other; printf kestrel | git trace purge --text - -y >/dev/null 2>&1; touch ../go; wait; grep -c '"commit"' ../out; git trace status --json | grep -o '"pinned":[0-9]*'"#,
    );
    assert_eq!(said, "2\n\"pinned\":1\n");
}

#[test]
fn a_purge_while_a_model_compresses_is_named() {
    let said = recorded(
        r"git init -q a; cd a; git config trace.compressor 'touch ../go; while [ ! -e ../purged ]; do sleep 0.02; done; echo SUMMARY'; for i in 0 1 2 3; do git trace commit -qm 'text '$i' with the kestrel'; done; git trace compress '#0..#2' 2>../out >/dev/null & while [ ! -e ../go ]; do sleep 0.02; done; printf kestrel | git trace purge --text - -y >/dev/null 2>&1; touch ../purged; wait; grep -c 'was purged while' ../out",
    );
    assert_eq!(said, "1\n");
}

#[test]
fn a_turn_that_the_session_left_again_stays_away_in_both_recordings() {
    for behind in ["", "behind"] {
        let said = recorded(&format!(
            r"clones; for c in a b; do git -C $c config trace.contextRemote origin; done; show() {{ git -C $1 trace materialize claude-code/s --format text 2>/dev/null | grep -o 'text[0-9]' | tr '\n' ' '; echo; }}; read() {{ GIT_AUTHOR_NAME=$1 GIT_COMMITTER_NAME=$1 git -C $1 trace import $(file s) >/dev/null 2>&1; }}
            rec s u0 - text0; rec s u1 u0 text1; read a; git -C a trace push -q origin '*'; git -C b trace pull -q 2>/dev/null; rec s u2 u0 text2; rec s u3 u1 text3; [ '{behind}' ] || rec s u4 u0 text4; read b; [ -z '{behind}' ] || rec s u4 u0 text4; read a
            git -C a trace push -q origin '*'; git -C b trace pull -q; git -C b trace push -q origin '*'; git -C a trace pull -q; show a; show b"
        ));
        assert_eq!(said, "text0 text4 \ntext0 text4 \n", "{behind}");
    }
}
