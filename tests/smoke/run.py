#!/usr/bin/env python3
"""Tries a finished ramus program from outside: every command, every write and its undo, and kills in the middle.

    tests/smoke/run.py PROGRAM                    on this system
    tests/smoke/run.py --wine DIR PROGRAM.exe     the Windows program, in the Wine directory that `tests/smoke/wine` made
    tests/smoke/run.py --against OTHER PROGRAM    also compares what the two print

Everything happens in a scratch directory with a home of its own. It prints a line for each check and ends with 1 if one
failed. A debug build of another system has to embed its files: `--features rust-embed/debug-embed`.
"""
import argparse
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

SESSION = "7ea90418-c0de-4b1e-9f3a-51e6a0d2c418"
# The reading commands, as a person types them on the demo. `{word}` is replaced by a path.
READING = [
    "projects", "sessions", "sessions --all", "sessions tea-menu", "conversations 7ea9", "show 7ea9", "show 7ea9@2",
    "show latest --as-client", "tree 7ea9", "diff 7ea9@1 7ea9@2", "files 7ea9", "files 7ea9 src/main.rs", "find teapot",
    "find --file src/main.rs", "find --regex 'tea.?pot' --limit 3", "stats", "usage", "usage --by model", "check", "log",
    "resume 7ea9 --print", "archive status", "cache status",
]
PLAIN = ["guide", "completions bash", "completions powershell", "man"]
WRITING = ["goto", "branch", "fork", "merge", "pack", "unpack", "rename", "trash", "undo", "restore"]
ELSEWHERE = ["watch", "export", "serve", "mcp", "archive", "cache", "demo", "help", "config", "statusline", "pin", "tag", "note"]


