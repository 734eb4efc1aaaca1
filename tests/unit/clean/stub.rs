use super::end_of_path;

#[test]
fn a_long_path_keeps_the_name_of_its_file() {
    for (path, end) in [
        ("src/app.go", "src/app.go"),
        ("/home/dev/workspace/cli/cmd/strategy/session_state.go 10-60", "…/session_state.go 10-60"),
        (
            "/a/a_name_of_a_file_that_is_longer_than_all_of_this.rs",
            "…/a_name_of_a_file_that_is_longer_than_all_of_this.rs",
        ),
        (
            "https://example.com/a/long/address/of/a/page/that/is/read",
            "https://example.com/a/long/address/of/a/page/that/is/read",
        ),
        (
            "a pattern without a slash, which has more than 24 characters",
            "a pattern without a slash, which has more than 24 characters",
        ),
    ] {
        assert_eq!(end_of_path(path), end);
    }
}
