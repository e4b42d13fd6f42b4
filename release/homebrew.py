#!/usr/bin/env python3
"""Writes the Homebrew formula for archives that `package.py` made: release/homebrew.py ARCHIVES > ramus.rb"""
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLATFORMS = [("on_macos", "on_arm", "aarch64-apple-darwin"), ("on_macos", "on_intel", "x86_64-apple-darwin"),
             ("on_linux", "on_arm", "aarch64-unknown-linux-musl"), ("on_linux", "on_intel", "x86_64-unknown-linux-musl")]


def main():
    archives = pathlib.Path(sys.argv[1])
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    version, repository = package["version"], package["repository"]
    lines = ["class Ramus < Formula", '  desc "Read, search and manage every branch of your Claude Code conversations"',
             f'  homepage "{repository}"', f'  version "{version}"', '  license any_of: ["MIT", "Apache-2.0"]', ""]
    for system in ("on_macos", "on_linux"):
        lines.append(f"  {system} do")
        for _, processor, target in (platform for platform in PLATFORMS if platform[0] == system):
            sum = archives / f"ramus-{target}.tar.gz.sha256"
            if not sum.exists():
                print(f"no archive for {target}", file=sys.stderr)
                continue
            lines += [f"    {processor} do", f'      url "{repository}/releases/download/v{version}/ramus-{target}.tar.gz"',
                      f'      sha256 "{sum.read_text().split()[0]}"', "    end"]
        lines.append("  end\n")
    lines += ["  def install", '    bin.install "ramus"', '    man1.install Dir["man/*.1"]',
              '    bash_completion.install "completions/ramus.bash" => "ramus"', '    zsh_completion.install "completions/_ramus"',
              '    fish_completion.install "completions/ramus.fish"', "  end", "", "  test do",
              '    assert_match version.to_s, shell_output("#{bin}/ramus --version")',
              '    system bin/"ramus", "demo"', '    system bin/"ramus", "--claude-dir", "ramus-demo", "sessions"', "  end", "end"]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
