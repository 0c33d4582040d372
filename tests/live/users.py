"""Several users send requests at once: of their own, for each other's jobs, nearly valid ones and noise. Nobody reads or
changes what belongs to another, limits hold, the daemon has an answer for everything, and every job that its
owner left alone runs exactly once, as its owner.

    users.py GOBAN [--users 4] [--requests 300] [--seed 1]     (needs root; 77 without it)
"""

import argparse
import http.client
import json
import multiprocessing
import os
import pwd
import random
import re
import socket
import sys
import time

from kills import UnixConnection
from live_daemon import Daemon, expect

JOBS_PER_USER = 25
CONFIG = f"""jobs_per_user = {JOBS_PER_USER}
[service]
socket = "for-all.sock"
socket_access = "everybody"
requests_per_s = 500
"""
NOISE = (None, True, -1, 2**64 - 1, 1e300, "x" * 5000, [[], {}], {"": "", "\x01": "\x7f"}, "a\0b\x1b[2J", "", "../../etc/passwd",
         0, "root", ["root"], {"uid": 0})
CHANGES = ("hold", "release", "requeue")


class User:
    """A process with the rights of one user."""

    def __init__(self, folder, uid, seed, highest):
        self.socket = os.path.join(folder, "for-all.sock")
        self.folder = os.path.join(folder, "marks")
        self.uid = uid
        self.random = random.Random(seed * 1000 + uid)
        self.highest = highest  # number of the newest job of all users
        self.confirmed = {}  # job -> its mark
        self.touched = set()  # jobs that this user cancelled, held, or submitted with nonsense
        self.problems = []
        self.replies = {}

    def send(self, method, path, body=None, raw=None):
        """Status and text of the reply, which is checked; None if the connection ended without one."""
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, path, raw if raw is not None else json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            self.problems.append(f"{method} {path[:80]}: {error!r}")
            return None, ""
        finally:
            connection.close()
        self.replies[answer.status] = self.replies.get(answer.status, 0) + 1
        if answer.status >= 500 and answer.status != 503:
            self.problems.append(f"{method} {path[:80]}: {answer.status} {text[:200]}")
        secrets = {int(uid) for uid in re.findall(r"secret-(\d+)", text)} - {self.uid}
        if secrets:
            self.problems.append(f"user {self.uid}: {method} {path[:80]} shows what belongs to {secrets}")
        return answer.status, text

    def a_job(self):
        number = len(self.confirmed) + self.random.randrange(10**6) * 1000
        mark = os.path.join(self.folder, f"{self.uid}-{number}")
        script = (f'#!/bin/sh\necho "start $(id -u)" >> {mark}\necho "secret-{self.uid} $MINE"\n'
                  f"sleep {self.random.choice([0, 0, 0.05])}\necho end >> {mark}\n")
        return {"name": f"secret-{self.uid}-{number}", "script": script, "num_gpus": self.random.choice([0, 1, 1, 2]),
                "work_folder": self.folder, "stdout_path": os.path.join(self.folder, f"secret-{self.uid}-%j.out"),
                "env": {"MINE": f"secret-{self.uid}"}}, mark

    def submit(self):
        body, mark = self.a_job()
        if self.random.random() < 0.2:
            body["held"] = True  # so that the limit on unfinished jobs is reached
        elif self.random.random() < 0.5:
            for _ in range(self.random.randrange(1, 4)):
                key = self.random.choice([*body, "owner", "user", "payload", "array_first", "priority", "mem_bytes", "training",
                                          "stop", "dependencies", "array_tasks", "umask", "account", "interactive", "\n"])
                body[key] = self.random.choice(NOISE)
            mark = None  # what it does is unknown
        status, text = self.send("POST", "/v1/jobs", body)
        if status not in (200, 201):
            if status in (400, 403) and mark is not None and "unfinished jobs" not in text:
                self.problems.append(f"a valid job was refused: {text[:200]}")
            return
        job = json.loads(text)["job"]
        self.highest.value = max(self.highest.value, job)
        if mark is None:
            self.touched.add(job)
            if self.random.random() < 0.8:
                self.send("DELETE", f"/v1/jobs/{job}")
        if body.get("held"):
            self.touched.add(job)
        self.confirmed[job] = mark

    def meddle(self):
        """With a job that may belong to anybody."""
        job = self.random.randint(1, self.highest.value + 2)
        is_ours = job in self.confirmed
        method, path = self.random.choice([("DELETE", ""), *(("POST", f"/{change}") for change in CHANGES)])
        if is_ours and self.random.random() < 0.7:
            return
        if is_ours:
            self.touched.add(job)
        status, text = self.send(method, f"/v1/jobs/{job}{path}", {} if method == "POST" else None)
        if not is_ours and status in (200, 201, 202, 204) and '"changed":0' not in text.replace(" ", ""):
            self.problems.append(f"user {self.uid}: {method} {path} of job {job}: {status} {text[:200]}")

    def look(self):
        job = self.random.randint(1, self.highest.value + 2)
        path = self.random.choice([
            f"/v1/jobs/{job}", f"/v1/jobs/{job}/log", f"/v1/jobs/{job}/explain", f"/v1/jobs/{job}/series", "/v1/jobs?all=1",
            f"/v1/jobs?all=1&limit={self.random.choice([1, 10000, -1, 'x'])}", "/v1/jobs?user=root&all=1",
            f"/v1/jobs?job={job}", "/v1/nodes", "/v1/cluster", "/v1/stats", "/v1/reservations", "/v1/colocation", "/metrics",
            f"/v1/jobs/{job}/../{job}/log", f"/v1/jobs/%2e%2e/{job}", f"/v1/jobs/{'9' * 40}", "/" + "a" * 4000, "/v1/scores",
            "/dashboard/../../etc/passwd"])
        self.send("GET", path)

    def rule(self):
        """What only operators may do."""
        path, body = self.random.choice([
            ("/v1/nodes/0/drain", {"now": True}), ("/v1/nodes/0/resume", {}), ("/v1/scores", {"scores": []}),
            ("/v1/reservations", {"num_nodes": 1, "start_s": time.time() + 5, "end_s": time.time() + 9e5})])
        status, text = self.send("POST", path, body)
        if status in (200, 201):
            self.problems.append(f"user {self.uid} may {path}: {text[:200]}")

    def noise(self):
        """Bytes that are no request, or a body that is no JSON."""
        kind = self.random.randrange(3)
        if kind == 0:
            self.send("POST", self.random.choice(["/v1/jobs", "/v1/whatif", "/v1/scores"]),
                      raw=self.random.choice([b"{", b"\xff\xfe", b"[" * 5000, b'{"script":' + b"1" * 300 + b"}", b""]))
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(30)
            line.connect(self.socket)
            line.sendall(self.random.choice([os.urandom(200), b"GET ", b"POST /v1/jobs HTTP/1.1\r\nContent-Length: 9" + b"9" * 30 +
                                             b"\r\n\r\n", b"GET /v1/jobs HTTP/1.1\r\nA: " + b"b" * 70000]))

    def run(self, requests):
        kinds = (self.submit, self.submit, self.meddle, self.meddle, self.look, self.look, self.look, self.rule, self.noise)
        for _ in range(requests):
            try:
                self.random.choice(kinds)()
            except (OSError, ValueError) as error:  # the socket of noise()
                if not isinstance(error, (BrokenPipeError, ConnectionResetError)):
                    self.problems.append(repr(error))


