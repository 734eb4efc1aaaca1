//! Generates the tables that tokens are counted with; their layout is described in `src/tokens/layout.rs`.
//!
//! The vocabularies are tiktoken-rs's own, and the character classes come from the `regex-syntax` it matches with, so that
//! both agree with it by construction. The output depends on those two crates alone.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    env,
    error::Error,
    fs,
    path::Path,
};

use regex_syntax::hir::{Class, HirKind};
use tiktoken_rs::{CoreBPE, Rank};

#[path = "src/tokens/layout.rs"]
mod layout;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/layout.rs");
    let out_dir = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts")?;
    let out_dir = Path::new(&out_dir);
    if is_linux_with_glibc() {
        link_at_a_fixed_address();
        leave_out_unwind_tables(out_dir)?;
    }

    // Not here: o200k_harmony has the vocabulary of o200k_base, and r50k_base is the beginning of p50k_base.
    write_vocabulary(out_dir, "o200k", &tiktoken_rs::o200k_base()?, Slots::Stored)?;
    write_vocabulary(out_dir, "cl100k", &tiktoken_rs::cl100k_base()?, Slots::Computed)?;
    write_vocabulary(out_dir, "p50k", &tiktoken_rs::p50k_base()?, Slots::Computed)?;
    write_classes(out_dir)
}

fn is_linux_with_glibc() -> bool {
    let is_static = env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|features| features.contains("crt-static"));
    has_value("CARGO_CFG_TARGET_OS", "linux") && has_value("CARGO_CFG_TARGET_ENV", "gnu") && !is_static
}

fn has_value(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|found| found == value)
}

/// Spares the dynamic linker 49,000 relocations at each start, which took a quarter of a small command, and the binary 1.2 MB, as Go
/// does. Libraries, heap, and stack remain at random addresses. musl's start-up files are only for relocatable programs.
fn link_at_a_fixed_address() {
    println!("cargo::rustc-link-arg-bins=-no-pie");
}

/// Spares a release 1.9 MB of tables with which a panic would find its callers. A panic ends the process, and a stripped binary names
/// no callers. rustc can leave them out only if that is in `RUSTFLAGS`, which no package can set for `cargo install`.
fn leave_out_unwind_tables(out_dir: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    // GNU ld and LLD read this script, but gold and mold do not.
    let is_linker_chosen = env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    if has_value("PROFILE", "release") && env::var_os("RUSTC_LINKER").is_none() && !is_linker_chosen {
        let script = out_dir.join("discard.ld");
        fs::write(&script, "SECTIONS { /DISCARD/ : { *(.eh_frame) } } INSERT AFTER .rodata;\n")?;
        println!("cargo::rustc-link-arg-bins=-T{}", script.display());
    }
    Ok(())
}

/// Whether the slots of a vocabulary are stored, or computed of its tokens when they are needed.
#[derive(Clone, Copy, PartialEq)]
enum Slots {
    Stored,
    Computed,
}

fn write_vocabulary(out_dir: &Path, name: &str, bpe: &CoreBPE, slots: Slots) -> Result<(), Box<dyn Error>> {
    let tokens: Vec<(Rank, Vec<u8>)> = ordinary_tokens(bpe).collect();
    let mut pool = Vec::new();
    let mut entries = Vec::with_capacity(tokens.len());
    for (rank, token) in &tokens {
        if slots == Slots::Computed {
            pool.resize(pool.len() + *rank as usize - entries.last().map_or(0, |(last, _)| *last as usize + 1), 0);
            pool.push(u8::try_from(token.len())?);
        }
        let (key, slot) = layout::entry(*rank, token, u32::try_from(pool.len())?);
        if slots == Slots::Computed || token.len() > layout::SHORT_MAX {
            pool.extend_from_slice(token);
        }
        entries.push((*rank, Entry { key, slot }));
    }
    let entries: Vec<Entry> = entries.into_iter().map(|(_, entry)| entry).collect();
    // Any odd constant would do, as long as the seeds have bits in all places.
    let (seed, table) = (1..64_u64)
        .map(|attempt| attempt.wrapping_mul(0xd6e8_feb8_6659_fd93))
        .find_map(|seed| Some((seed, perfect_hash(&entries, seed)?)))
        .ok_or_else(|| format!("no seed gives a perfect hash of {name}"))?;

    let displacements: Vec<u8> = table.displacements.iter().flat_map(|d| d.to_le_bytes()).collect();
    fs::write(out_dir.join(format!("{name}.displacements")), displacements)?;
    if slots == Slots::Stored {
        let slots: Vec<u8> = table.slots.iter().flat_map(|s| s.to_le_bytes()).collect();
        fs::write(out_dir.join(format!("{name}.slots")), slots)?;
    }
    fs::write(out_dir.join(format!("{name}.pool")), pool)?;
    fs::write(out_dir.join(format!("{name}.bonds")), bonds(&tokens))?;
    fs::write(out_dir.join(format!("{name}.seed")), seed.to_le_bytes())?;
    Ok(())
}

