{
  description = "Read, search and manage every branch of your Claude Code conversations";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEachSystem = nixpkgs.lib.genAttrs systems;
    in
    {
      packages = forEachSystem (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          manifest = (nixpkgs.lib.importTOML ./Cargo.toml).workspace.package;
        in
        {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "ramus";
            inherit (manifest) version;
            src = self;
            cargoLock.lockFile = ./Cargo.lock;
            cargoBuildFlags = [ "-p" "ramus" ];
            # The tests want tmux, a browser and a writable home; CI runs them.
            doCheck = false;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            postInstall = nixpkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
              $out/bin/ramus man --out man
              installManPage man/*.1
              installShellCompletion --cmd ramus \
                --bash <($out/bin/ramus completions bash) \
                --zsh <($out/bin/ramus completions zsh) \
                --fish <($out/bin/ramus completions fish)
            '';
            meta = {
              inherit (manifest) homepage;
              description = "Read, search and manage every branch of your Claude Code conversations";
              license = with nixpkgs.lib.licenses; [ mit asl20 ];
              mainProgram = "ramus";
            };
          };
        }
      );
      devShells = forEachSystem (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.mkShell {
            packages = with pkgs; [ cargo rustc clippy rustfmt cargo-nextest nodejs tmux ];
          };
        }
      );
    };
}
