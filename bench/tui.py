#!/usr/bin/env python3
"""Measures the terminal screens from outside, through a pseudo terminal.

  bench/tui.py --ramus target/release/ramus --corpus c2000          first screen, and until all is read
  bench/tui.py --ramus target/release/ramus --session 100mb.jsonl   key to repaint while scrolling through it
  bench/tui.py --ramus target/release/ramus --live                  20 sessions are written to while one is read live
  … --live --session 100mb.jsonl                                    the same, and the one that is read is large
"""

import argparse
import collections
import fcntl
import os
import pty
import re
import resource
import select
import shutil
import statistics
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unicodedata

import live


class Screen:
    """A program on a pseudo terminal of 80 by 24."""

    def __init__(self, command, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.rest = b""
        self.cells = [[" "] * 80 for _ in range(24)]
        self.at = (0, 0)

    def draw(self, data):
        """Puts output on the cells of the screen: cursor moves, erasing and text are all that is used."""
        data = self.rest + data
        end = data.rfind(b"\x1b")
        whole = end < 0 or re.match(rb"\x1b(\[[?0-9;]*[A-Za-z]|\][^\x07]*\x07|[^\[\]])", data[end:])
        if not whole:
            self.rest, data = data[end:], data[:end]
        else:
            tail = next((n for n in (1, 2, 3) if data[-n:-n + 1 or None] and data[-n] >= 0xC0), 0)
            want = {6: 2, 7: 2, 12: 2, 13: 2, 14: 3, 15: 4}.get(data[-tail] >> 4 if tail else 0, 0)
            self.rest, data = (data[-tail:], data[:-tail]) if tail and tail < want else (b"", data)
        for move, what, text in re.findall(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b[^\[\]]|([^\x1b]+)", data.decode("utf-8", "replace")):
            if what == "H":
                row, column = (move or "1;1").split(";")
                self.at = (int(row) - 1, int(column) - 1)
            elif what == "J":
                self.cells = [[" "] * 80 for _ in range(24)]
            for char in text:
                row, column = self.at
                if char >= " " and row < 24 and column < 80:
                    self.cells[row][column] = char
                    self.at = (row, column + (2 if unicodedata.east_asian_width(char) in "WF" else 1))

    def lines(self):
        return ["".join(row) for row in self.cells]

    def body(self):
        """What is between the head, which says the title, and the foot."""
        return "\n".join(self.lines()[1:-1])

    def read(self, timeout):
        """Reads what comes within a time; returns when the first of it came, or None."""
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return None
        at = time.monotonic()
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return None
        self.draw(data)
        return at

    def shows(self, pattern, timeout=60):
        """Waits until the screen as a whole shows a pattern."""
        end = time.monotonic() + timeout
        while not re.search(pattern, "\n".join(self.lines())):
            if time.monotonic() > end:
                raise SystemExit(f"no {pattern!r} on\n" + "\n".join(self.lines()))
            self.read(0.05)
        return time.monotonic()

    def memory(self):
        with open(f"/proc/{self.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

    def quiet(self, pause=0.15):
        while self.read(pause) is not None:
            pass

    def press(self, key, pause=0.004):
        """Presses a key and returns the seconds until the screen has changed; None: it does not.

        What comes after less than a pause belongs to it, be it a second frame that mends the first.
        """
        start = time.monotonic()
        os.write(self.fd, key)
        at = self.read(0.5)
        last = at
        while at is not None:
            at = self.read(pause)
            last = at or last
        return None if last is None else last - start

    def leave(self):
        os.write(self.fd, b"\x03")
        self.quiet()
        os.waitpid(self.pid, 0)


def children():
    """Seconds of CPU that programs which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def environment(home):
    return {"HOME": home, "TERM": "xterm-256color", "LANG": "C.UTF-8", "TZ": "UTC", "PATH": os.environ["PATH"]}


def first_screen(ramus, corpus, runs):
    first, known, sessions, cpu = [], [], [], [[], []]
    with tempfile.TemporaryDirectory() as home:
        for _ in range(runs):
            start = time.monotonic()
            screen = Screen([ramus, "--claude-dir", corpus], environment(home))
            first.append(screen.shows(r"reading|type to (?:filter|search)") - start)
            known.append(screen.shows(r"type to (?:filter|search)") - start)
            before = children()
            screen.leave()
            cpu[0].append(children() - before)
            start = time.monotonic()
            subprocess.run([ramus, "--claude-dir", corpus, "sessions"], env=environment(home), stdout=subprocess.DEVNULL, check=True)
            sessions.append(time.monotonic() - start)
            cpu[1].append(children() - before - cpu[0][-1])
    print(f"first screen   {min(first):.3f} s (worst {max(first):.3f})")
    print(f"all known      {min(known):.3f} s (CPU {min(cpu[0]):.2f} s), `sessions` {min(sessions):.3f} s (CPU {min(cpu[1]):.2f} s)")


def repaint(ramus, session, keys):
    with tempfile.TemporaryDirectory() as home:
        project = os.path.join(home, ".claude", "projects", "-home-dev-big")
        os.makedirs(project)
        shutil.copy(session, os.path.join(project, "0a1b2c3d-0000-4000-8000-000000000000.jsonl"))
        start = time.monotonic()
        screen = Screen([ramus], environment(home))
        screen.shows(r"type to (?:filter|search)")
        os.write(screen.fd, b"\r")
        screen.shows(r"back")
        print(f"opened after   {time.monotonic() - start:.3f} s")
        screen.quiet()
        for name, key in [("down", b"j"), ("page down", b"\x1b[6~"), ("page up", b"\x1b[5~"), ("next prompt", b"]"), ("tools", b"s")]:
            told(name, [screen.press(key) for _ in range(keys)])
        # At places where nobody has been: after a look at the screen, and at once.
        for name, look, prompt in [("tools there", 0.15, b"["), ("tools at once", 0, b"]")]:
            times = []
            for _ in range(keys):
                screen.press(prompt)
                screen.press(b"\x1b[6~")
                if look:
                    screen.quiet(look)
                times.append(screen.press(b"s", 0.05))
            told(name, times)
        print(f"memory         {screen.memory():.1f} MB")
        screen.leave()


def told(name, times):
    times = sorted(took * 1000 for took in times if took is not None)
    if times:
        p99 = times[min(len(times) - 1, len(times) * 99 // 100)]
        print(f"{name:<14} median {times[len(times) // 2]:.1f} ms, p99 {p99:.1f} ms, worst {times[-1]:.1f} ms of {len(times)}", flush=True)


def follow(ramus, session, rate, seconds, appends):
    """Reads the first of 20 sessions live while all are written to; then walks through it and counts."""
    place = live.Place(20)
    if session:
        # It goes on where its last record ends.
        shutil.copy(session, place.path(0))
        place.tips[0] = last_uuid(session)
    # The last one written is the first one in the list.
    for number in reversed(range(20)):
        place.append(number)
        time.sleep(0.01)
    with tempfile.TemporaryDirectory() as home:
        screen = Screen([ramus, "--claude-dir", place.root], environment(home))
        screen.shows(r"20 sessions")
        os.write(screen.fd, b"\r")
        screen.shows(r"back")
        os.write(screen.fd, b"w")
        screen.shows(r"● live")
        screen.shows(r"s0 n0 word")
        late = delays(screen, place, rate, seconds)
        print(f"delay          median {statistics.median(late):.1f} ms, 99 % {late[len(late) * 99 // 100]:.1f} ms, worst {late[-1]:.1f} ms of {len(late)} records ({rate} records/s to 20 sessions)")
        memory = []
        for turn in range(10):
            for number in range(appends // 10):
                place.append(number % 20)
            last = place.numbers[0] - 1
            screen.shows(rf"s0 n{last} word")
            memory.append(screen.memory())
        print(f"{appends} appends  memory after each tenth:", " ".join(f"{m:.1f}" for m in memory), "MB")
        os.write(screen.fd, b"w")
        screen.quiet()
        counted(screen, place, 0)
        if not session:
            rows(screen, place)
        screen.leave()
    shutil.rmtree(place.root)


def last_uuid(session):
    with open(session, "rb") as f:
        f.seek(-min(os.path.getsize(session), 1 << 20), os.SEEK_END)
        return re.findall(rb'"uuid":"([^"]+)"', f.read())[-1].decode()


def delays(screen, place, rate, seconds):
    """Returns how long each record of the session that is read took to the screen, sorted."""
    written, seen = {}, {}
    def write():
        for turn in range(rate * seconds):
            start = time.monotonic()
            number, _ = place.append(turn % 20, torn=turn % 50 == 49)
            if turn % 20 == 0:
                written[number] = time.monotonic()
            time.sleep(max(0, 1 / rate - (time.monotonic() - start)))
    writer = threading.Thread(target=write)
    writer.start()
    end = time.monotonic() + seconds + 20
    while time.monotonic() < end and (writer.is_alive() or len(seen) < len(written)):
        at = screen.read(0.05)
        if at is None:
            continue
        for number in re.findall(r"s0 n(\d+) word", screen.body()):
            seen.setdefault(int(number), at)
    writer.join()
    missing = written.keys() - seen.keys()
    if missing:
        raise SystemExit(f"never on the screen: {sorted(missing)[:10]}")
    return sorted(1000 * (seen[number] - at) for number, at in written.items())


def counted(screen, place, session):
    """Walks up through a transcript and counts how often each record stands there."""
    os.write(screen.fd, b"G")
    screen.quiet(0.05)
    found = collections.Counter()
    before = []
    while place.numbers[session] > len(found) or 0 not in found:
        now = [int(n) for n in re.findall(rf"s{session} n(\d+) word", screen.body())]
        found.update(number for number in now if number not in before)
        before = now
        if 0 in now:
            break
        os.write(screen.fd, b"\x15")
        screen.read(0.5)
        while screen.read(0.01) is not None:
            pass
    lost = set(range(place.numbers[session])) - found.keys()
    twice = [number for number, times in found.items() if times > 1]
    print(f"in the session that is read: {place.numbers[session]} records, lost {len(lost)}, twice {len(twice)}")


def rows(screen, place):
    """Compares how many messages the list says each session has with what was written."""
    os.write(screen.fd, b"q")
    time.sleep(2)
    screen.quiet()
    os.write(screen.fd, b"\x1b")
    screen.shows(r"20 sessions")
    screen.quiet()
    told = [int(count) for count in re.findall(r" s\d+ n\d+ .*… +(\d+) +\S+", screen.body())]
    print("in the list:", "right numbers of messages" if sorted(told) == sorted(place.numbers) else f"{sorted(told)} is not {sorted(place.numbers)}\n" + screen.body())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ramus", default="target/release/ramus")
    parser.add_argument("--corpus", help="a Claude directory")
    parser.add_argument("--session", help="a session file")
    parser.add_argument("--keys", type=int, default=300)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--live", action="store_true", help="measure a session that is read while it is written")
    parser.add_argument("--rate", type=int, default=400, help="records a second, to all sessions together")
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--appends", type=int, default=100_000)
    args = parser.parse_args()
    ramus = os.path.abspath(args.ramus)
    if args.corpus:
        first_screen(ramus, os.path.abspath(args.corpus), args.runs)
    if args.live:
        follow(ramus, args.session and os.path.abspath(args.session), args.rate, args.seconds, args.appends)
    elif args.session:
        repaint(ramus, os.path.abspath(args.session), args.keys)


main()
