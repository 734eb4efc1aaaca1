//! The prompts that compress a group of items, made from templates.
//!
//! `{count}`, `{tokens}`, and `{target}` are numbers, and `{items}` is the text of the items. If a template has no `{items}`, the
//! text follows after an empty line. Other braces are unchanged, and inserted text is not expanded again.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Group<'a> {
    pub count: usize,
    pub tokens: u64,
    pub target: u64,
    pub items: &'a str,
}

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
