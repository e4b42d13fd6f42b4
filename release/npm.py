#!/usr/bin/env python3
"""Makes the npm packages: `ramus-history`, and one for each platform that npm installs beside it.

    release/npm.py ARCHIVES OUT

ARCHIVES holds what `package.py` made; OUT receives a directory for each package, ready for `npm publish`. npm installs the
package of the platform it runs on (`optionalDependencies` with `os` and `cpu`), so nothing is downloaded by a script.
"""
import json
import pathlib
import shutil
import sys
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAME = "ramus-history"
PLATFORMS = {
    "x86_64-unknown-linux-musl": ("linux", "x64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64"),
    "x86_64-apple-darwin": ("darwin", "x64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
    "x86_64-pc-windows-msvc": ("win32", "x64"),
}


def main():
    archives, out = map(pathlib.Path, sys.argv[1:3])
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    common = {"version": workspace["version"], "license": workspace["license"],
              "repository": {"type": "git", "url": f"git+{workspace['repository']}.git"}, "homepage": workspace["homepage"]}
    names = {target: f"{NAME}-{os}-{cpu}" for target, (os, cpu) in PLATFORMS.items()}
    made = [make_platform(archives, out, target, names[target], common) for target in PLATFORMS]
    package = out / NAME
    (package / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / "release/npm-start.js", package / "bin/ramus.js")
    for document in ("README.md", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy2(ROOT / document, package)
    write(package, {"name": NAME, "description": "Read, search and manage every branch of your Claude Code conversations", **common,
                    "keywords": workspace["keywords"], "bin": {"ramus": "bin/ramus.js"}, "engines": {"node": ">=18"},
                    "optionalDependencies": {name: common["version"] for name in names.values()}})
    print("\n".join(str(path) for path in [*filter(None, made), package]))


def make_platform(archives, out, target, name, common):
    """The package of one platform. `None`: there is no archive for it here."""
    os, cpu = PLATFORMS[target]
    tar, zip = archives / f"ramus-{target}.tar.gz", archives / f"ramus-{target}.zip"
    program = "ramus.exe" if os == "win32" else "ramus"
    package = out / name
    if tar.exists():
        with tarfile.open(tar) as archive:
            bytes = archive.extractfile(f"ramus-{target}/{program}").read()
    elif zip.exists():
        with zipfile.ZipFile(zip) as archive:
            bytes = archive.read(f"ramus-{target}/{program}")
    else:
        return None
    (package / "bin").mkdir(parents=True, exist_ok=True)
    (package / "bin" / program).write_bytes(bytes)
    (package / "bin" / program).chmod(0o755)
    (package / "README.md").write_text(f"# {name}\n\nThe program of `{NAME}` for {os} on {cpu}. Install `{NAME}` instead.\n")
    write(package, {"name": name, "description": f"ramus for {os} on {cpu}", **common, "os": [os], "cpu": [cpu],
                    "files": ["bin"], "preferUnplugged": True})
    return package


def write(package, manifest):
    (package / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
