//! Passwords among the arguments of a command: `curl -u user:password`.

use super::Secret;
use super::named::is_login;
use super::random::is_password;

pub(super) struct Program {
    /// With the space after it.
    pub(super) word: &'static str,
    flag: u8,
    long: &'static [u8],
    /// Whether the value follows the flag without a space.
    is_attached: bool,
}

const fn program(word: &'static str, flag: u8, long: &'static [u8]) -> Program {
    Program { word, flag, long, is_attached: false }
}

pub(super) const PROGRAMS: &[Program] = &[
    program("curl ", b'u', b"--user"),
    program("sshpass ", b'p', b"--"),
    program("redis-cli ", b'a', b"--pass"),
    program("docker login ", b'p', b"--"),
    program("podman login ", b'p', b"--"),
    program("az login ", b'p', b"--"),
    program("mongosh ", b'p', b"--"),
    program("mongodump ", b'p', b"--"),
    program("sqlcmd ", b'P', b"--"),
    program("ldapsearch ", b'w', b"--"),
    Program { is_attached: true, ..program("mysql ", b'p', b"--") },
    Program { is_attached: true, ..program("mysqldump ", b'p', b"--") },
    Program { is_attached: true, ..program("mariadb ", b'p', b"--") },
];

/// The part of a command line that is read.
const MAX_LINE: usize = 400;

/// The arguments start at `at`.
pub(super) fn password(text: &[u8], program: &Program, at: usize) -> Option<Secret> {
    let line = &text[at..text.len().min(at + MAX_LINE)];
    let line = &line[..memchr::memchr2(b'\n', b'|', line).unwrap_or(line.len())];
    let mut from = 0;
    for word in line.split(|b| *b == b' ') {
        let next = from + word.len() + 1;
        let is_flags = matches!(word, [b'-', flags @ ..] if flags.ends_with(&[program.flag]) && flags.iter().all(u8::is_ascii_alphabetic));
        let value = match word {
            [b'-', flag, value @ ..] if *flag == program.flag && !value.is_empty() => Some(from + 2),
            _ if program.is_attached => None,
            _ if is_flags || word == program.long => Some(next),
            _ if word.strip_prefix(program.long).is_some_and(|rest| rest.starts_with(b"=")) => {
                Some(from + program.long.len() + 1)
            }
            _ => None,
        };
        if let Some(start) = value {
            return judge(line, start, program)
                .map(|secret| Secret { span: at + secret.span.start..at + secret.span.end, ..secret });
        }
        from = next;
    }
    None
}

/// `echo PASSWORD | sudo -S`; the second command starts at `at`.
pub(super) fn piped(text: &[u8], at: usize) -> Option<Secret> {
    let from = at.saturating_sub(MAX_LINE);
    let from = memchr::memrchr(b'\n', &text[from..at]).map_or(from, |end| from + end + 1);
    let line = text[from..at].trim_ascii_end().strip_suffix(b"|")?.trim_ascii_end();
    memchr::memmem::find(line, b"echo ")?;
    let start = memchr::memrchr(b' ', line)? + 1;
    let value = &line[start..];
    let quote = value.first().filter(|b| matches!(b, b'"' | b'\'') && value.len() > 1 && value.ends_with(&[**b]));
    let value = if quote.is_some() { &value[1..value.len() - 1] } else { value };
    let start = from + start + usize::from(quote.is_some());
    is_password(value, true).then(|| Secret { what: "a password on a command line", span: start..start + value.len() })
}

fn judge(line: &[u8], start: usize, program: &Program) -> Option<Secret> {
    let quote = line.get(start).filter(|b| matches!(b, b'"' | b'\''));
    let start = start + usize::from(quote.is_some());
    let rest = line.get(start..)?;
    let ends = |b: &u8| match quote {
        Some(quote) => b == quote,
        None => matches!(b, b' ' | b'"' | b'\'' | b'`' | b';' | b'&' | b'<' | b'>' | b')'),
    };
    let value = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let (start, value, is_secret) = match memchr::memchr(b':', value).filter(|_| program.flag == b'u') {
        Some(colon) => {
            let password = &value[colon + 1..];
            (start + colon + 1, password, is_login(&value[..colon], password))
        }
        None => (start, value, program.flag != b'u' && is_password(value, true)),
    };
    is_secret.then(|| Secret { what: "a password on a command line", span: start..start + value.len() })
}
