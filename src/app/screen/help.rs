//! The keys.

/// Each key, and what it does.
pub(super) const KEYS: [(&str, &str); 17] = [
    ("j k ↓ ↑", "next, previous line"),
    ("g G", "first, last line"),
    ("^D ^U", "half a page down, up"),
    ("enter", "open or close a turn; on an item, read it"),
    ("tab", "other pane"),
    ("space", "cut or keep; on a turn, all of it"),
    ("c t d", "cut, trim (keep head and tail), delete"),
    ("p", "protect: keep, whatever presets say"),
    ("v", "start a range; the next mark is for all of it"),
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
