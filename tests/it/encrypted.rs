//! Secrets that are encrypted with age, so that they may be committed.

#![cfg(feature = "age")]

use age::secrecy::ExposeSecret as _;

use crate::playground::{Playground, STORE};

const SECRET_STORE: &str = ".synapse/breadcrumbs-secret.jsonl";

/// Makes the identity of a person in a file, and adds the person to the recipients.
fn recipient(place: &Playground, name: &str) {
    let identity = age::x25519::Identity::generate();
    place.write(&format!("../{name}.txt"), format!("# {name}\n{}\n", identity.to_string().expose_secret()));
    place.git(&["config", "--add", "trace.ageRecipient", &identity.to_public().to_string()]);
}

fn as_person(place: &Playground, name: &str) {
    let path = place.root().join(format!("{name}.txt"));
    place.git(&["config", "trace.ageIdentity", path.to_str().unwrap()]);
}

#[test]
fn a_secret_is_encrypted_for_all_recipients_and_committed() {
    let place = Playground::installed();
    recipient(&place, "ada");
    recipient(&place, "bob");
    assert_eq!(place.trace(&["breadcrumb", "set", "secret.token", "t0p"]), "secret.token = (secret)\n");
    let text = place.read(STORE);
    assert!(text.contains("-----BEGIN AGE ENCRYPTED FILE-----") && !text.contains("t0p"), "{text}");
    assert!(!place.at.join(SECRET_STORE).exists());
    insta::assert_snapshot!(place.trace(&["breadcrumb", "get", "secret.token"]), @"
    --- stderr
    error: cannot decrypt `secret.token`: `trace.ageIdentity` is not set
    hint: set the file with your identity, which `age-keygen` makes: git config --global trace.ageIdentity '~/.age/key.txt'
    [exit 2]
    ");
    for person in ["ada", "bob"] {
        as_person(&place, person);
        assert_eq!(place.ok(&["breadcrumb", "get", "secret.token"]), "t0p\n", "{person}");
    }
    assert!(place.ok(&["breadcrumb", "get", "secret.token", "--json"]).contains("\"value\": \"t0p\""));
    // Lists and exports do not decrypt.
    assert!(place.ok(&["breadcrumb", "list"]).contains("(secret)"));
    for args in [&["list", "--json"][..], &["export", "--secrets"]] {
        let answer = place.ok(&[&["breadcrumb"], args].concat());
        assert!(answer.contains("AGE ENCRYPTED") && !answer.contains("t0p"), "{answer}");
    }
    assert_eq!(place.ok(&["breadcrumb", "export"]), "[]\n");
    place.commit("a secret");
    assert_eq!(place.trace(&["check", "HEAD"]), "--- stderr\nfiles checked: 1, errors: 0, warnings: 0\n");
    assert!(place.trace(&["breadcrumb", "history", "secret.token"]).contains("(secret)"));
}

#[test]
fn a_ciphertext_under_another_key_is_not_decrypted() {
    let place = Playground::installed();
    recipient(&place, "ada");
    as_person(&place, "ada");
    place.ok(&["breadcrumb", "set", "secret.token", "t0p"]);
    let moved = place.read(STORE).replace("secret.token", "api.base_url");
    place.write(STORE, moved);
    let answer = place.ok(&["breadcrumb", "get", "api.base_url"]);
    assert!(answer.contains("AGE ENCRYPTED") && !answer.contains("t0p"), "{answer}");
}

#[test]
fn a_ciphertext_stays_until_its_value_is_set_again_and_merges_by_key() {
    let place = Playground::installed();
    recipient(&place, "ada");
    as_person(&place, "ada");
    place.ok(&["breadcrumb", "set", "secret.a", "1"]);
    place.ok(&["breadcrumb", "set", "secret.b", "1"]);
    place.commit("base");
    let line = |key: &str| {
        let start = format!("{{\"key\":\"{key}\"");
        place.read(STORE).lines().find(|line| line.starts_with(&start)).unwrap_or_default().to_owned()
    };
    let b = line("secret.b");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.ok(&["breadcrumb", "set", "secret.a", "theirs"]);
    assert_eq!(line("secret.b"), b);
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    place.ok(&["breadcrumb", "set", "secret.c", "ours"]);
    place.ok(&["breadcrumb", "migrate", "--from", "1.0", "--to", "2.0"]);
    place.commit("ours");
    place.git(&["merge", "-q", "side"]);
    for (key, value) in [("secret.a", "theirs\n"), ("secret.b", "1\n"), ("secret.c", "ours\n")] {
        assert_eq!(place.ok(&["breadcrumb", "get", key]), value);
    }
    assert_eq!(line("secret.b"), b);
    // Renamed and imported as it is.
    place.ok(&["breadcrumb", "rename", "secret.b", "secret.d"]);
    let value = |line: &str| line.split("\"value\":").nth(1).unwrap().split(',').next().unwrap().to_owned();
    assert_eq!(value(&line("secret.d")), value(&b));
    let exported = place.ok(&["breadcrumb", "export", "--secrets", "--format", "jsonl"]);
    place.ok(&["breadcrumb", "delete", "secret.d", "--confirm"]);
    place.trace_with(&["breadcrumb", "import"], &exported);
    assert_eq!(value(&line("secret.d")), value(&b));
    assert!(!place.at.join(SECRET_STORE).exists());
    insta::assert_snapshot!(place.trace(&["breadcrumb", "rename", "secret.d", "api.d"]), @"
    --- stderr
    error: cannot rename `secret.d` to `api.d`: the value would leave the file that git ignores
    [exit 2]
    ");
}

#[test]
fn a_secret_moves_when_recipients_are_added_or_removed() {
    let place = Playground::new();
    place.ok(&["breadcrumb", "set", "secret.token", "plain"]);
    recipient(&place, "ada");
    as_person(&place, "ada");
    assert_eq!(place.ok(&["breadcrumb", "get", "secret.token"]), "plain\n");
    place.ok(&["breadcrumb", "set", "secret.token", "t0p", "--task-id", "7"]);
    assert_eq!(place.ok(&["breadcrumb", "get", "secret.token"]), "t0p\n");
    assert_eq!(place.read(SECRET_STORE), "");
    let created = |text: &str| text.split("created_at").nth(1).unwrap()[..40].to_owned();
    let before = created(&place.read(STORE));
    place.git(&["config", "--unset-all", "trace.ageRecipient"]);
    place.ok(&["breadcrumb", "set", "secret.token", "plain again"]);
    assert_eq!((place.read(STORE).as_str(), created(&place.read(SECRET_STORE))), ("", before));
    assert_eq!(place.ok(&["breadcrumb", "get", "secret.token"]), "plain again\n");
}

#[test]
fn keys_that_are_missing_wrong_or_damaged_are_said() {
    let place = Playground::new();
    recipient(&place, "ada");
    place.ok(&["breadcrumb", "set", "secret.token", "t0p"]);
    let get = |identity: &str| {
        place.git(&["config", "trace.ageIdentity", identity]);
        place.trace(&["breadcrumb", "get", "secret.token"]).replace(place.root().to_str().unwrap(), "[ROOT]")
    };
    place.git(&["config", "--unset-all", "trace.ageRecipient"]);
    recipient(&place, "eve");
    let eve = place.root().join("eve.txt");
    insta::assert_snapshot!(get(eve.to_str().unwrap()), @"
    --- stderr
    error: cannot decrypt `secret.token` with `[ROOT]/eve.txt`: No matching keys found
    hint: somebody who can read it adds you to `trace.ageRecipient` and sets it again
    [exit 2]
    ");
    insta::assert_snapshot!(get("gone.txt"), @"
    --- stderr
    error: cannot decrypt `secret.token`: cannot read the identities of age in `[ROOT]/repo/gone.txt`: No such file or directory (os error 2)
    hint: set `trace.ageIdentity` to a file that `age-keygen -o FILE` wrote
    [exit 2]
    ");
    place.write("notes.txt", "not a key\n");
    insta::assert_snapshot!(get("notes.txt"), @"
    --- stderr
    error: cannot decrypt `secret.token`: cannot read the identities of age in `[ROOT]/repo/notes.txt`: it has no identities without a passphrase
    hint: set `trace.ageIdentity` to a file that `age-keygen -o FILE` wrote
    [exit 2]
    ");
    place.git(&["config", "--add", "trace.ageRecipient", "age1nonsense"]);
    insta::assert_snapshot!(place.trace(&["breadcrumb", "set", "secret.token", "t0p"]), @"
    --- stderr
    error: cannot encrypt `secret.token`: `trace.ageRecipient` is `age1nonsense`, which is not a recipient of age: invalid Bech32 encoding
    hint: `age-keygen -y KEYFILE` prints the recipient of an identity, `age1...`
    [exit 2]
    ");
    assert!(place.ok(&["breadcrumb", "list", "--json"]).contains("AGE ENCRYPTED"), "the old value stays");
}
