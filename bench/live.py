#!/usr/bin/env python3
"""Measures `ramus watch` while other processes write: delay, losses, memory, CPU time, and changes of files.

    bench/live.py [--ramus target/release/ramus] [--sessions 20] [--appends 100000] [--rate 400] [--mode events|poll]

Creates a temporary Claude directory. One thread appends, another reads the output of `ramus watch --json`. The delay of a
record is the time from the end of its `write` until its line is read. Prints Markdown rows.
"""
import argparse, datetime, json, os, shutil, statistics, subprocess, sys, tempfile, threading, time, uuid


def record(session, parent, number, kind):
    """One record as the client writes it; every third one is a prompt."""
    name = str(uuid.UUID(int=(session << 64) | number))
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    text = f"s{session} n{number} " + "word " * 40
    head = {"parentUuid": parent, "isSidechain": False, "cwd": "/home/dev/app", "sessionId": ident(session), "version": "2.1.200"}
    if kind == "user":
        body = {"type": "user", "message": {"role": "user", "content": text}}
    else:
        usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 1000}
        body = {"type": "assistant", "requestId": f"r{session}-{number}", "message": {
            "id": f"m{session}-{number}", "type": "message", "role": "assistant", "model": "claude-opus-5",
            "content": [{"type": "text", "text": text}], "stop_reason": None, "usage": usage}}
    return name, (json.dumps({**head, **body, "uuid": name, "timestamp": now}, separators=(",", ":")) + "\n").encode()


def ident(session):
    return f"{session:08x}-0000-4000-8000-000000000000"


