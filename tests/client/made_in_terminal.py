"""Sessions that the client creates while text is typed into it: rewinding, branching, interrupting, queueing."""
import os
import re
import shlex
import shutil
import subprocess
import time

import api
from made_by_client import NotHere, bash, scenario


class Terminal:
    """The client in a terminal of its own (tmux)."""

    def __init__(self, talk, *arguments):
        if not shutil.which("tmux"):
            raise NotHere("there is no tmux")
        self.talk, self._socket = talk, str(talk.home.path / "tmux")
        variables = " ".join(f"{key}={shlex.quote(value)}" for key, value in talk.home.environment.items())
        command = " ".join(shlex.quote(str(word)) for word in [*talk.home.command, *arguments])
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50",
                   f"cd {shlex.quote(str(talk.home.cwd))} && env -i {variables} {command}; sleep 600")

    def __enter__(self):
        if not self.sees(r"\? for shortcuts|❯|>\s", 90):
            raise NotHere("the client did not start: " + self.screen()[-300:])
        time.sleep(1.5)
        return self

    def __exit__(self, *_):
        self.press("C-c", "C-c", "C-c")
        time.sleep(1.5)
        self._tmux("kill-server")

    def _tmux(self, *words):
        return subprocess.run(["tmux", "-S", self._socket, *words], capture_output=True, text=True,
                              env={**os.environ, "TERM": "xterm-256color"}).stdout

    def screen(self):
        return self._tmux("capture-pane", "-p")

    def sees(self, pattern, seconds=75):
        last = time.time() + seconds
        while time.time() < last:
            if re.search(pattern, self.screen()):
                return True
            time.sleep(0.2)
        return False

    def press(self, *keys, pause=0.4):
        for key in keys:
            self._tmux("send-keys", key)
            time.sleep(pause)

    def type(self, words):
        self._tmux("send-keys", "-l", words)
        time.sleep(0.9)
        self.press("Enter")

    def ask(self, prompt, answer=None):
        self.type(prompt)
        answer = answer or prompt.replace("ask", "say")
        if not self.sees(rf"\b{answer}\b"):
            raise NotHere(f"no answer to {prompt}: {self.screen()[-600:]}")
        time.sleep(1)

    def rewind(self, prompt):
        self.press("Escape", "Escape", pause=0.3)
        if not self.sees("Restore the code|Jump to a previous|Rewind|restore", 8):
            raise NotHere("no menu to rewind: " + self.screen()[-400:])
        for _ in range(12):
            self.press("Up", pause=0.4)
            if re.search(rf"^\s*[❯>] {prompt}\b", self.screen().split("Rewind")[-1], re.M):
                break
        self.press("Enter", pause=1)
        for _ in range(6):
            if re.search(r"❯ \d\. Restore conversation\s*$", self.screen(), re.M) or "❯ 1." not in self.screen():
                break
            self.press("Down", pause=0.3)
        self.press("Enter", pause=1)
        self.press("C-e", "C-u", "C-u", pause=0.3)


def session_with(talk, label):
    """The session that was written last and holds a label."""
    for file in reversed(talk.home.sessions()):
        if label in file.read_text():
            return file.stem
    raise NotHere(f"no session holds {label}")


@scenario
def typed(talk):
    with Terminal(talk) as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
    return session_with(talk, "ask-2")


@scenario
def rewound(talk):
    with Terminal(talk) as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        terminal.rewind("ask-2")
        terminal.ask("ask-3")
    return session_with(talk, "ask-3")


@scenario
def interrupted_before_the_first_word(talk):
    talk.answer("ask-2", [api.wait(20), api.text("say-2")])
    with Terminal(talk) as terminal:
        terminal.ask("ask-1")
        terminal.type("ask-2")
        time.sleep(3)
        terminal.press("Escape")
        time.sleep(2)
        terminal.press("C-e", "C-u", "C-u", pause=0.3)
        terminal.ask("ask-3")
    return session_with(talk, "ask-3")


@scenario
def interrupted_in_a_tool_by_hand(talk):
    talk.answer("ask-2", [api.text("say-2a"), bash("2", "tail -f /dev/null")], [api.text("say-2")])
    with Terminal(talk, "--allowedTools", "Bash") as terminal:
        terminal.ask("ask-1")
        terminal.type("ask-2")
        terminal.sees("say-2a")
        time.sleep(3)
        terminal.press("Escape")
        time.sleep(2)
    return session_with(talk, "ask-2")


@scenario
def interrupted_in_a_tool_by_hand_and_went_on(talk):
    talk.answer("ask-2", [bash("2a"), bash("2", "tail -f /dev/null")], [api.text("say-2")])
    with Terminal(talk, "--allowedTools", "Bash") as terminal:
        terminal.ask("ask-1")
        terminal.type("ask-2")
        time.sleep(5)
        terminal.press("Escape")
        time.sleep(2)
        terminal.ask("ask-3")
    return session_with(talk, "ask-3")


@scenario
def queued_while_it_works(talk):
    talk.answer("ask-1", [bash("1", "sleep 4; echo out-1")], [api.text("say-1")])
    with Terminal(talk, "--allowedTools", "Bash") as terminal:
        terminal.type("ask-1")
        time.sleep(3)
        terminal.type("ask-2")
        terminal.sees(r"say-2|say-1\b")
        time.sleep(4)
    return session_with(talk, "ask-2")


@scenario
def command_for_the_shell(talk):
    with Terminal(talk) as terminal:
        terminal.ask("ask-1")
        terminal.press("!")
        terminal.type("echo shell")
        time.sleep(3)
        terminal.ask("ask-2")
    return session_with(talk, "ask-2")


@scenario
def compacted_by_hand(talk):
    with Terminal(talk) as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        terminal.type("/compact")
        terminal.sees("Compacted|compacted", 20)
        time.sleep(3)
        terminal.ask("ask-3")
    return session_with(talk, "ask-3")


@scenario
def branched_original(talk):
    """The session that the client's own /branch left behind."""
    return branched(talk, "ask-3")


@scenario
def branched_copy(talk):
    return branched(talk, "ask-4")


def branched(talk, label):
    if talk.version < (2, 1, 150):
        raise NotHere("no /branch")
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    with Terminal(talk, "--allowedTools", "Bash") as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        terminal.type("/branch")
        time.sleep(4)
        terminal.ask("ask-4")
    copy = session_with(talk, "ask-4")
    original = next(file.stem for file in talk.home.sessions() if "ask-4" not in file.read_text())
    talk.session = original
    talk.ask("ask-3")
    return original if label == "ask-3" else copy
