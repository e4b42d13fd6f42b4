#!/usr/bin/env python3
"""Proves `ramus goto` and `ramus fork` against the real Claude Code client. See README.md beside this file.

    tests/client/run.py [--clients DIR] [--ramus PROGRAM] [--case NAME] [VERSION...]
"""
import argparse
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True

import api
import cases
import driver
from trial import Trial, Wrong

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSIONS = ["2.1.325", "2.1.50", "2.0.74", "1.0.113"]


def main():
    options = arguments()
    if options.list:
        print("\n".join(function.__name__ for function in [*cases.CASES, *cases.FLOWS]))
        return 0
    try:
        ramus = program(options.ramus)
        if not shutil.which("node"):
            raise driver.Missing("there is no `node` to run the client")
        clients = {version: driver.install(options.clients, version) for version in options.versions}
        driver.enter_namespace(sys.argv)
    except driver.Missing as missing:
        print(f"cannot run: {missing}", file=sys.stderr)
        return 2
    server = api.Api()
    passed = failed = 0
    for version, client in clients.items():
        run = Run(version, client, server, ramus, options)
        run.all()
        print(f"{run.passed} of {run.passed + run.failed} passed with client {version}", flush=True)
        passed, failed = passed + run.passed, failed + run.failed
    server.stop()
    if not passed + failed:
        print(f"no case is called {' or '.join(options.case)}", file=sys.stderr)
    return 0 if passed and not failed else 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"of the client [default: {' '.join(VERSIONS)}]")
    parser.add_argument("--clients", type=pathlib.Path, default=ROOT / "target/clients", metavar="DIR",
                        help="where clients are installed and looked for [default: target/clients]")
    parser.add_argument("--ramus", metavar="PROGRAM", help="[default: the newest of target/{release,debug}/ramus]")
    parser.add_argument("--case", action="append", metavar="NAME", help="only cases with NAME in their name")
    parser.add_argument("--command", choices=["goto", "fork"], help="only one of the two")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args()
    options.versions = options.versions or VERSIONS
    return options


def program(named):
    """The ramus to try."""
    if named:
        found = shutil.which(named)
        if not found:
            raise driver.Missing(f"{named} is no program")
        return str(pathlib.Path(found).resolve())
    built = [path for path in (ROOT / "target" / kind / "ramus" for kind in ("release", "debug")) if path.is_file()]
    if not built:
        raise driver.Missing("ramus is not built: `cargo build --release`, or name one with --ramus")
    return str(max(built, key=lambda path: path.stat().st_mtime))


class Run:
    """All cases with one client."""

    def __init__(self, version, client, server, ramus, options):
        self.version, self._client, self._server, self._ramus = version, client, server, ramus
        self._named = options.case or [""]
        self._commands = [options.command] if options.command else ["goto", "fork"]
        self.passed = self.failed = 0

    def all(self):
        for function in filter(self._is_wanted, cases.CASES):
            self._targets(function)
        for function in filter(self._is_wanted, cases.FLOWS):
            with self._home() as home:
                self._tell(function.__name__, lambda: function(Trial(home, self._ramus)))

    def _is_wanted(self, function):
        return any(name in function.__name__ for name in self._named)

    def _home(self):
        self._server.answers = {}
        return driver.Home(self.version, self._client, self._server)

    def _targets(self, function):
        with self._home() as home:
            trial = Trial(home, self._ramus)
            try:
                targets = function(trial)
            except Wrong as wrong:
                return self._line(function.__name__, wrong)
            trial.save()
            for command in self._commands:
                for target in targets:
                    trial.put_back()
                    name = f"{command} {function.__name__}: {target.what}"
                    self._tell(name, lambda: trial.travel(command, target))

    def _tell(self, name, way):
        try:
            how = way()
        except Wrong as wrong:
            return self._line(name, wrong)
        self._line(f"{name} [{how}]" if how else name)

    def _line(self, name, wrong=None):
        self.failed, self.passed = self.failed + bool(wrong), self.passed + (not wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {self.version} {name}{f' -- {wrong}' if wrong else ''}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
