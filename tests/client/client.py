"""Runs an installed Claude Code client against stub.py, cut off from every network but loopback.

Needs root (`unshare -n`), iproute2, node and python3. The client is `$CLIENT_LAB/clients/VERSION`, as
`npm install --prefix DIR @anthropic-ai/claude-code@VERSION` puts it there.
"""
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PORT = 8765
RUN = r'''
ip link set lo up
python3 "$STUB" "$PORT" "$SCRIPT" "$LOG" & stub=$!
trap 'kill $stub' EXIT
for _ in $(seq 50); do (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && break; sleep 0.1; done
cd "$CWD" && exec 3<&- </dev/null
env -i HOME="$HOME_DIR" PATH="$PROGRAMS/usr/local/bin:/usr/bin:/bin" TERM=xterm LANG=C.UTF-8 SHELL=/bin/bash \
  ANTHROPIC_API_KEY=dummy ANTHROPIC_BASE_URL="http://127.0.0.1:$PORT" DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 \
  DISABLE_ERROR_REPORTING=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 timeout -k 3 "$LIMIT" "$CLIENT" "$@"
'''


def installed(version):
    """Returns the program of a client; None when it is not installed."""
    lab = os.environ.get("CLIENT_LAB")
    for package, program in (("claude-code-linux-x64", "claude"), ("claude-code", "cli.js")):
        path = pathlib.Path(lab or "/nonexistent", "clients", version, "node_modules/@anthropic-ai", package, program)
        if path.exists():
            return path
    return None


class Home:
    """A scratch home of one client."""

    def __init__(self, version):
        self.version, self.client = version, installed(version)
        self.dir = tempfile.TemporaryDirectory(prefix="ramus-client-")
        self.path = pathlib.Path(self.dir.name)
        self.cwd = self.path / "work"
        self.cwd.mkdir()
        self.claude = self.path / ".claude"
        config = {"hasCompletedOnboarding": True, "theme": "dark", "lastOnboardingVersion": version,
                  "customApiKeyResponses": {"approved": ["dummy"], "rejected": []}, "autoUpdates": False,
                  "projects": {str(self.cwd): {"hasTrustDialogAccepted": True}}}
        (self.path / ".claude.json").write_text(json.dumps(config))

    def run(self, script, *args, limit=60, programs=None):
        """Lets the client answer with the replies of a script; returns what it printed and what it sent.

        It finds the programs of one more directory."""
        (self.path / "script.json").write_text(json.dumps(script))
        log = self.path / "api.log"
        log.unlink(missing_ok=True)
        env = dict(os.environ, STUB=str(HERE / "stub.py"), PORT=str(PORT), SCRIPT=str(self.path / "script.json"),
                   LOG=str(log), CWD=str(self.cwd), HOME_DIR=str(self.path), LIMIT=str(limit), CLIENT=str(self.client),
                   PROGRAMS=f"{programs}:" if programs else "")
        done = subprocess.run(["unshare", "-n", "bash", "-c", RUN, "run", *args], env=env, capture_output=True, text=True)
        requests = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return done, requests

    def sessions(self):
        return sorted(self.claude.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_mtime)
