#!/usr/bin/env python3
"""Changes and archives files at random, kills the process, fills the disk, and counts lost archived bytes.

    bench/archive_faults.py [--ramus target/release/ramus] [--steps 1000] [--seed 1] [--kills 0.3] [--full 0.15]

A home below --dir (default: /dev/shm) has a history of a few sessions with sub-agents, outputs and file backups. Each step
appends to a file, rewrites, truncates, renames or deletes one, changes a byte of it, or runs `archive add`. Some of these
runs are killed (SIGKILL) at a random moment, and some meet a full disk: the archive is on a small tmpfs that is filled up to
a random rest before (needs root; without it `ulimit -f` limits the archive's file). After every `add`

    lost      a generation that an earlier look at the archive found is missing, shorter, or has other bytes
    half      a generation whose bytes are no content that its file ever had, or a chunk that does not hold its bytes
    behind    `add` said that it succeeded, and the newest generation of a file is not what lies on the disk
    stuck     `add` fails, or goes on to fail, although there is room again
    untrue    a message of a full disk that is no message (a panic, exit code other than 2)

are counted, by reading every generation directly from the SQLite file with zstd, without ramus. At the end, every
file is restored by `archive export` and compared. Exit code 1 if anything was counted.
"""
import argparse, collections, hashlib, os, random, shutil, signal, sqlite3, subprocess, sys, tempfile, time

try:
    import zstandard
    def unpack(data, size):
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size + 1)
except ImportError:
    def unpack(data, size):
        return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout

SESSIONS = [f"{n:08x}-0000-4000-8000-000000000000" for n in range(5)]


