//! The rules of built-in types, and the defaults of other types.

use std::borrow::Cow;

use super::TypeRules;
use crate::trace::model::item::{ItemType, Role};
use crate::trace::model::level::Level;

/// The default rules of a type.
pub(crate) fn rules(item_type: &ItemType) -> &'static TypeRules {
    match item_type.as_str() {
        "instruction" => &INSTRUCTION,
        "dialogue" => &DIALOGUE,
        "tool_io" => &TOOL_IO,
        "reasoning" => &REASONING,
        "artifact" => &ARTIFACT,
        "output" => &OUTPUT,
        _ => &OTHER,
    }
}

const OTHER: TypeRules = TypeRules {
    role: Some(Role::User),
    priority: Level::Normal,
    aggregate: true,
    order: 0,
    compress_order: 50,
    compress: Cow::Borrowed(
        "Shorten these {count} notes ({tokens} tokens) to at most {target} tokens.\n\
         Keep every fact, name, path, number and decision that later work may need, in the order in which they came. Merge what \
         is said twice, and where one note corrects another, keep the correction only. Add nothing that is not there.\n\n{items}",
    ),
    schema: None,
};

/// Instructions are first, because every provider expects the system message there.
static INSTRUCTION: TypeRules = TypeRules {
    role: Some(Role::System),
    priority: Level::Pinned,
    order: -100,
    compress_order: 90,
    compress: Cow::Borrowed(
        "Shorten these {count} instructions ({tokens} tokens) to at most {target} tokens.\n\
         They bind whoever reads them: keep every rule, condition, exception, format and limit, in words that leave no more room \
         than before. Take out repetition, courtesy and reasons. Where two contradict, the later one holds.\n\n{items}",
    ),
    ..OTHER
};

static DIALOGUE: TypeRules = TypeRules {
    role: None,
    compress_order: 60,
    compress: Cow::Borrowed(
        "Shorten this part of a conversation ({count} messages, {tokens} tokens) to at most {target} tokens.\n\
         Say what the user asked for and in which words where they matter, what was decided and why, what the user corrected or \
         refused, what was promised, and which questions are open. Tell user and assistant apart. Quote names, paths, numbers and \
         commands exactly. Leave out greetings, thanks and what was taken back later.\n\n{items}",
    ),
    ..OTHER
};

/// Compressed first: tool items are most of a long context, and the least of it is needed again.
static TOOL_IO: TypeRules = TypeRules {
    role: None,
    aggregate: false,
    compress_order: 10,
    compress: Cow::Borrowed(
        "Shorten these calls of tools and their results ({count} items, {tokens} tokens) to at most {target} tokens.\n\
         Write one line for each tool: \"called NAME N times, F failures, key results: …\". Key results are what was found, changed \
         or learnt, with exact paths, line numbers, names, ids, versions and figures. Then a line for each failure that was not \
         solved: the call, the error in its own words, and what was tried. Of files that were written, name the path and what \
         changed; of files that were read, only what mattered. Leave out listings, unchanged output, retries that ended well, \
         and what a later call made out of date.\n\n{items}",
    ),
    ..OTHER
};

static REASONING: TypeRules = TypeRules {
    role: Some(Role::Assistant),
    compress_order: 20,
    compress: Cow::Borrowed(
        "Shorten these {count} thoughts ({tokens} tokens) to at most {target} tokens.\n\
         Keep the conclusions and the one reason that decided each, the ways that were ruled out and why, and what was still in \
         doubt. Leave out the path between them, restated facts, and plans that were carried out.\n\n{items}",
    ),
    ..OTHER
};

static ARTIFACT: TypeRules = TypeRules {
    role: Some(Role::Assistant),
    compress_order: 30,
    compress: Cow::Borrowed(
        "Shorten these {count} files ({tokens} tokens) to at most {target} tokens.\n\
         For each: its path or title, what it is and what it is for. Of code keep the signatures, types and constants that others \
         use; of data its shape, size and anything out of the ordinary; of documents the headings with a line each. Where a file \
         came in several versions, describe the last one and what changed.\n\n{items}",
    ),
    ..OTHER
};

static OUTPUT: TypeRules = TypeRules {
    role: Some(Role::Assistant),
    compress_order: 40,
    compress: Cow::Borrowed(
        "Shorten these {count} results ({tokens} tokens) to at most {target} tokens.\n\
         Say what was delivered, for whom and in which format, the figures and statements that others will rely on, word for word, \
         and what was left undone or in doubt. Where one result replaces another, keep the last.\n\n{items}",
    ),
    ..OTHER
};
