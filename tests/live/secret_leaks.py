"""No secrets leak: marker words in the environment, the arguments and the script of jobs and in a
token appear in no log, journal, snapshot, store or reply; and once the jobs have finished, nowhere in the
state folder.

    secret_leaks.py GOBAN
"""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

from live_daemon import Daemon, expect

ENVIRONMENT, ARGUMENT, SCRIPT, WRONG_TOKEN = (
    b"marker-in-the-environment", b"marker-in-an-argument", b"marker-in-the-script",
    b"marker-in-a-wrong-token")
KEEPS = {"payloads", "token", "dashboard-link"}  # docs/security.md: readable by the daemon's user only


def holders(folder, words, leave_out=()):
    """Files below the folder that contain one of the words."""
    found = []
    for place, folders, files in os.walk(folder):
        if place == folder:
            folders[:] = [each for each in folders if each not in leave_out]
            files = [each for each in files if each not in leave_out]
        for name in files:
            path = os.path.join(place, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                text = file.read()
            found += [f"{path}: {word.decode()}" for word in words if word in text]
    return found


def ask(address, token):
    """Status and body of GET /v1/jobs."""
    request = urllib.request.Request(address + "/v1/jobs", headers={"Authorization": "Bearer " + token})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def submit(daemon, *words):
    script = os.path.join(daemon.folder, "job.sh")
    with open(script, "w") as out:
        out.write(f"#!/bin/sh\n# {SCRIPT.decode()}\nwhile [ ! -e {daemon.folder}/end ]; do sleep 0.1; done\n")
    asked = daemon.goban_run("submit", "--parsable", "-o", "job.out", *words, script, ARGUMENT.decode())
    expect(asked.returncode == 0, asked.stderr)
    return asked.stdout.strip()


def main():
    config = f'[service]\nlisten = "127.0.0.1:{free_port()}"\n'
    with Daemon(sys.argv[1], config, own_log=True) as daemon:
        daemon.environment["SECRET"] = ENVIRONMENT.decode()
        link = daemon.goban_run("token")
        expect(link.returncode == 0 and "/#token=" in link.stdout, link.stdout + link.stderr)
        address, token = link.stdout.strip().split("/#token=")
        bare = daemon.goban_run("token", "--bare").stdout.strip()
        expect(bare == token, "goban token --bare")
        expect(ask(address, token)[0] == 200, "the link signs in")
        expect(ask(address, WRONG_TOKEN.decode())[0] == 401, "another token does not")

        running = submit(daemon)
        submit(daemon, "--hold")
        submit(daemon, "--hold", "--array", "1-3")
        after = submit(daemon, "--dependency", f"afternotok:{running}")
        daemon.wait_for("a job that runs", lambda: '"running"' in daemon.goban_run("show", "--json", running).stdout)
        words = [ENVIRONMENT, ARGUMENT, SCRIPT, WRONG_TOKEN, token.encode()]
        # While jobs need them, secrets are in one place only, readable by the daemon's user alone.
        expect(holders(os.path.join(daemon.state, "payloads"), [ENVIRONMENT]), "payloads are kept")
        for name in KEEPS:
            mode = os.stat(os.path.join(daemon.state, name)).st_mode & 0o777
            expect(mode in (0o600, 0o700), f"{name} has mode {mode:o}")
        found = holders(daemon.state, words, KEEPS)
        expect(not found, f"while the jobs run: {found}")
        answers = [daemon.goban_run(*words).stdout for words in
                   (("queue", "--json"), ("show", "--json", running), ("explain", "--job", after))]
        answers.append(ask(address, token)[1].decode())
        for answer in answers:
            expect(not [word for word in words if word in answer.encode()], f"an answer: {answer}")

        # An orderly shutdown writes a snapshot; then a crash.
        daemon.stop()
        daemon.start()
        daemon.stop(signal.SIGKILL)
        daemon.start()
        expect(any(name.startswith("snapshot-") for name in os.listdir(os.path.join(daemon.state, "journal"))),
               "there is a snapshot")
        expect(daemon.goban_run("token", "--bare").stdout.strip() == token, "the token stays")

        # One job finishes, and the others never run.
        open(os.path.join(daemon.folder, "end"), "w").close()
        daemon.wait_for("the end", lambda: '"done"' in daemon.goban_run("show", "--json", running).stdout, 120)
        daemon.goban_run("cancel", "--all")
        daemon.wait_for("payloads to go", lambda: not os.listdir(os.path.join(daemon.state, "payloads")), 120)
        # The token belongs to the daemon, not to a job.
        found = holders(daemon.state, words, {"token", "dashboard-link"})
        expect(not found, f"after the jobs have finished: {found}")
        expect(not holders(daemon.state, words[:-1]), "no data of jobs is left")
        log = open(daemon.log, "rb").read()
        expect(address.encode() in log, f"the log has the address, without the token: {log}")
        expect(not [word for word in words if word in log], f"the log: {log}")
        history = subprocess.run([daemon.goban, "history", "export", "--store",
                                  os.path.join(daemon.state, "store.sqlite")], stdout=subprocess.PIPE)
        expect(not [word for word in words if word in history.stdout], "the history")
    print("passed")


main()
