"""A file system that does not answer holds up neither the API, nor the daemon's end, nor a GPU.

    hung_files.py GOBAN     (needs /dev/fuse and the right to mount; 77 without them)
"""

import errno
import http.client
import os
import sys
import threading
import time

from hanging_files import CannotMount, HangingFiles
from live_daemon import Daemon, expect

CONFIG = """[service]
file_timeout = "2s"
"""


def submit(daemon, **fields):
    job = {"script": "true\n", "num_gpus": 2, "work_folder": "/tmp", "stdout_path": "/dev/null"}
    status, reply = daemon.request("POST", "/v1/jobs", {**job, **fields})
    expect(status == 201, reply)
    return reply["job"]


def job(daemon, number):
    return daemon.request("GET", f"/v1/jobs/{number}")[1]


def wait_until(daemon, number, state, limit_s=30):
    return daemon.wait_for(f"job {number} {state}", lambda: next(
        (shown for shown in [job(daemon, number)] if shown["state"] == state), None), limit_s)


def the_gpus_are_free(daemon, count=2):
    expect(wait_until(daemon, submit(daemon, num_gpus=count), "done")["result"] == "completed", "the GPUs are free")


def stuck_starts(daemon, files):
    """A job that hangs in chdir, open or exec obeys cancel and limit."""
    files.hang()
    hanging = {"entering its work folder": {"work_folder": files.path},
               "opening its output file": {"stdout_path": files.path + "/out"},
               "running its interpreter": {"script": f"#!{files.path}/interpreter\n"}}
    for step, fields in hanging.items():
        number = submit(daemon, **fields)
        wait_until(daemon, number, "starting")
        time.sleep(0.3)
        began = time.monotonic()
        expect(daemon.goban_run("cancel", str(number)).returncode == 0, "cancel")
        ended = wait_until(daemon, number, "done")
        expect(ended["result"] == "cancelled" and step in ended["detail"], str(ended))
        print(f"cancelled after {time.monotonic() - began:.1f} s: {ended['detail']}")
        the_gpus_are_free(daemon)
    number = submit(daemon, work_folder=files.path, walltime_s=1)
    ended = wait_until(daemon, number, "done")
    expect(ended["result"] == "timed_out", str(ended))
    the_gpus_are_free(daemon)
    files.answer()


def lying_files(daemon, files):
    """Errors of a user's file system are the job's, also those by which a machine says that it is full."""
    for error in (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EROFS, errno.EIO):
        files.fail(error)
        for fields in ({"work_folder": files.path}, {"stdout_path": files.path + "/out"},
                       {"script": f"#!{files.path}/interpreter\n"}):
            ended = wait_until(daemon, submit(daemon, **fields), "done")
            expect(ended["result"] == "failed" and os.strerror(error) in ended["detail"], str(ended))
    the_gpus_are_free(daemon)
    expect("are held" not in daemon.goban_run("stats").stdout, "launches go on")
    files.answer()


def unkillable_reader(daemon, files):
    """A daemon whose thread cannot be killed leaves nothing that keeps the next one from starting."""
    number = submit(daemon, held=True, work_folder=files.path, stdout_path="log")
    expect(daemon.request("GET", f"/v1/jobs/{number}/log")[0] == 504, "504")
    old = daemon.process
    old.terminate()
    daemon.wait_for("its end", lambda: open(daemon.log).read().count("they are left behind") == 2)
    daemon.start()
    expect(daemon.goban_run("queue").returncode == 0, "the next daemon works")
    return old


def killed_reader(daemon, files):
    """Neither does a daemon that was killed while such a thread reads: its lock and its port are free at once."""
    number = submit(daemon, held=True, work_folder=files.path, stdout_path="log")
    expect(daemon.request("GET", f"/v1/jobs/{number}/log")[0] == 504, "504")
    old = daemon.process
    old.kill()
    began = time.monotonic()
    daemon.start()
    print(f"the next daemon works {time.monotonic() - began:.1f} s after SIGKILL")
    expect(old.poll() is None, "a thread of the killed one waits in the kernel")
    return old


