"""Data is staged to a fast tier before jobs start, and results back after they have ended: two folders are the tiers.
The daemon is killed while it copies; what was copied is kept and checked. Least recently used data leaves for other
data. What cannot be staged is named, and nothing is lost.

    staging.py GOBAN
"""

import hashlib
import json
import os
import pwd
import random
import shutil
import signal
import sys
import time

from live_daemon import Connection, Daemon, expect

MB = 10**6
TIERS = """[[tier]]
name = "slow"
kind = "slow"

[[tier]]
name = "fast"
kind = "fast"
path = "{fast}"
size = "20 MB"
copy_limit = "8 MB/s"
{more}
"""


class Site:
    def __init__(self, goban, more=""):
        self.daemon = Daemon(goban, gpus=2, own_log=True)
        self.folder = self.daemon.folder
        os.chmod(self.folder, 0o755)
        self.slow = self.make("slow")
        self.fast = self.make("fast")
        tiers = os.path.join(self.folder, "tiers.toml")
        with open(tiers, "w") as out:
            out.write(TIERS.format(fast=self.fast, more=more))
        with open(self.daemon.config, "w") as out:
            out.write(f'tiers = "{tiers}"\n[staging]\nretry = "1s"\n')
        self.random = random.Random(1)

    def make(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        return path

    def data(self, name, bytes_):
        """A folder with two files. Returns its path and checksum."""
        path = os.path.join(self.slow, name)
        os.makedirs(os.path.join(path, "part"))
        lines = ""
        for file, size in (("labels", 1000), ("part/images", bytes_ - 1000)):
            content = self.random.randbytes(size)
            with open(os.path.join(path, file), "wb") as out:
                out.write(content)
            lines += f"{hashlib.sha256(content).hexdigest()}  {file}\n"
        return path, hashlib.sha256(lines.encode()).hexdigest()

    def submit(self, script, *words):
        run = self.daemon.goban_run("submit", "--parsable", "--gpus", "0", "--cores", "1", *words, "--wrap", script)
        expect(run.returncode == 0, f"submit {words}: {run.stderr}")
        return run.stdout.strip()

    def show(self, job):
        status, shown = self.daemon.request("GET", f"/v1/jobs/{job}")
        expect(status == 200, f"job {job} is shown")
        return shown

    def staging(self, job):
        return self.show(job).get("staging", {})

    def why(self, job):
        return self.daemon.request("GET", f"/v1/jobs/{job}/explain")[1]["text"]

    def done(self, job, result="completed", limit_s=60):
        self.daemon.wait_for(f"job {job} ends", lambda: self.show(job)["state"] == "done", limit_s)
        shown = self.show(job)
        expect(shown["result"] == result, f"job {job} is {result}, not {shown['result']}: {shown.get('detail')}")
        return shown

    def on_tier(self):
        """Names of the data on the fast tier."""
        found = os.path.join(self.fast, str(os.getuid()), "in")
        names = []
        for version in os.listdir(found) if os.path.isdir(found) else []:
            folder = os.path.join(found, version)
            if not version.endswith(".notes"):
                names += [name for name in os.listdir(folder) if not name.startswith(".")]
        return sorted(names)


def kill_and_resume(site):
    source, sha256 = site.data("a", 16 * MB)
    job = site.submit("cat $GOBAN_STAGE_IN/part/images > $GOBAN_FAST/copy && ls $GOBAN_FAST/in", "--stage-in", source,
                      "--stage-out", "copy:" + os.path.join(site.slow, "out-%j"))
    site.daemon.wait_for("copying", lambda: site.staging(job).get("done_bytes", 0) > 6 * MB)
    expect("it waits for its data: " in site.why(job), f"explained: {site.why(job)}")
    expect(site.show(job)["state"] == "depends", "it does not start")
    site.daemon.stop(signal.SIGKILL)
    site.daemon.start()
    shown = site.done(job)
    staging = shown["staging"]
    expect(staging["sha256"] == sha256, "its checksum is that of the source")
    # None if the worker of the dead daemon, which holds the target's lock, had ended its work meanwhile.
    expect(staging["copied_bytes"] < 12 * MB, f"the second attempt copied at most the rest: {staging['copied_bytes']}")
    site.daemon.wait_for("results", lambda: site.staging(job).get("out_s"))
    out = os.path.join(site.slow, f"out-{job}")
    with open(out, "rb") as copy, open(os.path.join(source, "part/images"), "rb") as data:
        expect(copy.read() == data.read(), "the result is what was staged")
    jobs = os.path.join(site.fast, str(os.getuid()), "jobs")
    site.daemon.wait_for("the job's folder goes", lambda: not os.listdir(jobs))
    return source


def hits_and_eviction(site, first):
    job = site.submit("true", "--stage-in", first)
    expect(site.done(job)["staging"]["copied_bytes"] == 0, "what is there is not copied again")
    for name in ("b", "c"):
        site.done(site.submit("true", "--stage-in", site.data(name, 3 * MB // 2)[0]))
    expect(site.on_tier() == ["a", "b", "c"], f"all have room: {site.on_tier()}")
    holds = site.submit("while [ ! -e go ]; do sleep 0.05; done", "--stage-in", first)
    site.daemon.wait_for("it runs", lambda: site.show(holds)["state"] == "running")
    site.done(site.submit("true", "--stage-in", site.data("d", 2 * MB)[0]))
    expect(site.on_tier() == ["a", "c", "d"], f"b was used least recently: {site.on_tier()}")
    waits = site.submit("true", "--stage-in", site.data("e", 5 * MB)[0])
    site.daemon.wait_for("no room", lambda: "has no room" in site.why(waits))
    expect("a" in site.on_tier(), "data of a running job stays")
    open(os.path.join(site.folder, "go"), "w").close()
    site.done(waits)
    expect("a" not in site.on_tier() and "e" in site.on_tier(), f"it had to go: {site.on_tier()}")


def bad_input(site):
    missing = site.submit("true", "--stage-in", os.path.join(site.slow, "none"))
    detail = site.done(missing, "never_runs")["detail"]
    expect("none: No such file" in detail, f"named: {detail}")
    large = os.path.join(site.slow, "large")
    with open(large, "wb") as out:
        out.truncate(21 * MB)
    detail = site.done(site.submit("true", "--stage-in", large), "never_runs")["detail"]
    expect("the fast tier fast holds" in detail, f"named: {detail}")
    leaves = site.make("slow/leaves")
    os.symlink("/etc/passwd", os.path.join(leaves, "link"))
    detail = site.done(site.submit("true", "--stage-in", leaves), "never_runs")["detail"]
    expect("symbolic link that leaves" in detail, f"named: {detail}")
    refused = site.daemon.goban_run("submit", "--stage-in", "../x", "--wrap", "true")
    expect(refused.returncode != 0 and ".." in refused.stderr, f"refused: {refused.stderr}")
    for path in ("/a\0b", "/a\nb", "/a/../b"):
        status, reply = site.daemon.request("POST", "/v1/jobs", {"script": "#!/bin/sh\n", "stage_in": [path]})
        expect(status == 400 and "stage_in" in json.dumps(reply), f"{path!r}: {status} {reply}")


def changing_source(site):
    path = os.path.join(site.slow, "growing")
    with open(path, "wb") as out:
        out.write(b"x" * (12 * MB))
    job = site.submit("cmp $GOBAN_STAGE_IN " + path, "--stage-in", path)
    site.daemon.wait_for("copying", lambda: site.staging(job).get("done_bytes", 0) > MB)
    with open(path, "ab") as out:
        out.write(b"y")
    site.daemon.wait_for("the change is named", lambda: "growing changed while it was copied" in site.why(job))
    site.done(job)


def failing_results(site):
    blocked = os.path.join(site.slow, "blocked")
    open(blocked, "w").close()
    job = site.submit("echo weights > $GOBAN_FAST/model; exit 3", "--stage-out", f"model:{blocked}/model",
                      "--stage-out-on", "always")
    site.done(job, "failed")
    site.daemon.wait_for("the failure is shown", lambda: "Not a directory" in site.staging(job).get("problem", ""))
    expect("nothing is deleted" in site.why(job), f"explained: {site.why(job)}")
    os.remove(blocked)
    os.makedirs(blocked)
    site.daemon.wait_for("it is tried again", lambda: site.staging(job).get("out_s"))
    with open(os.path.join(blocked, "model")) as model:
        expect(model.read() == "weights\n", "the result arrived")


def removed_while_waiting(site):
    """The data of a job that waits for GPUs goes: it is staged again before the job starts."""
    source, _ = site.data("gone", MB)
    run = site.daemon.goban_run("submit", "--parsable", "--gpus", "2", "--wrap", "while [ ! -e next ]; do sleep 0.05; done")
    holds = run.stdout.strip()
    run = site.daemon.goban_run("submit", "--parsable", "--gpus", "2", "--stage-in", source, "--wrap",
                                f"cmp $GOBAN_STAGE_IN/part/images {source}/part/images")
    waits = run.stdout.strip()
    site.daemon.wait_for("its data is ready", lambda: site.staging(waits).get("state") == "ready")
    place = site.staging(waits)["places"][0]["path"]
    shutil.rmtree(place)
    time.sleep(5.5)  # what was copied a moment ago is not looked for
    open(os.path.join(site.folder, "next"), "w").close()
    site.done(holds)
    shown = site.done(waits)
    expect(shown["runs"] == 1, f"it started once: {shown['runs']}")
    expect(os.path.isdir(place), "the data is there again")


def giving_up(site):
    """A job that did not write its results, and one that waits for them."""
    job = site.submit("true", "--stage-out", "none:" + os.path.join(site.slow, "none"))
    after = site.submit("true", "--dependency", f"afterok:{job}")
    site.done(job)
    site.daemon.wait_for("named", lambda: "none: No such file" in site.staging(job).get("problem", ""))
    expect(site.show(after)["state"] == "depends", "the other job waits for the results")
    gone = site.daemon.goban_run("cancel", "--results", job)
    expect(gone.stdout == f"gave up the results of {job}\n", f"{gone.stdout}{gone.stderr}")
    site.done(after)
    staging = site.staging(job)
    expect(staging["given_up"] and staging["problem"].startswith("given up by "), f"shown: {staging}")
    expect(site.show(job)["result"] == "completed", "the job itself completed")
    again = site.daemon.goban_run("cancel", "--results", job)
    expect(again.returncode == 1 and "no results" in again.stderr, f"nothing is left: {again.stderr}")
    copying = site.submit("true", "--stage-in", site.data("stopped", 8 * MB)[0])
    site.daemon.wait_for("copying", lambda: site.staging(copying).get("done_bytes", 0) > MB)
    site.daemon.goban_run("cancel", copying)
    jobs = os.path.join(site.fast, str(os.getuid()), "jobs")
    site.daemon.wait_for("no folder of a cancelled job stays", lambda: not os.listdir(jobs))


def submit_as(user, socket, body):
    """Status and reply of a submission by a process with the rights of this user."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
        connection = Connection(socket)
        connection.request("POST", "/v1/jobs", json.dumps(body))
        reply = connection.getresponse()
        os.write(write, json.dumps([reply.status, json.loads(reply.read())]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        status, reply = json.loads(answer.read())
    os.waitpid(child, 0)
    return status, reply


def rights_of_the_owner(goban):
    """A file that only root can read is not read for another user, and copies belong to that user."""
    if os.getuid() != 0:
        return
    site = Site(goban)
    socket = os.path.join(site.folder, "for-all.sock")
    with open(site.daemon.config, "a") as out:
        out.write(f'[service]\nsocket = "{socket}"\nsocket_access = "everybody"\n')
    site.daemon.connect = lambda: Connection(socket)
    site.daemon.environment["GOBAN_SOCKET"] = socket
    user = pwd.getpwnam("nobody")
    secret = os.path.join(site.slow, "secret")
    with open(secret, "w") as out:
        out.write("of root")
    os.chmod(secret, 0o600)
    body = {"script": "#!/bin/sh\n", "num_gpus": 1, "work_folder": "/tmp", "stdout_path": "/dev/null", "stage_in": [secret]}
    with site.daemon:
        status, reply = submit_as(user, socket, body)
        expect(status in (200, 201), f"submitted: {reply}")
        detail = site.done(reply["job"], "never_runs")["detail"]
        expect("secret: Permission denied" in detail, f"root's file is not read: {detail}")
        os.chmod(secret, 0o644)
        place = site.done(submit_as(user, socket, body)[1]["job"])["staging"]["places"][0]["path"]
        expect(os.stat(place).st_uid == user.pw_uid, "the copy is the user's")
        for folder in (os.path.dirname(place), os.path.join(site.fast, str(user.pw_uid))):
            expect(os.stat(folder).st_uid == user.pw_uid, f"so is {folder}")


def gateway(goban):
    """A command that notes the name of the gateway stands for ssh."""
    site = Site(goban, 'gateway = "gw1"')
    seen = os.path.join(site.folder, "seen")
    words = ["/bin/sh", "-c", 'echo "$0" >> "$1"; shift; exec "$@"', "{node}", seen, os.path.abspath(goban)]
    with open(site.daemon.config, "a") as out:
        out.write(f"gateway_command = {json.dumps(words)}\n")
    with site.daemon:
        site.done(site.submit("cat $GOBAN_STAGE_IN/labels", "--stage-in", site.data("a", MB)[0]))
        with open(seen) as lines:
            expect(set(lines.read().split()) == {"gw1"}, "it was copied through the gateway's command")


def main():
    goban = sys.argv[1]
    begin = time.monotonic()
    site = Site(goban)
    with site.daemon:
        first = kill_and_resume(site)
        hits_and_eviction(site, first)
        shutil.rmtree(first)
        bad_input(site)
        changing_source(site)
        failing_results(site)
        removed_while_waiting(site)
        giving_up(site)
    rights_of_the_owner(goban)
    gateway(goban)
    print(f"staged, killed, resumed, evicted: {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
