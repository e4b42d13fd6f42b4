#!/usr/bin/env python3
"""Breaks every writing command of the real binary, and counts what was lost.

    bench/faults.py faults  [--ramus PATH] [--count 500] [--seed 1] [--only OP] [--mb 0]   strace lets one call fail
    bench/faults.py kills   [--ramus PATH] [--count 200] [--seed 1] [--only OP] [--mb 0]   SIGKILL, then recovery
    bench/faults.py writers [--ramus PATH] [--count 50] [--seed 1] [--only OP] [--mb 0]    appenders and editors beside it

Each makes homes below --dir (default: /dev/shm, so that waiting for a disk does not take the time) and prints a
Markdown table. `--mb` makes the session that large. A run counts as

    lost      a line or a save of another program that is not in its file, exactly once (see below)
    harmed    a file that is neither as before nor as after the operation (bytes, modes, dates), or left over
    untrue    a message that does not fit: success without the change, failure with it, a path that is not there, a panic
    stuck     an operation that the next command neither finishes nor takes back, that cannot be undone exactly, that
              the log does not list, or that fails when it is tried again without a fault

and `recovered` are runs that the next command found interrupted.

"As after" means equal to a run without a fault, where new uuids and dates stand for each other (they differ from run to
run) and everything else is compared byte by byte; before a campaign two runs without a fault are compared so, and one with a
changed byte. Files that did not change keep their dates. A failed or killed `export` may leave a part of the new files and
`.ramus-partial-*`, which the next export removes; an earlier transcript has its old or its new content all the time.

A line that is missing after a `restore` must come back with its `undo` (with `restore --at` where lines were added since): it
was written before the restore was planned.
A save that is missing after `files --restore` must come back with `undo`, or its place was named in a message.

Half of the kills hit a random system call (strace), half a random moment. A process that ended before does not count.

`faults` and `kills` need strace. Exit code 1 if anything was counted.
"""
import argparse, collections, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time

ID = "11111111-0000-4000-8000-000000000001"
ERRORS = ["ENOSPC", "EIO", "EXDEV", "EMFILE", "EACCES", "EPERM"]
CALLS = ["write", "fsync", "openat", "rename", "renameat2", "link", "linkat", "unlink", "mkdir", "utimensat", "fchmod", "rmdir", "unlinkat"]


class Home:
    """A home with one session: two branches, an agent, an output, file backups, and the files of the project."""

    def __init__(self, base, mb=0):
        self.path = base
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

    def copy(self, to):
        subprocess.run(["cp", "-a", self.path, to], check=True)
        return to


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def walk(base):
    for dir, dirs, files in os.walk(base):
        for name in files:
            yield os.path.join(dir, name)


def is_ours(path):
    return "/.ramus-trash" in path


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
                with open(path, "rb") as file:
                    seen[path] = (file.read(), meta.st_mode, meta.st_mtime_ns)
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
        return {"HOME": home.path, "PATH": os.environ["PATH"], "TZ": "UTC", "COLUMNS": "400"}

    def run(self, home, words, before=(), force=True):
        done = subprocess.run(list(before) + self.args(home, words, force), env=self.env(home), capture_output=True, text=True, errors="replace", timeout=600)
        return done.returncode, done.stderr, done.stdout

    def log(self, home):
        code, said, out = self.run(home, ["log", "--json"])
        try:
            return json.loads(out)["operations"], said
        except (ValueError, KeyError):
            return None, said


