//! Languages in which functions are found, and the driver with git's pattern for each.

/// Driver, name, and extensions. `set` means git's default pattern, which takes every line that begins with a letter.
///
/// A file's attribute `diff` comes first. Drivers of git without functions, such as `markdown`, are left out.
const LANGUAGES: [(&str, &str, &[&str]); 24] = [
    ("ada", "Ada", &["adb", "ads"]),
    ("bash", "Bash", &["bash", "sh"]),
    ("cpp", "C and C++", &["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx"]),
    ("csharp", "C#", &["cs"]),
    ("elixir", "Elixir", &["ex", "exs"]),
    ("fortran", "Fortran", &["f", "f03", "f08", "f90", "f95", "for"]),
    ("golang", "Go", &["go"]),
    ("java", "Java", &["java"]),
    ("kotlin", "Kotlin", &["kt", "kts"]),
    // MATLAB's files have the extension of Objective-C's, and need the attribute.
    ("matlab", "MATLAB", &[]),
    ("objc", "Objective-C", &["m", "mm"]),
    ("pascal", "Pascal", &["dpr", "lpr", "pas", "pp"]),
    ("perl", "Perl", &["pl", "pm"]),
    ("php", "PHP", &["php", "phtml"]),
    ("python", "Python", &["py", "pyi"]),
    ("ruby", "Ruby", &["gemspec", "rake", "rb"]),
    ("rust", "Rust", &["rs"]),
    ("scheme", "Scheme", &["rkt", "scm", "sld", "ss"]),
    ("git-trace-javascript", "JavaScript and TypeScript", &["cjs", "cts", "js", "jsx", "mjs", "mts", "ts", "tsx"]),
    ("set", "Dart", &["dart"]),
    ("set", "Lua", &["lua"]),
    ("set", "Scala", &["scala"]),
    ("set", "Swift", &["swift"]),
    ("set", "Zig", &["zig"]),
];

/// Git's drivers for files without functions.
const WITHOUT_FUNCTIONS: [&str; 8] = ["bibtex", "css", "dts", "fountain", "html", "markdown", "tex", "unset"];

/// The driver that git lacks. Its default pattern finds no method, and takes each statement at the start of a line.
///
/// In order: statements with parentheses, which are not functions; declarations; variables; properties; methods.
pub(super) const SETTING: &str = concat!(
    "diff.git-trace-javascript.xfuncname=",
    "!^[[:space:]]*(if|for|while|switch|catch|with|return|throw|await|new|else|do)([^[:alnum:]_$]|$)\n",
    "^[[:space:]]*((export|default|declare|abstract|async)[[:space:]]+)*(function|class|interface|enum|namespace|type)[[:space:]*].*$\n",
    "^[[:space:]]*((export|declare)[[:space:]]+)*(const|let|var)[[:space:]].*=[[:space:]]*(async[[:space:]]*)?(function|\\(|<|[[:alnum:]_$]+[[:space:]]*=>).*$\n",
    "^[[:space:]]*([[:alpha:]]+[[:space:]]+)*[][[:alnum:]_$#.]+[[:space:]]*[:=][[:space:]]*(async[[:space:]]*)?(function.*|[[:alnum:]_$(].*=>.*)$\n",
    "^[[:space:]]+([[:alpha:]]+[[:space:]]+)*[*#]?[[:alnum:]_$]+[[:space:]]*(<[^()]*>)?\\(([^()]|\\([^()]*\\))*\\)[[:space:]]*(:[^={]*)?\\{.*$",
);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Language {
    pub driver: String,
    pub name: String,
}

/// The language of a path with this value of the attribute `diff`.
pub(super) fn language(path: &str, attribute: &str) -> Option<Language> {
    let (_, extension) = path.rsplit_once('.').unwrap_or_default();
    let by_extension = LANGUAGES.iter().find(|(_, _, extensions)| extensions.contains(&extension));
    let by_driver = LANGUAGES.iter().find(|(driver, ..)| *driver == attribute && attribute != "set");
    let (driver, name) = match attribute {
        "unspecified" => by_extension.map(|(driver, name, _)| (*driver, *name))?,
        "set" => ("set", by_extension.map_or(extension, |(_, name, _)| name)),
        other if WITHOUT_FUNCTIONS.contains(&other) => return None,
        other => (other, by_driver.map_or(other, |(_, name, _)| name)),
    };
    Some(Language { driver: driver.to_owned(), name: name.to_owned() })
}
