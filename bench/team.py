#!/usr/bin/env python3
"""Measures an archive on a PostgreSQL server.

    bench/team.py --generator gen_corpus.py [--ramus target/release/ramus] [--size-mb 1000] [--machines 2,20] [--work DIR]

Starts a server of its own in --work (`initdb` and the rest are taken from --postgres, by default the newest below
/usr/lib/postgresql), with the settings of a new installation. For each machine, the generator makes a history of another
seed, which one person sends from one machine and which is deleted then, so that no two have a chunk in common and only
one is on the disk. Measured are: the first push against `psql COPY` of the same bytes into a table with one `bytea`
column, in pieces of 4 MB, alternating, on --pushes machines; a push with nothing new; then, at each number of machines, by
another person who may read everything, `sessions --everyone`, `usage --by owner --everyone` and `find --everyone` of a
word that does not occur, first (nothing cached here) and again, and up to --scan machines the search without filters
(a sequential scan by the client, with `--no-cache`). CPU times are those of ramus and of the whole server. --keep leaves
the server's files in --work; with them, --ask only asks again, also while machines are being added. Prints Markdown.
"""
import argparse, glob, os, pwd, resource, shutil, signal, struct, subprocess, sys, tempfile, time

CHUNK = 4 * 1024 * 1024


class Server:
    def __init__(self, programs, work, is_kept):
        self.programs, self.dir, self.is_kept, self.process = programs, f"{work}/server", is_kept, None
        is_new = not os.path.isdir(self.dir)
        self.as_postgres = []
        if is_new:
            os.makedirs(self.dir)
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.dir, user.pw_uid, user.pw_gid)
            self.as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        data = f"{self.dir}/data"
        if not is_new and self.psql("SELECT 1", database="postgres", check=False).returncode == 0:
            with open(f"{data}/postmaster.pid") as file:
                self.pid = int(file.readline())
            return
        if is_new:
            subprocess.run(self.as_postgres + [f"{programs}/initdb", "--auth=trust", "--username=postgres",
                           "--encoding=UTF8", "--pgdata", data], check=True, capture_output=True, cwd="/")
        command = [f"{programs}/postgres", "-c", "listen_addresses=", "-k", self.dir, "-D", data]
        log = open(f"{work}/server.log", "a")
        self.process = subprocess.Popen(self.as_postgres + command, stdout=log, stderr=log, cwd="/")
        self.pid = self.process.pid
        for _ in range(300):
            if self.psql("SELECT 1", database="postgres", check=False).returncode == 0:
                break
            time.sleep(0.1)
        if is_new:
            self.psql("CREATE DATABASE ramus", database="postgres")

    def psql(self, sql, database="ramus", check=True, user="postgres", stdin=None):
        command = [f"{self.programs}/psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-h", self.dir, "-U", user,
                   "-d", database, "-c", sql]
        return subprocess.run(command, check=check, capture_output=True, text=stdin is None, stdin=stdin)

    def url(self, user):
        return f"postgres://{user}@{self.dir.replace('/', '%2F')}/ramus"

    def cpu(self):
        """The CPU time of the server's processes, those that ended included, in seconds."""
        ticks = 0
        for stat in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(stat) as file:
                    name, fields = file.read().rsplit(")", 1)
            except OSError:
                continue
            fields = fields.split()
            if int(name.split()[0]) == self.pid:
                ticks += sum(int(fields[n]) for n in (11, 12, 13, 14))
            elif int(fields[1]) == self.pid:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if not self.process:
            return
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        if not self.is_kept:
            shutil.rmtree(self.dir, ignore_errors=True)


def copy_file(corpus, path):
    """Writes the corpus as input of COPY in binary: one row for each piece."""
    with open(path, "wb") as out:
        out.write(b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0))
        for dir, _, names in os.walk(corpus):
            for name in names:
                with open(os.path.join(dir, name), "rb") as file:
                    while piece := file.read(CHUNK):
                        out.write(struct.pack("!hi", 1, len(piece)) + piece)
        out.write(struct.pack("!h", -1))


