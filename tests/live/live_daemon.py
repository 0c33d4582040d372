"""A daemon with virtual GPUs in its own folder, for the tests in this folder."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


class Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Daemon:
    """`gpus` virtual GPUs; 0: the GPUs of the driver, or of its stand-in."""

    def __init__(self, goban, config="", gpus=2, own_log=False):
        """`own_log`: the daemon's output goes to the file `self.log`, not to our stderr."""
        self.goban = os.path.abspath(goban)
        self.folder = tempfile.mkdtemp(prefix="goban-live-")
        self.state = os.path.join(self.folder, "state")
        self.config = os.path.join(self.folder, "goban.toml")
        self.gpus = gpus
        with open(self.config, "w") as out:
            out.write(config)
        self.environment = dict(os.environ, GOBAN_STATE=self.state)
        self.environment.pop("GOBAN_SERVER", None)
        self.environment.pop("GOBAN_SOCKET", None)
        self.process = None
        self.log = os.path.join(self.folder, "serve.log") if own_log else None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.goban_run("cancel", "--all")
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        words = [self.goban, "serve", "--state", self.state, "--config", self.config]
        if self.gpus > 0:
            words += ["--virtual-gpus", str(self.gpus)]
        if self.log:
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(words, stdout=log, stderr=log)
        else:
            self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=sys.stderr)
        for _ in range(1500):
            if self.goban_run("stats").returncode == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise SystemExit("the daemon does not respond")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(60)

    def goban_run(self, *words, **options):
        """Runs a goban command until it exits; output is text."""
        return subprocess.run(
            [self.goban, *words], env=self.environment, cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            **{"timeout": 60, **options}
        )

    def connect(self):
        return Connection(os.path.join(self.state, "goban.sock"))

    def request(self, method, path, body=None, text=False):
        """Status and reply of one request to the API."""
        connection = self.connect()
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            reply = connection.getresponse()
            content = reply.read().decode()
            return reply.status, content if text else json.loads(content)
        finally:
            connection.close()

    def wait_for(self, what, holds, limit_s=30):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            found = holds()
            if found:
                return found
            time.sleep(0.02)
        raise SystemExit(f"{what}: not within {limit_s} s")


class Client:
    """A goban command running concurrently."""

    def __init__(self, daemon, *words, patience_s=300, prepare=None):
        self.daemon = daemon
        self.err = os.path.join(daemon.folder, "client.err")
        with open(self.err, "wb") as err:
            self.process = subprocess.Popen(
                [daemon.goban, *words], cwd=daemon.folder, stdin=subprocess.DEVNULL, text=True,
                stdout=subprocess.PIPE, stderr=err, preexec_fn=prepare,
                env=dict(daemon.environment, GOBAN_PATIENCE_S=str(patience_s)))

    def until(self, line):
        got = self.process.stdout.readline()
        expect(got == line + "\n", f"{line!r}, not {got!r}, {self.said()!r}")

    def said(self):
        with open(self.err) as err:
            return err.read()

    def end(self):
        """The remaining output, and the exit code."""
        out, _ = self.process.communicate(timeout=300)
        return out, self.process.returncode


def waiting_job(daemon, code, name):
    """Prints one, waits for the file `name`, prints two."""
    path = os.path.join(daemon.folder, name)
    return path, f"echo one; until [ -e {path} ]; do sleep 0.05; done; echo two; exit {code}"


def let_go(path):
    open(path, "w").close()


def expect(holds, what):
    if not holds:
        raise SystemExit(f"check failed: {what}")
