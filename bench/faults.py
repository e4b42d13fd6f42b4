#!/usr/bin/env python3
"""Breaks every writing command of the real binary, and counts what was lost.

    bench/faults.py faults  [--ramus PATH] [--count 500] [--seed 1] [--only OP]   strace lets one call fail
    bench/faults.py kills   [--ramus PATH] [--count 200] [--seed 1]               SIGKILL at a random moment, then recovery
    bench/faults.py writers [--ramus PATH] [--count 50] [--mb 0] [--seed 1]       appenders and editors beside it

Each makes homes of its own below --dir (default: /dev/shm, so that waiting for a disk does not take the time) and
prints a Markdown table. A run counts as

    lost      a line or a save of another program that is neither in its file nor where a message says
    harmed    a file that is neither as before nor as after the operation (bytes, modes, dates), or left over
    untrue    a message that does not fit: success without the change, failure with it, a panic
    stuck     an operation that is neither finished nor taken back by the next command, or cannot be undone

and `recovered` are runs that the next command found interrupted.

`faults` needs strace. Exit code 1 if anything was counted.
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
    "export": [], "undo goto": ["goto"], "undo rename": ["rename"], "undo fork": ["fork"], "undo merge": ["merge"],
    "undo trash": ["trash"], "undo files --restore": ["files --restore"], "restore": ["goto"], "undo restore": ["goto", "restore"],
}


def words(home, op):
    return {
        "goto": ["goto", "1111:e"], "rename": ["rename", "1111", "Harps"], "fork": ["fork", "1111:e"],
        "fork --into": ["fork", "1111:e", "--into", home.path + "/other"], "merge": ["merge", "1111@1", "1111@2"], "trash": ["trash", "1111"],
        "files --restore": ["files", "1111:a", "--restore"], "check --fix": ["check", "1111", "--fix", "--drop-thinking"],
        "restore": ["restore", "1111"], "export": ["export", "1111", "--out", home.path + "/out"],
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


def is_new_session(before, now):
    """Files were added, and nothing that was there is different."""
    return all(now.get(path) == what for path, what in before.items() if what[0] != "dir") and len(now) > len(before)


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
        kept = os.path.join(self.dir, "template-" + re.sub("[^a-z]", "-", op))
        shutil.rmtree(kept, ignore_errors=True)
        os.rename(path, kept)
        return Home(kept)

    def count(self, op, what, why):
        self.counts[op][what] += 1
        self.bad.append(f"{op}: {what}: {why}")
        if len(self.bad) <= 40:
            print(f"  {op}: {what}: {why}", file=sys.stderr, flush=True)

    def judge(self, op, home, before, after, code, said, why):
        """Looks at what one run left; the next command recovers, and undoes."""
        now = look(home)
        is_after = lambda now: fits(op, home, now, before, after)
        if "panicked" in said:
            self.count(op, "untrue", f"{why}: {said[-300:]}")
        if code == 0 and not is_after({path: what for path, what in now.items() if ".ramus-partial" not in path}):
            self.count(op, "untrue", f"{why}: success, but {differs(now, after)}; {said[-300:]}")
        if op == "export":
            # What a killed or failed export left goes with the next one.
            code, said, _ = self.ramus.run(home, words(home, op))
            if code != 0 or not is_after(look(home)):
                self.count(op, "harmed", f"{why}: the next one: {differs(look(home), after)}; {said[-300:]}")
            return
        if code not in (0, None) and not any(word in said for word in ADMITS) and not same(now, before, dates=True):
            self.count(op, "untrue", f"{why}: failure, but {differs(now, before)}; {said[-300:]}")
        operations, told = self.ramus.log(home)
        if operations is None:
            return self.count(op, "stuck", f"{why}: log: {told[-300:]}")
        if "cannot be finished" in told:
            self.count(op, "stuck", f"{why}: {told[-300:]}")
        self.counts[op]["recovered"] += "was interrupted" in told
        now = look(home)
        if code is None:
            self.counts[op]["done" if is_after(now) else "refused"] += 1
        left = [path for path in now if "/.ramus-" in path and not path.endswith("/.ramus-export")]
        if left and op != "export":
            self.count(op, "harmed", f"{why}: left over {left}")
        if not (is_after(now) or same(now, before, dates=True)):
            self.count(op, "harmed", f"{why}: {differs(now, before)} / {differs(now, after)}")
        last = operations[0] if operations else {}
        if op != "export" and is_after(now) and last.get("done") and not last.get("undoes"):
            code, said, _ = self.ramus.run(home, ["undo"])
            if code != 0:
                self.count(op, "stuck", f"{why}: not undone: {said[-300:]}")
            elif not same(look(home), before, dates=op != "undo"):
                self.count(op, "harmed", f"{why}: undone, but {differs(look(home), before)}")

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
NEW = ("fork", "fork --into", "merge")
ADDS = ("goto", "rename", "check --fix")


def fits(op, home, now, before, after):
    """Whether an operation was carried out, and nothing else. New ids and times differ from run to run."""
    if op in NEW:
        return is_new_session(before, now) and len(now) == len(after)
    if op in ADDS:
        text, old = now.get(home.session, (b"",))[0], before[home.session][0]
        others = lambda seen: {path: what for path, what in seen.items() if path != home.session}
        return text.startswith(old) and text.count(b"\n") == after[home.session][0].count(b"\n") and same(others(now), others(before))
    return same(now, after)


def same(now, then, dates=False):
    strip = lambda seen: {path: what if dates and what[0] != "dir" else what[:2] for path, what in seen.items()}
    return strip(now) == strip(then)


def differs(now, then):
    paths = [path for path in {**now, **then} if now.get(path, (0,))[:2] != then.get(path, (0,))[:2]]
    dates = [path for path in now if path in then and now[path][:2] == then[path][:2] and now[path] != then[path]]
    return f"{len(paths)} differ: {[os.path.relpath(path, '/dev/shm') for path in paths[:4]]}, {len(dates)} dates"


def faults(bench, args):
    ops = [args.only] if args.only else list(SETUP)
    each = max(1, args.count // len(ops))
    for op in ops:
        template = bench.template(op)
        home = bench.fresh(template)
        before = look(home)
        trace = os.path.join(bench.dir, "trace")
        code, said, _ = bench.ramus.run(home, words(home, op), ["strace", "-f", "-qq", "-o", trace, "-e", "trace=" + ",".join("?" + call for call in CALLS)])
        assert code == 0, (op, said)
        after = look(home)
        with open(trace) as file:
            calls = collections.Counter(re.findall(r"^\d+\s+(\w+)\(", file.read(), re.M))
        choices = [(call, n) for call, count in calls.items() for n in range(1, count + 1)]
        for _ in range(each):
            (call, n), error = bench.random.choice(choices), bench.random.choice(ERRORS)
            home = bench.fresh(template)
            inject = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={n}"]
            try:
                code, said, _ = bench.ramus.run(home, words(home, op), inject)
            except subprocess.TimeoutExpired:
                bench.count(op, "stuck", f"{call} {n} {error}: hangs")
                continue
            bench.counts[op]["runs"] += 1
            bench.counts[op]["done" if code == 0 else "refused"] += 1
            bench.judge(op, home, before, after, code, said, f"{error} at {call} {n}")
    return bench.table(f"Errors injected by strace, one call each (seed {args.seed})")


LINE = '{"type":"mode","by":"somebody","n":%d}\n'


def append(home, n):
    """Adds a line as a client does: a file for each write, created if it is missing."""
    os.makedirs(os.path.dirname(home.session), exist_ok=True)
    with open(home.session, "a") as file:
        file.write(LINE % n)


def has_line(home, n, everywhere=False):
    wanted = (LINE % n).encode()
    paths = [home.session] if not everywhere else list(walk(home.path))
    for path in paths:
        try:
            with open(path, "rb") as file:
                if wanted in file.read():
                    return True
        except FileNotFoundError:
            pass
    return False


def without_line(seen, home, n):
    seen = dict(seen)
    if home.session in seen:
        text = seen[home.session][0].replace((LINE % n).encode(), b"")
        seen[home.session] = (text,) + seen[home.session][1:]
    return seen


def kills(bench, args):
    ops = [op for op in SETUP if op != "export"]
    each = max(1, args.count // len(ops))
    for op in ops:
        template = bench.template(op)
        home = bench.fresh(template)
        before = look(home)
        start = time.time()
        code, said, _ = bench.ramus.run(home, words(home, op))
        took = time.time() - start
        assert code == 0, (op, said)
        after = look(home)
        for round in range(each):
            home = bench.fresh(template)
            child = subprocess.Popen(bench.ramus.args(home, words(home, op)), env=bench.ramus.env(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(bench.random.random() * took)
            child.kill()
            child.wait()
            bench.counts[op]["runs"] += 1
            # Half of the time somebody works on before ramus recovers.
            wrote = round % 2 == 1 and op not in NEW
            if wrote and "files" not in op:
                append(home, round)
            if wrote and "files" in op:
                put(home.app + "/main.rs", f"saved {round}\n")
            if not wrote:
                bench.judge(op, home, before, after, None, "", f"killed in round {round}")
                continue
            operations, told = bench.ramus.log(home)
            if operations is None or "cannot be finished" in told:
                bench.count(op, "stuck", f"round {round}: {told[-300:]}")
            bench.counts[op]["recovered"] += "was interrupted" in told
            is_done = bool(operations) and operations[0]["done"] and operations[0]["operation"] == op.split()[0].replace("files", "restore-files")
            bench.counts[op]["done" if is_done else "refused"] += 1
            if "files" not in op:
                if not has_line(home, round, everywhere="trash" in op):
                    bench.count(op, "lost", f"round {round}: {told[-300:]}")
                now = without_line(look(home), home, round)
                if "trash" not in op and not (same(now, before) or fits(op, home, now, before, after)):
                    bench.count(op, "harmed", f"round {round}: {differs(now, before)} / {differs(now, after)}")
            else:
                with open(home.app + "/main.rs") as file:
                    if file.read() != f"saved {round}\n":
                        bench.count(op, "lost", f"round {round}: {told[-300:]}")
    return bench.table(f"Killed at a random moment, then recovered (seed {args.seed})")


def beside(bench, home, op, took, write):
    """Runs an operation while `write` is called at a random moment of it."""
    child = subprocess.Popen(bench.ramus.args(home, words(home, op) if op != "recovery" else ["log"]), env=bench.ramus.env(home),
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    # More often in the second half, where files are changed.
    time.sleep(bench.random.random() ** 0.5 * took)
    write()
    said = child.communicate()[1]
    return child.returncode, said


def in_version(bench, home, number):
    """Whether a line was written before `restore` was planned: then it is part of the version that can be restored again."""
    operations, _ = bench.ramus.log(home)
    last = next((one for one in operations if one["operation"] == "restore" and one["done"]), None)
    if last is None:
        return False
    backup = last.get("backup")
    return backup is not None and (LINE % number).encode() in open(backup, "rb").read()


def writers(bench, args):
    label = f" ({args.mb} MB)" if args.mb else ""
    for op in ("undo goto", "restore", "trash", "recovery"):
        home = Home(os.path.join(bench.dir, "beside-" + op.replace(" ", "-")), args.mb)
        took, n = 0.0, 0
        for round in range(args.count + 1):
            if op != "trash":
                code, said, _ = bench.ramus.run(home, ["goto", "1111:" + ("e" if round % 2 else "g")])
                if "resumes there already" in said:
                    code, said, _ = bench.ramus.run(home, ["goto", "1111:" + ("g" if round % 2 else "e")])
                assert code == 0, said
            if op == "recovery":
                child = subprocess.Popen(bench.ramus.args(home, ["undo"] if round % 2 else ["restore", "1111"]), env=bench.ramus.env(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(bench.random.random() * (took or 0.2))
                child.kill()
                child.wait()
            held = open(home.session, "a") if round % 3 == 2 else None
            wrote = []

            def write():
                for _ in range(3):
                    number = n + len(wrote) + 1
                    if held:
                        held.write(LINE % number)
                        held.flush()
                    else:
                        append(home, number)
                    wrote.append(number)
                    time.sleep(bench.random.random() * took / 20)

            if round == 0:
                start = time.time()
                code, said, _ = bench.ramus.run(home, words(home, op) if op != "recovery" else ["log"])
                took = time.time() - start
                assert code == 0, said
            else:
                code, said = beside(bench, home, op, took, write)
                name = op + " + appender" + label
                bench.counts[name]["runs"] += 1
                bench.counts[name]["done" if code == 0 else "refused"] += 1
                if "panicked" in said:
                    bench.count(name, "untrue", said[-300:])
            if held:
                held.close()
            if op == "trash":
                operations, _ = bench.ramus.log(home)
                if operations and operations[0]["done"] and operations[0]["operation"] == "trash":
                    code, said, _ = bench.ramus.run(home, ["undo", str(operations[0]["op"])])
                    if code != 0:
                        bench.count(op + " + appender" + label, "stuck", said[-300:])
            else:
                bench.ramus.log(home)
            with open(home.session, "rb") as file:
                text = file.read()
            for number in wrote:
                if (LINE % number).encode() not in text and not (op == "restore" and in_version(bench, home, number)):
                    bench.count(op + " + appender" + label, "lost", f"line {number} in round {round}: {code} {said[-300:]}")
            n += len(wrote)
        shutil.rmtree(home.path)
    if args.mb:
        return bench.table(f"Another program beside it (seed {args.seed})")
    for op in ("files --restore", "undo files --restore"):
        template = bench.template(op)
        home = bench.fresh(template)
        start = time.time()
        bench.ramus.run(home, words(home, op))
        took = time.time() - start
        for how in ("rename", "in place"):
            name = f"{op} + editor ({how})"
            for round in range(args.count):
                home = bench.fresh(template)
                path, text = home.app + "/main.rs", f"saved by an editor in round {round}\n"

                def save():
                    if how == "rename":
                        put(path + ".swp", text)
                        os.rename(path + ".swp", path)
                    else:
                        put(path, text)

                code, said = beside(bench, home, op, took, save)
                bench.counts[name]["runs"] += 1
                bench.counts[name]["done" if code == 0 else "refused"] += 1
                said += bench.ramus.log(home)[1]
                holders = [file for file in walk(home.path) if open(file, "rb").read() == text.encode()]
                if path in holders or any(holder in said for holder in holders):
                    continue
                # Saved before it was planned: then it was shown and replaced, and undo brings it back.
                undone, more, _ = bench.ramus.run(home, ["undo"])
                if code != 0 or undone != 0 or open(path).read() != text:
                    bench.count(name, "lost", f"round {round}: {code} {holders} {said[-400:]} {more[-200:]}")
    return bench.table(f"Another program beside it (seed {args.seed})")


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
    sys.exit({"faults": faults, "kills": kills, "writers": writers}[args.mode](bench, args))


if __name__ == "__main__":
    main()
