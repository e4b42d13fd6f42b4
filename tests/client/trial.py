"""One trial: ramus changes a history, the client resumes it, and what it sends is compared."""
import dataclasses
import json
import shutil
import subprocess

import driver
import labels


class Wrong(Exception):
    """What was expected did not come."""


@dataclasses.dataclass
class Target:
    """A message to go to or to fork from, and what the client must send afterwards."""
    what: str
    address: str
    want: list
    forks: bool = False  # the client cannot follow inside this file, so that `goto` must fork


class Trial:
    """A home with a history that can be put back as it was."""

    def __init__(self, home, ramus):
        self.home, self._ramus, self.op = home, ramus, None
        self._saved = home.path / "saved"

    def put(self, session, cwd=None, file=None):
        """Places a session made by hand."""
        file = file or self.home.project(cwd) / f"{session.name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(session.bytes())

    def save(self):
        self.home.age()
        shutil.copytree(self.home.claude, self._saved)

    def put_back(self):
        for place in (self.home.claude, self.home.path / ".local"):
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self._saved, self.home.claude)

    def files(self):
        """All that can be told of the files of the Claude directory."""
        told = {}
        for file in sorted(self.home.claude.rglob("*")):
            if file.is_file():
                seen = file.stat()
                told[file.relative_to(self.home.claude)] = (file.read_bytes(), seen.st_mode, seen.st_mtime_ns)
        return told

    def ramus(self, *words):
        """Runs ramus; returns what it answers and what it says beside."""
        yes = [] if words[0] == "show" else ["--yes"]
        command = [self._ramus, *words, "--json", *yes, "--claude-dir", str(self.home.claude)]
        environment = {key: self.home.environment[key] for key in ("HOME", "PATH", "LANG")}
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.home.cwd, env=environment)
        if done.returncode != 0:
            raise Wrong(f"ramus {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return json.loads(done.stdout), done.stderr

    def change(self, *words, forks):
        """Runs `goto` or `fork` and checks what became of the files; returns the session to resume."""
        before = self.files()
        answer, talk = self.ramus(*words)
        self.op = answer["op"]
        after = self.files()
        changed = [file for file in before if after.get(file) != before[file]]
        new = [file for file in after if file not in before]
        sessions = [file for file in new if len(file.parts) == 3 and file.suffix == ".jsonl"]
        if words[0] == "goto" and self.op is None:
            # The session goes on there already.
            if new or changed:
                raise Wrong(f"goto did nothing and made {len(new)} files and changed {len(changed)}")
        elif forks:
            if changed:
                raise Wrong(f"a fork changed {changed[0]}")
            if [file.stem for file in sessions] != [answer["session"]]:
                raise Wrong(f"a fork made {len(sessions)} sessions")
            if words[0] == "goto" and "Cannot go there in this session: " not in talk:
                raise Wrong("goto made a fork and did not say why")
        else:
            if new or len(changed) != 1 or changed[0].stem != answer["session"]:
                raise Wrong(f"goto made {len(new)} files and changed {len(changed)}: {talk.strip()[-200:]}")
            if not after[changed[0]][0].startswith(before[changed[0]][0]):
                raise Wrong("goto changed bytes that were there")
        if answer["session"] not in answer["resume_command"]:
            raise Wrong(f"the command to resume is {answer['resume_command']!r}")
        return answer["session"]

    def unchanged_by(self, *changes):
        """Makes changes, takes them back in reverse order, and checks that nothing is left of them."""
        before = self.files()
        written = []
        for words, forks in changes:
            self.change(*words, forks=forks)
            written += [self.op] if self.op is not None else []
        for _ in written:
            self.ramus("undo")
        after = self.files()
        left = [str(file) for file in before.keys() | after.keys() if before.get(file) != after.get(file)]
        if left:
            raise Wrong(f"undo did not bring back {' '.join(sorted(left))}")

    def resume(self, session, prompt, want, cwd=None):
        """Lets the client go on; returns the session in which it did."""
        answer = self.home.ask(prompt, resume=session, cwd=cwd)
        if answer.labels != [*want, prompt]:
            raise Wrong(f"sent: {' '.join(answer.labels)}; wanted: {' '.join([*want, prompt])}")
        alone = labels.unpaired(answer.sent)
        if alone:
            raise Wrong(f"calls or results stand alone: {' '.join(alone)}")
        return answer.session

    def go_on(self, session, want, cwd=None):
        """Resumes twice: the second time what was said the first time must be there."""
        session = self.resume(session, "ask-90", want, cwd)
        return self.resume(session, "ask-91", [*want, "ask-90", "say-90"], cwd)

    def travel(self, command, target):
        """The whole way for one target; returns how ramus went it."""
        forks = command == "fork" or target.forks
        words = (command, target.address)
        self.unchanged_by((words, forks))
        session = self.change(*words, forks=forks)
        self.go_on(session, target.want)
        return "fork" if forks else "append"

    def address(self, label, cwd=None):
        """The newest record with a label, in the file that was written last."""
        for file in reversed(self.home.sessions(cwd)):
            record = labels.find(driver.records(file), label)
            if record:
                return f"{file.stem}:{record['uuid']}"
        raise Wrong(f"no session holds {label}")