ADMITS = ("tries again", "stays", "is kept", "as it was before is", "may be in", "could not be completed", "were kept in it")
NAMED = re.compile(r"(?:is kept at|as it was before is|stays at) (/[^\s;]+?)[.,;)]*(?=\s|$|;)")
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

    def plain(self, text):
        """Leaves out what differs from run to run: uuids and dates that were not there before."""
        for pattern, sign in ((UUID, b"<new id>"), (DATE, b"<new date>")):
            text = pattern.sub(lambda found: found[0] if found[0] in self.known else sign, text)
        return text

    def entry(self, path, what, ignore_date):
        if what[0] == "dir":
            return self.plain(path.encode()), "dir", what[1]
        is_same = self.before.get(path, (None,))[0] is what[0]
        text = what[0] if is_same else self.plain(what[0])
        date = "new" if what[2] >= self.since or path == ignore_date else what[2]
        return self.plain(path.encode()), text, what[1], date

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
        self.counts = collections.defaultdict(collections.Counter)
        self.bad = []

    def fresh(self, template):
        path = os.path.join(self.dir, "run")
        shutil.rmtree(path, ignore_errors=True)
        template.copy(path)
        return Home(path)

    def template(self, op, mb=0):
        """Makes a home that is ready for an operation. It lies where its copies will lie, since records hold paths."""
        path = os.path.join(self.dir, "run")
        shutil.rmtree(path, ignore_errors=True)
        home = Home(path, mb)
        if op == "check --fix":
            with open(home.session, "a") as file:
                file.write('{"type":"user","torn')
        for step in SETUP[op]:
            code, said, _ = self.ramus.run(home, words(home, step))
            assert code == 0, (op, step, said)
        if op == "export again":
            with open(home.session, "a") as file:
                file.write(home.record("h", "g", "user", "and more"))
        kept = os.path.join(self.dir, "template-" + re.sub("[^a-z]", "-", op))
        shutil.rmtree(kept, ignore_errors=True)
        os.rename(path, kept)
        return Home(kept)

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

    def judge_export(self, op, home, wanted, code, why):
        now = look(home)
        whole = {path: what for path, what in now.items() if ".ramus-partial" not in path}
        if code == 0 and not wanted.is_after(whole):
            self.count(op, "untrue", f"{why}: success, but {differs(whole, wanted.after)}")
        out = home.path + "/out"
        for path in {**wanted.before, **wanted.after, **whole}:
            entries = [seen.get(path) for seen in (whole, wanted.before, wanted.after)]
            found, *allowed = [entry and wanted.entry(path, entry, path)[1:3] for entry in entries]
            # Without an agent that could not be read, a transcript is another one; then the exit code says so.
            is_less = found is not None and code not in (0, None) and path.startswith(out)
            if found not in allowed and not is_less and not path.endswith("/.ramus-export"):
                self.count(op, "harmed", f"{why}: {code} {os.path.relpath(path, out)}")
        # What a killed or failed export left goes with the next one.
        code, said, _ = self.ramus.run(home, words(home, op))
        if code != 0 or not wanted.is_after(look(home), None):
            self.count(op, "harmed", f"{why}: the next one: {differs(look(home), wanted.after)}; {said[-300:]}")

    def judge(self, op, home, wanted, code, said, why):
        """Looks at what one run left; the next command recovers, and undoes or does it again. `code` is None after a kill."""
        if "panicked" in said or "internal error" in said:
            self.count(op, "untrue", f"{why}: {said[-300:]}")
        if op.startswith("export"):
            return self.judge_export(op, home, wanted, code, why)
        now = look(home)
        admits = any(word in said for word in ADMITS)
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
        last = operations[0] if operations else {}
        name = "undo" if op.startswith("undo") else LOGGED.get(op, op)
        is_listed = bool(last.get("done")) and last.get("operation") == name
        if is_after and not is_listed:
            self.count(op, "stuck", f"{why}: it is done, but the log has {last}")
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
        print(f"\n{title}\n\n| operation | runs | done | not done | recovered | lost | harmed | untrue | stuck |\n|---|---|---|---|---|---|---|---|---|")
        total = collections.Counter()
        for op, counts in self.counts.items():
            total.update(counts)
            print("| " + " | ".join([op] + [str(counts[key]) for key in COLUMNS]) + " |")
        print("| all | " + " | ".join(str(total[key]) for key in COLUMNS) + " |", flush=True)
        shutil.rmtree(self.dir, ignore_errors=True)
        return 1 if self.bad else 0


COLUMNS = ("runs", "done", "refused", "recovered", "lost", "harmed", "untrue", "stuck")


def differs(now, then):
    paths = [path for path in {**now, **then} if now.get(path, (0,))[:2] != then.get(path, (0,))[:2]]
    dates = [path for path in now if path in then and now[path][:2] == then[path][:2] and now[path] != then[path]]
    return f"{len(paths)} differ: {['/'.join(path.split('/')[-2:]) for path in paths[:4]]}, {len(dates)} dates"


def sampled(bench, op, template):
    """Which calls an operation makes: pairs of a call and its number."""
    home = bench.fresh(template)
    trace = os.path.join(bench.dir, "trace")
    code, said, _ = bench.ramus.run(home, words(home, op), ["strace", "-f", "-qq", "-o", trace, "-e", "trace=" + ",".join("?" + call for call in CALLS)])
    assert code == 0, (op, said)
    with open(trace) as file:
        calls = collections.Counter(re.findall(r"^\d+\s+(\w+)\(", file.read(), re.M))
    return [(call, n) for call, count in calls.items() for n in range(1, count + 1)]


def injected(call, n, what):
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{what}:when={n}"]


def ops_of(args):
    return [args.only] if args.only else list(SETUP)


