#!/usr/bin/env python3
"""Records how the real client names the project directories of working directories.

    tests/client/names.py [--clients DIR] [--out FILE] [VERSION...]

Each client runs once in each directory of `DIRECTORIES`, below a file system of its own, and what appears in `projects/` is
the name. Paths of Windows cannot be entered here: for them the client's own function is taken out of its program (a
JavaScript file up to 2.1.50) and called. `crates/ramus-store/tests/project_name.rs` reads the table.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import api
import driver

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSIONS = ["2.1.325", "2.1.50"]
DIRECTORIES = [
    "/mnt/dev/app",
    "/mnt/dev/my_app.rs (copy)",
    "/mnt/dev/café",
    "/mnt/dev/cafe\u0301",
    "/mnt/dev/茶壶",
    "/mnt/dev/🫖",
    "/mnt/dev/👩‍💻 code",
    "/mnt/dev/UPPER",
    "/mnt/c/Users/dev/app",
    "/mnt/" + "a" * 195,
    "/mnt/" + "a" * 196,
    "/mnt/" + "long-directory/" * 20 + "end",
    "/mnt/" + "🫖" * 60 + "/" + "茶" * 80,
]
WINDOWS = [
    "C:\\Users\\dev\\app",
    "c:\\Users\\dev\\app",
    "C:\\",
    "C:\\Users\\dev\\My Projects\\a.b_c",
    "C:\\Users\\Zoë\\🫖",
    "\\\\server\\share\\app",
    "\\\\wsl$\\Debian\\home\\dev\\app",
    "\\\\wsl.localhost\\Ubuntu-24.04\\home\\dev\\app",
    "\\\\?\\C:\\Users\\dev\\app",
    "C:\\Users\\dev\\" + "long-directory\\" * 20 + "end",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", default=VERSIONS)
    parser.add_argument("--clients", type=pathlib.Path, default=ROOT / "target/clients", metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE",
                        default=ROOT / "crates/ramus-store/tests/fixtures/project_names.json")
    options = parser.parse_args()
    try:
        clients = {version: driver.install(options.clients, version) for version in options.versions}
        driver.enter_namespace(sys.argv)
    except driver.Missing as missing:
        print(f"cannot run: {missing}", file=sys.stderr)
        return 2
    # The namespace has its own mounts, so nobody else sees this one.
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=True)
    rows = []
    for version, program in clients.items():
        rows += [{"client": version, "path": path, "name": name} for path, name in names_made_by(version, program)]
        if program.suffix == ".js":
            rows += [{"client": version, "path": path, "name": name} for path, name in names_called_by(program)]
    options.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    return 0


def names_made_by(version, program):
    """What the client calls the directories that can be made here. A client that fails in one has no name for it."""
    for path in DIRECTORIES:
        pathlib.Path(path).mkdir(parents=True, exist_ok=True)
        server = api.Api()
        with driver.Home(version, program, server) as home:
            answer = home.ask("ask-1", cwd=path)
            projects = home.claude / "projects"
            made = sorted(dir.name for dir in projects.iterdir() if any(dir.glob("*.jsonl"))) if projects.is_dir() else []
        server.stop()
        print(version, repr(path), made or f"exit {answer.code}: {answer.output[-200:]}", flush=True)
        for name in made:
            yield path, name


def names_called_by(program):
    """What the client's own function makes of paths of Windows."""
    source = program.read_text()
    function = re.search(r'function (\w+)\((\w)\)\{let (\w)=\2\.replace\(/\[\^a-zA-Z0-9\]/g,"-"\);if\(\3\.length<=(\w+)\)return \3;'
                         r'let \w=typeof Bun.*?\}function (\w+)\(\w\)\{.*?toString\(36\)\}', source)
    limit = re.search(rf"\b{function[4]}=(\d+)", source)[1]
    script = f"var {function[4]}={limit};{function[0]};console.log(JSON.stringify({json.dumps(WINDOWS)}.map({function[1]})))"
    done = subprocess.run([shutil.which("node"), "-e", script], capture_output=True, text=True, check=True)
    return zip(WINDOWS, json.loads(done.stdout))


if __name__ == "__main__":
    sys.exit(main())
