#!/usr/bin/env python3
"""A differential test: all answers are the same with and without the cache.

    bench/same.py RAMUS [--comparisons 20000] [--seed 1] [--sessions 30]

Keeps a directory of generated sessions. In each round some files grow, are cut, rewritten under the same size and date,
moved, swapped, removed or created again; now and then bytes of the cache are zeroed, flipped, cut off or copied from an earlier
state. Then every command runs with and without the cache, and both answers must be the same bytes.
"""
import argparse, os, random, shutil, subprocess, sys, tempfile, time

from mutants import mutant

COMMANDS = ["projects --json", "sessions --all --json", "sessions", "stats --json", "usage --utc --json", "usage --utc --by session --json",
            "check --json", "find harp --json", "find harp --count", "find NEEDLE --json", "find --regex ha.p --count", "find done --role user --json",
            "conversations --json", "tree F", "show F --json", "conversations F --json"]


def files_of(projects):
    return [os.path.join(folder, file) for folder, _, files in os.walk(projects) for file in files if file.endswith(".jsonl")]


def change_file(source, path, projects, number):
    pick = source.randrange(9)
    with open(path, "rb") as file:
        data = file.read()
    if pick == 0:
        with open(path, "ab") as file:
            file.write(b'{"parentUuid":null,"type":"user","uuid":"n%d","timestamp":"2026-02-03T04:05:06.000Z","message":{"content":"NEEDLE"}}\n' % number)
    elif pick == 1:
        os.truncate(path, len(data) // 2)
    elif pick == 2:
        before = os.stat(path)
        with open(path, "wb") as file:
            file.write(data.replace(b"harp", source.choice([b"prah", b"HARP"])))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif pick == 3:
        os.rename(path, os.path.join(projects, f"moved-{number}.jsonl"))
    elif pick == 4:
        other = source.choice(files_of(projects))
        aside = path + ".aside"
        os.rename(path, aside)
        if other != path:
            os.rename(other, path)
        os.rename(aside, other)
    elif pick == 5:
        os.unlink(path)
    elif pick == 6:
        with open(os.path.join(projects, f"new-{number}.jsonl"), "wb") as file:
            file.write(mutant(source, number))
    elif pick == 7:
        os.utime(path, (time.time() + source.choice([-1e6, 1e6]),) * 2)
    else:
        name = source.choice([b"odd-\xff.jsonl", "odd-\ufffd.jsonl".encode()])
        with open(os.path.join(os.fsencode(projects), name), "wb") as file:
            file.write(mutant(source, number))


def harm_cache(source, cache):
    paths = [os.path.join(folder, file) for folder, _, files in os.walk(cache) for file in files]
    for path in source.sample(paths, min(len(paths), 3)):
        size = os.path.getsize(path)
        if not size:
            continue
        at = source.randrange(size)
        with open(path, "r+b") as file:
            file.seek(at)
            pick = source.randrange(3)
            if pick == 0:
                file.write(b"\0" * source.randint(1, min(size - at, 4096)))
            elif pick == 1:
                file.write(bytes([source.randrange(256)]))
            else:
                file.truncate(at)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ramus")
    parser.add_argument("--comparisons", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=30)
    a = parser.parse_args()
    source = random.Random(a.seed)
    home = tempfile.mkdtemp(prefix="same-")
    claude, cache = os.path.join(home, ".claude"), os.path.join(home, "cache")
    projects = os.path.join(claude, "projects", "-home-dev-app")
    os.makedirs(projects)
    env = {"HOME": home, "TZ": "UTC", "PATH": os.environ["PATH"], "COLUMNS": "100", "RAMUS_CACHE_DIR": cache}

    def answer(words, *more):
        done = subprocess.run([a.ramus, "--claude-dir", claude, *more, *words], env=env, stdin=subprocess.DEVNULL, capture_output=True)
        return done.returncode, done.stdout, done.stderr

    for n in range(a.sessions):
        with open(os.path.join(projects, f"{n:08x}-1111-4000-8000-000000000000.jsonl"), "wb") as file:
            file.write(mutant(source, n))
    compared = wrong = number = 0
    earlier = os.path.join(home, "earlier")
    while compared < a.comparisons:
        # What changed a moment ago is not remembered.
        time.sleep(2.2)
        answer(["cache", "build"])
        for state in ["known", "changed", "harmed"]:
            if state == "changed":
                if source.random() < 0.3:
                    shutil.rmtree(earlier, ignore_errors=True)
                    shutil.copytree(cache, earlier)
                for path in source.sample(files_of(projects), min(5, len(files_of(projects)))):
                    if os.path.exists(path):
                        number += 1
                        change_file(source, path, projects, 1000 + number)
            if state == "harmed":
                if os.path.isdir(earlier) and source.random() < 0.2:
                    shutil.rmtree(cache)
                    shutil.copytree(earlier, cache)
                harm_cache(source, cache)
            whole = [path for path in files_of(projects) if path.isprintable() and path.encode(errors="ignore").decode() == path]
            for command in COMMANDS:
                words = [source.choice(whole) if word == "F" else word for word in command.split()]
                plain, kept = answer(words, "--no-cache"), answer(words)
                compared += 1
                if compared % 1000 == 0:
                    print(f"{compared} comparisons so far, {wrong} differ", flush=True)
                # What is said of dates in days may change between two runs; then it changes without the cache, too.
                if plain != kept and kept != answer(words, "--no-cache"):
                    wrong += 1
                    print(f"{state}: {' '.join(words)} differs in {home}", flush=True)
                    for name, got in (("plain", plain), ("kept", kept)):
                        with open(os.path.join(home, f"{wrong}-{name}"), "wb") as file:
                            file.write(b"%d\n" % got[0] + got[1] + got[2])
                    if wrong > 20:
                        sys.exit(1)
        while len(files_of(projects)) < a.sessions:
            number += 1
            with open(os.path.join(projects, f"{number:08x}-2222-4000-8000-000000000000.jsonl"), "wb") as file:
                file.write(mutant(source, 1000 + number))
    print(f"{compared} comparisons, {wrong} differ")
    if not wrong:
        shutil.rmtree(home)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
