#!/usr/bin/env python3
"""`ramus files` against the real client: does it give what the client itself restores?

    tests/client/files.py --tools DIR [--ramus PROGRAM] VERSION...

DIR holds the lab that runs a client of a given version in a network namespace with loopback only,
against a scripted stub of its API (`lab.py` with its class `Lab`, and the clients it can find).
It may also be given as CLIENT_TOOLS. Needs root, tmux and node; nothing of the
person's own home is touched. Not part of `cargo test`: a client is some hundred megabytes.

For each version the script
 1. talks to the client in its terminal: edits, creations, deletions by command, changes from
    outside, files outside the project, Windows line ends, a rewind that leaves a branch behind;
    it writes down what every file holds before each prompt and after each answer;
 2. asks `ramus files` for every prompt and every answer;
 3. resumes the session in a new client, spoils every file, lets the client restore the code at
    each prompt (Esc Esc), and compares byte for byte what is then on the disk with what ramus said.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

SPOILED = b"spoiled\n"


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--tools", default=os.environ.get("CLIENT_TOOLS"), help="the directory of lab.py")
    parser.add_argument("--ramus", default=str(here / "../../target/release/ramus"))
    args = parser.parse_args()
    if not args.tools:
        parser.error("say where lab.py is: --tools DIR or CLIENT_TOOLS")
    sys.path.insert(0, args.tools)
    import lab

    failed = 0
    for version in args.versions:
        failed += Run(lab, version, args.ramus).all()
    sys.exit(1 if failed else 0)


class Run:
    def __init__(self, lab, version, ramus):
        self.lab = lab.Lab(version, "files")
        self.version, self.ramus = version, ramus
        self.cwd = Path(self.lab.cwd)
        self.outside = self.cwd.parent / (self.cwd.name + "-outside.txt")
        self.paths = [self.cwd / name for name in ("a.txt", "sub/b.txt", "new.txt", "deep/er/n.txt", "crlf.txt", "run.sh")]
        self.paths.append(self.outside)
        self.before, self.after = {}, {}
        self.passed = self.late = self.failed = self.doubtful = 0

    # What the session is made of.
    def steps(self):
        a, b, n, d, c, r = self.paths[:6]
        tool = lambda name, **given: {"tool": name, "input": given}
        look = lambda path: [tool("Read", file_path=str(path))]
        edit = lambda path, old, new: [tool("Edit", file_path=str(path), old_string=old, new_string=new)]
        write = lambda path, text: [tool("Write", file_path=str(path), content=text)]
        shell = lambda line: [tool("Bash", command=line, description="does it")]
        return {
            "p1": [look(a), edit(a, "one", "ONE"), write(n, "new 1\n")],
            "p2": [edit(a, "two", "TWO"), edit(a, "three", "THREE"), look(b), write(b, "bee 2\n")],
            "p3": [shell("rm new.txt; echo shell >> a.txt; echo s > untracked.txt")],
            "p4": [look(self.outside), edit(self.outside, "outside", "OUTSIDE"), write(d, "deep\n"), look(c), edit(c, "two", "2\n2")],
            "p5": [look(a), edit(a, "ONE", "1"), write(n, "new 5\n"), look(r), edit(r, "true", "false")],
            "p6": [shell("rm sub/b.txt; printf 'x' >> crlf.txt")],
            "q6": [look(b), edit(b, "bee outside", "other way"), write(d, "deeper\n")],
            "q7": [shell("rm deep/er/n.txt"), look(a), edit(a, "TWO", "zwei")],
        }

    def all(self):
        self.prepare()
        try:
            self.talk()
            self.judge_by_truth()
            self.judge_by_client()
        finally:
            self.lab.stop()
        print(
            f"{self.version}: {self.passed} contents as the client restores them or as they were, "
            f"{self.late} where the client's own backup was made too late, "
            f"{self.doubtful} said to be unsure, {self.failed} wrong"
        )
        return self.failed

    def prepare(self):
        a, b, n, d, c, r = self.paths[:6]
        for path in self.paths:
            path.unlink(missing_ok=True)
        b.parent.mkdir(parents=True, exist_ok=True)
        a.write_bytes(b"one\ntwo\nthree\n")
        b.write_bytes(b"bee\n")
        c.write_bytes(b"one\r\ntwo\r\nthree\r\n")
        r.write_bytes(b"#!/bin/sh\ntrue\n")
        r.chmod(0o755)
        self.outside.write_bytes(b"outside\n")
        steps = {name: [*each, [{"text": f"re[{name} done]"}]] for name, each in self.steps().items()}
        self.lab.script(**steps)

    def disk(self):
        return {str(path): path.read_bytes() if path.exists() else None for path in self.paths}

    def ask(self, name):
        self.before[name] = self.disk()
        self.lab.type(f"prompt {name} SCRIPT:{name}")
        if not self.lab.wait(rf"re\[{name} done\]", 40):
            raise SystemExit(f"{self.version}: no answer to {name}\n{self.lab.screen()}")
        time.sleep(1)
        self.after[name] = self.disk()

    def talk(self):
        self.lab.start("--allowedTools", "Bash", "Write", "Edit", "Read")
        for name in ("p1", "p2", "p3"):
            self.ask(name)
        self.paths[1].write_bytes(b"bee outside\n")
        for name in ("p4", "p5", "p6"):
            self.ask(name)
        # Back to before p6 with the code, and on another way.
        self.rewind("p6", "Restore code and conversation")
        time.sleep(1)
        self.lab.keys("C-e", "C-u", "C-u", delay=0.3)
        self.ask("q6")
        self.paths[0].write_bytes(self.paths[0].read_bytes() + b"by hand\n")
        self.ask("q7")
        self.ask_last()
        self.lab.stop()
        self.session = Path(self.lab.sessions()[-1])
        self.prompts, self.answers = {}, {}
        for record in map(json.loads, self.session.read_text().splitlines()):
            content = (record.get("message") or {}).get("content")
            if record.get("type") == "user" and isinstance(content, str):
                found = re.match(r"prompt (\w+)", content)
                if found:
                    self.prompts[found.group(1)] = record["uuid"]
            if record.get("type") == "assistant" and isinstance(content, list):
                for block in content:
                    found = re.match(r"re\[(\w+)", block.get("text", ""))
                    if found:
                        self.answers[found.group(1)] = record["uuid"]

    def ask_last(self):
        self.before["last"] = self.disk()
        self.lab.type("prompt last")
        if not self.lab.wait(r"re\[prompt last", 20):
            raise SystemExit(f"{self.version}: no last answer\n{self.lab.screen()}")
        time.sleep(1)

    def rewind(self, name, way):
        """Opens the client's own menu, picks a prompt and a way to go back."""
        self.lab.keys("Escape", "Escape", delay=0.3)
        if not self.lab.wait("Restore the code and/or conversation", 10):
            self.lab.keys("Escape", "Escape", delay=0.3)
            self.lab.wait("Restore the code and/or conversation", 10)
        for _ in range(20):
            if re.search(rf"❯ prompt {name}\b", self.lab.screen().split("Restore the code and/or")[-1]):
                break
            self.lab.keys("Up", delay=0.3)
        else:
            raise SystemExit(f"{self.version}: {name} is not in the menu\n{self.lab.screen()}")
        self.lab.keys("Enter", delay=0.8)
        for _ in range(8):
            if re.search(rf"❯ \d\. {way}\s*$", self.lab.screen(), re.M):
                break
            self.lab.keys("Down", delay=0.3)
        else:
            raise SystemExit(f"{self.version}: no way to {way!r} at {name}\n{self.lab.screen()}")
        self.lab.keys("Enter", delay=0.8)

    # What ramus says.
    def files(self, uuid):
        where = f"{self.session.stem}:{uuid}"
        command = [self.ramus, "--claude-dir", self.lab.home + "/.claude", "files", where]
        listed = subprocess.run([*command, "--json"], capture_output=True, text=True)
        if listed.returncode:
            raise SystemExit(f"{' '.join(command)}: {listed.stderr}")
        found = {}
        for file in json.loads(listed.stdout)["files"]:
            content = None
            if file["state"] == "file":
                printed = subprocess.run([*command, file["path"]], capture_output=True)
                content = printed.stdout
            found[file["path"]] = (file, content)
        return found

    def wrong(self, text):
        self.failed += 1
        print(f"  WRONG {self.version}: {text}")

    def judge_by_truth(self):
        """Every prompt, also on the branch that was left, and every answer, by what was on the disk."""
        moments = [("before", name, uuid, self.before[name]) for name, uuid in self.prompts.items()]
        moments += [("after", name, uuid, self.after[name]) for name, uuid in self.answers.items() if name in self.after]
        for when, name, uuid, truth in moments:
            for path, (file, content) in self.files(uuid).items():
                unsure = file["doubt"] == "commands-ran" or file["state"] == "unknown"
                if content == truth[path] and file["state"] != "unknown":
                    self.passed += 1
                elif when == "after" and unsure:
                    self.doubtful += 1
                    print(f"  unsure {self.version}: {when} {name}: {path} by {file['source']}, {file['doubt']}")
                else:
                    self.wrong(f"{when} {name}: {path} held {truth[path]!r}, ramus says {content!r} by {file['source']}")

    def judge_by_client(self):
        """Every prompt of the active branch, by what a new process of the client restores."""
        said = {name: self.files(uuid) for name, uuid in self.prompts.items()}
        backups = Path(self.lab.home) / ".claude/file-history" / self.session.stem
        self.lab.start("--allowedTools", "Bash", "Write", "Edit", "Read", "--resume", self.session.stem)
        time.sleep(1)
        for name in ("last", "q7", "q6", "p5", "p4", "p3", "p2", "p1"):
            for path in said[name]:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).write_bytes(SPOILED)
            self.rewind(name, "Restore code")
            for _ in range(50):
                if all(content != SPOILED for content in self.disk().values()):
                    break
                time.sleep(0.1)
            time.sleep(0.5)
            restored = self.disk()
            for path, (file, content) in said[name].items():
                if restored[path] == content:
                    self.passed += 1
                elif file["doubt"] == "late-backup" and restored[path] == (backups / file["backup"]).read_bytes():
                    self.late += 1
                else:
                    self.wrong(f"before {name}: the client restores {path} as {restored[path]!r}, ramus says {content!r}")


if __name__ == "__main__":
    main()
