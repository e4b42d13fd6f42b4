"""Runs the real client, one version of it, in a home of its own and without any network but loopback.

    enter_namespace(sys.argv)                # starts the script again where only loopback is; returns there
    program = installed(clients, "2.1.325")  # after `install`, which needs the network and comes first
    with Home("2.1.325", program, Api()) as home:
        answer = home.ask("ask-1")                            # a new session
        answer = home.ask("ask-2", resume=answer.session)     # the same, resumed
        answer.sent                                           # the messages of the last request with that prompt

`home.run(*arguments)` runs the client with any arguments; `home.command` and `home.environment` are what it is started
with, for those who start it in a terminal. `home.claude` is its Claude directory, `home.cwd` where it works.
"""
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import labels

INSIDE = "RAMUS_CLIENT_NAMESPACE"


class Missing(Exception):
    """Something that the script cannot do without."""


def number(version):
    """A version as numbers that can be compared."""
    return tuple(int(part) for part in version.split("."))


def installed(clients, version):
    """The program of a client; `None` if it is not there."""
    packages = pathlib.Path(clients, version, "node_modules", "@anthropic-ai")
    found = [*sorted(packages.glob("claude-code-*/claude")), packages / "claude-code" / "cli.js"]
    for program in found:
        package = program.parent / "package.json"
        if program.is_file() and package.is_file() and json.loads(package.read_text())["version"] == version:
            return program.resolve()
    return None


def install(clients, version):
    """Fetches a client from the npm registry unless it is there; returns its program."""
    program = installed(clients, version)
    if program:
        return program
    if not shutil.which("npm"):
        raise Missing(f"client {version} is not in {clients}, and there is no npm to fetch it")
    place = pathlib.Path(clients, version)
    place.mkdir(parents=True, exist_ok=True)
    # Without a package of its own npm would install into a project further up.
    (place / "package.json").write_text('{"name":"client","private":true}\n')
    print(f"fetching client {version} into {place}", file=sys.stderr, flush=True)
    package = f"@anthropic-ai/claude-code@{version}"
    done = subprocess.run(["npm", "install", "--prefix", place, "--no-audit", "--no-fund", "--ignore-scripts",
                           "--silent", package], capture_output=True, text=True)
    program = installed(clients, version)
    if not program:
        raise Missing(f"npm could not install {package}: {(done.stderr or done.stdout).strip()[-400:]}")
    return program


def enter_namespace(arguments):
    """Starts the script again in namespaces of its own: loopback is all the network, and nothing outlives it."""
    if os.environ.get(INSIDE) != "1":
        if not shutil.which("unshare"):
            raise Missing("there is no `unshare` (util-linux) to cut the client off from the network")
        command = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0:
            command += ["--user", "--map-root-user"]
        if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
            raise Missing("a network namespace needs root, or a kernel that allows user namespaces to everybody")
        os.environ[INSIDE] = "1"
        os.execvp(command[0], [*command, sys.executable, *arguments])
    devices = [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line]
    if devices != ["lo"]:
        raise Missing(f"this is no namespace with loopback only: {' '.join(devices)}")
    _loopback_up()


def _loopback_up():
    get_flags, set_flags, up = 0x8913, 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = fcntl.ioctl(control, get_flags, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", request)[1]
        fcntl.ioctl(control, set_flags, struct.pack("16sH14x", b"lo", flags | up))


@dataclasses.dataclass
class Answer:
    """What came of one prompt."""
    sent: list | None  # the messages of the request; None: the client sent none
    session: str | None  # the id that the client gave
    code: int | None  # None: it did not end in time
    output: str

    @property
    def labels(self):
        if self.sent is None:
            return [f"nothing (exit {self.code}: {' '.join(self.output.split())[-200:]})"]
        return labels.of_messages(self.sent)


class Home:
    """A scratch home for one client, which is gone at the end."""

    def __init__(self, version, program, api):
        self.version, self.api = version, api
        self._dir = tempfile.TemporaryDirectory(prefix=f"ramus-client-{version}-", ignore_cleanup_errors=True)
        self.path = pathlib.Path(self._dir.name).resolve()
        self.claude, self.cwd = self.path / ".claude", self.path / "work"
        self.cwd.mkdir()
        self.claude.mkdir()
        self.command = [shutil.which("node") or "node", str(program)] if program.suffix == ".js" else [str(program)]
        self.environment = {
            "HOME": str(self.path), "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8",
            "TERM": "xterm-256color", "SHELL": "/bin/sh", "ANTHROPIC_API_KEY": "dummy",
            "ANTHROPIC_BASE_URL": api.address, "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        told = {"hasCompletedOnboarding": True, "lastOnboardingVersion": version, "theme": "dark", "numStartups": 9,
                "autoUpdates": False, "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
                "projects": {str(self.cwd): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True,
                                             "allowedTools": []}}}
        (self.path / ".claude.json").write_text(json.dumps(told))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._dir.cleanup()

    def run(self, *arguments, cwd=None, limit=120):
        """Runs the client to its end; returns its exit status (`None` if it had to be ended) and what it printed."""
        client = subprocess.Popen([*self.command, *arguments], cwd=cwd or self.cwd, env=self.environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  start_new_session=True)
        try:
            output, _ = client.communicate(timeout=limit)
            return client.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(client.pid, signal.SIGKILL)
            return None, client.communicate()[0]

    def ask(self, prompt, resume=None, cwd=None):
        """Sends one prompt, in a new session or in one that is resumed."""
        before = len(self.api.requests)
        told = ["--resume", resume] if resume else []
        code, output = self.run("-p", *told, "--output-format", "json", "--allowedTools", "Bash,Task,Agent", "--",
                                prompt, cwd=cwd)
        sent = [request["messages"] for request in self.api.requests[before:] if request.get("tools")]
        sent = [messages for messages in sent if prompt in labels.of_messages(messages)]
        session = re.search(r'"session_id":\s*"([^"]+)"', output)
        return Answer(sent[-1] if sent else None, session and session[1], code, output)

    def project(self, cwd=None):
        """The directory of the sessions of a working directory."""
        return self.claude / "projects" / re.sub("[^A-Za-z0-9]", "-", str(cwd or self.cwd))

    def sessions(self, cwd=None):
        """The session files of a working directory, the one written last at the end."""
        files = [file for file in self.project(cwd).glob("*-*-*-*-*.jsonl") if file.stat().st_size]
        return sorted(files, key=lambda file: file.stat().st_mtime_ns)

    def age(self):
        """Lets what was just written seem a minute older, as if the client had been gone for that long."""
        for file in self.claude.glob("projects/**/*.jsonl"):
            seen = file.stat()
            if seen.st_mtime > time.time() - 60:
                os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns - 60 * 10**9))


def records(file):
    """The records of a session that can be read."""
    found = []
    for line in file.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            found.append(record)
    return found
