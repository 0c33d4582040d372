"""An OpenSSH server on loopback, in a folder and on a port of its own, and a client that knows it as `login`. Needs root."""

import contextlib
import os
import shutil
import socket
import subprocess
import time

SSHD = "/usr/sbin/sshd"


def missing():
    """Why none can be started here; empty if one can."""
    if os.geteuid() != 0:
        return "needs root"
    for program in (SSHD, "ssh", "ssh-keygen"):
        if not shutil.which(program):
            return f"{os.path.basename(program)} is not installed"
    return ""


class SshServer:
    """`user` logs in with a key that the client has. `variables`: of what he runs there. `client_path` goes first in $PATH of the
    client: its `ssh` is the real one with a configuration of its own, in place of ~/.ssh/config."""

    def __init__(self, folder, user, variables=None):
        self.folder, self.user, self.variables = os.path.join(folder, "ssh"), user, variables or {}
        self.client_path = os.path.join(self.folder, "bin")
        self.process = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o600):
        with open(self.path(name), "w") as out:
            os.fchmod(out.fileno(), mode)
            out.write(text)

    def __enter__(self):
        os.makedirs(self.client_path)
        os.chmod(self.folder, 0o755)
        os.makedirs("/run/sshd", exist_ok=True)
        for name in "host", "user", "other":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)], check=True)
        shutil.copy(self.path("user.pub"), self.path("authorized"))
        os.chmod(self.path("authorized"), 0o644)
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.write("sshd_config", f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.path('host')}\nPidFile none\nUsePAM no\n"
                   f"StrictModes no\nAuthorizedKeysFile {self.path('authorized')}\nPasswordAuthentication no\n"
                   f"KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
                   + "".join(f"SetEnv {name}={value}\n" for name, value in self.variables.items()))
        with open(self.path("host.pub")) as key:
            self.write("known_hosts", f"[127.0.0.1]:{self.port} {key.read()}")
        self.write("config", f"Host login\n HostName 127.0.0.1\n Port {self.port}\n User {self.user}\n IdentityFile {self.path('user')}\n"
                   f"Host stranger\n HostName 127.0.0.1\n Port {self.port}\n User {self.user}\n IdentityFile {self.path('other')}\n"
                   f"Host *\n IdentitiesOnly yes\n BatchMode yes\n UserKnownHostsFile {self.path('known_hosts')}\n LogLevel ERROR\n")
        self.write("bin/ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.path("config")} "$@"\n', 0o755)
        with open(self.path("log"), "wb") as log:
            self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", self.path("sshd_config")], stdin=subprocess.DEVNULL, stderr=log)
        for _ in range(500):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return self
            time.sleep(0.01)
        raise SystemExit(f"sshd does not listen; see {self.path('log')}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def clients(self):
        """The processes of ssh that use our configuration."""
        ran = subprocess.run(["pgrep", "-f", f"^[^ ]*ssh -F {self.path('config')} "], stdout=subprocess.PIPE, text=True, check=False)
        return ran.stdout.split()
