#!/usr/bin/env python3
"""Moves a session to another home and another directory, and lets the real client continue it there.

    tests/client/carried.py [--clients DIR] [--ramus PROGRAM] [VERSION...]

For each version
 1. the client, in a terminal, edits files, calls an agent and is rewound once, so that there is a second branch;
 2. `ramus pack` packs the session, `ramus unpack` places it in a home with another name, for another directory;
 3. `ramus resume`, in a terminal, starts the client on it; the messages that it sends must be those that
    `ramus show --as-client` tells, and a second time with what was said in between;
 4. `ramus resume --goto`, in a terminal, starts it on the abandoned branch;
 5. the client goes on with the agent, and sends what that one had said before;
 6. the client restores the code at prompts: the files in the new directory must be those that it restores in the old one.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time
import types

sys.dont_write_bytecode = True

import api
import driver
import labels
import run
from made_by_client import Talk, agent
from made_in_terminal import Terminal, session_with

VERSIONS = ["2.1.325", "2.0.74"]
TOOLS = ["--allowedTools", "Read,Edit,Write,Bash,Task,Agent,SendMessage", "--permission-mode", "acceptEdits"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--clients", type=pathlib.Path, default=run.ROOT / "target/clients", metavar="DIR")
    parser.add_argument("--ramus", metavar="PROGRAM")
    options = parser.parse_args()
    try:
        ramus = run.program(options.ramus)
        clients = {version: driver.install(options.clients, version) for version in options.versions or VERSIONS}
        driver.enter_namespace(sys.argv)
    except driver.Missing as missing:
        print(f"cannot run: {missing}", file=sys.stderr)
        return 2
    failed = 0
    for version, client in clients.items():
        server = api.Api()
        with driver.Home(version, client, server) as here, driver.Home(version, client, server) as there:
            failed += Carried(ramus, here, there).all()
        server.stop()
    return 1 if failed else 0


class Carried:
    def __init__(self, ramus, here, there):
        self.ramus, self.here, self.there = ramus, here, there
        self.failed = self.passed = 0
        self.before = {}

    def all(self):
        self.make()
        self.carry()
        self.resume()
        self.other_branch()
        self.agent()
        self.files()
        print(f"{self.here.version}: {self.passed} right, {self.failed} wrong", flush=True)
        return self.failed

    def check(self, what, is_right, told=""):
        self.passed += is_right
        self.failed += not is_right
        print(f"{self.here.version} {'ok  ' if is_right else 'FAIL'} {what}{'' if is_right else ': ' + str(told)}", flush=True)

    # What the session is made of.
    def make(self):
        talk, cwd = Talk(self.here), self.here.cwd
        (cwd / "sub").mkdir()
        (cwd / "a.txt").write_text("one\n")
        (cwd / "sub/b.txt").write_text("bee\n")
        edit = lambda name, old, new: [api.tool("Edit", file_path=str(cwd / name), old_string=old, new_string=new)]
        look = lambda name: [api.tool("Read", file_path=str(cwd / name))]
        talk.answer("ask-1", look("a.txt"), edit("a.txt", "one", "two"), [api.text("say-1")])
        talk.answer("ask-2", look("sub/b.txt"), edit("sub/b.txt", "bee", "wasp"),
                    [api.tool("Write", file_path=str(cwd / "new.txt"), content="new\n")], [api.text("say-2")])
        talk.answer("ask-3", [agent(talk, "3", "ask-51")], [api.text("say-3")])
        talk.answer("ask-4", look("a.txt"), edit("a.txt", "two", "three"), [api.text("say-4")])
        talk.answer("ask-5", edit("a.txt", "two", "four"), [api.text("say-5")])
        with Terminal(talk, *TOOLS) as terminal:
            for prompt in ("ask-1", "ask-2", "ask-3", "ask-4"):
                self.before[prompt] = self.disk(self.here)
                terminal.ask(prompt)
                time.sleep(3 if prompt == "ask-3" else 0)
            # Only the conversation goes back: the file keeps what the other branch made of it.
            terminal.rewind("ask-4")
            (cwd / "a.txt").write_text("two\n")
            self.before["ask-5"] = self.disk(self.here)
            terminal.ask("ask-5")
        self.session = session_with(talk, "ask-5")
        self.here.age()

    def disk(self, home):
        names = ("a.txt", "sub/b.txt", "new.txt")
        read = lambda path: path.read_text() if path.exists() else None
        return {name: read(home.cwd / name) for name in names}

    def run(self, home, *words):
        done = subprocess.run([self.ramus, *words], cwd=home.cwd, env=home.environment, text=True, capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"ramus {' '.join(words)}: {done.stderr}")
        return done.stdout

    def carry(self):
        pack = self.there.path / "carried.tar.zst"
        self.run(self.here, "pack", self.session, "-o", str(pack))
        again = self.here.path / "again.tar.zst"
        self.run(self.here, "pack", self.session, "-o", str(again))
        self.check("packed twice, the same bytes", pack.read_bytes() == again.read_bytes())
        # The files themselves come along by other means, such as git.
        (self.there.cwd / "sub").mkdir()
        for name, text in self.disk(self.here).items():
            if text is not None:
                (self.there.cwd / name).write_text(text)
        told = json.loads(self.run(self.there, "unpack", str(pack), "--yes", "--json"))
        self.check("it keeps its id", told["session"] == self.session, told)
        self.check("the old directory is named in no field of a record", not self.left(), self.left())
        self.there.age()

    def left(self):
        """The fields outside of messages that still name the old directory."""
        old, found = str(self.here.cwd), []

        def walk(value, path):
            if isinstance(value, dict):
                for key, inner in value.items():
                    if key not in ("message", "content", "prompt", "stdout"):
                        walk(inner, [*path, key])
            elif isinstance(value, list):
                for inner in value:
                    walk(inner, path)
            elif isinstance(value, str) and value.startswith(old):
                found.append(".".join(path))

        for file in self.there.claude.glob("projects/**/*.jsonl"):
            for record in driver.records(file):
                walk(record, [])
        return sorted(set(found))

    def claimed(self, address):
        """The labels of what ramus says the client sends."""
        return labels.of_messages(json.loads(self.run(self.there, "show", "--as-client", address, "--json"))["messages"])

    def typed(self, prompt, *words):
        """Starts the client by `ramus resume` in a terminal, types a prompt, and returns the labels that were sent."""
        client = self.there.path / "client"
        quoted = " ".join(f"'{word}'" for word in self.there.command)
        client.write_text(f"#!/bin/sh\nexec {quoted} \"$@\"\n")
        client.chmod(0o755)
        home = types.SimpleNamespace(path=self.there.path, cwd="/", command=[self.ramus, "resume"],
                                     environment={**self.there.environment, "RAMUS_CLAUDE": str(client)})
        before = len(self.there.api.requests)
        with Terminal(types.SimpleNamespace(home=home), *words) as terminal:
            terminal.ask(prompt)
        self.there.age()
        sent = [request["messages"] for request in self.there.api.requests[before:] if request.get("tools")]
        sent = [labels.of_messages(messages) for messages in sent]
        return next((one for one in reversed(sent) if prompt in one), None)

    def resume(self):
        for prompt in ("ask-6", "ask-7"):
            expected = [*self.claimed(self.session), prompt]
            sent = self.typed(prompt, self.session)
            self.check(f"resumed with {prompt}", sent == expected, f"{sent} instead of {expected}")

    def other_branch(self):
        file = self.there.project() / f"{self.session}.jsonl"
        answer = labels.find(driver.records(file), "say-4")["uuid"]
        expected = [*self.claimed(f"{self.session}:{answer}"), "ask-8"]
        sent = self.typed("ask-8", f"{self.session}:{answer}", "--goto")
        self.check("the abandoned branch resumed", sent == expected and "ask-4" in sent, f"{sent} instead of {expected}")

    def agent(self):
        """Lets the client go on with the agent, by the tool that its version has for that."""
        found = [*self.there.claude.glob("projects/**/agent-*.jsonl")]
        ids = [file.stem.removeprefix("agent-") for file in found if "ask-51" in file.read_text()]
        self.check("the agent came along", len(ids) == 1, found)
        names = {tool["name"] for request in self.there.api.requests for tool in request.get("tools", [])}
        talk = Talk(self.there)
        if talk.version < (2, 1, 63):
            call = agent(talk, "9", "ask-52", resume=ids[0])
        else:
            call = api.tool("SendMessage", to=ids[0], message="ask-52", summary="call-9")
        talk.answer("ask-9", [call], [api.wait(4), api.text("say-9")])
        before = len(self.there.api.requests)
        self.there.run("-p", "--resume", self.session, *TOOLS, "--", "ask-9")
        time.sleep(3)
        sent = [labels.of_messages(request["messages"]) for request in self.there.api.requests[before:]]
        sent = [one for one in sent if "ask-52" in one and "ask-1" not in one]
        self.check("the client goes on with the agent", ["ask-51", "say-51", "ask-52"] in sent, (sent, sorted(names)))

    def files(self):
        """Lets the client restore the code at prompts, in the new home and in the old one, and looks at the files."""
        carried = self.restored(self.there, ("ask-4", "ask-2", "ask-1"))
        old = self.disk(self.here)
        self.check("the old directory is left alone", old["a.txt"] == "four\n", old)
        # What 2.0.74 backs up is too late by one edit, in the old home as well: it is what the client gives there.
        expected = {"ask-4": self.before["ask-4"], **self.restored(self.here, ("ask-2", "ask-1"))}
        for prompt, files in carried.items():
            self.check(f"files restored at {prompt}", files == expected[prompt], (files, expected[prompt]))

    def restored(self, home, prompts):
        """The files after restoring the code at each prompt."""
        found = {}
        with Terminal(Talk(home), "--resume", self.session) as terminal:
            for prompt in prompts:
                for name in ("a.txt", "sub/b.txt"):
                    (home.cwd / name).write_text("spoiled\n")
                restore(terminal, prompt)
                found[prompt] = self.disk(home)
        return found


def restore(terminal, prompt):
    """Restores the code at a prompt, and not the conversation."""
    terminal.press("Escape", "Escape", pause=0.3)
    terminal.sees("Restore the code|Jump to a previous|Rewind|restore", 8)
    for _ in range(16):
        if re.search(rf"^\s*[❯>] {prompt}\b", terminal.screen().split("Rewind")[-1], re.M):
            break
        terminal.press("Up", pause=0.4)
    terminal.press("Enter", pause=1)
    for _ in range(6):
        if re.search(r"❯ \d\. Restore code\s*$", terminal.screen(), re.M):
            break
        terminal.press("Down", pause=0.3)
    terminal.press("Enter", pause=2)
    terminal.press("C-e", "C-u", "C-u", pause=0.3)


if __name__ == "__main__":
    sys.exit(main())
