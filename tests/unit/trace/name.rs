//! Names of traces and agents.

use crate::git::Repo;
use crate::trace::{AgentName, TraceName};

#[test]
fn a_trace_name_follows_the_rules_for_branches() {
    for good in ["main", "a/b", "claude-code/6b2e", "x.agent-1", "héllo"] {
        assert_eq!(good.parse::<TraceName>().unwrap().refname(), format!("refs/traces/{good}"));
    }
    for bad in ["", "-x", "a..b", "a b", "a/", "/a", "x.lock", "a\nb", "a~1", "@{x}", "HEAD", "TRACE_HEAD"] {
        assert!(bad.parse::<TraceName>().is_err(), "{bad}");
    }
}

#[test]
fn no_trace_name_leads_to_the_ref_of_an_agent() {
    for good in ["azoth", "A.b_c-9", "main", "x".repeat(64).as_str()] {
        let agent: AgentName = good.parse().unwrap();
        let name = TraceName::of_agent(&agent);
        assert_eq!(name.refname(), format!("refs/crumbs/{good}"));
        assert_eq!(name.to_string(), name.refname());
        assert_ne!(name.to_string().parse::<TraceName>(), Ok(name));
    }
    for bad in [
        "",
        "-x",
        "a/b",
        "..",
        ".",
        "a..b",
        "x.lock",
        "a b",
        "a\n",
        "a\u{200b}",
        "a\u{a0}b",
        "é".repeat(64).as_str(),
        "x".repeat(65).as_str(),
    ] {
        assert!(bad.parse::<AgentName>().is_err(), "{bad}");
    }
}

#[test]
fn names_of_agents_beyond_ascii_are_encoded_in_refs() {
    let agent = |text: &str| text.parse::<AgentName>().unwrap();
    let (composed, decomposed) = (agent("\u{c9}lodie"), agent("E\u{301}lodie"));
    assert_eq!(composed, decomposed, "both are normalized");
    assert_eq!(decomposed.as_str(), "\u{c9}lodie");
    assert_eq!(TraceName::of_agent(&composed).refname(), "refs/crumbs/%C3%89lodie");
    for name in ["Élodie", "élodie", "艾达", "ada", "SPARK.2", "नमस्ते", "🎺"] {
        let refname = TraceName::of_agent(&agent(name)).refname();
        assert!(refname.is_ascii() && Repo::is_refname(&refname), "{refname}");
        assert_eq!(AgentName::of_ref(&refname), Some(agent(name)));
    }
    for foreign in ["refs/crumbs/É", "refs/crumbs/%41da", "refs/crumbs/%c3%89", "refs/crumbs/%FF", "refs/traces/ada"] {
        assert_eq!(AgentName::of_ref(foreign), None, "{foreign}");
    }
    assert!(agent("ÉLODIE").is_alike("e\u{301}lodie") && !agent("Élodie").is_alike("Elodie"));
}

#[test]
fn any_session_id_gives_a_valid_name() {
    for session in ["../../heads/main", "", "a\nb", "x.lock", "é".repeat(500).as_str()] {
        let name = TraceName::of_session("claude-code", session);
        assert!(name.as_str().parse::<TraceName>().is_ok(), "{name}");
        assert!(name.of_sub_agent(session).as_str().parse::<TraceName>().is_ok());
    }
}

#[test]
fn different_session_ids_give_different_names() {
    let long = "a".repeat(100);
    let ids = ["x-1", "x.1", "x 1", "x/1", &long, &format!("{long}b"), &format!("{long}c"), "", " "];
    let names = ids.map(|id| TraceName::of_session("codex", id));
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len(), "{names:?}");
    assert_eq!(names[0].as_str(), "codex/x-1");
}