def run_user(folder, uid, seed, highest, requests, out):
    os.setgroups([])
    os.setgid(pwd.getpwuid(uid).pw_gid)
    os.setuid(uid)
    user = User(folder, uid, seed, highest)
    try:
        user.run(requests)
    finally:
        out.put({"uid": uid, "confirmed": user.confirmed, "touched": user.touched, "problems": user.problems, "replies": user.replies})


def unfinished(daemon):
    """Unfinished jobs by user, for an operator, and how long that took."""
    began = time.monotonic()
    run = daemon.goban_run("queue", "--json", "--limit", "0")
    counts = {}
    for job in json.loads(run.stdout) if run.returncode == 0 else []:
        counts[job["user"]] = counts.get(job["user"], 0) + (job["state"] != "done")
    return counts, time.monotonic() - began


def attack(daemon, users, requests, seed):
    highest = multiprocessing.Value("i", 1)
    out = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=run_user, args=(daemon.folder, uid, seed, highest, requests, out))
               for uid in users]
    for worker in workers:
        worker.start()
    problems, results, longest_s, most = [], [], 0, 0
    while len(results) < len(users):
        counts, took_s = unfinished(daemon)
        longest_s = max(longest_s, took_s)
        most = max([most, *counts.values()])
        problems += [f"user {user} has {count} unfinished jobs" for user, count in counts.items() if count > JOBS_PER_USER]
        if daemon.process.poll() is not None:
            raise SystemExit(f"the daemon ended with {daemon.process.returncode}: {open(daemon.log).read()[-2000:]}")
        while not out.empty():
            results.append(out.get())
        time.sleep(0.05)
    for worker in workers:
        worker.join()
    # What is left are jobs that their owners hold, or that ask for what this machine never has.
    left_alone = {job: (mark, each["uid"]) for each in results for job, mark in each["confirmed"].items()
                  if mark is not None and job not in each["touched"]}
    daemon.wait_for("the end of the jobs that were left alone",
                    lambda: not {job["job"] for job in json.loads(daemon.goban_run("queue", "--json", "--limit", "0").stdout)
                                 if job["state"] != "done"} & set(left_alone), 120)
    for job, (mark, uid) in left_alone.items():
        lines = open(mark).read().split("\n")[:-1] if os.path.exists(mark) else []
        if lines != [f"start {uid}", "end"]:
            problems.append(f"job {job} of user {uid}: {lines}")
    for each in results:
        problems += each["problems"]
    replies = {}
    for each in results:
        for status, count in each["replies"].items():
            replies[status] = replies.get(status, 0) + count
    print(f"an operator's queue took at most {longest_s:.2f} s; at most {most} unfinished jobs of a user")
    return problems, replies, left_alone


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("goban")
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--requests", type=int, default=300, help="of each user")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root, to act for several users")
        sys.exit(77)
    users = sorted(each.pw_uid for each in pwd.getpwall() if each.pw_uid > 0)[:arguments.users]
    daemon = Daemon(arguments.goban, config=CONFIG, gpus=4, own_log=True)
    daemon.environment["GOBAN_SOCKET"] = os.path.join(daemon.folder, "for-all.sock")
    os.chmod(daemon.folder, 0o755)
    marks = os.path.join(daemon.folder, "marks")
    os.mkdir(marks)
    os.chmod(marks, 0o777)
    with daemon:
        problems, replies, left_alone = attack(daemon, users, arguments.requests, arguments.seed)
        expect(left_alone, f"some jobs run: {replies} {problems[:5]}")
    if daemon.process.returncode != 0:
        problems.append(f"the daemon ended with {daemon.process.returncode}")
    print("replies:", ", ".join(f"{status}: {count}" for status, count in sorted(replies.items())))
    print(f"counts: requests={sum(replies.values())} jobs={len(left_alone)}")
    for problem in problems[:20]:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