class Program:
    """A program with a home of its own."""

    def __init__(self, path, scratch, wine):
        self.path, self.scratch, self.wine = pathlib.Path(path).resolve(), scratch, wine
        self.home = scratch / "home"
        self.claude, self.project = self.home / ".claude", scratch / "a project 🫖"
        for dir in (self.home, self.project):
            dir.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "USERPROFILE": self.written(self.home), "TZ": "UTC", "LANG": "C.UTF-8",
            "CLAUDE_CONFIG_DIR": self.written(self.claude), "RAMUS_STATE_DIR": self.written(scratch / "state"),
            "RAMUS_CACHE_DIR": self.written(scratch / "cache"), "RAMUS_ARCHIVE": self.written(scratch / "archive.db"),
            "XDG_CONFIG_HOME": self.written(scratch / "config"), "NO_COLOR": "1", "RAMUS_CACHE_SETTLE_MS": "0", "COLUMNS": "200",
        }
        self.command = [str(self.path)]
        if wine:
            self.command = ["/usr/lib/wine/wine64", str(self.path)]
            self.environment |= {"WINEPREFIX": str(wine), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml=;winemenubuilder.exe=d"}

    def keep_wine_running(self):
        """Wine starts its services with the first program and ends them with the last, which takes longer than what is tried here.
        A shell that waits for input is there all the time; it ends with this script, as its input does."""
        return subprocess.Popen([self.command[0], "cmd.exe"], env=self.environment, stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def written(self, path):
        """A path as the program sees it. Wine calls the whole file system drive Z."""
        return "Z:" + str(path).replace("/", "\\") if self.wine else str(path)

    def run(self, *arguments, code=0, input=None, cwd=None):
        """Runs it to its end. `code=None`: any exit code is fine, except those of a crash."""
        done = subprocess.run([*self.command, *arguments], env=self.environment, cwd=cwd or self.project, input=input,
                              capture_output=True, timeout=300)
        output, errors = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        expected = done.returncode in (0, 1, 2) if code is None else done.returncode == code
        if not expected or "panicked" in errors:
            raise AssertionError(f"{' '.join(arguments)}: exit {done.returncode}\n{output[-800:]}\n{errors[-1200:]}")
        return output

    def start(self, *arguments, **pipes):
        return subprocess.Popen([*self.command, *arguments], env=self.environment, cwd=self.project, **pipes)

    def json(self, *arguments, **options):
        return json.loads(self.run(*arguments, "--json", **options))

    def fresh_demo(self):
        """Replaces everything by the demo, and lets it seem a minute old."""
        for path in (self.claude, self.scratch / "state", self.scratch / "cache"):
            shutil.rmtree(path, ignore_errors=True)
        self.run("demo", self.written(self.claude))
        for path in self.claude.rglob("*"):
            os.utime(path, (1_700_000_000, 1_700_000_000))

    def session_file(self, id=SESSION):
        return next(self.claude.glob(f"projects/*/{id}.jsonl"))


def contents(root):
    """Every file below a directory with the hash of its bytes. What ramus itself keeps there does not count."""
    files = [path for path in root.rglob("*") if path.is_file() and ".ramus-trash" not in path.parts]
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def split(line):
    import shlex
    return shlex.split(line)


CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


@check
def every_command_is_tried(ramus, _):
    """A command that this suite does not know is added here before it is released."""
    groups = [group for group in ramus.run("--help").replace("\r", "").split("\n\n") if re.match(r"[A-Z].*:\n  [a-z]+  ", group)]
    listed = "\n".join(group for group in groups if not group.startswith(("Examples", "Addresses", "Terms")))
    commands = set(re.findall(r"^  ([a-z]+)  ", listed, re.M))
    assert len(commands) > 25, commands
    known = {split(line)[0] for line in [*READING, *PLAIN]} | set(WRITING) | set(ELSEWHERE)
    assert commands <= known, f"not tried: {sorted(commands - known)}"


@check
def reading_commands(ramus, other):
    ramus.fresh_demo()
    for line in READING:
        for extra in ([], ["--json"]):
            text = ramus.run(*split(line), *extra, code=None)
            if extra and text.strip():
                json.loads(text) if not line.startswith("find") else [json.loads(row) for row in text.splitlines()]
            assert text.strip() or line in ("log",), f"{line}: nothing was printed"
            if other:
                same(line, text, other.run(*split(line), *extra, code=None), ramus)
    for line in PLAIN:
        assert ramus.run(*split(line)).strip(), line


def same(line, text, other, ramus):
    """Whether two programs print the same, apart from how paths are written."""
    def neutral(text):
        text = text.replace("\r\n", "\n").replace("\\\\", "/").replace("\\", "/").replace("Z:/", "/").replace("ramus.exe", "ramus")
        return re.sub(r"[ …]+", " ", text)
    if line in ("cache status", "archive status", "resume 7ea9 --print"):
        return
    assert neutral(text) == neutral(other), f"{line}: the programs differ\n{text[:1500]}\n---\n{other[:1500]}"


@check
def long_output_into_a_closed_pipe(ramus, _):
    reader = ramus.start("show", "7ea9", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reader.stdout.read(20)
    reader.stdout.close()
    errors = reader.stderr.read().decode("utf-8", "replace")
    reader.wait(timeout=60)
    assert "rror" not in errors, errors


@check
def the_project_of_this_directory(ramus, _):
    """`--into .` writes to the directory that `sessions .` and the client read, by the client's rule."""
    ramus.fresh_demo()
    ramus.run("fork", "7ea9@2", "--into", ".", "--yes")
    written = ramus.written(ramus.project)
    units = written.encode("utf-16-le")
    units = [int.from_bytes(units[at:at + 2], "little") for at in range(0, len(units), 2)]
    name = "".join(chr(unit) if unit < 128 and chr(unit).isalnum() else "-" for unit in units)
    assert (ramus.claude / "projects" / name).is_dir(), sorted(os.listdir(ramus.claude / "projects"))
    found = ramus.json("sessions", ".")
    assert len(found["sessions"]) == 1, found
    record = json.loads(next((ramus.claude / "projects" / name).glob("*.jsonl")).read_text().splitlines()[0])
    assert record.get("cwd") == written, record.get("cwd")


@check
def writes_and_their_undo(ramus, _):
    ramus.fresh_demo()
    for arguments in (["goto", "7ea9@2"], ["fork", "7ea9@2"], ["merge", "7ea9@1", "7ea9@2", "--on-conflict", "theirs"], ["rename", "7ea9", "Another title"],
                      ["trash", "c0ff"], ["merge", "7ea9@1", "0010@1", "--no-base", "--strategy", "digest", "--on-conflict", "ours"]):
        before = contents(ramus.claude)
        ramus.run(*arguments, "--yes", "--force")
        after = contents(ramus.claude)
        assert after != before, f"{arguments[0]} changed nothing"
        ramus.run("undo", "--yes", "--force")
        left = contents(ramus.claude)
        assert left == before, f"undo of {arguments}: {sorted(set(left.items()) ^ set(before.items()))}"
    assert len(ramus.json("log")["operations"]) >= 6
    assert not list(ramus.claude.rglob(".ramus-*tmp*")), "temporary files are left"


@check
def usual_places_of_its_own_files(ramus, _):
    """Without variables, the log, the cache and the archive go where the system wants them."""
    ramus.fresh_demo()
    given = ramus.environment
    named = ("RAMUS_STATE_DIR", "RAMUS_CACHE_DIR", "RAMUS_ARCHIVE", "XDG_CONFIG_HOME")
    ramus.environment = {name: value for name, value in given.items() if name not in named}
    # Wine sets these variables itself.
    local = next(ramus.wine.glob("drive_c/users/*/AppData/Local")) / "ramus" if ramus.wine else None
    if local:
        shutil.rmtree(local, ignore_errors=True)
    try:
        ramus.run("rename", "7ea9", "Elsewhere", "--yes", "--force")
        ramus.run("archive", "add")
        ramus.run("cache", "build")
        if local:
            state, data, cache = (local / name for name in ("state", "data", "cache"))
        else:
            state, data, cache = (ramus.home / name / "ramus" for name in (".local/state", ".local/share", ".cache"))
        for place in (state / "journal.jsonl", data / "archive.db", cache):
            assert place.exists(), f"{place} was not made"
    finally:
        ramus.environment = given


@check
def marks(ramus, _):
    """Pins, tags and notes are kept, and the history is not changed for them."""
    ramus.fresh_demo()
    before = contents(ramus.claude)
    ramus.run("pin", "7ea9")
    ramus.run("tag", "7ea9", "review")
    ramus.run("note", "7ea9", "Second try 🫖")
    assert ramus.json("note")["annotations"][0] | {"changed": None, "session": None} == {
        "session": None, "message": None, "pinned": True, "tags": ["review"], "note": "Second try 🫖", "changed": None}
    assert len(ramus.json("sessions", "--tag", "review")["sessions"]) == 1
    assert contents(ramus.claude) == before


@check
def in_the_shell(ramus, _):
    """Settings, the status line, and what a shell is offered."""
    ramus.fresh_demo()
    assert ramus.json("config")["settings"]
    status = json.dumps({"session_id": SESSION, "transcript_path": ramus.written(ramus.session_file())})
    assert "context" in ramus.run("statusline", input=status.encode())
    given = ramus.environment
    ramus.environment = given | {"COMPLETE": "bash", "_CLAP_COMPLETE_INDEX": "2", "_CLAP_IFS": "\n"}
    try:
        offered = ramus.run("--", "ramus", "show", "7ea").strip()
        assert offered.startswith("7ea9") and SESSION.startswith(offered), offered
    finally:
        ramus.environment = given


@check
def earlier_versions_come_back(ramus, _):
    ramus.fresh_demo()
    before = contents(ramus.claude)
    ramus.run("goto", "7ea9@2", "--yes", "--force")
    ramus.run("restore", "7ea9", "--yes", "--force")
    assert contents(ramus.claude) == before
    out = ramus.scratch / "out"
    ramus.run("files", "7ea9", "--into", ramus.written(out))
    assert any(out.rglob("main.rs"))
    shutil.rmtree(out)


@check
def a_session_that_is_open(ramus, _):
    """A registered client blocks a session while it runs, and no longer."""
    ramus.fresh_demo()
    registry = ramus.claude / "sessions"
    registry.mkdir(exist_ok=True)

    def goto(pid):
        entry = registry / f"{pid}.json"
        entry.write_text(json.dumps({"pid": pid, "sessionId": SESSION, "cwd": "/"}))
        try:
            done = subprocess.run([*ramus.command, "goto", "7ea9@2", "--yes"], env=ramus.environment, cwd=ramus.project,
                                  capture_output=True, timeout=120)
            return done.returncode
        finally:
            entry.unlink()

    client = ramus.start("mcp", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        pid = client.pid
        if ramus.wine:
            # Wine numbers its processes itself. Its services keep what they inherit, so the list goes to a file.
            list = ramus.scratch / "processes"
            with open(list, "wb") as out:
                subprocess.run([ramus.command[0], "winedbg", "--command", "info proc"], env=ramus.environment,
                               stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, timeout=120)
            pid = int(re.search(r"([0-9a-f]{8}) .*ramus.exe", list.read_text(errors="replace"))[1], 16)
        assert goto(pid) != 0, "a running process does not block its session"
    finally:
        client.kill()
        client.wait()
    assert goto(4_000_004) == 0, "a process that has ended blocks its session"


@check
def cache(ramus, _):
    ramus.fresh_demo()
    plain = ramus.run("sessions", "--json", "--no-cache")
    ramus.run("cache", "build")
    assert ramus.json("cache", "status")["files"] > 0
    assert ramus.run("sessions", "--json") == plain
    file = ramus.session_file()
    # The same size and date, another content.
    seen = file.stat()
    other = file.read_bytes().replace(b"teapot", b"TEAPOT")
    beside = file.with_suffix(".new")
    beside.write_bytes(other)
    os.utime(beside, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    os.replace(beside, file)
    found = ramus.run("find", "TEAPOT", "--json", "--case", code=None) if "--case" in ramus.run("find", "--help") else ""
    assert ramus.run("sessions", "--json") == ramus.run("sessions", "--json", "--no-cache"), found
    ramus.run("cache", "clear")


@check
def archive(ramus, _):
    ramus.fresh_demo()
    ramus.run("archive", "add")
    ramus.run("archive", "verify")
    assert "7ea9" in ramus.run("archive", "list")
    before = contents(ramus.claude)
    bytes = ramus.session_file().read_bytes()
    ramus.session_file().unlink()
    assert "teapot" in ramus.run("show", "7ea9").lower(), "a session that is left in the archive alone is not read"
    ramus.run("archive", "restore", "7ea9", "--yes")
    assert ramus.session_file().read_bytes() == bytes
    assert contents(ramus.claude) == before
    out = ramus.scratch / "exported"
    ramus.run("archive", "export", "--out", ramus.written(out))
    assert any(path.read_bytes() == bytes for path in out.rglob("*.jsonl"))
    shutil.rmtree(out)


@check
def pack_and_unpack(ramus, _):
    ramus.fresh_demo()
    file = ramus.scratch / "work.tar.zst"
    ramus.run("pack", "7ea9", "-o", ramus.written(file), "--force")
    assert "7ea9" in ramus.run("unpack", ramus.written(file), "--list")
    before = contents(ramus.claude)
    ramus.run("unpack", ramus.written(file), "--into", ".", "--yes")
    assert len(ramus.json("sessions", ".")["sessions"]) == 1
    ramus.run("undo", "--yes", "--force")
    assert contents(ramus.claude) == before
    ramus.run("pack", "7ea9", "--redact", "-o", ramus.written(file), "--force")


@check
def export(ramus, _):
    ramus.fresh_demo()
    for format in ("md", "html", "jsonl"):
        out = ramus.scratch / f"export-{format}"
        ramus.run("export", "7ea9", "--format", format, "--out", ramus.written(out))
        assert any(path.is_file() for path in out.rglob("*")), format
        shutil.rmtree(out)


@check
def serve(ramus, _):
    ramus.fresh_demo()
    server = ramus.start("serve", "--port", "18468", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        address = re.match(r"http://([^/]+)(/\S*)", server.stdout.readline().decode())
        connection = http.client.HTTPConnection(address[1], timeout=60)
        connection.request("GET", address[2])
        answer = connection.getresponse()
        answer.read()
        cookie = answer.getheader("set-cookie", "").split(";")[0]
        assert answer.status in (200, 302, 303, 307), answer.status
        connection.request("GET", answer.getheader("location") or "/", headers={"cookie": cookie})
        page = connection.getresponse()
        text = page.read().decode()
        assert page.status == 200 and "<script" in text, (page.status, text[:200])
    finally:
        server.kill()
        server.wait()


@check
def mcp(ramus, _):
    def message(id, method, **parameters):
        return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}) + "\n"
    hello = message(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "smoke", "version": "1"})
    ready = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n"
    server = ramus.start("mcp", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        server.stdin.write((hello + ready + message(2, "tools/list")).encode())
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        tools = [tool["name"] for answer in answers if answer["id"] == 2 for tool in answer["result"]["tools"]]
        assert len(tools) > 3, answers
        server.stdin.close()
        server.wait(timeout=60)
    finally:
        server.kill()


@check
def watch(ramus, _):
    """What is appended is reported, and a file that moved goes on where it was."""
    ramus.fresh_demo()
    file = ramus.session_file()
    watcher = ramus.start("watch", "--json", "--poll", "100", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        os.set_blocking(watcher.stdout.fileno(), False)
        time.sleep(3)
        prompt = json.loads(next(line for line in reversed(file.read_text().splitlines()) if '"type":"user"' in line))

        def append(to, text):
            prompt["uuid"], prompt["message"] = f"00000000-0000-4000-8000-{abs(hash(text)) % 10**12:012}", {"role": "user", "content": text}
            with open(to, "a") as out:
                out.write(json.dumps(prompt) + "\n")

        def wait_for(text, seen=b""):
            for _ in range(300):
                seen += watcher.stdout.read() or b""
                if text.encode() in seen:
                    return seen
                time.sleep(0.1)
            raise AssertionError(f"{text!r} is not reported: {seen[-800:]}")

        append(file, "smoke one")
        wait_for("smoke one")
        moved = ramus.claude / "projects/-elsewhere" / file.name
        moved.parent.mkdir()
        file.rename(moved)
        time.sleep(1)
        append(moved, "smoke two")
        seen = wait_for("smoke two")
        assert b"smoke one" not in seen, "a moved file is read again from its beginning"
    finally:
        watcher.kill()
        watcher.wait()


@check
def killed_in_the_middle(ramus, _):
    """Whenever it is killed, no byte of the history is lost, and the next command finishes or takes back what was begun."""
    ramus.fresh_demo()
    before = contents(ramus.claude)
    start = time.monotonic()
    ramus.run("merge", "7ea9@1", "7ea9@2", "--on-conflict", "theirs", "--yes", "--force")
    ramus.run("undo", "--yes", "--force")
    whole = (time.monotonic() - start) / 2
    for arguments in (["goto", "7ea9@2"], ["trash", "7ea9"], ["merge", "7ea9@1", "7ea9@2", "--on-conflict", "theirs"]):
        for nth in range(8):
            ramus.fresh_demo()
            process = ramus.start(*arguments, "--yes", "--force", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(whole * (nth + 1) / 9)
            process.kill()
            process.wait()
            operations = ramus.json("log", code=None)["operations"]  # 1: there are none
            ramus.run("sessions")
            if operations:
                done = subprocess.run([*ramus.command, "undo", "--yes", "--force"], env=ramus.environment,
                                      cwd=ramus.project, capture_output=True, timeout=120)
                assert b"panicked" not in done.stderr, done.stderr
            left = contents(ramus.claude)
            lost = {name for name, hash in before.items() if left.get(name) != hash}
            assert not lost, f"{arguments[0]}, killed after {nth + 1}/9: {lost}; operations {operations}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("--wine", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--against", metavar="PROGRAM")
    parser.add_argument("--only", metavar="NAME", help="checks with NAME in their name")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ramus-smoke-", ignore_cleanup_errors=True) as scratch:
        scratch = pathlib.Path(scratch).resolve()
        ramus = Program(options.program, scratch, options.wine and options.wine.resolve())
        other = Program(options.against, scratch, None) if options.against else None
        waiting = ramus.keep_wine_running() if options.wine else None
        for function in CHECKS:
            if options.only and options.only not in function.__name__:
                continue
            began = time.monotonic()
            try:
                function(ramus, other)
                result = "ok"
            except Exception:  # noqa: BLE001  every failure is reported, and the next check runs
                failed += 1
                result = "FAILED\n" + traceback.format_exc()
            print(f"{function.__name__.replace('_', ' ')} ({time.monotonic() - began:.1f} s): {result}", flush=True)
        if waiting:
            waiting.stdin.close()
            waiting.wait(timeout=60)
    print(f"{failed} of {len(CHECKS)} checks failed" if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
