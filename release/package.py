#!/usr/bin/env python3
"""Packs a built program with its licences, manual pages and completions, as it is released.

    release/package.py TARGET PROGRAM OUT

PROGRAM has to run on this machine: it writes its own manual pages and completions. `--run COMMAND` runs it through another
program, such as wine64. OUT receives `ramus-TARGET.tar.gz` (`.zip` for Windows) and its SHA-256 beside it.
"""
import argparse
import hashlib
import pathlib
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "SECURITY.md"]
COMPLETIONS = {"bash": "ramus.bash", "zsh": "_ramus", "fish": "ramus.fish", "powershell": "_ramus.ps1", "elvish": "ramus.elv"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--run", default="", metavar="COMMAND")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"ramus-{options.target}"
    with tempfile.TemporaryDirectory() as scratch:
        top = pathlib.Path(scratch, name)
        fill(top, options.program, [*shlex.split(options.run), str(options.program.resolve())])
        archive = pack_zip(top, options.out) if "windows" in options.target else pack_tar(top, options.out)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    archive.with_name(archive.name + ".sha256").write_text(f"{digest}  {archive.name}\n")
    print(archive)


def fill(top, program, command):
    top.mkdir()
    shutil.copy2(program, top / program.name)
    for document in DOCUMENTS:
        shutil.copy2(ROOT / document, top)
    (top / "completions").mkdir()
    for shell, file in COMPLETIONS.items():
        text = subprocess.run([*command, "completions", shell], check=True, capture_output=True).stdout
        (top / "completions" / file).write_bytes(text)
    (top / "man").mkdir()
    subprocess.run([*command, "man", "--out", "man"], check=True, cwd=top, capture_output=True)


def pack_tar(top, out):
    archive = out / f"{top.name}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for path in sorted(top.rglob("*")):
            if path.is_file():
                info = tar.gettarinfo(path, path.relative_to(top.parent))
                info.uid = info.gid = 0
                info.uname = info.gname = "root"
                with open(path, "rb") as bytes:
                    tar.addfile(info, bytes)
    return archive


def pack_zip(top, out):
    archive = out / f"{top.name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip:
        for path in sorted(top.rglob("*")):
            if path.is_file():
                zip.write(path, path.relative_to(top.parent))
    return archive


if __name__ == "__main__":
    main()
