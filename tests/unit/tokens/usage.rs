//! Tests of the private parts of `src/tokens/usage.rs`.

use super::*;

/// Input, cache reads, cache writes, output.
fn parts(payload: &str) -> [u64; 4] {
    let usage = parse_usage(payload.as_bytes()).unwrap();
    assert_eq!(usage.context_tokens(), usage.prompt_tokens() + usage.output_tokens);
    [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens]
}

fn message(payload: &str) -> String {
    parse_usage(payload.as_bytes()).unwrap_err().to_string()
}

#[test]
fn each_provider_is_detected_by_its_fields() {
    for (payload, expected) in [
        (
            r#"{"type":"message","usage":{"input_tokens":21,"cache_creation_input_tokens":188,
            "cache_read_input_tokens":2051,"output_tokens":393,"service_tier":"standard"}}"#,
            [21, 2051, 188, 393],
        ),
        (
            r#"{"object":"chat.completion","usage":{"prompt_tokens":2006,"completion_tokens":300,
            "total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920}}}"#,
            [86, 1920, 0, 300],
        ),
        (
            r#"{"object":"response","usage":{"input_tokens":328,"input_tokens_details":{"cached_tokens":128},
            "output_tokens":52,"output_tokens_details":{"reasoning_tokens":40},"total_tokens":380}}"#,
            [200, 128, 0, 52],
        ),
        (
            r#"{"candidates":[],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,
            "candidatesTokenCount":7,"thoughtsTokenCount":30,"toolUsePromptTokenCount":5,"totalTokenCount":142}}"#,
            [65, 40, 0, 37],
        ),
        (
            r#"{"stopReason":"end_turn","usage":{"inputTokens":30,"outputTokens":628,"totalTokens":1758,
            "cacheReadInputTokens":1000,"cacheWriteInputTokens":100}}"#,
            [30, 1000, 100, 628],
        ),
        (
            r#"{"model":"llama","message":{"role":"assistant"},"done":true,"prompt_eval_count":26,"eval_count":298}"#,
            [26, 0, 0, 298],
        ),
    ] {
        assert_eq!(parts(payload), expected, "{payload}");
    }
}

#[test]
fn a_usage_object_without_a_response_is_accepted() {
    assert_eq!(parts(r#"{"input_tokens":1,"output_tokens":2}"#), [1, 0, 0, 2]);
    assert_eq!(parts(r#"{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":null}"#), [1, 0, 0, 2]);
    assert_eq!(parts(r#"{"promptTokenCount":1}"#), [1, 0, 0, 0]);
}

#[test]
fn a_response_may_be_wrapped() {
    assert_eq!(parts(r#"{"type":"assistant","message":{"usage":{"input_tokens":1,"output_tokens":2}}}"#), [1, 0, 0, 2]);
    assert_eq!(
        parts(
            r#"{"type":"response.completed","response":{"usage":{"input_tokens":3,
            "input_tokens_details":{"cached_tokens":1},"output_tokens":2}}}"#
        ),
        [2, 1, 0, 2]
    );
}

#[test]
fn an_unknown_payload_is_refused() {
    let accepted = "found no token usage: expected a response or its usage object from Codex CLI, Gemini CLI, Anthropic \
                    Messages, OpenAI Chat Completions, OpenAI Responses, Gemini, Bedrock Converse, Ollama";
    for payload in [
        "{}",
        "[]",
        "7",
        r#"{"usage":null}"#,
        r#"{"tokens":5}"#,
        // No provider reports cached tokens both inside and outside the input.
        r#"{"input_tokens":9,"output_tokens":1,"cache_read_input_tokens":5,"input_tokens_details":{"cached_tokens":5}}"#,
    ] {
        assert_eq!(message(payload), accepted, "{payload}");
    }
    assert_eq!(message("input_tokens: 5"), "the usage is not JSON");
}

#[test]
fn invalid_figures_are_refused() {
    for (figure, shown) in [
        ("-1", "-1"),
        ("1.5", "1.5"),
        ("2.0", "2.0"),
        ("1e3", "1000.0"),
        ("18446744073709551616", "1.8446744073709552e+19"),
        ("\"12\"", "a string"),
        ("[1]", "an array"),
        ("true", "true"),
    ] {
        let payload = format!(r#"{{"usage":{{"input_tokens":{figure},"output_tokens":2}}}}"#);
        assert_eq!(message(&payload), format!("`input_tokens` is {shown}, which is not a number of tokens"));
    }
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    assert_eq!(
        message(r#"{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":11}}"#),
        "`prompt_tokens_details.cached_tokens` is 11, more than the 10 of `prompt_tokens`, which include it"
    );
    assert_eq!(
        message(r#"{"inputTokens":18446744073709551615,"outputTokens":1}"#),
        "the figures in the usage of Bedrock Converse add up to too many tokens"
    );
    assert_eq!(message(r#"{"eval_count":1}"#), "the usage of Ollama has no `prompt_eval_count`");
}

#[test]
fn a_custom_provider_works_beside_the_others() {
    let plain = Provider {
        name: "plain",
        accepts: |fields| matches!(fields.number("tokens"), Ok(Some(_))),
        usage: |fields| {
            let output_tokens = fields.number("tokens")?.unwrap_or_default();
            Ok(TokenUsage { output_tokens, ..TokenUsage::default() })
        },
    };
    let [.., ollama] = PROVIDERS;
    let providers = [ollama, plain];
    let usage = parse_usage_of(&providers, br#"{"tokens":5}"#).unwrap();
    assert_eq!(usage.context_tokens(), 5);
    let error = parse_usage_of(&providers, b"{}").unwrap_err();
    assert!(matches!(error, UsageError::Unknown { accepted } if accepted == ["Ollama", "plain"]));
}
