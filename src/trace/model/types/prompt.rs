//! Prompts that shrink a group of items: a template, and what is filled in.
//!
//! `{count}`, `{tokens}` and `{target}` stand for figures, `{items}` for the items' text; a template without `{items}` has it
//! put behind an empty line. Anything else in braces stays as it is, and what is filled in is not looked at again.

/// A group of items that is to be shrunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Group<'a> {
    /// How many items.
    pub count: usize,
    /// Tokens they take now.
    pub tokens: u64,
    /// Tokens they should take then.
    pub target: u64,
    /// Their text, as the model is to read it.
    pub items: &'a str,
}

/// Fills a template in.
#[must_use]
pub(crate) fn fill(template: &str, group: &Group<'_>) -> String {
    let mut prompt = String::with_capacity(template.len() + group.items.len());
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        prompt.push_str(&rest[..start]);
        rest = &rest[start..];
        let (name, value) = match rest {
            _ if rest.starts_with("{count}") => ("{count}", group.count.to_string()),
            _ if rest.starts_with("{tokens}") => ("{tokens}", group.tokens.to_string()),
            _ if rest.starts_with("{target}") => ("{target}", group.target.to_string()),
            _ if rest.starts_with("{items}") => ("{items}", group.items.to_owned()),
            _ => ("{", "{".to_owned()),
        };
        prompt.push_str(&value);
        rest = &rest[name.len()..];
    }
    prompt.push_str(rest);
    if !template.contains("{items}") {
        prompt.push_str("\n\n");
        prompt.push_str(group.items);
    }
    prompt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_items_are_filled_in_once() {
        let group = Group { count: 3, tokens: 900, target: 80, items: "a {count} b" };
        assert_eq!(fill("{count} of {tokens} to {target}: {items} {x} {", &group), "3 of 900 to 80: a {count} b {x} {");
        assert_eq!(fill("Shorten {count}.", &group), "Shorten 3.\n\na {count} b");
    }
}
