#!/usr/bin/env python3
"""Injects faults into every command that writes, in the real binary, and counts losses.

    bench/faults.py faults  [--ramus PATH] [--count 500] [--seed 1] [--only OP] [--mb 0]   strace lets one call fail
    bench/faults.py kills   [--ramus PATH] [--count 200] [--seed 1] [--only OP] [--mb 0]   SIGKILL, then recovery
    bench/faults.py writers [--ramus PATH] [--count 50] [--seed 1] [--only OP] [--mb 0]    concurrent appenders and editors

Each creates homes below --dir (default: /dev/shm, which needs no waiting for a disk) and prints a
Markdown table. `--mb` makes the session that large. `--state DIR` keeps ramus's own directory below DIR, which can be
on another file system. A run counts as

    lost      a line or a save of another program that is not in its file, exactly once (see below)
    harmed    a file that is neither as before nor as after the operation (bytes, modes, dates), or left over
    untrue    a message that does not fit: success without the change, failure with it, a path that is not there, a panic
    stuck     an operation that the next command neither finishes nor takes back, that cannot be undone exactly, that
              the log does not list, or that fails when it is tried again without a fault

and `recovered` are runs that the next command found interrupted.

"As after" means equal to a run without a fault, where a new uuid stands for the new uuid in the same place, everywhere in its
file, and new dates stand for each other (they differ from run to run); everything else is compared byte by byte; before a campaign two runs without a fault are compared so, and one with a
changed byte. Files that did not change keep their dates. A failed or killed `export` may leave a part of the new files and
`.ramus-partial-*`, which the next export removes; an earlier transcript has its old or its new content all the time.

A line that is missing after a `restore` must stand in the part of the old file that the journal names as replaced (it was
written before the restore was planned), and must come back with its `undo` (with `restore --at` where lines were added since).
A save that is missing after `files --restore` must come back with `undo`, or a message named the file that holds it.

Half of the faults hit one call, half that call and all of its kind after it (a full disk stays full). A run in which strace
injected nothing does not count. Half of the kills hit a random system call from the first write on, half a random moment. A
process that ended before does not count.

`faults` and `kills` need strace. Exit code 1 if anything was counted.
"""
import argparse, collections, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time

ID = "11111111-0000-4000-8000-000000000001"
ERRORS = ["ENOSPC", "EIO", "EXDEV", "EMFILE", "EACCES", "EPERM"]
CHANGING = ["write", "fsync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "mkdir", "utimensat", "fchmod", "rmdir", "unlinkat",
            "ftruncate", "copy_file_range", "fdatasync", "symlink", "chmod"]
READING = ["openat", "read", "pread64", "statx", "newfstatat", "getdents64", "readlink", "lseek", "flock"]
CALLS = CHANGING + READING


