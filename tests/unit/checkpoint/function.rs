//! Definitions of functions in several languages.

use super::*;
use crate::git::Git;

/// The files of a repository, and the definitions in each. A file without definitions has the reason.
fn found(files: &[(&str, &str)], reference: &str) -> Vec<(String, usize, String)> {
    let folder = tempfile::tempdir().unwrap();
    let git = Git::in_folder(folder.path());
    git.run(&["init", "-q"]).unwrap();
    assert!(folder.path().join(".git").exists(), "git was led to the repository of the current folder");
    for (path, text) in files {
        std::fs::write(folder.path().join(path), text).unwrap();
    }
    let artifacts = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    let context = FollowContext { root: folder.path(), git: &git, breadcrumbs: Vec::new(), artifacts };
    match find(&context, reference).unwrap() {
        Followed::Function(found) => found.into_iter().map(|one| (one.path, one.line, one.source)).collect(),
        other => vec![(format!("{other:?}"), 0, String::new())],
    }
}

#[test]
fn definitions_are_found_in_every_language() {
    let cases = [
        (
            "a.rs",
            "struct P;\nimpl P {\n    /// New.\n    #[must_use]\n    fn make(a: u8) -> P {\n        make(1)\n    }\n}\n",
            "P::make()",
            3,
            5,
        ),
        ("a.py", "import x\n\nclass P:\n    @x\n    def make(self):\n        return 1\n", "P.make", 4, 3),
        ("p.js", "// About.\nexport const make = (a) => {\n  return a;\n};\n", "p.make()", 1, 4),
        ("p.ts", "class P {\n  async make<T>(a: T): Promise<T> {\n    return a;\n  }\n}\n", "P.make()", 2, 3),
        ("p.tsx", "export function make(a: number) {\n  return <b>{a}</b>;\n}\n", "make", 1, 3),
        ("p.go", "package p\n\n// About.\nfunc (p *P) make(a int) int {\n\treturn a\n}\n", "P.make()", 3, 4),
        ("P.java", "class P {\n  int make(int a) {\n    return a;\n  }\n}\n", "P.make()", 2, 3),
        ("p.c", "int make(int a);\nstatic int *make(int a) {\nagain:\n  return 0;\n}\n", "make()", 2, 4),
        ("p.cpp", "int P::make(int a)\n{\n  return a;\n}\n\nint b;\n", "P::make()", 1, 4),
        (
            "p.rb",
            "class P\n  # Makes.\n  def make?(a)\n    a\n  rescue X\n    1\n  end\n\n  def b; end\nend\n",
            "P#make?",
            2,
            6,
        ),
        ("p.kt", "class P {\n    @X\n    fun make(a: Int): Int {\n        return a\n    }\n}\n", "P.make()", 2, 4),
        (
            "p.php",
            "<?php\nclass P\n{\n    /**\n     * Makes.\n     */\n    public static function make($a)\n    {\n        return $a;\n    }\n}\n",
            "P::make()",
            4,
            7,
        ),
        ("p.sh", "b() { make 1; }\n\nmake() {\n  cat <<X\ntext\nX\n}\n", "make", 3, 5),
        ("p.ex", "defmodule P do\n  @doc \"x\"\n  def make(a) do\n    a\n  end\nend\n", "P.make", 2, 4),
        (
            "p.cs",
            "class P\n{\n    [X]\n    public int Make(int a)\n    {\n        return a;\n    }\n}\n",
            "P.Make()",
            3,
            5,
        ),
        ("p.scm", "(define (make a)\n  (+ a 1))\n(make 2)\n", "make", 1, 2),
        ("p.pl", "package P;\nsub make {\n  1;\n}\n", "P::make", 2, 3),
        (
            "p.f90",
            "module p\ncontains\n  subroutine make(a)\n    a = 1\n  end subroutine\nend module\n",
            "p.make",
            3,
            3,
        ),
        ("p.pas", "procedure TP.Make(a: Integer);\nbegin\n  b;\nend;\n", "TP.Make", 1, 4),
        ("p.adb", "procedure Make (A : Integer) is\nbegin\n   null;\nend Make;\n", "Make", 1, 4),
        ("p.m", "// About.\n- (int)make:(int)a {\n  return a;\n}\n", "make", 1, 4),
        ("p.swift", "make(1)\nfunc make(a: Int) {\n  b()\n}\n", "make()", 2, 3),
    ];
    for (path, text, reference, line, len) in cases {
        let found = found(&[(path, text)], reference);
        let shape: Vec<_> = found.iter().map(|(_, line, source)| (*line, source.lines().count())).collect();
        assert_eq!(shape, [(line, len)], "{path}: {found:#?}");
    }
}

