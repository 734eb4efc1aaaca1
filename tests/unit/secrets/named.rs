//! Tests of the private parts of `src/secrets/named.rs`.

use crate::secrets::find;

const RANDOM: &str = "q8Zr2LpX0vTn5KdW7yBs";

fn told(text: &str) -> Vec<&str> {
    find(text.as_bytes()).into_iter().map(|secret| &text[secret.span]).collect()
}

#[test]
fn random_values_are_told_by_what_names_them() {
    for text in [
        "API_KEY=@",
        "api-key: '@'",
        "{\"client_secret\": \"@\"}",
        "{\\\"token\\\":\\\"@\\\"}",
        "dbPassword := \"@\"",
        "Authorization: Bearer @",
        "{\"key\":\"auth.token\",\"value\":\"@\",\"task_id\":1}",
        "$token = @;",
        "AccountKey=@==",
    ] {
        let text = text.replace('@', RANDOM);
        let found = told(&text);
        assert_eq!(found.first().map(|value| value.trim_end_matches('=')), Some(RANDOM), "{text}");
    }
    assert_eq!(told("postgres://app:hunter2@db.internal:5432/x"), ["hunter2"]);
    assert_eq!(told("https://me:p@ssw0rd@host/"), ["p@ssw0rd"]);
}

#[test]
fn words_code_and_places_for_values_are_not() {
    for harmless in [
        "input_tokens: 12345678901234567890",
        "token = process.env.GITHUB_TOKEN_2024_PROD",
        "token: 123e4567-e89b-12d3-a456-426614174000",
        "password = get_password_from_vault2(name)",
        "secret: my-very-long-secret-name-2024-01-02",
        "API_KEY=your_q8Zr2LpX0vTn5KdW7yBs",
        "secret_path=/usr/share/secrets/v2/app/config12345",
        "https://example.com/a:b@c",
        "postgres://postgres:postgres@localhost/x",
        "https://user:${PASSWORD}@host",
        "https://user:<password>@host",
        "signature: q8Zr2LpX0vTn5KdW7yBsq8Zr2LpX0vTn5KdW7yBs",
        "tokens and secrets",
    ] {
        assert_eq!(told(harmless), [] as [&str; 0], "{harmless}");
    }
}