class Home:
    """A home with one session: two branches, an agent, an output, file backups, and the files of the project."""

    def __init__(self, base, mb=0, state=None):
        self.path = base
        self.state = state or os.path.join(base, ".local/state/ramus")
        self.claude = os.path.join(base, ".claude")
        self.app = os.path.join(base, "app")
        self.project = os.path.join(self.claude, "projects", re.sub("[^A-Za-z0-9]", "-", self.app))
        self.session = os.path.join(self.project, ID + ".jsonl")
        if os.path.exists(base):
            return
        for dir in (self.project + "/" + ID + "/subagents", self.project + "/" + ID + "/tool-results", self.app + "/src",
                    base + "/other", self.claude + "/file-history/" + ID):
            os.makedirs(dir)
        os.chmod(self.project + "/" + ID, 0o750)
        put(self.session, "".join(self.records(mb)))
        side = [self.record("x", None, "user", "look around", isSidechain=True), self.record("y", "x", "assistant", "seen", isSidechain=True)]
        put(self.project + f"/{ID}/subagents/agent-a1b2c3.jsonl", "".join(side))
        put(self.project + f"/{ID}/tool-results/big.txt", "a long output\n")
        put(self.claude + f"/file-history/{ID}/aaaaaaaaaaaaaaaa@v1", "fn main() {}\n")
        put(self.app + "/main.rs", "fn main() { edited() }\n")
        put(self.app + "/gone.rs", "made later\n")
        for path in walk(base):
            os.utime(path, (1_700_000_000, 1_700_000_000))

    def record(self, name, parent, kind, text, **more):
        message = {"role": "user", "content": text}
        if kind == "assistant":
            message = {"id": "msg_" + name, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                       "content": more.pop("content", None) or [{"type": "text", "text": text}], "stop_reason": None,
                       "usage": {"input_tokens": 10, "output_tokens": 5}}
        elif "content" in more:
            message["content"] = more.pop("content")
        record = {"parentUuid": parent, "isSidechain": False, "cwd": self.app, "sessionId": ID, "version": "2.1.325",
                  "type": kind, "message": message, **more, "uuid": name, "timestamp": f"2026-01-01T00:00:{ord(name[0]) % 60:02}.000Z"}
        return json.dumps(record, separators=(",", ":")) + "\n"

    def records(self, mb):
        call = [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "a task", "prompt": "look around", "subagent_type": "x"}}]
        result = [{"tool_use_id": "t1", "type": "tool_result", "content": "seen"}]
        backups = {"main.rs": {"backupFileName": "aaaaaaaaaaaaaaaa@v1", "version": 1}, "gone.rs": {"backupFileName": None, "version": 1}}
        yield self.record("a", None, "user", "first")
        yield json.dumps({"type": "file-history-snapshot", "messageId": "a", "snapshot": {"messageId": "a", "trackedFileBackups": backups},
                          "isSnapshotUpdate": False}) + "\n"
        yield self.record("b", "a", "assistant", "answer" + "x" * 1000)
        for n in range(mb * 1024):
            yield json.dumps({"type": "mode", "n": -n - 1, "filler": "z" * 990}) + "\n"
        yield self.record("c", "b", "assistant", "", content=call)
        yield self.record("d", "c", "user", "", content=result, toolUseResult={"status": "completed", "agentId": "a1b2c3", "prompt": ""})
        yield self.record("e", "d", "assistant", "all seen")
        yield self.record("f", "b", "user", "other")
        yield self.record("g", "f", "assistant", "other answer")

    def move(self, to, state):
        """Moves a home, and ramus's own directory if it lies elsewhere."""
        shutil.rmtree(to, ignore_errors=True)
        os.rename(self.path, to)
        if not self.state.startswith(self.path):
            shutil.rmtree(state, ignore_errors=True)
            os.makedirs(self.state, exist_ok=True)
            os.rename(self.state, state)
        return Home(to, state=state)

    def copy(self, to, state):
        for made in (to, state or to):
            shutil.rmtree(made, ignore_errors=True)
        subprocess.run(["cp", "-a", self.path, to], check=True)
        if not self.state.startswith(self.path):
            subprocess.run(["cp", "-a", self.state, state], check=True)
        return Home(to, state=state)


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def walk(base):
    for dir, dirs, files in os.walk(base):
        for name in files:
            yield os.path.join(dir, name)


def is_ours(path):
    return "/.ramus-trash" in path