class World:
    def __init__(self, base, ramus, rng, full_disk):
        self.base, self.ramus, self.rng = base, ramus, rng
        self.claude = f"{base}/claude"
        self.disk = f"{base}/disk"
        os.makedirs(self.disk)
        os.makedirs(f"{self.claude}/projects/-p")
        self.mounted = full_disk and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", self.disk], stderr=subprocess.DEVNULL).returncode == 0
        self.archive = f"{self.disk}/archive.db"
        self.env = {"HOME": base, "PATH": os.environ["PATH"], "RAMUS_ARCHIVE": self.archive, "RAMUS_CACHE_DIR": f"{base}/cache",
                    "RAMUS_CACHE_SETTLE_MS": "1", "TZ": "UTC"}
        self.ever = collections.defaultdict(set)     # every content that a file had, by its path
        self.seen = {}                               # what the archive was seen to hold: (path, number) -> bytes
        self.unpacked = {}

    def close(self):
        if self.mounted:
            subprocess.run(["umount", self.disk])

    def path(self):
        session = self.rng.choice(SESSIONS)
        kind = self.rng.randrange(6)
        return [f"projects/-p/{session}.jsonl", f"projects/-p/{session}.jsonl", f"projects/-p/{session}.jsonl",
                f"projects/-p/{session}/subagents/agent-a{self.rng.randrange(2)}.jsonl",
                f"projects/-p/{session}/tool-results/t{self.rng.randrange(2)}.txt",
                f"file-history/{session}/{self.rng.randrange(2):016x}@v1"][kind]

    def bytes(self):
        rng = self.rng
        size = rng.choice([rng.randrange(2_000), rng.randrange(60_000), rng.randrange(400_000)] + [rng.randrange(6_000_000)] * (rng.random() < 0.1))
        piece = rng.randbytes(rng.randrange(20, 2_000))
        return (piece * (size // len(piece) + 1))[:size]

    def read(self, path):
        try:
            with open(f"{self.claude}/{path}", "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, path, data, in_place=True):
        full = f"{self.claude}/{path}"
        os.makedirs(os.path.dirname(full), exist_ok=True)
        target = full if in_place else full + ".new"
        with open(target, "wb") as file:
            file.write(data)
        if not in_place:
            os.rename(target, full)
        self.note(path, data)

    def note(self, path, data):
        self.ever[path].add(hashlib.sha256(data).digest())

    def change(self):
        rng, path = self.rng, self.path()
        old = self.read(path)
        what = rng.choice(["append", "append", "rewrite", "truncate", "rename", "delete", "byte"])
        if what == "append":
            new = self.bytes()
            os.makedirs(os.path.dirname(f"{self.claude}/{path}"), exist_ok=True)
            with open(f"{self.claude}/{path}", "ab") as file:
                file.write(new)
            self.note(path, (old or b"") + new)
        elif what == "rewrite":
            self.write(path, self.bytes(), rng.random() < 0.5)
        elif old is None:
            return "nothing"
        elif what == "truncate":
            size = rng.randrange(len(old) + 1)
            os.truncate(f"{self.claude}/{path}", size)
            self.note(path, old[:size])
        elif what == "rename":
            other = self.path()
            os.makedirs(os.path.dirname(f"{self.claude}/{other}"), exist_ok=True)
            os.rename(f"{self.claude}/{path}", f"{self.claude}/{other}")
            self.note(other, old)
        elif what == "delete":
            os.remove(f"{self.claude}/{path}")
        elif old:
            at = rng.randrange(len(old))
            self.write(path, old[:at] + bytes([old[at] ^ 1]) + old[at + 1:])
        return what

    def files(self):
        found = {}
        for dir, _, names in os.walk(self.claude):
            for name in names:
                path = os.path.relpath(os.path.join(dir, name), self.claude)
                found[path] = self.read(path)
        return found

    def add(self, kill_after=None, limit=None):
        command = [self.ramus, "--claude-dir", self.claude, "archive", "add", "--quiet"]
        if limit is not None:
            command = ["sh", "-c", f"trap '' XFSZ; ulimit -f {limit}; exec \"$@\"", "sh"] + command
        process = subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if kill_after is not None:
            time.sleep(kill_after)
            process.kill()
        said = process.communicate()[1]
        return process.returncode, said

    def fill(self):
        """Leaves a random rest of the disk."""
        if not self.mounted:
            return None
        stat = os.statvfs(self.disk)
        rest = self.rng.choice([0, self.rng.randrange(30_000), self.rng.randrange(300_000)])
        size = max(0, stat.f_bavail * stat.f_frsize - rest)
        with open(f"{self.disk}/ballast", "wb") as file:
            try:
                file.write(b"\1" * size)
            except OSError:
                pass
        return rest

    def empty(self):
        if os.path.exists(f"{self.disk}/ballast"):
            os.remove(f"{self.disk}/ballast")

    def look(self):
        """Reads every generation, each chunk checked by its length; the archive's own journal is rolled back first."""
        if not os.path.exists(self.archive) or os.path.getsize(self.archive) == 0:
            return {}
        db = sqlite3.connect(self.archive)
        if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            db.close()
            return {}
        found = {}
        rows = "SELECT file.path, number, generation.id, bytes FROM file JOIN generation ON generation.file = file.id"
        for path, number, generation, size in db.execute(rows).fetchall():
            data = b""
            pieces = "SELECT chunk.hash, chunk.bytes, packed FROM piece JOIN chunk ON chunk.id = piece.chunk WHERE generation = ? ORDER BY place"
            for hash, length, packed in db.execute(pieces, (generation,)):
                if hash not in self.unpacked:
                    self.unpacked[hash] = unpack(packed, length)
                data += self.unpacked[hash]
            found[os.fsdecode(path), number] = data if len(data) == size else None
        live = {hash for (hash,) in db.execute("SELECT hash FROM chunk")}
        db.close()
        self.unpacked = {h: d for h, d in self.unpacked.items() if h in live}
        return found


def judge(world, counts, succeeded):
    found = world.look()
    for key, data in world.seen.items():
        now = found.get(key)
        # A generation that its file outgrew is longer now; nothing of it may be missing.
        if now is None or not now.startswith(data):
            counts["lost"] += 1
            print("lost", key, file=sys.stderr)
    for (path, number), data in found.items():
        if data is None or hashlib.sha256(data).digest() not in world.ever[path]:
            counts["half"] += 1
            print("half", path, number, file=sys.stderr)
    if succeeded:
        newest = {}
        for (path, number), data in sorted(found.items()):
            newest[path] = data
        for path, data in world.files().items():
            if newest.get(path) != data:
                counts["behind"] += 1
                print("behind", path, file=sys.stderr)
    world.seen = {key: data for key, data in found.items() if data is not None}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ramus", default="target/release/ramus")
    ap.add_argument("--steps", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--kills", type=float, default=0.3)
    ap.add_argument("--full", type=float, default=0.15)
    ap.add_argument("--dir", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    a = ap.parse_args()
    base = tempfile.mkdtemp(prefix="ramus-archive-", dir=a.dir)
    rng = random.Random(a.seed)
    world = World(base, os.path.abspath(a.ramus), rng, a.full > 0)
    counts, done = collections.Counter(), collections.Counter()
    took = 0.05
    try:
        for _ in range(a.steps):
            if rng.random() < 0.65:
                done[world.change()] += 1
                continue
            luck = rng.random()
            if luck < a.kills + a.full:
                # Something new, so that there is something to interrupt.
                for _ in range(3):
                    done[world.change()] += 1
            if luck < a.kills:
                code, said = world.add(kill_after=rng.random() * took)
                done["killed" if code == -signal.SIGKILL else "add"] += 1
                judge(world, counts, code == 0)
            elif luck < a.kills + a.full:
                rest = world.fill()
                limit = None if world.mounted else rng.randrange(1, max(2, os.path.getsize(world.archive) // 512 + 50)) if os.path.exists(world.archive) else 8
                code, said = world.add(limit=limit)
                done["full" if code else "add"] += 1
                if code not in (0, 2) or "panicked" in said or (code == 2 and "archive" not in said):
                    counts["untrue"] += 1
                    print("untrue", code, said, file=sys.stderr)
                judge(world, counts, code == 0)
                world.empty()
            else:
                start = time.monotonic()
                code, said = world.add()
                took = max(0.02, min(1.0, time.monotonic() - start))
                done["add"] += 1
                if code != 0:
                    counts["stuck"] += 1
                    print("stuck", code, said, file=sys.stderr)
                judge(world, counts, code == 0)
            if world.mounted and os.path.exists(world.archive) and os.path.getsize(world.archive) > 40e6:
                # Begins again with an empty archive: the disk is small.
                for name in os.listdir(world.disk):
                    os.remove(f"{world.disk}/{name}")
                world.seen = {}
                done["new archive"] += 1
        code, said = world.add()
        judge(world, counts, code == 0)
        verified = subprocess.run([world.ramus, "archive", "verify"], env=world.env, stdout=subprocess.DEVNULL)
        counts["half"] += verified.returncode != 0
        out = f"{base}/out"
        subprocess.run([world.ramus, "--claude-dir", world.claude, "archive", "export", "--out", out], env=world.env, stdout=subprocess.DEVNULL, check=True)
        for path, data in world.files().items():
            with open(f"{out}/{path}", "rb") as file:
                counts["behind"] += file.read() != data
    finally:
        world.close()
        shutil.rmtree(base, ignore_errors=True)
    kinds = ["append", "rewrite", "truncate", "rename", "delete", "byte", "add", "killed", "full"]
    print("| seed | " + " | ".join(kinds) + " | generations | lost | half | behind | stuck | untrue |")
    print("|---:" * (len(kinds) + 7) + "|")
    print(f"| {a.seed} | " + " | ".join(str(done[kind]) for kind in kinds) +
          f" | {len(world.seen)} | " + " | ".join(str(counts[word]) for word in ("lost", "half", "behind", "stuck", "untrue")) + " |")
    sys.exit(1 if sum(counts.values()) else 0)


if __name__ == "__main__":
    main()