class Place:
    def __init__(self, sessions):
        self.root = tempfile.mkdtemp(prefix="ramus-live-")
        self.dir = os.path.join(self.root, "projects", "-home-dev-app")
        os.makedirs(self.dir)
        self.tips = [None] * sessions
        self.numbers = [0] * sessions

    def path(self, session):
        return os.path.join(self.dir, ident(session) + ".jsonl")

    def line(self, session):
        number = self.numbers[session]
        kind = "user" if number % 3 == 0 else "assistant"
        self.tips[session], line = record(session, self.tips[session], number, kind)
        self.numbers[session] += 1
        return number, line

    def fill(self, session, size):
        with open(self.path(session), "ab") as f:
            while f.tell() < size:
                f.write(self.line(session)[1])

    def append(self, session, torn=False):
        number, line = self.line(session)
        fd = os.open(self.path(session), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        if torn:
            os.write(fd, line[: len(line) // 2])
            time.sleep(0.002)
            os.write(fd, line[len(line) // 2:])
        else:
            os.write(fd, line)
        written = time.perf_counter()
        os.close(fd)
        return number, written


class Watch:
    """A running `ramus watch --json`, its lines with the time they were read."""

    def __init__(self, ramus, place, mode):
        extra = ["--poll", "50"] if mode == "poll" else []
        command = [ramus, "--claude-dir", place.root, "watch", "--json", *extra]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.said, self.events, self.twice, self.bad = {}, [], [], []
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        self.wait(lambda: any(e["event"] == "ready" for e in self.events))

    def read(self):
        for raw in self.process.stdout:
            now = time.perf_counter()
            try:
                event = json.loads(raw)
            except ValueError:
                self.bad.append(raw)
                continue
            with self.changed:
                text = event.get("text") or "".join(p.get("text") or "" for p in event.get("parts", []))
                if event["event"] in ("prompt", "answer") and text.startswith("s"):
                    session, number = (int(word[1:]) for word in text.split()[:2])
                    if (session, number) in self.said:
                        self.twice.append((session, number))
                    self.said[session, number] = now
                elif event["event"] != "usage":
                    self.events.append(event)
                self.changed.notify_all()

    def wait(self, ready, seconds=60):
        with self.changed:
            if not self.changed.wait_for(ready, seconds):
                sys.exit(f"waited in vain; last events: {self.events[-3:]}")

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmRSS"))

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.send_signal(2)
        return self.process.wait(10)


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def delays(a):
    place = Place(a.sessions)
    watch = Watch(a.ramus, place, a.mode)
    written = {}
    pause = 1 / a.rate
    for turn in range(a.rate * a.seconds):
        session = turn % a.sessions
        start = time.perf_counter()
        number, written[session, turn] = place.append(session, torn=turn % 50 == 49)
        written[session, number] = written.pop((session, turn))
        time.sleep(max(0, pause - (time.perf_counter() - start)))
    watch.wait(lambda: len(watch.said) >= len(written))
    late = sorted(1000 * (watch.said[key] - at) for key, at in written.items())
    watch.end()
    shutil.rmtree(place.root)
    row(f"delay, {a.sessions} sessions, {a.rate} records/s ({a.mode})", f"{len(late)} records",
        f"median {statistics.median(late):.2f} ms", f"99 % {late[len(late) * 99 // 100]:.2f} ms", f"worst {late[-1]:.1f} ms")


def volume(a):
    place = Place(a.sessions)
    watch = Watch(a.ramus, place, a.mode)
    memory = []
    for turn in range(a.appends):
        place.append(turn % a.sessions)
        if turn % (a.appends // 10) == a.appends // 10 - 1:
            watch.wait(lambda: len(watch.said) >= turn + 1)
            memory.append(watch.memory())
    wanted = {(session, number) for session in range(a.sessions) for number in range(place.numbers[session])}
    lost = wanted - watch.said.keys()
    cpu = watch.cpu()
    code = watch.end()
    shutil.rmtree(place.root)
    row(f"{a.appends} appends ({a.mode})", f"lost {len(lost)}, twice {len(watch.twice)}, broken lines {len(watch.bad)}",
        f"memory after each tenth: {' '.join(f'{m:.1f}' for m in memory)} MB", f"CPU {1e6 * cpu / a.appends:.0f} µs a record", f"exit {code}")
    return not (lost or watch.twice or watch.bad)


def sizes(a):
    for size in (1, 100):
        place = Place(1)
        place.fill(0, size * 1_000_000)
        watch = Watch(a.ramus, place, a.mode)
        _, first = place.append(0)
        key = (0, place.numbers[0] - 1)
        watch.wait(lambda: key in watch.said)
        opened = 1000 * (watch.said[key] - first)
        before, start = watch.cpu(), len(watch.said)
        for _ in range(2000):
            place.append(0)
            time.sleep(0.0005)
        watch.wait(lambda: len(watch.said) >= start + 2000)
        cpu = watch.cpu() - before
        memory = watch.memory()
        watch.end()
        shutil.rmtree(place.root)
        row(f"appends to a session of {size} MB ({a.mode})", "2000 records", f"first {opened:.1f} ms",
            f"CPU {1e6 * cpu / 2000:.0f} µs a record", f"memory {memory:.1f} MB")


def mishaps(a):
    place = Place(4)
    for session in range(4):
        for _ in range(5):
            place.append(session)
    watch = Watch(a.ramus, place, a.mode)
    told = lambda event, session: any(e["event"] == event and e["session"] == ident(session) for e in watch.events)

    def heard(session):
        number, _ = place.append(session)
        watch.wait(lambda: (session, number) in watch.said)

    for session in range(4):
        heard(session)
    os.truncate(place.path(0), 0)
    watch.wait(lambda: told("rewritten", 0))
    heard(0)
    beside = place.path(1) + ".tmp"
    _, line = place.line(1)
    with open(beside, "wb") as f:
        f.write(line)
    os.rename(beside, place.path(1))
    watch.wait(lambda: told("rewritten", 1))
    heard(1)
    elsewhere = os.path.join(place.root, "projects", "-home-dev-other")
    os.mkdir(elsewhere)
    os.rename(place.path(2), os.path.join(elsewhere, ident(2) + ".jsonl"))
    watch.wait(lambda: told("moved", 2))
    os.rename(os.path.join(elsewhere, ident(2) + ".jsonl"), place.path(2))
    watch.wait(lambda: sum(e["event"] == "moved" for e in watch.events) >= 2)
    heard(2)
    os.remove(place.path(3))
    watch.wait(lambda: told("gone", 3))
    heard(3)
    number, line = place.line(0)
    with open(place.path(0), "ab", buffering=0) as f:
        f.write(line[:-1])
        heard(1)
        half = (0, number) in watch.said
        f.write(b"\n")
    watch.wait(lambda: (0, number) in watch.said)
    code = watch.end()
    shutil.rmtree(place.root)
    row(f"truncated, replaced, moved there and back, deleted and made again ({a.mode})", "each reported, and read on",
        f"shown twice {len(watch.twice)}", f"half a line shown: {'yes' if half else 'no'}", f"exit {code}")
    return not (half or watch.twice or watch.bad)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ramus", default="target/release/ramus")
    ap.add_argument("--sessions", type=int, default=20)
    ap.add_argument("--appends", type=int, default=100_000)
    ap.add_argument("--rate", type=int, default=400)
    ap.add_argument("--seconds", type=int, default=15)
    ap.add_argument("--mode", choices=["events", "poll"], default="events")
    ap.add_argument("--only", choices=["delays", "volume", "sizes", "mishaps"], action="append")
    a = ap.parse_args()
    good = True
    for part in (delays, sizes, mishaps, volume):
        if not a.only or part.__name__ in a.only:
            good &= part(a) is not False
    sys.exit(not good)


if __name__ == "__main__":
    main()
