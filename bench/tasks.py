#!/usr/bin/env python3
"""Twenty daily tasks, done with keys in tmux by ramus and by two other programs: how many keys, how many seconds.

  bench/tasks.py --ramus target/debug/ramus [--claude-history PROGRAM] [--fast-resume PROGRAM] [--only N] [-v]

All read the same sample history (`ramus demo`) in a home of their own; `claude` is a stand-in that prints how it was
started. A key is one press; a typed letter is one, too. The seconds are what the program lets one wait, from each press
until the screen shows what is expected, plus 0.2 s for each key, which is what a practised typist needs. Starting the
program is not counted: it is ready when its list is on the screen. "–": the program cannot do it.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

KEY_SECONDS = 0.2
TIMEOUT = 15

# Each step: what is pressed (a string is typed letter by letter, a list are named keys), and what must be seen then.
E, ESC, UP, DOWN, TAB = ["Enter"], ["Escape"], ["Up"], ["Down"], ["Tab"]
TASKS = [
    ("see the newest session's last messages", {
        "ramus": [([], r"Claude Code resumes here|● Claude")],
        "claude-history": [([], r"(?i)load test|pot|teapot")],
        "fast-resume": [([], r"Preview")]}),
    ("find the session about “hyper”", {
        "ramus": [("hyper", r"search: hyper.*found"), ([], r"The same pot on hyper")],
        "claude-history": [("hyper", r"(?i)hyper")],
        "fast-resume": [("hyper", r"1 shown")]}),
    ("read it where it says so", {
        "ramus": [("hyper", r"search: hyper.*found, "), ([], r"What would this look like on hyper")],
        "claude-history": [("hyper", r"(?i)hyper"), (E, r"(?i)about as long|plumbing|binary")],
        "fast-resume": [("hyper", r"would this look like on hyper")]}),
    ("resume the session about “hyper”", {
        "ramus": [("hyper", r"search: hyper.*found"), (["C-o"], r"CLAUDE .*resume")],
        "claude-history": [("hyper", r"(?i)hyper"), (["C-r"], r"CLAUDE .*resume")],
        "fast-resume": [("hyper", r"1 shown"), (E, r"No +Yolo"), (E, r"CLAUDE .*resume")]}),
    ("resume the newest session", {
        "ramus": [(["C-o"], r"CLAUDE .*resume")],
        "claude-history": [(["C-r"], r"CLAUDE .*resume")],
        "fast-resume": [(E, r"No +Yolo"), (E, r"CLAUDE .*resume")]}),
    ("fork the newest session and resume the copy", {
        "ramus": [(["F8"], r"CLAUDE .*resume")],
        "claude-history": [(["C-f"], r"CLAUDE .*(fork|resume)")]}),
    ("copy the command that resumes a session", {
        "ramus": [(["C-y"], r"copied the command")],
        # It says nothing.
        "fast-resume": [(["C-y"], r"")]}),
    ("read the newest session", {
        "ramus": [(E, r"b branches")],
        "claude-history": [(E, r"(?i)q |scroll|esc")]}),
    ("find a session about “hyper” of the last 90 days", {
        "ramus": [("hyper since:90d", r"found, "), ([], r"The same pot on hyper")],
        "fast-resume": [("hyper date:<90d", r"1 shown")]}),
    ("see what was tried before: the abandoned branches", {
        "ramus": [("tiny", r"found"), (["Right"], r"○ @")]}),
    ("search only what was abandoned", {
        "ramus": [("pool branch:abandoned", r"found, \d+ message")]}),
    ("read an abandoned branch", {
        "ramus": [("tiny", r"found"), (["Right"], r"○ @"), (DOWN, r"."), (E, r"abandoned.*\n(?s:.)*b branches|abandoned")]}),
    ("resume an abandoned branch", {
        "ramus": [("tiny", r"found"), (["Right"], r"○ @"), (DOWN, r"."), (["C-o"], r"fork and resume"), ("f", r"CLAUDE .*resume")]}),
    ("compare two branches, numbers first", {
        "ramus": [("tiny", r"found"), (E, r"b branches"), ("d", r"marked"), ("b", r"Branches"), (["Home"], r"."), ("d", r"Totals")]}),
    ("make Claude Code continue from an earlier message", {
        "ramus": [("tiny", r"found"), (E, r"b branches"), ("g", r"Resume from there"), ("y", r"Done as operation")]}),
    ("undo that", {
        "ramus": [("tiny", r"found"), (E, r"b branches"), ("g", r"Resume from there"), ("y", r"Done as operation"),
                  ("u", r"Undo it"), ("y", r"Done as operation 2")]}),
    ("see a file as it was at a message", {
        "ramus": [("tiny", r"found"), (E, r"b branches"), (["End"], r"resumes here"), ("o", r"Files as of"), (E, r"\[package\]|FROM|teapot")]}),
    ("see what a session cost, by model and branch", {
        "ramus": [(["F3"], r"Tokens and cost")]}),
    ("export the newest session to Markdown", {
        "ramus": [(["F4"], r"Export this"), ("m", r"exported")],
        "claude-history": [(E, r"(?i)q |scroll|esc"), ("e", r"(?i)markdown|export"), (E, r"(?i)export|saved|wrote")]}),
    ("delete a session, and get it back", {
        "ramus": [(["DC"], r"yes"), ("y", r"Done as operation"), (["F7"], r"Enter restores"), (E, r"yes"), ("y", r"operation 2")]}),
]
PROGRAMS = ["ramus", "claude-history", "fast-resume"]
READY = {"ramus": r"\d+ sessions", "claude-history": r"(?i)teapot|kettle|hyper", "fast-resume": r"7 shown"}


class Terminal:
    """A program in a tmux of its own."""

    def __init__(self, scratch, command, ready):
        self.socket = scratch / "tmux"
        home = scratch / "home"
        env = f"env -i HOME={home} TZ=UTC LANG=C.UTF-8 TERM=tmux-256color PATH={home}/bin:/usr/bin:/bin"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", f"cd {home}; {env} {command}; cat")
        self.wait(ready)

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", str(self.socket), *args], capture_output=True, text=True).stdout

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def wait(self, pattern):
        """Waits until the screen shows a pattern; returns the seconds."""
        start = time.monotonic()
        while True:
            screen = self.screen()
            if re.search(pattern, screen):
                return time.monotonic() - start
            if time.monotonic() - start > TIMEOUT:
                raise RuntimeError(f"no {pattern!r} on\n{screen}")
            time.sleep(0.005)

    def press(self, keys):
        """Presses keys one after the other; returns how many those were."""
        if isinstance(keys, list):
            for key in keys:
                self.tmux("send-keys", key)
            return len(keys)
        for letter in keys:
            self.tmux("send-keys", "-l", letter)
        return len(keys)

    def settle(self):
        """Waits until nothing changes any more, so that one step does not run into the next."""
        before = None
        while (now := self.screen()) != before:
            before = now
            time.sleep(0.25)

    def close(self):
        self.tmux("kill-server")


def make_home(scratch, ramus):
    home = scratch / "home"
    (home / "bin").mkdir(parents=True)
    claude = home / "bin" / "claude"
    claude.write_text('#!/bin/sh\necho "CLAUDE $*"\nsleep 1000\n')
    claude.chmod(0o755)
    subprocess.run([ramus, "demo", home / ".claude"], check=True, capture_output=True,
                   env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
    # Programs that resume go to the session's directory, which has to exist.
    for file in (home / ".claude").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b"/home/dev/", f"{home}/dev/".encode()))
    for project in list((home / ".claude/projects").iterdir()):
        name = project.name.removeprefix("-home-dev-")
        (home / "dev" / name).mkdir(parents=True)
        project.rename(project.with_name(re.sub(r"[^A-Za-z0-9]", "-", f"{home}/dev/{name}")))
    # Sessions that were written just now would be refused as being in use; the newest stays the newest.
    files = sorted((home / ".claude").rglob("*.jsonl"), key=lambda file: last_time(file))
    for age, file in enumerate(reversed(files)):
        moment = time.time() - 3600 * (age + 1)
        os.utime(file, (moment, moment))
    return home


def last_time(file):
    return max(re.findall(r'"timestamp":"([^"]+)"', file.read_text()) or [""])


def measure(steps, program, command, ramus):
    """Returns keys and seconds of a task, or what went wrong."""
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ramus-tasks-"))
    terminal = None
    try:
        make_home(scratch, ramus)
        terminal = Terminal(scratch, command, READY[program])
        terminal.settle()
        if program == "fast-resume":
            # It takes the first key for an answer of the terminal; this one does nothing.
            terminal.press(["Right"])
            terminal.settle()
        keys, seconds = 0, 0.0
        for pressed, pattern in steps:
            keys += terminal.press(pressed)
            seconds += terminal.wait(pattern)
            terminal.settle()
        return keys, seconds + keys * KEY_SECONDS
    finally:
        if terminal:
            terminal.close()
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ramus", required=True, type=pathlib.Path)
    parser.add_argument("--claude-history", type=pathlib.Path)
    parser.add_argument("--fast-resume", type=pathlib.Path)
    parser.add_argument("--only", type=int, help="one task, by its number")
    parser.add_argument("-v", action="store_true", help="say why a program failed")
    args = parser.parse_args()
    ramus = args.ramus.resolve()
    commands = {"ramus": ramus, "claude-history": args.claude_history, "fast-resume": args.fast_resume}
    print("| | task | " + " | ".join(PROGRAMS) + " |")
    print("|---|---|" + "---|" * len(PROGRAMS))
    for number, (name, ways) in enumerate(TASKS, 1):
        if args.only not in (None, number):
            continue
        row = []
        for program in PROGRAMS:
            command, steps = commands[program], ways.get(program)
            if steps is None:
                row.append("–")
            elif command is None:
                row.append("not measured")
            else:
                try:
                    keys, seconds = measure(steps, program, command, ramus)
                    row.append(f"{keys} · {seconds:.1f} s")
                except RuntimeError as error:
                    row.append("failed")
                    if args.v:
                        print(f"{program}, {name}: {error}")
        print(f"| {number} | {name} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
