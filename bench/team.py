#!/usr/bin/env python3
"""Measures an archive on a PostgreSQL server.

    bench/team.py --corpus c500 [--ramus target/release/ramus] [--machines 4,40] [--postgres DIR] [--runs 5]

Starts a server of its own in a temporary directory (`initdb` and the rest are taken from --postgres, by default the
newest below /usr/lib/postgresql), with the settings of a new installation. Measured are: the first push of the corpus
against `psql COPY` of the same bytes into a table with one `bytea` column, in pieces of 4 MB; a push with nothing new;
then, after the same corpus was sent from that many machines, `sessions --everyone`, `usage --by owner --everyone` and
`find --everyone` of a word that does not occur, cold (nothing cached here) and warm, and the search without filters in
the server's rows (a sequential scan by the client, with `--no-cache`). A person stores a chunk once however many machines
hold it, so the chunks of further machines are not sent again; their files, digests and filters are. Prints Markdown.
"""
import argparse, glob, os, pwd, resource, shutil, signal, struct, subprocess, tempfile, time

CHUNK = 4 * 1024 * 1024


class Server:
    def __init__(self, programs):
        self.programs = programs
        self.dir = tempfile.mkdtemp(prefix="ramus-team-")
        self.as_postgres = []
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.dir, user.pw_uid, user.pw_gid)
            self.as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        data = f"{self.dir}/data"
        subprocess.run(self.as_postgres + [f"{programs}/initdb", "--auth=trust", "--username=postgres",
                       "--encoding=UTF8", "--pgdata", data], check=True, capture_output=True, cwd="/")
        command = [f"{programs}/postgres", "-c", "listen_addresses=", "-k", self.dir, "-D", data]
        log = open(f"{self.dir}/../{os.path.basename(self.dir)}.log", "w")
        self.process = subprocess.Popen(self.as_postgres + command, stdout=log, stderr=log, cwd="/")
        for _ in range(300):
            if self.psql("SELECT 1", database="postgres", check=False).returncode == 0:
                break
            time.sleep(0.1)
        self.psql("CREATE DATABASE ramus", database="postgres")

    def psql(self, sql, database="ramus", check=True, user="postgres", stdin=None):
        command = [f"{self.programs}/psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-h", self.dir, "-U", user,
                   "-d", database, "-c", sql]
        return subprocess.run(command, check=check, capture_output=True, text=stdin is None, stdin=stdin)

    def url(self, user):
        return f"postgres://{user}@{self.dir.replace('/', '%2F')}/ramus"

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
        os.remove(f"{self.dir}/../{os.path.basename(self.dir)}.log")


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


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def client_cpu(run):
    """The user and system time of the program, without the server's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(a, server, home):
    ramus = os.path.abspath(a.ramus)
    size = sum(os.path.getsize(os.path.join(dir, name)) for dir, _, names in os.walk(a.corpus) for name in names)

    def run(args, user="alice", machine="machine0", expect=(0,)):
        env = {"HOME": home, "PATH": os.environ["PATH"], "RAMUS_CACHE_DIR": f"{home}/cache-{user}", "TZ": "UTC",
               "RAMUS_ARCHIVE": server.url(user), "RAMUS_MACHINE": machine}
        done = subprocess.run([ramus, "--claude-dir", a.corpus] + args, env=env, capture_output=True, text=True)
        assert done.returncode in expect, (args, done.stdout[-500:], done.stderr[-2000:])
        return done

    run(["archive", "init", "--team"], user="postgres")
    for person in ("alice", "bob"):
        server.psql(f"CREATE ROLE {person} LOGIN IN ROLE ramus_member")
    copy_file(a.corpus, f"{home}/copy")
    server.psql("CREATE TABLE copied (bytes bytea)")

    def copy():
        with open(f"{home}/copy", "rb") as file:
            server.psql("COPY copied FROM STDIN (FORMAT binary)", stdin=file)

    copied = timed(copy)
    server.psql("DROP TABLE copied")
    os.remove(f"{home}/copy")
    first = timed(lambda: run(["archive", "add", "--yes", "--quiet"]))
    second = min(timed(lambda: run(["archive", "add", "--quiet"])) for _ in range(a.runs))
    print(f"\n### {size / 1e6:.0f} MB, `{a.ramus}`\n\n| measured | wanted | is | |\n|---|---:|---:|---|")
    print(f"| first push: speed against `psql COPY` | ≥ 0.8 × | {copied / first:.2f} × | {first:.2f} s, {copied:.2f} s |")
    print(f"| a push with nothing new: against the first | ≥ 8 × | {first / second:.1f} × | {second:.2f} s |")
    sizes = server.psql("SELECT pg_total_relation_size('ramus.chunks'), pg_total_relation_size('ramus.filters'), "
                        "pg_total_relation_size('ramus.derived'), pg_database_size('ramus')").stdout.strip().split("|")
    chunks, filters, derived, whole = (int(part) / size for part in sizes)
    print(f"| on the server, of the history's size: chunks, filters, digests and usage, everything |  | {chunks:.3f}, "
          f"{filters:.3f}, {derived:.3f}, {whole:.3f} × | |")
    for project in os.listdir(f"{a.corpus}/projects"):
        server.psql(f"INSERT INTO ramus.shares VALUES ('alice', $${project}$$) ON CONFLICT DO NOTHING")
    done = 1
    for machines in a.machines:
        for n in range(done, machines):
            run(["archive", "add", "--yes", "--quiet"], machine=f"machine{n}")
        done = max(done, machines)
        server.psql("ANALYZE")
        history = size * machines / 1e9
        print(f"\n{history:.1f} GB of {machines} machines:\n\n| measured by another person | wanted | is |\n|---|---:|---:|")
        shutil.rmtree(f"{home}/cache-bob", ignore_errors=True)
        asked = {
            "`sessions --everyone`": (["sessions", "--everyone", "--limit", "50"], "< 0.2 s", (0,)),
            "`usage --by owner --everyone`": (["usage", "--by", "owner", "--everyone"], "< 2 s", (0,)),
            "`find --everyone` of a word that does not occur": (["find", a.absent, "--count", "--everyone"], "< 0.5 s", (0, 1)),
        }
        for name, (args, wanted, codes) in asked.items():
            cold = timed(lambda: run(args, user="bob", machine="elsewhere", expect=codes))
            warm = min(timed(lambda: run(args, user="bob", machine="elsewhere", expect=codes)) for _ in range(a.runs))
            cpu = client_cpu(lambda: run(args, user="bob", machine="elsewhere", expect=codes))
            print(f"| {name}: first time, then, CPU of ramus then | {wanted} | {cold:.2f} s, {warm:.2f} s, {cpu:.2f} s |", flush=True)
        if machines <= a.scan:
            args = ["find", a.absent, "--count", "--everyone", "--no-cache"]
            scan = timed(lambda: run(args, user="bob", machine="elsewhere", expect=(0, 1)))
            print(f"| the same without filters: everything is read | ≥ 20 × | {scan:.2f} s, {scan / warm:.0f} × |", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--corpus", required=True)
    ap.add_argument("--ramus", default="target/release/ramus")
    ap.add_argument("--postgres", default=max(glob.glob("/usr/lib/postgresql/*/bin"), default=""))
    ap.add_argument("--machines", type=lambda text: [int(part) for part in text.split(",")], default=[4, 40])
    ap.add_argument("--scan", type=int, default=4, help="up to so many machines everything is read once, too")
    ap.add_argument("--absent", default="zyxwvutsq")
    ap.add_argument("--runs", type=int, default=3)
    a = ap.parse_args()
    a.corpus = os.path.abspath(a.corpus)
    server = Server(a.postgres)
    home = tempfile.mkdtemp()
    try:
        measure(a, server, home)
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