#[test]
fn calls_parameters_and_types_are_no_definitions() {
    let cases = [
        ("a.rs", "fn other(make: u8) -> u8 {\n    make(1)\n}\n", "Rust"),
        ("a.py", "def other(make):\n    make(1)\n", "Python"),
        (
            "a.ts",
            "class P {\n  b(): void {\n    make(() => {\n    });\n    if (make(1)) {\n    }\n  }\n}\n",
            "JavaScript and TypeScript",
        ),
        ("a.c", "make_t make2(int a)\n{\n  make(1);\n}\n", "C and C++"),
        ("a.rb", "def other\n  make { |a| a }\nend\n", "Ruby"),
        // Git's pattern finds only functions at the start of a line.
        ("a.hpp", "class P {\n  int make(int a) {\n    return a;\n  }\n};\n", "C and C++"),
    ];
    for (path, text, language) in cases {
        let reason = format!("NotFound(\"no definition of `make` was found by git's patterns for {language}\")");
        assert_eq!(found(&[(path, text)], "make")[0].0, reason, "{path}");
    }
}

#[test]
fn attributes_choose_the_pattern() {
    let files = [
        ("a.inc", "<?php\nfunction make() {\n}\n"),
        (".gitattributes", "*.inc diff=php\n*.m diff=matlab\n*.py -diff\n"),
    ];
    assert_eq!(found(&files, "make")[0].0, "a.inc");
    assert!(found(&files[..1], "make")[0].0.starts_with("Stale"));
    let matlab = [("b.m", "function x = make(a)\n  x = a;\nend\n"), files[1]];
    assert_eq!(found(&matlab, "make")[0], ("b.m".to_owned(), 1, "function x = make(a)\n  x = a;\nend\n".to_owned()));
    assert!(found(&[("c.py", "def make():\n    pass\n"), files[1]], "make")[0].0.starts_with("Stale"));
}

#[test]
fn a_definition_in_the_right_class_and_with_a_body_comes_first() {
    let rust =
        "trait A {\n    fn make(&self);\n}\nimpl B {\n    fn make(&self) {}\n}\nimpl C {\n    fn make(&self) {}\n}\n";
    let found = found(&[("a.rs", rust), ("b.py", "class C:\n    def make(self): pass\n")], "C::make");
    let lines: Vec<_> = found.iter().map(|(path, line, _)| (path.as_str(), *line)).collect();
    assert_eq!(lines, [("a.rs", 8), ("b.py", 2)]);
}

#[test]
fn a_definition_after_many_calls_is_found() {
    let calls = format!("fn other() {{\n{}}}\n", "    make(1);\n".repeat(3000));
    let found = found(&[("a.rs", &calls), ("b.rs", "fn make() {}\n")], "make");
    assert_eq!(found, [("b.rs".to_owned(), 1, "fn make() {}\n".to_owned())]);
}

#[test]
fn invalid_source_does_not_fail() {
    let texts = [
        "fn make( {{{{ \u{0}",
        "((((((((",
        "",
        "\n\n",
        "fn make() { \"\u{1F600}",
        "*/\n*/ make(\n",
        "make<[<\n}",
        "\u{a0}make(",
    ];
    for text in texts {
        let paths = ["a.rs", "a.py", "a.ts", "a.go", "a.java", "a.c", "a.scm", "a.swift"];
        found(&paths.map(|path| (path, text)), "make");
    }
}
