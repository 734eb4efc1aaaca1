# The formula for a Homebrew tap. The release workflow fills in the version and the checksums.
class GitTrace < Formula
  desc "Version control for what a language model sees"
  homepage "https://github.com/git-trace/git-trace"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/git-trace/git-trace/releases/download/v@VERSION@/git-trace-aarch64-apple-darwin.tar.xz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/git-trace/git-trace/releases/download/v@VERSION@/git-trace-x86_64-apple-darwin.tar.xz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/git-trace/git-trace/releases/download/v@VERSION@/git-trace-aarch64-unknown-linux-musl.tar.xz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "https://github.com/git-trace/git-trace/releases/download/v@VERSION@/git-trace-x86_64-unknown-linux-musl.tar.xz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "bin/git-trace"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/git-trace"
    zsh_completion.install "share/zsh/site-functions/_git-trace"
    (share/"fish/vendor_conf.d").install "share/fish/vendor_conf.d/git-trace.fish"
  end

  test do
    system "git", "init", "-q"
    system "git", "config", "user.name", "Brew"
    system "git", "config", "user.email", "brew@example.com"
    system "#{bin}/git-trace", "commit", "-m", "hello"
    assert_match "hello", shell_output("#{bin}/git-trace log --oneline")
  end
end