class Head:
    """How a large session begins. Nobody may change it, so it is compared once and then stands for its bytes."""

    def __init__(self):
        self.bytes = None

    def take(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()

    def short(self, text):
        return b"<as it was>" + text[len(self.bytes):] if self.bytes and text.startswith(self.bytes) else text


HEAD = Head()


def look(home):
    """Everything that others see: bytes, modes and dates of files, modes of directories."""
    seen = {}
    for top in (home.claude, home.app, home.path + "/other", home.path + "/out"):
        for dir, dirs, files in os.walk(top):
            if is_ours(dir):
                continue
            seen[dir] = ("dir", os.stat(dir).st_mode)
            for name in files:
                path = os.path.join(dir, name)
                meta = os.stat(path)
                seen[path] = (read(path), meta.st_mode, meta.st_mtime_ns)
    return seen


SETUP = {
    "goto": [], "rename": [], "fork": [], "fork --into": [], "merge": [], "trash": [], "files --restore": [], "check --fix": [],
    "export": [], "export again": ["export"], "undo goto": ["goto"], "undo rename": ["rename"], "undo fork": ["fork"], "undo merge": ["merge"],
    "undo trash": ["trash"], "undo files --restore": ["files --restore"], "restore": ["goto"], "undo restore": ["goto", "restore"],
}
# How the log calls them.
LOGGED = {"fork --into": "fork", "files --restore": "restore-files", "check --fix": "fix"}


def words(home, op):
    return {
        "goto": ["goto", "1111:e"], "rename": ["rename", "1111", "Harps"], "fork": ["fork", "1111:e"],
        "fork --into": ["fork", "1111:e", "--into", home.path + "/other"], "merge": ["merge", "1111@1", "1111@2"], "trash": ["trash", "1111"],
        "files --restore": ["files", "1111:a", "--restore"], "check --fix": ["check", "1111", "--fix", "--drop-thinking"],
        "restore": ["restore", "1111"], "export": ["export", "1111", "--out", home.path + "/out"],
        "export again": ["export", "1111", "--out", home.path + "/out"], "recovery": ["log"],
    }.get(op, ["undo"])


class Ramus:
    def __init__(self, path):
        self.path = path

    def args(self, home, words, force=True):
        more = [] if words[0] in ("log", "export", "sessions") else ["--yes"]
        more += ["--force"] if force and words[0] not in ("log", "files", "export", "sessions") else []
        return [self.path, "--claude-dir", home.claude, "--no-cache"] + words + more

    def env(self, home):
        return {"HOME": home.path, "PATH": os.environ["PATH"], "TZ": "UTC", "COLUMNS": "400", "RAMUS_STATE_DIR": home.state}

    def run(self, home, words, before=(), force=True):
        done = subprocess.run(list(before) + self.args(home, words, force), env=self.env(home), capture_output=True, text=True, errors="replace", timeout=600)
        return done.returncode, done.stderr, done.stdout

    def log(self, home):
        code, said, out = self.run(home, ["log", "--json"])
        try:
            return json.loads(out)["operations"], said
        except (ValueError, KeyError):
            return None, said


ADMITS = ("tries again", "stays", "is kept", "the earlier version is", "may be in")
NAMED = re.compile(r"(?:the earlier version is|stays at) (/[^\s;]+?)[.,;)]*(?=\s|$|;)")
UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
DATE = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


class Wanted:
    """How everything was before an operation, and how it is after a run without a fault."""

    def __init__(self, before, since):
        self.before = before
        self.since = since
        texts = [path.encode() for path in before] + [what[0] for what in before.values() if what[0] != "dir"]
        self.known = {found for text in texts for pattern in (UUID, DATE) for found in pattern.findall(text)}
        self.after = None

    def plain(self, text, numbers):
        """Numbers what differs from run to run: uuids that were not there before, and leaves out new dates."""
        def number(found):
            return found[0] if found[0] in self.known else b"<new id %d>" % numbers.setdefault(found[0], len(numbers))
        text = UUID.sub(number, text)
        return DATE.sub(lambda found: found[0] if found[0] in self.known else b"<new date>", text)

    def entry(self, path, what, ignore_date):
        # One numbering for a file's name and content: a copy must name itself by the id that its name has.
        numbers = {}
        name = self.plain(path.encode(), numbers)
        if what[0] == "dir":
            return name, "dir", what[1]
        date = "new" if what[2] >= self.since or path == ignore_date else what[2]
        return name, self.plain(what[0], numbers), what[1], date

    def entries(self, seen, ignore_date=None):
        return collections.Counter(self.entry(path, what, ignore_date) for path, what in seen.items())

    def is_before(self, now, ignore_date=None):
        return self.entries(now, ignore_date) == self.entries(self.before, ignore_date)

    def is_after(self, now, ignore_date=None):
        return self.entries(now, ignore_date) == self.entries(self.after, ignore_date)


class Bench:
    def __init__(self, args):
        self.args = args
        self.ramus = Ramus(os.path.abspath(args.ramus))
        self.random = random.Random(args.seed)
        self.dir = tempfile.mkdtemp(prefix="ramus-faults-", dir=args.dir)
        self.states = args.state and tempfile.mkdtemp(prefix="ramus-state-", dir=args.state)
        self.counts = collections.defaultdict(collections.Counter)
        self.bad = []

    def fresh(self, template):
        return template.copy(os.path.join(self.dir, "run"), self.state("run"))

    def state(self, name):
        """Where ramus's own directory is, if not in the home."""
        return self.states and os.path.join(self.states, name)

    def template(self, op, mb=0):
        """Makes a home that is ready for an operation. It lies where its copies will lie, since records hold paths."""
        home = self.new("run", mb)
        if op == "check --fix":
            with open(home.session, "a") as file:
                file.write('{"type":"user","torn')
        for step in SETUP[op]:
            code, said, _ = self.ramus.run(home, words(home, step))
            assert code == 0, (op, step, said)
        if op == "export again":
            with open(home.session, "a") as file:
                file.write(home.record("h", "g", "user", "and more"))
        kept = "template-" + re.sub("[^a-z]", "-", op)
        return home.move(os.path.join(self.dir, kept), self.state(kept))

    def new(self, name, mb):
        """A home of its own that nothing was done in yet."""
        path, state = os.path.join(self.dir, name), self.state(name)
        for made in (path, state or path):
            shutil.rmtree(made, ignore_errors=True)
        home = Home(path, mb, state)
        if mb:
            HEAD.take(home.session)
        return home

    def wanted(self, op, template):
        """Runs an operation without a fault, twice: the comparison must take both for the same, and see a changed byte."""
        # File systems note the time of their last tick, which may be a little earlier.
        time.sleep(0.05)
        since = time.time_ns() - 20_000_000
        seen = []
        for _ in range(2):
            home = self.fresh(template)
            before = look(home)
            start = time.time()
            code, said, _ = self.ramus.run(home, words(home, op))
            took = time.time() - start
            assert code == 0, (op, said)
            seen.append(look(home))
        wanted = Wanted(before, since)
        wanted.after = seen[0]
        assert wanted.is_after(seen[1]), (op, differs(seen[1], seen[0]))
        for path, what in seen[1].items():
            if what[0] != "dir" and what[0]:
                changed = bytes([what[0][0] ^ 1]) + what[0][1:]
                assert not wanted.is_after({**seen[1], path: (changed,) + what[1:]}), (op, path)
        return wanted, took

    def count(self, op, what, why):
        self.counts[op][what] += 1
        self.bad.append(f"{op}: {what}: {why}")
        if len(self.bad) <= 40:
            print(f"  {op}: {what}: {why}", file=sys.stderr, flush=True)

    def judge_export(self, op, home, wanted, code, why, is_reading):
        now = look(home)
        whole = {path: what for path, what in now.items() if ".ramus-partial" not in path}
        if code == 0 and not wanted.is_after(whole):
            self.count(op, "untrue", f"{why}: success, but {differs(whole, wanted.after)}")
        out = home.path + "/out"
        for path in {**wanted.before, **wanted.after, **whole}:
            entries = [seen.get(path) for seen in (whole, wanted.before, wanted.after)]
            found, *allowed = [entry and wanted.entry(path, entry, path)[1:3] for entry in entries]
            # Without an agent that could not be read, a transcript is another one; then the exit code says so.
            is_less = found is not None and code not in (0, None) and path.startswith(out) and is_reading
            if found not in allowed and not is_less and not path.endswith("/.ramus-export"):
                self.count(op, "harmed", f"{why}: {code} {os.path.relpath(path, out)}")
        # What a killed or failed export left goes with the next one.
        code, said, _ = self.ramus.run(home, words(home, op))
        if code != 0 or not wanted.is_after(look(home), None):
            self.count(op, "harmed", f"{why}: the next one: {differs(look(home), wanted.after)}; {said[-300:]}")

    def judge(self, op, home, wanted, code, said, why, is_reading=False, is_mute=False):
        """Looks at what one run left; the next command recovers, and undoes or does it again. `code` is None after a kill."""
        if "panicked" in said or "internal error" in said:
            self.count(op, "untrue", f"{why}: {said[-300:]}")
        if op.startswith("export"):
            return self.judge_export(op, home, wanted, code, why, is_reading)
        now = look(home)
        # Who cannot write cannot say anything either.
        admits = any(word in said for word in ADMITS) or is_mute and not said
        self.counts[op]["admits"] += admits
        if code == 0 and not wanted.is_after(now):
            self.count(op, "untrue", f"{why}: success, but {differs(now, wanted.after)}; {said[-300:]}")
        if code not in (0, None) and not admits and not wanted.is_before(now):
            self.count(op, "untrue", f"{why}: failure, but {differs(now, wanted.before)}; {said[-300:]}")
        missing = [path for path in NAMED.findall(said) if not os.path.lexists(path)]
        if missing:
            self.count(op, "untrue", f"{why}: names {missing}, which is not there; {said[-300:]}")
        operations, told = self.ramus.log(home)
        if operations is None:
            return self.count(op, "stuck", f"{why}: log: {told[-300:]}")
        if "cannot be finished" in told or "could not be" in told:
            self.count(op, "stuck", f"{why}: {told[-300:]}")
        self.counts[op]["recovered"] += "was interrupted" in told
        now = look(home)
        is_after, is_before = wanted.is_after(now), wanted.is_before(now)
        if code is None:
            self.counts[op]["done" if is_after else "refused"] += 1
        if not (is_after or is_before):
            return self.count(op, "harmed", f"{why}: {differs(now, wanted.before)} / {differs(now, wanted.after)}; {said[-200:]} {told[-200:]}")
        if code == 0 and not is_after or code not in (0, None) and not admits and not is_before:
            self.count(op, "untrue", f"{why}: {code}, and then {differs(now, wanted.before)}; {told[-300:]}")
        is_listed = is_done(op, operations)
        if is_after and not is_listed:
            self.count(op, "stuck", f"{why}: it is done, but the log has {operations[:1]}")
        elif is_after and not op.startswith("undo"):
            code, said, _ = self.ramus.run(home, ["undo"])
            if code != 0:
                self.count(op, "stuck", f"{why}: not undone: {said[-300:]}")
            elif not wanted.is_before(look(home)):
                self.count(op, "harmed", f"{why}: undone, but {differs(look(home), wanted.before)}")
        elif is_before and not is_after:
            code, said, _ = self.ramus.run(home, words(home, op))
            if code != 0:
                self.count(op, "stuck", f"{why}: not done when tried again: {said[-300:]}")
            elif not wanted.is_after(look(home)):
                self.count(op, "harmed", f"{why}: tried again, but {differs(look(home), wanted.after)}")

    def table(self, title):
        print(f"\n{title}\n\n| operation | runs | done | not done | says what is left | recovered | lost | harmed | untrue | stuck |\n|---|---|---|---|---|---|---|---|---|---|")
        total = collections.Counter()
        for op, counts in self.counts.items():
            total.update(counts)
            print("| " + " | ".join([op] + [str(counts[key]) for key in COLUMNS]) + " |")
        print("| all | " + " | ".join(str(total[key]) for key in COLUMNS) + " |", flush=True)
        for made in (self.dir, self.states or self.dir):
            shutil.rmtree(made, ignore_errors=True)
        return 1 if self.bad else 0


COLUMNS = ("runs", "done", "refused", "admits", "recovered", "lost", "harmed", "untrue", "stuck")


def is_done(op, operations):
    """Whether the log says of its last operation that it is this one, and done."""
    last = operations[0] if operations else {}
    return bool(last.get("done")) and last.get("operation") == ("undo" if op.startswith("undo") else LOGGED.get(op, op))


def differs(now, then):
    paths = [path for path in {**now, **then} if now.get(path, (0,))[:2] != then.get(path, (0,))[:2]]
    dates = [path for path in now if path in then and now[path][:2] == then[path][:2] and now[path] != then[path]]
    return f"{len(paths)} differ: {['/'.join(path.split('/')[-2:]) for path in paths[:4]]}, {len(dates)} dates"


def sampled(bench, op, template):
    """Which calls an operation makes, in their order: pairs of a call and its number. strace counts for each thread."""
    home = bench.fresh(template)
    trace = os.path.join(bench.dir, "trace")
    code, said, _ = bench.ramus.run(home, words(home, op), ["strace", "-f", "-qq", "-o", trace, "-e", "trace=" + ",".join("?" + call for call in CALLS)])
    assert code == 0, (op, said)
    counts, calls = collections.Counter(), {}
    with open(trace) as file:
        for thread, call in re.findall(r"^(\d+)\s+(\w+)\(", file.read(), re.M):
            counts[thread, call] += 1
            calls[call, counts[thread, call]] = True
    return list(calls)


def injected(bench, call, n, what):
    trace = os.path.join(bench.dir, "injected")
    return ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={call}", "-e", f"inject={call}:{what}:when={n}"]


def was_injected(bench):
    return b"(INJECTED)" in read(os.path.join(bench.dir, "injected"))


def ops_of(args):
    return [args.only] if args.only else list(SETUP)


def faults(bench, args):
    each = max(1, args.count // len(ops_of(args)))
    for op in ops_of(args):
        template = bench.template(op, args.mb)
        wanted, _ = bench.wanted(op, template)
        choices = sampled(bench, op, template)
        # Every call once before any of them twice, each time with another error.
        tries = 0
        while bench.counts[op]["runs"] < each and tries < 5 * each:
            bench.random.shuffle(choices)
            for call, n in choices[:each - bench.counts[op]["runs"]]:
                tries += 1
                fail_once(bench, op, template, wanted, call, n)
        print(f"  {op}: {bench.counts[op]['runs']} runs, {len(choices)} calls", file=sys.stderr, flush=True)
    return bench.table(f"Errors injected by strace, one call each (seed {args.seed}{size(args)})")


def fail_once(bench, op, template, wanted, call, n):
    error = bench.random.choice(ERRORS)
    is_lasting = bench.random.random() < 0.5
    home = bench.fresh(template)
    why = f"{error} at {call} {n}{' and later' if is_lasting else ''}"
    try:
        code, said, _ = bench.ramus.run(home, words(home, op), injected(bench, call, f"{n}+" if is_lasting else n, f"error={error}"))
    except subprocess.TimeoutExpired:
        return bench.count(op, "stuck", f"{why}: hangs")
    if not was_injected(bench):
        return
    bench.counts[op]["runs"] += 1
    bench.counts[op]["done" if code == 0 else "refused"] += 1
    bench.judge(op, home, wanted, code, said, why, is_reading=call in READING, is_mute=call == "write")


def size(args):
    return f", session of {args.mb} MB" if args.mb else ""


LINE = '{"type":"mode","by":"somebody","n":%d}\n'
LINES = re.compile(rb'\{"type":"mode","by":"somebody","n":\d+\}\n')


def append(home, n):
    """Adds a line as a client does: a file for each write, created if it is missing."""
    os.makedirs(os.path.dirname(home.session), exist_ok=True)
    with open(home.session, "a") as file:
        file.write(LINE % n)
        file.flush()
        return os.fstat(file.fileno()).st_ino, file.tell()


def read(path):
    try:
        with open(path, "rb") as file:
            return HEAD.short(file.read())
    except FileNotFoundError:
        return b""


def without_lines(seen, home):
    """Takes off what the other program wrote."""
    seen = dict(seen)
    if home.session in seen:
        seen[home.session] = (LINES.sub(b"", seen[home.session][0]),) + seen[home.session][1:]
    return seen


def changing(choices):
    """The calls from the first one on that changes something."""
    return choices[next(at for at, (call, _) in enumerate(choices) if call in ("mkdir", "fsync", "link", "linkat")):]


def killed(bench, home, op, took, choices, round):
    """Runs an operation and kills it; whether it was killed before its end."""
    args, env = bench.ramus.args(home, words(home, op)), bench.ramus.env(home)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if round % 4 < 2:
        call, n = bench.random.choice(changing(choices))
        return subprocess.run(injected(bench, call, n, "signal=KILL") + args, env=env, **quiet).returncode != 0
    child = subprocess.Popen(args, env=env, **quiet)
    time.sleep(bench.random.random() * took)
    child.kill()
    return child.wait() == -signal.SIGKILL


def judge_written(bench, op, home, wanted, round, why):
    """Somebody wrote to the session after a kill: that line is there once, and everything else is as before or as after."""
    operations, told = bench.ramus.log(home)
    if operations is None or "cannot be finished" in told or "could not be" in told:
        return bench.count(op, "stuck", f"{why}: {told[-300:]}")
    bench.counts[op]["recovered"] += "was interrupted" in told
    now = without_lines(look(home), home)
    is_trashed = home.session not in wanted.after
    if "trash" in op:
        # The line made the session again if it was in the trash; it comes back with it.
        if not now.get(home.session, (b"",))[0]:
            code, said, _ = bench.ramus.run(home, ["undo"])
            told += said
            if code != 0:
                return bench.count(op, "stuck", f"{why}: the trash stays: {said[-300:]}")
            now = without_lines(look(home), home)
            bench.counts[op]["done" if is_trashed else "refused"] += 1
        else:
            bench.counts[op]["refused" if is_trashed else "done"] += 1
        whole = wanted.before if is_trashed else wanted.after
        if Wanted.entries(wanted, now, home.session) != wanted.entries(whole, home.session):
            bench.count(op, "harmed", f"{why}: {differs(now, whole)}; {told[-300:]}")
    else:
        is_after = wanted.is_after(now, home.session)
        bench.counts[op]["done" if is_after else "refused"] += 1
        if is_after != is_done(op, operations) and not wanted.is_before(wanted.after, home.session):
            bench.count(op, "stuck", f"{why}: done: {is_after}, but the log has {operations[:1]}")
        if not is_after and not wanted.is_before(now, home.session):
            bench.count(op, "harmed", f"{why}: {differs(now, wanted.before)} / {differs(now, wanted.after)}; {told[-300:]}")
    times = read(home.session).count((LINE % round).encode())
    if times != 1:
        bench.count(op, "lost", f"{why}: {times} times: {told[-300:]}")


def judge_saved(bench, op, home, wanted, text, why):
    """Somebody saved a file of the project after a kill: that version stays, and the other file is as before or as after."""
    operations, told = bench.ramus.log(home)
    if operations is None or "cannot be finished" in told or "could not be" in told:
        return bench.count(op, "stuck", f"{why}: {told[-300:]}")
    bench.counts[op]["recovered"] += "was interrupted" in told
    is_whole = is_done(op, operations)
    bench.counts[op]["done" if is_whole else "refused"] += 1
    main, gone = home.app + "/main.rs", home.app + "/gone.rs"
    if read(main) != text:
        bench.count(op, "lost", f"{why}: {told[-300:]}")
    now, whole = look(home), wanted.after if is_whole else wanted.before
    if now.get(gone) != whole.get(gone):
        bench.count(op, "harmed", f"{why}: {differs(now, whole)}; {told[-300:]}")
    others = lambda seen: {path: what for path, what in seen.items() if path not in (main, gone)}
    if wanted.entries(others(now)) != wanted.entries(others(wanted.before)):
        bench.count(op, "harmed", f"{why}: {differs(others(now), others(wanted.before))}; {told[-300:]}")


def kills(bench, args):
    each = max(1, args.count // len(ops_of(args)))
    for op in ops_of(args):
        template = bench.template(op, args.mb)
        wanted, took = bench.wanted(op, template)
        choices = sampled(bench, op, template)
        round = tries = 0
        while round < each and tries < 20 * each:
            tries += 1
            home = bench.fresh(template)
            if not killed(bench, home, op, took, choices, round):
                continue
            round += 1
            why = f"killed in round {round}"
            bench.counts[op]["runs"] += 1
            # Half of the time somebody works on before ramus recovers.
            if round % 2 or op.startswith("export"):
                bench.judge(op, home, wanted, None, "", why)
            elif "files" in op:
                put(home.app + "/main.rs", f"saved {round}\n")
                judge_saved(bench, op, home, wanted, f"saved {round}\n".encode(), why)
            else:
                append(home, round)
                judge_written(bench, op, home, wanted, round, why)
        print(f"  {op}: {bench.counts[op]['runs']} runs, {bench.counts[op]['recovered']} interrupted midway", file=sys.stderr, flush=True)
    return bench.table(f"Killed, then recovered (seed {args.seed}{size(args)})")


def beside(bench, home, op, took, write):
    """Runs an operation while `write` is called at a random moment of it."""
    child = subprocess.Popen(bench.ramus.args(home, words(home, op)), env=bench.ramus.env(home),
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    # More often in the second half, where files are changed.
    time.sleep(bench.random.random() ** 0.5 * took)
    write()
    said = child.communicate()[1]
    return child.returncode, said


class Appender:
    """Adds three lines, each through a new file or all through one that was opened before the operation."""

    def __init__(self, bench, home, first, took, is_held):
        self.bench, self.home, self.first, self.took = bench, home, first, took
        self.held = open(home.session, "a") if is_held else None
        self.old = os.stat(home.session).st_ino if os.path.exists(home.session) else None
        # Each line, and where in the old file it ends; `None`: it was written to another file.
        self.wrote = {}

    def write(self):
        for _ in range(3):
            number = self.first + len(self.wrote)
            if self.held:
                self.held.write(LINE % number)
                self.held.flush()
                inode, end = self.old, self.held.tell()
            else:
                inode, end = append(self.home, number)
            self.wrote[number] = end if inode == self.old else None
            time.sleep(self.bench.random.random() * self.took / 20)

    def close(self):
        if self.held:
            self.held.close()


def append_beside(bench, op, args):
    """Rounds of one operation beside an appender, in one home that is made again now and then."""
    name = op + " + appender"
    home, took, n = None, 0.0, 1
    interrupted = {}
    if op == "recovery":
        for step in ("undo goto", "restore", "trash"):
            template = bench.template(step, args.mb)
            interrupted[step] = bench.wanted(step, template)[1], sampled(bench, step, template)
            shutil.rmtree(template.path)
    for round in range(args.count + 1):
        if home is None or round % (5 if args.mb else 50) == 0:
            home = bench.new("beside", args.mb)
        plain = LINES.sub(b"", read(home.session))
        if op != "trash":
            for target in ("eg", "ge")[round % 2]:
                code, said, _ = bench.ramus.run(home, ["goto", "1111:" + target])
                if "Done as operation" in said:
                    break
            assert code == 0 and "Done as operation" in said, said
        gone_to = LINES.sub(b"", read(home.session))
        whole_lines = LINES.findall(read(home.session))
        if op == "recovery":
            step = list(interrupted)[round % 3]
            killed(bench, home, step, *interrupted[step], round)
        if round == 0:
            start = time.time()
            # How long an undo takes is how long it can be interrupted.
            code, said, _ = bench.ramus.run(home, words(home, op))
            took = time.time() - start
            assert code == 0, said
            appender = Appender(bench, home, n, took, False) if op != "trash" else None
        else:
            is_held = round % 3 == 2 and os.path.exists(home.session)
            appender = Appender(bench, home, n, took, is_held)
            start = time.time()
            code, said = beside(bench, home, op, took, appender.write)
            took = took * 0.9 + (time.time() - start) * 0.1 if op != "recovery" else took
            bench.counts[name]["runs"] += 1
            bench.counts[name]["done" if code == 0 else "refused"] += 1
            appender.close()
        wrote = appender.wrote if appender else {}
        n += len(wrote)
        why = f"round {round}: exit {code}: {said[-300:]}"
        if "panicked" in said:
            bench.count(name, "untrue", why)
        operations, told = bench.ramus.log(home)
        bench.counts[name]["recovered"] += "was interrupted" in said + told
        if operations is None or "could not be" in told:
            bench.count(name, "stuck", f"{why}; {told[-300:]}")
            operations = operations or []
        last = operations[0] if operations else {}
        if last.get("operation") == "trash" and last.get("done"):
            back, more, _ = bench.ramus.run(home, ["undo", str(last["op"])])
            if back != 0:
                bench.count(name, "stuck", f"{why}; undo: {more[-300:]}")
        text = read(home.session)
        rest = LINES.sub(b"", text)
        # A version that was restored lacks the lines that came after it. Its undo brings them back; if lines were
        # added since, `restore --at` does.
        missing = [line for line in whole_lines + [(LINE % number).encode() for number in wrote] if text.count(line) != 1]
        if missing and last.get("operation") == "restore" and last.get("done"):
            replaced = replaced_length(home, last["op"])
            for number, end in wrote.items():
                if (LINE % number).encode() in missing and (end is None or end > replaced):
                    bench.count(name, "lost", f"line {number} ends at {end}, {replaced} were replaced, {why}; {told[-300:]}")
            back, more, _ = bench.ramus.run(home, ["undo", str(last["op"])])
            again = read(home.session)
            if back != 0 and "has changed since operation" in more:
                back, more, _ = bench.ramus.run(home, ["restore", "1111", "--at", str(last["op"])])
                again = read(home.session)
                returned, _, _ = bench.ramus.run(home, ["undo"])
                if returned != 0 or read(home.session) != text:
                    bench.count(name, "harmed", f"{why}; the way back from --at {last['op']}")
            missing = [line for line in missing if again.count(line) != 1]
            if back != 0:
                bench.count(name, "stuck", f"{why}; undo: {more[-300:]}")
        for line in missing:
            bench.count(name, "lost", f"{line} {text.count(line)} times, {why}; {told[-300:]}")
        is_taken_back = rest == plain
        if not is_taken_back and rest != gone_to:
            bench.count(name, "harmed", f"{why}; {len(plain)} {len(gone_to)} became {len(rest)}")
        if op in ("undo goto", "restore") and (code == 0) != is_taken_back:
            bench.count(name, "untrue", f"{why}, but the lines of goto are {'gone' if is_taken_back else 'there'}")
    shutil.rmtree(home.path)


def replaced_length(home, op):
    """How long the journal says a session was when an operation was planned."""
    with open(home.state + "/journal.jsonl") as file:
        begun = [json.loads(line).get("begin") for line in file]
    changes = next(one for one in begun if one and one["op"] == op)["deeds"]
    return next(change["before"]["len"] for change in changes if change["do"] == "put")


def save_beside(bench, op, how, args):
    """Rounds of one operation beside an editor that saves a file."""
    name = f"{op} + editor ({how})"
    prepared = "files --restore" if op == "recovery" else op
    template = bench.template(prepared, args.mb)
    wanted, took = bench.wanted(prepared, template)
    choices = sampled(bench, prepared, template)
    for round in range(args.count // 2):
        home = bench.fresh(template)
        # One is replaced, the other removed.
        path, text = home.app + ("/main.rs", "/gone.rs")[round % 2], f"saved by an editor in round {round}\n"

        def save():
            if how == "rename":
                put(path + ".swp", text)
                os.rename(path + ".swp", path)
            else:
                put(path, text)

        if op == "recovery":
            killed(bench, home, prepared, took, choices, round)
        code, said = beside(bench, home, op, took, save)
        bench.counts[name]["runs"] += 1
        bench.counts[name]["done" if code == 0 else "refused"] += 1
        bench.counts[name]["recovered"] += "was interrupted" in said
        if "panicked" in said:
            bench.count(name, "untrue", said[-300:])
        operations, told = bench.ramus.log(home)
        said += told
        if operations is None or "could not be" in told:
            bench.count(name, "stuck", f"round {round}: {said[-300:]}")
        judge_others(bench, name, home, wanted, path, f"round {round}: {said[-300:]}")
        if any(read(named) == text.encode() for named in [path, *NAMED.findall(said)]):
            continue
        # Saved before it was planned: then it was shown and replaced, and undo brings it back.
        last = operations[0] if operations else {}
        undone, more, _ = bench.ramus.run(home, ["undo"])
        if not last.get("done") or undone != 0 or read(path) != text.encode():
            bench.count(name, "lost", f"round {round}: {code} {said[-400:]} {more[-200:]}")


def judge_others(bench, name, home, wanted, saved, why):
    """Everything but the saved file is as before or as after, and nothing is left over."""
    others = lambda seen: {path: what for path, what in seen.items() if path != saved}
    now = others(look(home))
    for seen in (wanted.before, wanted.after):
        if wanted.entries(now) == wanted.entries(others(seen)):
            return
    bench.count(name, "harmed", f"{why}: {differs(now, others(wanted.before))} / {differs(now, others(wanted.after))}")


def writers(bench, args):
    appended = ("undo goto", "restore", "trash", "recovery")
    edited = ("files --restore", "undo files --restore", "recovery")
    for op in [op for op in appended if args.only in (None, op)]:
        append_beside(bench, op, args)
        print(f"  {op} + appender: done", file=sys.stderr, flush=True)
    for op in [op for op in edited if args.only in (None, op)]:
        for how in ("rename", "in place"):
            save_beside(bench, op, how, args)
        print(f"  {op} + editor: done", file=sys.stderr, flush=True)
    return bench.table(f"Another program beside it (seed {args.seed}{size(args)})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["faults", "kills", "writers"])
    parser.add_argument("--ramus", default="target/release/ramus")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mb", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--dir", default="/dev/shm")
    parser.add_argument("--state", help="where ramus's own directory is made, if not in the home")
    args = parser.parse_args()
    bench = Bench(args)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit({"faults": faults, "kills": kills, "writers": writers}[args.mode](bench, args))
    except KeyboardInterrupt:
        sys.exit(bench.table(f"{args.mode}, ended early (seed {args.seed}{size(args)})"))


if __name__ == "__main__":
    main()
