#!/usr/bin/env python3
"""Compares the archive with `tar | zstd -3` and with the archived files.

    bench/archive.py --corpus c500 [--corpus c2000 …] [--ramus target/release/ramus] [--word WORD] [--absent WORD] [--runs 5]

Each corpus is a Claude directory. It is copied, because a part of the measurement deletes the copied files. The archive and
the cache are in a temporary directory. CPU times are user plus system time of all processes, the best of `--runs`; short
commands are compared by wall time and also by CPU time, because other work on the machine disturbs wall time. `--word` occurs
once in generated corpora; `--absent` does not occur, so that similar words are searched for. Prints Markdown rows with target
and measured ratio.
"""
import argparse, os, resource, shutil, subprocess, tempfile, time


def run(command, env, shell=False):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, shell=shell)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return wall, cpu, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def best(runs, command, env, prepare=lambda: None, shell=False):
    results = []
    for _ in range(runs):
        prepare()
        results.append(run(command, env, shell))
    return min(r[0] for r in results), min(r[1] for r in results), max(r[2] for r in results)


def compared(name, wanted, one, other):
    """Two rows: wall and CPU time of a short command against those of another."""
    for at, what in enumerate(("wall", "CPU")):
        yield f"{name}: {what}", wanted, one[at] / other[at], f"{one[at] * 1000:.0f} ms, {other[at] * 1000:.0f} ms"


def measure(a, corpus):
    home = tempfile.mkdtemp(dir=os.path.dirname(os.path.abspath(corpus)))
    claude, archive, packed = f"{home}/claude", f"{home}/archive.db", f"{home}/all.tar.zst"
    shutil.copytree(corpus, claude, copy_function=shutil.copy2)
    env = {"HOME": home, "PATH": os.environ["PATH"], "RAMUS_CACHE_DIR": f"{home}/cache", "RAMUS_ARCHIVE": archive, "TZ": "UTC"}
    ramus = [os.path.abspath(a.ramus), "--claude-dir", claude]
    rows = []

    def forget():
        for path in (archive, archive + "-journal"):
            if os.path.exists(path):
                os.remove(path)

    try:
        time.sleep(2.5)
        # The archive takes what belongs to sessions: the same directories go into the tar file.
        tar = f"tar cf - -C {claude} projects $(cd {claude}; ls -d file-history 2>/dev/null) | zstd -3 -q -f -o {packed}"
        run(tar, env, shell=True)
        tarred = best(a.runs, tar, env, shell=True)
        first = best(a.runs, ramus + ["archive", "add", "--quiet"], env, forget)
        rows.append(("first `archive add`: CPU against `tar \\| zstd -3`", "1.5 ×", first[1] / tarred[1], f"{first[1]:.2f} s, {tarred[1]:.2f} s"))
        sizes = os.path.getsize(archive), os.path.getsize(packed)
        rows.append(("size against the tar file", "1.1 ×", sizes[0] / sizes[1], f"{sizes[0] / 1e6:.0f} MB, {sizes[1] / 1e6:.0f} MB"))
        memory = first[2]
        sessions = ramus + ["sessions", "--json", "--no-archive"]
        finds = {"a rare word": ramus + ["find", a.word, "--json"], "a word that does not occur": ramus + ["find", a.absent, "--json"]}
        run(ramus + ["cache", "build"], env)
        run(sessions, env)
        files = best(a.runs, sessions, env)
        second = best(a.runs, ramus + ["archive", "add", "--quiet"], env)
        rows += compared("second `archive add`, nothing new, against warm `sessions`", "2 ×", second, files)
        found = {name: best(a.runs + 1, find, env) for name, find in finds.items()}
        for name in ("projects", "file-history"):
            shutil.rmtree(f"{claude}/{name}", ignore_errors=True)
        os.makedirs(f"{claude}/projects")
        sessions = ramus + ["sessions", "--json"]
        run(ramus + ["cache", "build"], env)
        run(sessions, env)
        archived = best(a.runs, sessions, env)
        rows += compared("warm `sessions` over the archive against over files", "1.5 ×", archived, files)
        again = {name: best(a.runs + 1, find, env) for name, find in finds.items()}
        rows += compared("`find` of a rare word over the archive against over files", "2 ×", again["a rare word"], found["a rare word"])
        other = "a word that does not occur"
        rows += compared(f"`find` of {other} over the archive against over files", "", again[other], found[other])
        cold = run(ramus + ["sessions", "--json", "--no-cache"], env)
        memory = max(memory, archived[2], cold[2], *(run[2] for run in again.values()))
        rows.append(("peak memory, also without a cache", "150 MB", memory, ""))
        verified = run(ramus + ["archive", "verify"], env)
        assert verified[3] == 0, "the archive is damaged"
    finally:
        shutil.rmtree(home, ignore_errors=True)
    size = sum(os.path.getsize(os.path.join(dir, name)) for dir, _, names in os.walk(corpus) for name in names)
    print(f"\n### {size / 1e6:.0f} MB\n\n| measured | wanted: at most | is | |\n|---|---:|---:|---|")
    for name, wanted, ratio, detail in rows:
        is_ = f"{ratio:.0f} MB" if wanted.endswith("MB") else f"{ratio:.2f} ×"
        print(f"| {name} | {wanted} | {is_} | {detail} |")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--corpus", action="append", required=True)
    ap.add_argument("--ramus", default="target/release/ramus")
    ap.add_argument("--word", default="qzneedleassistanttextonce")
    ap.add_argument("--absent", default="zyxwvutsq")
    ap.add_argument("--runs", type=int, default=5)
    a = ap.parse_args()
    for corpus in a.corpus:
        measure(a, corpus)


if __name__ == "__main__":
    main()