def timed(server, run):
    """Wall time, CPU time of the program, CPU time of the server."""
    usage = lambda: resource.getrusage(resource.RUSAGE_CHILDREN)
    before, server_before, start = usage(), server.cpu(), time.perf_counter()
    run()
    wall, after = time.perf_counter() - start, usage()
    return (wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, server.cpu() - server_before)


def text(times):
    return "{:.2f} s ({:.2f}, {:.2f})".format(*times)


class Bench:
    def __init__(self, a, server, home):
        self.a, self.server, self.home, self.size = a, server, home, 0
        self.ramus = os.path.abspath(a.ramus)
        self.corpus = f"{a.work}/corpus"

    def run(self, args, user, machine, expect=(0,), corpus=None):
        env = {"HOME": self.home, "PATH": os.environ["PATH"], "RAMUS_CACHE_DIR": f"{self.home}/cache-{user}", "TZ": "UTC",
               "RAMUS_ARCHIVE": self.server.url(user), "RAMUS_MACHINE": machine}
        command = [self.ramus, "--claude-dir", corpus or f"{self.home}/empty"] + args
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode in expect, (args, done.stdout[-500:], done.stderr[-2000:])
        return done

    def prepare(self):
        self.run(["archive", "init", "--team"], "postgres", "admin")
        self.server.psql("CREATE ROLE reader LOGIN IN ROLE ramus_member")

    def generate(self, seed):
        shutil.rmtree(self.corpus, ignore_errors=True)
        if self.a.ready and os.path.isdir(f"{self.a.ready}/{seed}"):
            os.rename(f"{self.a.ready}/{seed}", self.corpus)
        else:
            subprocess.run([sys.executable, self.a.generator, "--size-mb", str(self.a.size_mb), "--seed", str(seed),
                            "--out", self.corpus, "--manifest", f"{self.a.work}/truth.json"],
                           check=True, capture_output=True)
        self.size = sum(os.path.getsize(os.path.join(dir, name))
                        for dir, _, names in os.walk(self.corpus) for name in names)

    def copied(self):
        copy_file(self.corpus, f"{self.a.work}/copy")
        self.server.psql("CREATE TABLE copied (bytes bytea)")

        def copy():
            with open(f"{self.a.work}/copy", "rb") as file:
                self.server.psql("COPY copied FROM STDIN (FORMAT binary)", stdin=file)

        times = timed(self.server, copy)
        self.server.psql("DROP TABLE copied")
        os.remove(f"{self.a.work}/copy")
        self.server.psql("CHECKPOINT")
        return times

    def push(self, n):
        person, machine = f"person{n}", f"machine{n}"
        self.generate(self.a.seed + n)
        self.server.psql(f"CREATE ROLE {person} LOGIN IN ROLE ramus_member")
        is_measured = n < self.a.pushes
        copied = self.copied() if is_measured else None
        add = lambda *options: self.run(["archive", "add", "--quiet", *options], person, machine, corpus=self.corpus)
        first = timed(self.server, lambda: add("--yes"))
        if is_measured:
            self.server.psql("CHECKPOINT")
            second = min(timed(self.server, add) for _ in range(self.a.runs))
            print(f"| {n} | {self.size / 1e6:.0f} MB | {text(copied)} | {text(first)} | {copied[0] / first[0]:.2f} × | "
                  f"{text(second)} | {first[0] / second[0]:.0f} × | {os.getloadavg()[0]:.1f} |", flush=True)
        for project in os.listdir(f"{self.corpus}/projects"):
            self.server.psql(f"INSERT INTO ramus.shares VALUES ('{person}', $${project}$$) ON CONFLICT DO NOTHING")

    def ask(self):
        machines, bytes = self.server.psql(
            "SELECT (SELECT count(*) FROM ramus.machines), sum(bytes) FROM ramus.generations").stdout.strip().split("|")
        tables = ["ramus.chunks", "ramus.filters", "ramus.derived"]
        sizes = ", ".join(f"pg_total_relation_size('{table}')" for table in tables)
        found = self.server.psql(f"SELECT {sizes}, pg_database_size('ramus')").stdout.strip().split("|")
        ratios = ", ".join(f"{int(part) / int(bytes):.3f}" for part in found)
        print(f"\n{int(bytes) / 1e9:.1f} GB of {machines} machines; on the server, of the history's size: chunks, filters, "
              f"digests and usage, everything: {ratios} ×; load {os.getloadavg()[0]:.1f}\n\n"
              "| asked by another person | wanted | first | again |\n|---|---:|---:|---:|", flush=True)
        shutil.rmtree(f"{self.home}/cache-reader", ignore_errors=True)
        ask = lambda args, codes: timed(self.server, lambda: self.run(args, "reader", "elsewhere", expect=codes))
        warm = None
        for name, args, wanted, codes in [
            ("`sessions --everyone`", ["sessions", "--everyone", "--limit", "50"], "< 0.2 s", (0,)),
            ("`usage --by owner --everyone`", ["usage", "--by", "owner", "--everyone"], "< 2 s", (0,)),
            ("`find --everyone` of a word that does not occur", ["find", self.a.absent, "--count", "--everyone"],
             "< 0.5 s", (0, 1)),
        ]:
            cold = ask(args, codes)
            warm = min(ask(args, codes) for _ in range(self.a.runs))
            print(f"| {name} | {wanted} | {text(cold)} | {text(warm)} |", flush=True)
        if int(machines) <= self.a.scan:
            scan = ask(["find", self.a.absent, "--count", "--everyone", "--no-cache"], (0, 1))
            print(f"| the same without a cache or filters: everything is read | ≥ 20 × | {text(scan)} | "
                  f"{scan[0] / warm[0]:.0f} × |", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--generator", help="makes a history with --size-mb N --seed N --out DIR --manifest FILE")
    ap.add_argument("--ready", help="histories that were generated before, one directory for each seed, on the same disk")
    ap.add_argument("--size-mb", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=100, help="of the first machine")
    ap.add_argument("--ramus", default="target/release/ramus")
    ap.add_argument("--postgres", default=max(glob.glob("/usr/lib/postgresql/*/bin"), default=""))
    ap.add_argument("--machines", type=lambda text: [int(part) for part in text.split(",")], default=[2, 20])
    ap.add_argument("--pushes", type=int, default=3, help="on so many machines the push is compared with COPY")
    ap.add_argument("--scan", type=int, default=2, help="up to so many machines everything is read once, too")
    ap.add_argument("--absent", default="zyxwvutsq")
    ap.add_argument("--runs", type=int, default=3)
    ap.add_argument("--work", help="a directory with much space [default: a temporary one]")
    ap.add_argument("--keep", action="store_true", help="leave the server's files there")
    ap.add_argument("--ask", action="store_true", help="only ask what is there already")
    a = ap.parse_args()
    a.work = os.path.abspath(a.work or tempfile.mkdtemp(prefix="ramus-team-"))
    os.makedirs(a.work, exist_ok=True)
    os.chmod(a.work, 0o755)
    server = Server(a.postgres, a.work, a.keep or a.ask)
    home = tempfile.mkdtemp(dir=a.work)
    os.makedirs(f"{home}/empty/projects")
    bench = Bench(a, server, home)
    try:
        print(f"`{a.ramus}`; times: wall (CPU of the program, of the server)\n", flush=True)
        if a.ask:
            return bench.ask()
        bench.prepare()
        print("| machine | history | `psql COPY` | first push | speed against COPY: ≥ 0.8 × | nothing new | "
              "against the first: ≥ 8 × | load |\n|---:|---:|---:|---:|---:|---:|---:|---:|")
        for n in range(max(a.machines)):
            bench.push(n)
            if n + 1 in a.machines:
                server.psql("VACUUM ANALYZE")
                bench.ask()
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)
        if not a.ask:
            shutil.rmtree(bench.corpus, ignore_errors=True)


if __name__ == "__main__":
    main()