/// The ranks of a vocabulary in ascending order, without the special tokens.
///
/// Ranks may have gaps (p50k's has one where `<|endoftext|>` stands), and special ones lie past the ordinary.
fn ordinary_tokens(bpe: &CoreBPE) -> impl Iterator<Item = (Rank, Vec<u8>)> {
    let special: Vec<Vec<u8>> = bpe.special_tokens().into_iter().map(|token| token.as_bytes().to_vec()).collect();
    (0..1 << (u128::BITS - layout::RANK_SHIFT))
        .filter_map(|rank| Some((rank, bpe.decode_bytes(&[rank]).ok()?)))
        .filter(move |(_, token)| !special.contains(token))
}

/// The slot of a token, and the hash key it is found by.
struct Entry {
    key: u128,
    slot: u128,
}

struct Table {
    displacements: Vec<u16>,
    slots: Vec<u128>,
}

/// Hash and displace: the fullest buckets choose first, each taking the first displacement that sends all its tokens to
/// free slots. `None` if some bucket finds none.
fn perfect_hash(entries: &[Entry], seed: u64) -> Option<Table> {
    let slot_count = layout::slot_count(entries.len());
    let bucket_count = entries.len() / 4;

    let mut buckets = vec![Vec::new(); bucket_count];
    for entry in entries {
        let hash = layout::hash(entry.key, seed);
        buckets[layout::bucket(hash, bucket_count)].push((hash, entry.slot));
    }
    let mut order: Vec<usize> = (0..bucket_count).collect();
    order.sort_by_key(|&bucket| (Reverse(buckets[bucket].len()), bucket));

    let mut displacements = vec![0; bucket_count];
    let mut slots = vec![0; slot_count];
    let mut places = Vec::new();
    for bucket in order {
        let members = &buckets[bucket];
        displacements[bucket] = (0..=u16::MAX).find(|&displacement| {
            places.clear();
            members.iter().all(|&(hash, _)| {
                let place = layout::slot(hash, displacement, slot_count);
                let free = slots[place] == 0 && !places.contains(&place);
                places.push(place);
                free
            })
        })?;
        for (&place, &(_, slot)) in places.iter().zip(members) {
            slots[place] = slot;
        }
    }
    Some(Table { displacements, slots })
}

/// A side of a bond that is a complete character, or else nothing.
fn character(bytes: &[u8]) -> Option<u32> {
    str::from_utf8(bytes).ok()?;
    let mut padded = [0; 4];
    padded.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u32::from_le_bytes(padded))
}

/// The set of characters that stand side by side in some token; every sixteenth bit is in use, at most.
fn bonds(tokens: &[(Rank, Vec<u8>)]) -> Vec<u8> {
    let mut whole = BTreeSet::new();
    let mut broken = BTreeSet::new();
    for (_, token) in tokens {
        let is_lead = |&place: &usize| token[place] & 0xc0 != 0x80;
        let mut left = 0;
        for place in (1..token.len()).filter(is_lead) {
            let end = (place + 1..token.len()).find(is_lead).unwrap_or(token.len());
            match (character(&token[left..place]), character(&token[place..end])) {
                (Some(left), Some(right)) => whole.insert((left, right)),
                _ => broken.insert((token[place - 1], token[place])),
            };
            left = place;
        }
    }

    let mut set = vec![0; (whole.len() + broken.len()) * 2];
    let bits = set.len() * 8;
    let whole = whole.into_iter().map(|(left, right)| layout::bond(left, right, bits));
    let broken = broken.into_iter().map(|(last, first)| layout::broken_bond(last, first, bits));
    for bit in whole.chain(broken) {
        set[bit / 8] |= 1 << (bit % 8);
    }
    set
}

/// Writes the class of each code point in two stages: block numbers, then the distinct blocks.
fn write_classes(out_dir: &Path) -> Result<(), Box<dyn Error>> {
    let mut classes = vec![layout::OTHER; char::MAX as usize + 1];
    for (pattern, class) in [
        (r"[\p{Lu}\p{Lt}]", layout::UPPER),
        (r"\p{Ll}", layout::LOWER),
        (r"[\p{Lm}\p{Lo}]", layout::CASELESS),
        (r"\p{M}", layout::MARK),
        (r"\p{N}", layout::NUMBER),
        (r"\s", layout::SPACE),
        (r"[\r\n]", layout::NEWLINE),
    ] {
        let hir = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(ranges)) = hir.kind() else {
            return Err(format!("{pattern} is not a class of characters").into());
        };
        for range in ranges.iter() {
            classes[range.start() as usize..=range.end() as usize].fill(class);
        }
    }

    let mut numbers: HashMap<&[u8], u8> = HashMap::new();
    let (mut index, mut blocks) = (Vec::new(), Vec::new());
    for block in classes.chunks(layout::CLASS_BLOCK) {
        let next = u8::try_from(numbers.len())?;
        index.push(*numbers.entry(block).or_insert_with(|| {
            blocks.extend_from_slice(block);
            next
        }));
    }
    fs::write(out_dir.join("class.index"), index)?;
    fs::write(out_dir.join("class.blocks"), blocks)?;
    Ok(())
}