def unkillable_start(daemon, files):
    """A process that the kernel does not let die holds no GPU, as it never began."""
    mark = os.path.join(daemon.folder, "began")
    files.hang(killable=False)
    patient = submit(daemon, work_folder=files.path, num_gpus=1)
    number = submit(daemon, work_folder=files.path, num_gpus=1, script=f"touch {mark}\n")
    wait_until(daemon, number, "starting")
    began = time.monotonic()
    daemon.goban_run("cancel", str(number), "--now")
    old = unkillable_reader(daemon, files)
    killed = killed_reader(daemon, files)
    ended = wait_until(daemon, number, "done", 60)
    expect(ended["result"] == "cancelled" and "cannot be killed" in ended["detail"], str(ended))
    process = ended["detail"].split()[1]
    with open(f"/proc/{process}/stat") as facts:
        expect(facts.read().rsplit(")", 1)[1].split()[0] == "D", "it waits in the kernel")
    print(f"given up after {time.monotonic() - began:.1f} s: {ended['detail']}")
    the_gpus_are_free(daemon, 1)
    daemon.wait_for("a reason", lambda: job(daemon, patient).get("detail"))
    shown = daemon.goban_run("show", str(patient)).stdout
    expect("starting" in shown and "more than 10 s, entering its work folder" in shown, shown)
    print(shown)
    files.answer()
    return process, mark, old, killed


def log_requests(daemon, files):
    number = submit(daemon, held=True, work_folder=files.path, stdout_path="log")
    path = f"/v1/jobs/{number}/log"
    files.answer()
    expect(daemon.request("GET", path, text=True) == (200, "hello\n"), "the log is shown")
    follower = daemon.connect()
    follower.request("GET", path + "?follow=1")
    expect(follower.getresponse().read1(100) == b"hello\n", "it is followed")
    events = daemon.connect()
    events.request("GET", "/v1/events")
    feed = events.getresponse()
    feed.read1(1 << 16)
    files.hang()
    answers = []

    def ask():
        try:
            answers.append(daemon.request("GET", path)[0])
        except (OSError, http.client.HTTPException) as error:
            answers.append(error)

    began = time.monotonic()
    askers = [threading.Thread(target=ask) for _ in range(64)]
    for asker in askers:
        asker.start()
    time.sleep(0.2)
    queue_began = time.monotonic()
    expect(daemon.goban_run("queue").returncode == 0, "the API works on")
    queue_s = time.monotonic() - queue_began
    for asker in askers:
        asker.join()
    print(f"64 log requests: all answered after {time.monotonic() - began:.1f} s; goban queue took {queue_s:.2f} s meanwhile")
    expect(set(answers) <= {503, 504} and 504 in answers, f"{answers}")
    again = daemon.goban_run("logs", str(number))
    expect(again.returncode != 0 and "not" in again.stderr, again.stderr)
    daemon.goban_run("cancel", str(submit(daemon, held=True)))
    expect(b"jobs" in feed.read1(1 << 16), "events go on beside a follower that hangs")
    began = time.monotonic()
    daemon.process.terminate()
    expect(daemon.process.wait(30) == 0, "exit code")
    print(f"ended {time.monotonic() - began:.1f} s after SIGTERM")
    expect("hang; they are left behind" in open(daemon.log).read(), "the log says so")
    files.answer()
    daemon.start()
    expect(daemon.request("GET", path, text=True) == (200, "hello\n"), "the log is shown again")


def main():
    try:
        files = HangingFiles({"log": b"hello\n", "interpreter": b"#!/bin/sh\n"})
    except CannotMount as error:
        print(f"skipped: {error}")
        sys.exit(77)
    with Daemon(sys.argv[1], config=CONFIG, own_log=True) as daemon:
        try:
            log_requests(daemon, files)
            lying_files(daemon, files)
            stuck_starts(daemon, files)
            left, mark, old, killed = unkillable_start(daemon, files)
        finally:
            files.close()
        daemon.wait_for("the end of the process", lambda: not os.path.exists(f"/proc/{left}"))
        expect(not os.path.exists(mark), "it never began")
        expect(old.wait(30) == 0, "exit code")
        expect(killed.wait(30) == -9, "exit code of the killed one")
    print("passed")


main()
