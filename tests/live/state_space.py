"""One user cannot fill the state folder: scripts and environments have a limit of bytes per user, submissions leave a share
of the disk free, in which running jobs are still recorded, and the folder of a run's sockets cannot be written by its job.

    state_space.py GOBAN     (needs the right to mount; 77 without it)
"""

import json
import os
import subprocess
import sys

from live_daemon import Daemon, expect

MIB = 1 << 20
PYTHON = "/usr/bin/python3"  # ours may lie in a folder that other users cannot enter
CONFIG = """bytes_per_user = "1MiB"
disk_reserve = "16MiB"
disk_reserve_share = 0.5
"""


def post(daemon, body):
    return daemon.request("POST", "/v1/jobs", body)


def jobs_of(daemon):
    return {job["job"]: job for job in json.loads(daemon.goban_run("queue", "--all", "--json").stdout)}


def held(kib):
    return {"script": "true\n", "held": True, "work_folder": "/tmp", "env": {"X": "x" * (kib << 10)}}


def bytes_of_a_user(daemon):
    numbers = []
    for _ in range(3):
        status, reply = post(daemon, held(300))
        expect(status == 201, reply)
        numbers.append(reply["job"])
    for _ in range(2):
        status, reply = post(daemon, held(300))
        expect(status == 403 and "limit of 1.00 MiB" in reply["error"]["message"], reply)
        daemon.stop(9)
        daemon.start()
    stored = [name for name in os.listdir(os.path.join(daemon.state, "payloads")) if name.startswith("payload-")]
    expect(len(stored) == 3, f"{stored}")
    for number in numbers:
        expect(daemon.goban_run("cancel", str(number)).returncode == 0, "cancel")
    daemon.wait_for("room", lambda: post(daemon, held(900))[0] == 201)
    daemon.goban_run("cancel", "--all")


def disk_reserve(daemon):
    go = os.path.join(daemon.folder, "go")
    run = daemon.goban_run("submit", "--output", "/dev/null", "--wrap", f"while ! test -e {go}; do sleep 0.1; done")
    expect(run.returncode == 0, run.stderr)
    number = int(run.stdout.split()[-1].rstrip("."))
    daemon.wait_for("a running job", lambda: jobs_of(daemon)[number]["state"] == "running")
    filler = os.path.join(daemon.state, "filler")
    free = os.statvfs(daemon.state)
    with open(filler, "wb") as out:
        out.write(b"\0" * (free.f_bavail * free.f_frsize - 12 * MIB))
    refused = daemon.goban_run("submit", "--output", "/dev/null", "--wrap", "true")
    expect(refused.returncode != 0 and "nearly full" in refused.stderr and "disk_reserve" in refused.stderr, refused.stderr)
    expect(post(daemon, held(1))[0] == 503, "503")
    expect("submissions are refused" in open(daemon.log).read(), "the log says so")
    with open(go, "w"):
        pass
    daemon.wait_for("the end of the job", lambda: jobs_of(daemon)[number]["state"] == "done")
    expect(jobs_of(daemon)[number]["result"] == "completed", "its end was recorded")
    # As after a crash, on a disk that is still nearly full.
    daemon.stop(9)
    daemon.start()
    expect(jobs_of(daemon)[number]["result"] == "completed", "also after a restart")
    expect(post(daemon, held(1))[0] == 503, "503")
    os.remove(filler)
    status, reply = post(daemon, held(1))
    expect(status == 201, reply)
    expect("has space again" in open(daemon.log).read(), "the log says so")
    daemon.goban_run("cancel", "--all")


def sockets(daemon):
    """A job of another user reports progress, and can neither add to the folder nor list it."""
    if not os.path.exists(PYTHON):
        return  # SocketFolder.* connects, too
    script = """import os, socket
path = os.environ["GOBAN_PROGRESS_SOCKET"]
folder = os.path.dirname(path)
socket.socket(socket.AF_UNIX).connect(path)
for attack in (lambda: os.mkdir(folder + "/x"), lambda: open(folder + "/x", "w"), lambda: os.unlink(path),
               lambda: os.chmod(folder, 0o777), lambda: os.listdir(folder)):
    try:
        attack()
    except PermissionError:
        continue
    raise SystemExit("the folder can be changed")
"""
    status, reply = post(daemon, {"script": f"#!{PYTHON}\n{script}", "user": "nobody", "work_folder": "/tmp",
                                  "stdout_path": "/dev/null", "env": {"PATH": os.environ["PATH"]}})
    expect(status == 201, reply)
    daemon.wait_for("its end", lambda: jobs_of(daemon)[reply["job"]]["state"] == "done")
    done = jobs_of(daemon)[reply["job"]]
    expect(done["result"] == "completed", daemon.goban_run("show", str(reply["job"])).stdout)


def main():
    with Daemon(sys.argv[1], config=CONFIG, own_log=True) as daemon:
        daemon.stop()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", daemon.state],
                          stderr=subprocess.DEVNULL).returncode != 0:
            print("skipped: this user may not mount")
            daemon.start()
            sys.exit(77)
        try:
            daemon.start()
            bytes_of_a_user(daemon)
            disk_reserve(daemon)
            sockets(daemon)
        finally:
            daemon.goban_run("cancel", "--all")
            daemon.stop()
            subprocess.run(["umount", "-l", daemon.state], check=True)
            daemon.start()
    print("passed")


main()