def faults(bench, args):
    each = max(1, args.count // len(ops_of(args)))
    for op in ops_of(args):
        template = bench.template(op, args.mb)
        wanted, _ = bench.wanted(op, template)
        choices = sampled(bench, op, template)
        # Every call once before any of them twice, each time with another error.
        plan = []
        while len(plan) < each:
            bench.random.shuffle(choices)
            plan += choices
        for call, n in plan[:each]:
            error = bench.random.choice(ERRORS)
            home = bench.fresh(template)
            try:
                code, said, _ = bench.ramus.run(home, words(home, op), injected(call, n, f"error={error}"))
            except subprocess.TimeoutExpired:
                bench.count(op, "stuck", f"{call} {n} {error}: hangs")
                continue
            bench.counts[op]["runs"] += 1
            bench.counts[op]["done" if code == 0 else "refused"] += 1
            bench.judge(op, home, wanted, code, said, f"{error} at {call} {n}")
        print(f"  {op}: {bench.counts[op]['runs']} runs, {len(choices)} calls", file=sys.stderr, flush=True)
    return bench.table(f"Errors injected by strace, one call each (seed {args.seed}{size(args)})")


def size(args):
    return f", session of {args.mb} MB" if args.mb else ""


LINE = '{"type":"mode","by":"somebody","n":%d}\n'
LINES = re.compile(rb'\{"type":"mode","by":"somebody","n":\d+\}\n')


def append(home, n):
    """Adds a line as a client does: a file for each write, created if it is missing."""
    os.makedirs(os.path.dirname(home.session), exist_ok=True)
    with open(home.session, "a") as file:
        file.write(LINE % n)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def without_lines(seen, home):
    """Takes off what the other program wrote."""
    seen = dict(seen)
    if home.session in seen:
        seen[home.session] = (LINES.sub(b"", seen[home.session][0]),) + seen[home.session][1:]
    return seen


def killed(bench, home, op, took, choices, round):
    """Runs an operation and kills it; whether it was killed before its end."""
    args, env = bench.ramus.args(home, words(home, op)), bench.ramus.env(home)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if round % 4 < 2:
        call, n = bench.random.choice(choices)
        return subprocess.run(injected(call, n, "signal=KILL") + args, env=env, **quiet).returncode != 0
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
    last = operations[0] if operations else {}
    is_done = last.get("done") and last["operation"] == ("undo" if op.startswith("undo") else "restore-files")
    bench.counts[op]["done" if is_done else "refused"] += 1
    main, gone = home.app + "/main.rs", home.app + "/gone.rs"
    if read(main) != text:
        bench.count(op, "lost", f"{why}: {told[-300:]}")
    now, whole = look(home), wanted.after if is_done else wanted.before
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
        self.wrote = []

    def write(self):
        for _ in range(3):
            number = self.first + len(self.wrote)
            if self.held:
                self.held.write(LINE % number)
                self.held.flush()
            else:
                append(self.home, number)
            self.wrote.append(number)
            time.sleep(self.bench.random.random() * self.took / 20)

    def close(self):
        if self.held:
            self.held.close()


def append_beside(bench, op, args):
    """Rounds of one operation beside an appender, in one home that is made again now and then."""
    name = op + " + appender"
    home, took, n = None, 0.0, 1
    for round in range(args.count + 1):
        if home is None or args.mb and round % 5 == 0:
            if home:
                shutil.rmtree(home.path)
            home = Home(os.path.join(bench.dir, f"beside-{round}"), args.mb)
        plain = LINES.sub(b"", read(home.session))
        if op != "trash":
            for target in ("eg", "ge")[round % 2]:
                code, said, _ = bench.ramus.run(home, ["goto", "1111:" + target])
                if "resumes there already" not in said:
                    break
            assert code == 0, said
        gone_to = LINES.sub(b"", read(home.session))
        whole_lines = LINES.findall(read(home.session))
        if op == "recovery":
            which = (["undo"], ["restore", "1111"], ["trash", "1111"])[round % 3]
            child = subprocess.Popen(bench.ramus.args(home, which), env=bench.ramus.env(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(bench.random.random() * (took or 0.2))
            child.kill()
            child.wait()
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
        wrote = appender.wrote if appender else []
        n += len(wrote)
        why = f"round {round}: exit {code}: {said[-300:]}"
        if "panicked" in said:
            bench.count(name, "untrue", why)
        operations, told = bench.ramus.log(home)
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
            back, more, _ = bench.ramus.run(home, ["undo", str(last["op"])])
            again = read(home.session)
            if back != 0 and "has gone on" in more:
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


def save_beside(bench, op, how, args):
    """Rounds of one operation beside an editor that saves a file."""
    name = f"{op} + editor ({how})"
    prepared = "files --restore" if op == "recovery" else op
    template = bench.template(prepared, args.mb)
    wanted, took = bench.wanted(prepared, template)
    choices = sampled(bench, prepared, template)
    for round in range(args.count // 2):
        home = bench.fresh(template)
        path, text = home.app + "/main.rs", f"saved by an editor in round {round}\n"

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
        if path in NAMED.findall(said) or read(path) == text.encode():
            continue
        named = [named for named in NAMED.findall(said) if read(named) == text.encode()]
        if named:
            continue
        # Saved before it was planned: then it was shown and replaced, and undo brings it back.
        last = operations[0] if operations else {}
        undone, more, _ = bench.ramus.run(home, ["undo"])
        if not last.get("done") or undone != 0 or read(path) != text.encode():
            bench.count(name, "lost", f"round {round}: {code} {said[-400:]} {more[-200:]}")


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
    args = parser.parse_args()
    bench = Bench(args)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit({"faults": faults, "kills": kills, "writers": writers}[args.mode](bench, args))
    except KeyboardInterrupt:
        sys.exit(bench.table(f"{args.mode}, ended early (seed {args.seed}{size(args)})"))


if __name__ == "__main__":
    main()
