//! What the name of a model tells: its context window, which is the maximum size of its context, and its provider.

/// The window of a model in tokens; `None` if the model is not in the table.
///
/// Claude: 200,000, or 1,000,000 where the agent's name for the model ends in `[1m]` (Anthropic, "Context windows"). `OpenAI` and
/// Gemini: the figures of each model's page. Names may have a date or `-preview` behind them.
pub(crate) fn window_of_model(model: &str) -> Option<u64> {
    const MODELS: [(&str, u64); 15] = [
        ("gpt-4.1", 1_047_576),
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-4.1-nano", 1_047_576),
        ("gpt-4o", 128_000),
        ("gpt-4o-mini", 128_000),
        ("gpt-5", 400_000),
        ("gpt-5-codex", 400_000),
        ("gpt-5-mini", 400_000),
        ("gpt-5-nano", 400_000),
        ("o3", 200_000),
        ("o4-mini", 200_000),
        ("gemini-2.0-flash", 1_048_576),
        ("gemini-2.5-flash", 1_048_576),
        ("gemini-2.5-flash-lite", 1_048_576),
        ("gemini-2.5-pro", 1_048_576),
    ];
    if model.starts_with("claude-") {
        return Some(if model.ends_with("[1m]") { 1_000_000 } else { 200_000 });
    }
    let is_version = |rest: &str| {
        rest.is_empty()
            || rest == "-preview"
            || rest.starts_with("-20") && rest[1..].bytes().all(|byte| b"-0123456789".contains(&byte))
    };
    let (_, window) = MODELS.iter().find(|(name, _)| model.strip_prefix(name).is_some_and(is_version))?;
    Some(*window)
}

/// The name that models.dev gives to the provider of a model, if the model's name shows it.
pub(crate) fn provider_of_model(model: &str) -> Option<&'static str> {
    const PROVIDERS: [(&str, &str); 4] =
        [("claude", "anthropic"), ("gpt-", "openai"), ("gemini-", "google"), ("qwen", "alibaba")];
    PROVIDERS.iter().find(|(start, _)| model.starts_with(start)).map(|(_, provider)| *provider)
}

#[cfg(test)]
mod tests {
    use super::window_of_model;

    #[test]
    fn the_window_follows_from_the_name_of_the_model() {
        for (model, window) in [
            ("claude-sonnet-4-5-20250929", Some(200_000)),
            ("claude-sonnet-4-5[1m]", Some(1_000_000)),
            ("gpt-5", Some(400_000)),
            ("gpt-5-2025-08-07", Some(400_000)),
            ("gpt-5-codex", Some(400_000)),
            ("gpt-5.9", None),
            ("gpt-5-huge", None),
            ("gemini-2.5-pro-preview", Some(1_048_576)),
            ("<synthetic>", None),
            ("", None),
        ] {
            assert_eq!(window_of_model(model), window, "{model}");
        }
    }
}
