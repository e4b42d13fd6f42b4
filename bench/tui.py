#!/usr/bin/env python3
"""Measures the terminal screens from outside: a pseudo terminal, keys in, bytes out.

  bench/tui.py --ramus target/release/ramus --corpus c2000          first screen, and until all is read
  bench/tui.py --ramus target/release/ramus --session 100mb.jsonl   key to repaint while scrolling through it
"""

import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import time


class Screen:
    """A program on a pseudo terminal of 80 by 24."""

    def __init__(self, command, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.text = b""

    def read(self, timeout):
        """Reads what comes within a time; returns when the first of it came, or None."""
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return None
        at = time.monotonic()
        try:
            self.text = (self.text + os.read(self.fd, 1 << 16))[-(1 << 18):]
        except OSError:
            return None
        return at

    def until(self, pattern, timeout=60):
        """Waits until the output since the last wait holds a pattern."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if re.search(pattern, self.text):
                self.text = b""
                return time.monotonic()
            self.read(0.05)
        raise SystemExit(f"no {pattern!r} in {self.text[-2000:]!r}")

    def quiet(self, pause=0.15):
        while self.read(pause) is not None:
            pass

    def press(self, key):
        """Presses a key and returns the seconds until the screen changes; None: it does not."""
        start = time.monotonic()
        os.write(self.fd, key)
        at = self.read(0.5)
        # The rest of the frame belongs to it.
        last = at
        while at is not None:
            at = self.read(0.004)
            last = at or last
        return None if last is None else last - start

    def leave(self):
        os.write(self.fd, b"\x03")
        self.quiet()
        os.waitpid(self.pid, 0)


def environment(home):
    return {"HOME": home, "TERM": "xterm-256color", "LANG": "C.UTF-8", "TZ": "UTC", "PATH": os.environ["PATH"]}


def first_screen(ramus, corpus, runs):
    first, known, sessions = [], [], []
    with tempfile.TemporaryDirectory() as home:
        for _ in range(runs):
            start = time.monotonic()
            screen = Screen([ramus, "--claude-dir", corpus], environment(home))
            first.append(screen.until(rb"reading|type to filter") - start)
            known.append(screen.until(rb"type to filter") - start)
            screen.leave()
            start = time.monotonic()
            subprocess.run([ramus, "--claude-dir", corpus, "sessions"], env=environment(home), stdout=subprocess.DEVNULL, check=True)
            sessions.append(time.monotonic() - start)
    print(f"first screen   {min(first):.3f} s (worst {max(first):.3f})")
    print(f"all known      {min(known):.3f} s, `sessions` {min(sessions):.3f} s")


def repaint(ramus, session, keys):
    with tempfile.TemporaryDirectory() as home:
        project = os.path.join(home, ".claude", "projects", "-home-dev-big")
        os.makedirs(project)
        shutil.copy(session, os.path.join(project, "0a1b2c3d-0000-4000-8000-000000000000.jsonl"))
        start = time.monotonic()
        screen = Screen([ramus], environment(home))
        screen.until(rb"type to filter")
        os.write(screen.fd, b"\r")
        screen.until(rb"back")
        print(f"opened after   {time.monotonic() - start:.3f} s")
        screen.quiet()
        for name, key in [("down", b"j"), ("page down", b"\x1b[6~"), ("page up", b"\x1b[5~"), ("next prompt", b"]"), ("tools", b"s")]:
            times = [took for took in (screen.press(key) for _ in range(keys)) if took is not None]
            times.sort()
            if times:
                p99 = times[min(len(times) - 1, len(times) * 99 // 100)]
                print(f"{name:<14} median {times[len(times) // 2] * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, worst {times[-1] * 1000:.1f} ms of {len(times)}")
        with open(f"/proc/{screen.pid}/status") as status:
            peak = next(line for line in status if line.startswith("VmHWM"))
        print("peak memory   ", peak.split(None, 1)[1].strip())
        screen.leave()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ramus", default="target/release/ramus")
    parser.add_argument("--corpus", help="a Claude directory")
    parser.add_argument("--session", help="a session file")
    parser.add_argument("--keys", type=int, default=300)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    ramus = os.path.abspath(args.ramus)
    if args.corpus:
        first_screen(ramus, os.path.abspath(args.corpus), args.runs)
    if args.session:
        repaint(ramus, os.path.abspath(args.session), args.keys)


main()
