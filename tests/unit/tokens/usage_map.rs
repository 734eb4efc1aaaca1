//! Tests of the private parts of `src/tokens/usage_map.rs`.

use super::*;

fn read(map: &str, payload: &str) -> Result<[u64; 4], String> {
    let reader = UsageReader(vec![UsageMap::parse("acme", map).unwrap()]);
    let usage = reader.parse(payload.as_bytes()).map_err(|error| error.to_string())?;
    Ok([usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens])
}

const FULL: &str =
    r#"{"prompt":"/s/in","output":"/s/out/0","cache_read":"/s/cached","cache_write":"/s/new","reasoning":"/s/think"}"#;

#[test]
fn pointers_find_the_figures() {
    let payload = r#"{"s":{"in":100,"out":[7],"cached":60,"new":30,"think":3}}"#;
    assert_eq!(read(FULL, payload), Ok([10, 60, 30, 10]));
    assert_eq!(read(FULL, r#"{"s":{"in":100,"out":[7],"cached":null}}"#), Ok([100, 0, 0, 7]));
    let without_cache = r#"{"input":"/in","output":"/out","cache_read":"/cached"}"#;
    assert_eq!(read(without_cache, r#"{"in":10,"out":7,"cached":60}"#), Ok([10, 60, 0, 7]));
}

#[test]
fn other_payloads_are_read_as_those_of_known_providers() {
    assert_eq!(read(FULL, r#"{"usage":{"prompt_tokens":5,"completion_tokens":1}}"#), Ok([5, 0, 0, 1]));
    let refused = [r#"{"s":{"in":"1","out":[7]}}"#, r#"{"s":{"in":1,"out":[7],"cached":2}}"#, r#"{"s":{"in":1}}"#];
    insta::assert_snapshot!(refused.map(|payload| read(FULL, payload).unwrap_err()).join("\n"), @r"
    `/s/in` is a string, which is not a number of tokens
    `cache_read and cache_write` is 2, more than the 1 of `/s/in`, which include it
    found no token usage: expected a response or its usage object from Codex CLI, Gemini CLI, Anthropic Messages, OpenAI Chat Completions, OpenAI Responses, Gemini, Bedrock Converse, Ollama
    ");
}

#[test]
fn a_text_that_is_no_map_is_refused() {
    for text in [
        "",
        "/a",
        "{}",
        r#"{"prompt":"/a"}"#,
        r#"{"prompt":"a","output":"/b"}"#,
        r#"{"prompt":"/a","input":"/a","output":"/b"}"#,
        r#"{"prompt":"/a","output":"/b","cached":"/c"}"#,
        r#"{"prompt":"/a","output":"/b","cache_read":""}"#,
    ] {
        assert!(UsageMap::parse("acme", text).is_none(), "{text}");
    }
}
