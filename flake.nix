{
  description = "Version control for what a language model sees, inside your own git repository";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      package = pkgs: pkgs.rustPlatform.buildRustPackage {
        pname = "git-trace";
        version = (nixpkgs.lib.importTOML ./Cargo.toml).package.version;
        src = self;
        buildFeatures = [ "age" "schemas" "tokenizers" ];
        cargoLock.lockFile = ./Cargo.lock;
        nativeBuildInputs = [ pkgs.installShellFiles pkgs.git ];
        # The tests need a writable home folder and a git configuration.
        doCheck = false;
        postInstall = ''
          $out/bin/git-trace install --man $TMPDIR/man
          for shell in bash zsh fish; do XDG_DATA_HOME=$TMPDIR/data $out/bin/git-trace install --completions $shell; done
          installManPage $TMPDIR/man/man1/*
          cp -r $TMPDIR/data/. $out/share/
        '';
        meta = {
          description = "Version control for what a language model sees";
          homepage = "https://github.com/git-trace/git-trace";
          license = with nixpkgs.lib.licenses; [ mit asl20 ];
          mainProgram = "git-trace";
        };
      };
    in {
      packages = nixpkgs.lib.genAttrs systems (system: { default = package nixpkgs.legacyPackages.${system}; });
    };
}
