//! The keys.

/// Each key with its effect.
pub(super) const KEYS: [(&str, &str); 17] = [
    ("j k ↓ ↑", "next, previous line"),
    ("g G", "first, last line"),
    ("^D ^U", "half a page down, up"),
    ("enter", "open or close a turn; on an item, read it"),
    ("tab", "other pane"),
    ("space", "cut or keep an item, or all items of a turn"),
    ("c t d S", "cut, trim (head and tail), delete, summarize"),
    ("p", "protect: keep, whatever presets say"),
    ("v", "start a range for the next mark"),
    ("b", "next bundle: safe, default, aggressive"),
    ("+ -", "keep one step more, one less"),
    ("s", "sort by order, tokens, age"),
    ("/ n N", "search; next, previous match"),
    ("z Z", "undo, redo a change"),
    ("e", "change the list in the editor"),
    ("w q", "write; quit, and change nothing"),
    ("1 … #", "preset on or off:"),
];

/// The keys of the presets, in their order.
pub(super) const PRESET_KEYS: [char; 13] = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0', '!', '@', '#'];
