"""`goban --host ssh://login`: commands on one machine for the daemon of another, by the user's own ssh and key. The daemon sees the user who
logged in there.

    ssh_host.py GOBAN     (needs root and openssh-server; 77 without them)
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import ssh_server
from live_daemon import Daemon, expect

USER = "nobody"
CONFIG = '[service]\nsocket = "for-all.sock"\nsocket_access = "everybody"\n'


def laptop(daemon, server):
    """Runs goban as on a machine that knows nothing of the daemon but how to log in there."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GOBAN_")}
    environment["PATH"] = server.client_path + ":" + environment["PATH"]

    def goban(*words):
        return subprocess.run([daemon.goban, *words], env=environment, cwd="/", text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False)
    goban.environment = environment
    return goban


def commands(daemon, server):
    goban, known = laptop(daemon, server), set(glob.glob("/tmp/goban-ssh-*"))
    place = "ssh://login" + os.path.join(daemon.folder, "for-all.sock")
    host = ("--host", place)
    ran = goban(*host, "submit", "--parsable", "--workdir", "/tmp", "-o", "/dev/null", "--wrap", "sleep 60")
    expect(ran.returncode == 0, ran.stderr)
    number = ran.stdout.strip()
    job = json.loads(goban(*host, "show", "--json", number).stdout)[0]
    expect((job["user"], job["job"]) == (USER, int(number)), f"of the user who logged in: {job}")
    listed = goban(*host, "queue")
    expect(number in listed.stdout, f"the queue: {listed}")
    same = [goban(*words).stdout.split()[:20] for words in (("queue", "--server", place), (*host, "queue"))]
    expect(number in same[0] and same[0][0] == same[1][0], f"--server says the same: {same}")  # times differ
    # A stream of events, and a command that is killed: ssh ends with it, and only an empty folder is left.
    top = subprocess.Popen([daemon.goban, *host, "top"], env=goban.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    expect(top.stdout.readline(), "it shows something")
    expect(server.clients(), "by ssh")
    top.kill()
    top.wait()
    daemon.wait_for("the end of ssh", lambda: not server.clients())
    for folder in set(glob.glob("/tmp/goban-ssh-*")) - known:
        shutil.rmtree(folder)
    expect(goban(*host, "cancel", number).returncode == 0, "cancel")
    expect(not server.clients() and set(glob.glob("/tmp/goban-ssh-*")) <= known, "nothing is left")


def refusals(daemon, server):
    goban = laptop(daemon, server)
    for words, code, says in ((("--host", "ssh://stranger", "queue"), 1, "ssh could not connect to stranger"),
                              (("--host", "ssh://-oProxyCommand=x", "queue"), 2, "names no machine for ssh"),
                              (("--host", "ssh://login/nowhere/goban.sock", "queue"), 1, "check that a daemon listens there")):
        ran = goban(*words)
        expect(ran.returncode == code and says in ran.stderr, f"{words}: {ran.returncode} {ran.stderr}")


DEAF_SSH = """#!/usr/bin/env python3
# Listens as ssh -L does, and answers nothing; of the signals that end it, it passes over as many as $SSH_PASSES.
import itertools, os, signal, socket, sys
number = itertools.count(1)
signal.signal(signal.SIGTERM, lambda *_: next(number) > int(os.environ["SSH_PASSES"]) and os._exit(0))
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[sys.argv.index("-L") + 1].split(":")[0])
server.listen()
while True:
    server.accept()[0].close()
"""


def deaf(daemon):
    """ssh may note a signal and not end; goban ends all the same, and ssh with it."""
    folder = os.path.join(daemon.folder, "deaf")
    os.mkdir(folder)
    with open(os.path.join(folder, "ssh"), "w") as file:
        file.write(DEAF_SSH)
    os.chmod(file.name, 0o755)
    for passes in (1, 1_000):
        began = time.monotonic()
        ran = subprocess.run([daemon.goban, "--host", "ssh://login/nowhere", "queue"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             env={**os.environ, "PATH": folder + ":" + os.environ["PATH"], "SSH_PASSES": str(passes)}, timeout=60, check=False)
        expect(ran.returncode == 1 and time.monotonic() - began < 20, f"{ran} in {time.monotonic() - began} s")
        expect(subprocess.run(["pgrep", "-f", os.path.join(folder, "ssh")], stdout=subprocess.DEVNULL, check=False).returncode == 1, "it has ended")


def main():
    if why := ssh_server.missing():
        print(f"skipped: {why}")
        sys.exit(77)
    began = time.monotonic()
    daemon = Daemon(sys.argv[1], CONFIG, own_log=True)
    os.chmod(daemon.folder, 0o755)
    daemon.environment["GOBAN_SOCKET"] = os.path.join(daemon.folder, "for-all.sock")
    with daemon:
        with ssh_server.SshServer(daemon.folder, USER) as server:
            try:
                commands(daemon, server)
                refusals(daemon, server)
                deaf(daemon)
            except BaseException:
                with open(server.path("log")) as log:
                    print(log.read(), file=sys.stderr)
                raise
    print(f"{time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
