//! Definitions of functions in several languages.

use super::*;

fn found(path: &str, text: &str, reference: &str) -> Vec<(usize, String, bool, bool)> {
    let mut search = Search::new(reference);
    search.add_definitions(&grammar(path).unwrap(), path, text.as_bytes());
    search.found.into_iter().map(|one| (one.definition.line, one.definition.source, one.rank.0, one.rank.1)).collect()
}

#[test]
fn every_query_matches_its_grammar() {
    for path in ["a.rs", "a.py", "a.js", "a.ts", "a.tsx", "a.go", "a.java", "a.c", "a.h"] {
        let grammar = grammar(path).unwrap();
        Query::new(&grammar.language, &grammar.tags).unwrap();
    }
}

#[test]
fn definitions_are_found_in_every_language() {
    let cases = [
        (
            "a.rs",
            "struct P;\nimpl P {\n    /// New.\n    #[must_use]\n    fn make(a: u8) -> P {\n        P\n    }\n}\n",
            "P::make()",
            3,
            5,
        ),
        ("a.py", "import x\n\nclass P:\n    @x\n    def make(self):\n        return 1\n", "P.make", 4, 3),
        ("p.js", "// About.\nexport const make = (a) => {\n  return a;\n};\n", "p.make()", 2, 3),
        ("p.ts", "class P {\n  async make<T>(a: T): Promise<T> {\n    return a;\n  }\n}\n", "P.make()", 2, 3),
        ("p.tsx", "export function make(a: number) {\n  return <b>{a}</b>;\n}\n", "make", 1, 3),
        ("p.go", "package p\n\n// About.\nfunc (p *P) make(a int) int {\n\treturn a\n}\n", "P.make()", 3, 4),
        ("P.java", "class P {\n  int make(int a) {\n    return a;\n  }\n}\n", "P.make()", 2, 3),
        ("p.c", "int make(int a);\nstatic int *make(int a) {\n  return 0;\n}\n", "make()", 2, 3),
        ("p.cpp", "int P::make(int a) {\n  return a;\n}\n", "P::make()", 1, 3),
        ("p.hpp", "class P {\n  int make(int a) {\n    return a;\n  }\n};\n", "P::make()", 2, 3),
    ];
    for (path, text, reference, line, len) in cases {
        let found = found(path, text, reference);
        let best = found.iter().filter(|one| one.2 && one.3).collect::<Vec<_>>();
        assert_eq!(best.len(), 1, "{path}: {found:?}");
        assert_eq!((best[0].0, best[0].1.lines().count()), (line, len), "{path}: {found:?}");
    }
}

#[test]
fn invalid_source_does_not_fail() {
    for text in ["fn make( {{{{ \u{0}", "((((((((", "", "fn make() { \"\u{1F600}"] {
        for path in ["a.rs", "a.py", "a.ts", "a.go", "a.java", "a.c", "a.cpp"] {
            found(path, text, "make");
        }
    }
}
