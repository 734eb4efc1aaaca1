#!/bin/sh
# Installs git-trace for this user: the binary, its manual pages, and completions.
#
#   curl --proto '=https' --tlsv1.2 -LsSf https://github.com/git-trace/git-trace/releases/latest/download/install.sh | sh
#
# Settings, as environment variables:
#   PREFIX             where to install; default ~/.local, so that the binary is ~/.local/bin/git-trace
#   GIT_TRACE_VERSION  which release, such as 0.2.0; default the newest
#   GIT_TRACE_SOURCE   address of a folder with the archives, instead of the releases
set -eu

fail() { echo "install.sh: $1" >&2; exit 1; }

main() {
    prefix=${PREFIX:-$HOME/.local}
    releases=https://github.com/git-trace/git-trace/releases
    if [ -n "${GIT_TRACE_VERSION:-}" ]; then source=$releases/download/v$GIT_TRACE_VERSION; else source=$releases/latest/download; fi
    source=${GIT_TRACE_SOURCE:-$source}

    case $(uname -m) in
        x86_64 | amd64) cpu=x86_64 ;;
        aarch64 | arm64) cpu=aarch64 ;;
        *) fail "there is no binary for $(uname -m); install Rust and run \`cargo install --locked git-trace\`" ;;
    esac
    case $(uname -s) in
        Linux) target=$cpu-unknown-linux-$(libc) ;;
        Darwin) target=$cpu-apple-darwin ;;
        *) fail "there is no binary for $(uname -s); on Windows, use install.ps1" ;;
    esac

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    archive=git-trace-$target.tar.xz
    for file in "$archive" "$archive.sha256"; do
        curl -LsSf -o "$work/$file" "$source/$file" || fail "cannot download $source/$file"
    done
    (cd "$work" && check "$archive") || fail "$archive does not have the published checksum"
    tar -xJf "$work/$archive" -C "$work" || fail "cannot unpack $archive"
    mkdir -p "$prefix"
    # A running binary cannot be overwritten, only replaced.
    rm -f "$prefix/bin/git-trace"
    cp -R "$work/git-trace-$target/." "$prefix/"
    "$prefix/bin/git-trace" --version
    case :$PATH: in
        *:"$prefix/bin":*) echo "Try it: git trace demo" ;;
        *) echo "Add $prefix/bin to PATH, then try it: git trace demo" ;;
    esac
}

# The binaries for glibc are built with 2.35.
libc() {
    version=$(getconf GNU_LIBC_VERSION 2>/dev/null) || version=
    version=${version#glibc 2.}
    if [ "${version%%.*}" -ge 35 ] 2>/dev/null; then echo gnu; else echo musl; fi
}

check() {
    if command -v sha256sum >/dev/null; then sha256sum -c "$1.sha256"; else shasum -a 256 -c "$1.sha256"; fi >/dev/null
}

# The call is on the last line, so that a download that breaks off runs nothing.
main
