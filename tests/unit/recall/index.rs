//! Tests of the private parts of `src/memory/recall/index.rs`: an index that was updated answers as one that was made at once.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use super::super::entry::Kind;
use super::super::segment::term;
use super::super::sources::Source;
use super::super::words::words;
use super::*;

/// Files of lines, each with a version.
type Files = BTreeMap<u8, (u64, Vec<u8>)>;

fn source(name: u8, version: u64) -> Source {
    Source::for_test(Kind::Crumb, &format!("f{name}"), version)
}

fn text(line: u8) -> String {
    let words = ["alpha", "beta", "gamma", "delta", "epsilon"];
    (0..=line % 7).map(|at| words[usize::from(line.wrapping_mul(3).wrapping_add(at) % 5)]).collect::<Vec<_>>().join(" ")
}

fn open(folder: &Path, files: &Files) -> Index {
    let sources: Vec<Source> = files.iter().map(|(name, (version, _))| source(*name, *version)).collect();
    let mut read = |source: &Source, sink: &mut Sink| {
        let name: u8 = source.place[1..].parse().unwrap();
        for line in &files[&name].1 {
            let digest = digest(&[&[name], &[*line]]);
            if sink.wants(digest) {
                let entry =
                    Entry { text: text(*line), time: Some((*line).into()), ..Entry::new(Kind::Crumb, &source.place) };
                sink.add(digest, &entry);
            }
        }
        true
    };
    Index::open(folder, &sources, &mut read).unwrap()
}

fn stem(word: &str) -> String {
    let mut found = String::new();
    words(word, &mut |_, stem| stem.clone_into(&mut found));
    found
}

type Postings = BTreeMap<&'static str, Vec<(u64, u32, u32)>>;

/// The part of an index that a query reads: the numbers, and the live entries of each word.
fn content(index: &Index) -> (u64, u64, Postings) {
    let mut found: BTreeMap<&str, Vec<(u64, u32, u32)>> = BTreeMap::new();
    for word in ["alpha", "beta", "gamma", "delta", "epsilon"] {
        for part in &index.parts {
            // The score has both numbers.
            for (doc, score) in
                part.scores(term("", &stem(word)), &|count, length| f32::from_bits(count << 16 | length)).unwrap()
            {
                let row = part.segment.rows(doc, 1).unwrap()[0];
                let (count, length) = (score.to_bits() >> 16, score.to_bits() & 0xffff);
                assert_eq!(u64::from(length), row.length);
                assert!(Entry::parse(&part.segment.record(&row).unwrap()).unwrap().text.contains(word));
                found.entry(word).or_default().push((row.digest, count, length));
            }
        }
        found.entry(word).or_default().sort_unstable();
    }
    (index.entries, index.words, found)
}

#[derive(Clone, Debug)]
enum Act {
    Set(u8, Vec<u8>),
    Add(u8, u8),
    Remove(u8),
    Damage(usize, usize, u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (0_u8..4, prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(name, lines)| Act::Set(name, lines)),
        6 => (0_u8..4, any::<u8>()).prop_map(|(name, line)| Act::Add(name, line)),
        1 => (0_u8..4).prop_map(Act::Remove),
        1 => (any::<usize>(), any::<usize>(), 1_u8..).prop_map(|(file, at, mask)| Act::Damage(file, at, mask)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_updated_index_is_like_a_new_one(acts in prop::collection::vec(act(), 1..30)) {
        let (folder, mut files, mut version) = (tempfile::tempdir().unwrap(), Files::new(), 0);
        for act in acts {
            version += 1;
            let mut is_damaged = false;
            match act {
                Act::Set(name, lines) => drop(files.insert(name, (version, lines))),
                Act::Add(name, line) => {
                    let file = files.entry(name).or_default();
                    file.0 = version;
                    file.1.push(line);
                }
                Act::Remove(name) => drop(files.remove(&name)),
                Act::Damage(file, at, mask) => {
                    let paths: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
                    if !paths.is_empty() {
                        let path = &paths[file % paths.len()];
                        let mut bytes = fs::read(path).unwrap();
                        let place = at % bytes.len();
                        bytes[place] ^= mask;
                        let modified = fs::metadata(path).unwrap().modified().unwrap();
                        fs::write(path, bytes).unwrap();
                        fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
                        is_damaged = true;
                    }
                }
            }
            let index = open(folder.path(), &files);
            if is_damaged {
                // Reading it must not panic. A query that fails makes it again.
                for part in &index.parts {
                    let _ = part.scores(term("", "beta"), &|_, _| 1.0);
                    for row in part.segment.rows(0, part.segment.docs).unwrap_or_default() {
                        let _ = part.segment.record(&row).ok().as_deref().and_then(Entry::parse);
                    }
                }
                Index::forget(folder.path());
                continue;
            }
            let new = tempfile::tempdir().unwrap();
            prop_assert_eq!(content(&index), content(&open(new.path(), &files)));
            // It is also what the next process reads, without any source.
            match Index::load(folder.path()) {
                Some(loaded) => prop_assert_eq!(content(&index), content(&loaded)),
                None => prop_assert!(index.parts.is_empty(), "an empty index need not be stored"),
            }
            prop_assert!(index.parts.len() <= 8, "{}", index.parts.len());
        }
    }
}
