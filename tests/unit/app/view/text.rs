//! Markdown on the page: `text`.

use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> String {
    render(text)
}

#[test]
fn html_in_a_text_is_text() {
    insta::assert_snapshot!(shown("<b>x</b>\n\n<div onclick=\"x\">\n*a*\n</div>"), @r#"
    <p>&lt;b&gt;x&lt;/b&gt;</p>
    <p>&lt;div onclick="x"&gt;
    *a*
    &lt;/div&gt;</p>
    "#);
}

#[test]
fn links_lead_to_the_web_and_images_are_links_to_nothing() {
    insta::assert_snapshot!(
        shown("[a](https://x.y/?q=\"<) [b](javascript:alert(1)) ![c](https://x.y/z.png \"t\") <mailto:a@b.c> [d](#1)"),
        @r#"<p><a href="https://x.y/?q=%22%3C">a</a> b (javascript:alert(1)) image: c (https://x.y/z.png) <a href="mailto:a@b.c">mailto:a@b.c</a> d (#1)</p>"#
    );
}

#[test]
fn tables_have_no_styles_and_languages_are_words() {
    insta::assert_snapshot!(shown("| a |\n|--:|\n| b |\n\n```rust\tx\"onclick\ncode\n```"), @r#"
    <table><thead><tr><th>a</th></tr></thead><tbody>
    <tr><td>b</td></tr>
    </tbody></table>
    <pre><code class="language-rust">code
    </code></pre>
    "#);
}

#[test]
fn nested_quotes_and_lists_are_cut() {
    let html = shown(&"> - ".repeat(400));
    assert!(
        html.matches("<blockquote>").count() + html.matches("<ul>").count() + html.matches("<li>").count() <= MAX_DEPTH
    );
}

#[test]
fn long_texts_are_folded_and_cut() {
    insta::assert_snapshot!(lines("a\nb\nc\nd\ne\nf\n", "file", 1).into_string(), @r#"
    <pre class="file" dir="auto">
    a</pre><details class="fold"><summary>5 more lines</summary><pre class="file" dir="auto">
    b
    c
    d
    e
    f</pre></details>
    "#);
    insta::assert_snapshot!(lines("a\nb\nc\nd\ne\n", "file", 1).into_string(), @r#"
    <pre class="file" dir="auto">
    a
    b
    c
    d
    e</pre>
    "#);
    assert!(
        markdown(&"é".repeat(MAX_TEXT))
            .into_string()
            .ends_with("<p class=\"note\">262,144 more bytes are not shown</p>")
    );
}

proptest! {
    #[test]
    fn no_text_makes_other_elements(text in r#"[<>`*_\[\]()!\n |:\-#&"'=a-c~]{0,80}"#) {
        const ELEMENTS: [&str; 28] = [
            "p", "h3", "h4", "h5", "h6", "em", "strong", "del", "code", "pre", "ul", "ol", "li", "blockquote", "a", "br", "hr",
            "table", "thead", "tbody", "tr", "td", "th", "input", "sup", "div", "span", "section",
        ];
        let html = shown(&text);
        for tag in html.split('<').skip(1) {
            let name = tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
            prop_assert!(ELEMENTS.contains(&name), "{name} in {html}");
        }
        prop_assert!(!html.contains("onclick") && !html.contains(" style="));
    }
}
