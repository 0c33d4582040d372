"""Daemon, stand-by, API server, etcd, controllers and kubelets are killed or hang in random order while gangs arrive: none is lost,
runs twice or stays in parts, no GPU is given twice, never do two daemons decide at once (record.py), the account is complete, and both
journals replay to equal decisions.

    kills.py GOBAN [--kills N] [--seed S] [--apart]     (77 without Go and without a build of Kubernetes)

The two daemons have a state folder each: the Lease decides which of them decides. --apart gives each a Lease of its own, so that both
decide, which then must be found in the record.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from engine import JOBS, give_rights, job
from kube_site import ApiError, KubeSite, build, skip_where_missing
from live_daemon import Daemon, expect
from record import Record, decided_at_once, given_twice, id_of_token

NODES, GPUS = 4, 4
UNREACHABLE = (OSError, ApiError, http.client.HTTPException)
ACCOUNT = "system:serviceaccount:goban:goban"
PARTS = ("kube-apiserver", "etcd", "kube-controller-manager", "nodes")


class Watch(threading.Thread):
    """Looks at all pods again and again. Each look is of one version of the cluster: what is held twice there is held twice."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.ends, self.wrong, self.looks, self.runs = site, threading.Event(), [], 0, collections.defaultdict(set)

    def run(self):
        while not self.ends.wait(0.2):
            with contextlib.suppress(*UNREACHABLE):
                self.look(self.site.pods())

    def look(self, pods):
        self.looks += 1
        holders = {}
        for pod in pods:
            meta, spec = pod["metadata"], pod["spec"]
            notes = meta.get("annotations", {})
            if not spec.get("nodeName") or pod["status"]["phase"] in ("Succeeded", "Failed"):
                continue
            name = meta["labels"]["job-name"]
            self.runs[name].add(notes.get("goban.dev/run"))
            index = (name, notes["batch.kubernetes.io/job-completion-index"])
            for key in [index] + [(spec["nodeName"], gpu) for gpu in notes.get("goban.dev/gpus", "none").split(",")]:
                if key in holders:
                    self.wrong.append(f"{key}: {holders[key]} and {meta['name']} {notes}")
                holders[key] = meta["name"]


class Kills:
    def __init__(self, site, goban, seed, apart=False):
        self.site, self.goban, self.random = site, goban, random.Random(seed)
        self.daemons, self.names = [], {}  # by the id of the token: the daemon that has it
        for number in range(2):
            token = site.kubectl("create", "token", "goban", "-n", "goban", "--duration=24h").stdout.strip()
            self.names[id_of_token(token)] = f"daemon {number}"
            site.write_kubeconfig(f"account{number}", token)
            lease = f'lease = "goban/apart{number}"\n' if apart else ""
            self.daemons.append(Daemon(goban, f'engine = "kubernetes"\npolicy = "fifo+packed"\n\n[kubernetes]\nmode = "all"\nindices = "exact"\n'
                                              f'kubeconfig = "{site.path(f"account{number}.kubeconfig")}"\ntakeover = "3s"\n{lease}', gpus=0, own_log=True))
        self.submitted, self.counts = [], collections.Counter()

    def submit(self):
        pods, gpus = self.random.choice(((1, 1), (1, 2), (2, 2), (4, 1), (2, 4), (1, 4)))
        name = f"j{len(self.submitted)}"
        try:
            self.site.post(JOBS, job(name, pods, gpus, run_s=self.random.choice((0.5, 1, 2)), retries=100, hasty=True))
            self.submitted.append(name)
        except UNREACHABLE:
            self.counts["submissions_refused"] += 1
            with contextlib.suppress(*UNREACHABLE):  # of unknown outcome
                self.site.delete(f"{JOBS}/{name}?propagationPolicy=Background")

    def ensure(self, daemon):
        """A daemon that was replaced while it hung has ended, and is started again."""
        if daemon.process.poll() is None:
            return
        expect(daemon.process.returncode in (1, -signal.SIGKILL), f"ended with {daemon.process.returncode}")
        self.counts["replaced"] += daemon.process.returncode == 1
        daemon.start()

    def kill(self):
        what = self.random.choice(("daemon", "daemon", "both", "daemon hangs") + PARTS)
        self.counts[what.replace("kube-", "").replace("-", "_").replace(" ", "_")] += 1
        pause = self.random.uniform(0.1, 2)
        daemons = self.random.sample(self.daemons, 2 if what == "both" else 1)
        if what in PARTS:
            self.site.kill(what)
            time.sleep(pause)
            self.site.start(what)
            return
        for daemon in daemons:
            daemon.process.send_signal(signal.SIGSTOP if what == "daemon hangs" else signal.SIGKILL)
        time.sleep(pause * (3 if what == "daemon hangs" else 1))
        for daemon in daemons:
            if what == "daemon hangs":
                daemon.process.send_signal(signal.SIGCONT)
            else:
                daemon.process.wait()
                self.ensure(daemon)

    def wait(self, what, done, seconds=180):
        """Also where a part ends by itself, as it found no API server for too long: it is started again, as a real site does."""
        end = time.monotonic() + seconds
        while True:
            for name, child in list(self.site.children.items()):
                if child.poll() is not None:
                    self.counts["ended_by_itself"] += 1
                    self.site.start(name)
            with contextlib.suppress(*UNREACHABLE):
                if done():
                    return
            if time.monotonic() > end:
                raise RuntimeError(f"{what}: not within {seconds} s")
            time.sleep(0.2)

    def settle(self):
        def over():
            for daemon in self.daemons:
                self.ensure(daemon)
            left = [j["metadata"]["name"] for j in self.site.get(JOBS)["items"] if not any(
                c["type"] == "Complete" and c["status"] == "True" for c in j["status"].get("conditions", ()))]
            self.left = left
            return not left
        # A fake kubelet forgets a pod's end that it could not tell a dead API server; a new one begins its time again.
        self.wait("the API server", self.site.is_ready)
        self.site.kill("nodes")
        self.site.start("nodes")
        try:
            self.wait("the end of all jobs", over)
        except RuntimeError:
            pods = self.site.kubectl("get", "pods", "-o", "wide").stdout
            raise SystemExit(f"not complete: {self.left}\n{pods[-3000:]}") from None

    def account(self):
        """By name, the results that the daemons have for it. A stand-by knows a job as it was when it led last, so each leads
        alone until it has settled what it knows."""
        out = collections.defaultdict(set)
        for daemon in self.daemons:
            for other in self.daemons:
                if other is not daemon:
                    other.stop(signal.SIGKILL)
            self.ensure(daemon)

            def settled():
                status, answer = daemon.request("GET", "/v1/jobs?all=1")
                expect(status == 200, str(answer))
                self.known = [(each["name"], each.get("result")) for each in answer["jobs"]]
                return all(result for _, result in self.known)
            try:
                self.site.wait_for("the account", settled)
            except RuntimeError:
                raise SystemExit(f"not settled: {self.known}") from None
            for name, result in self.known:
                out[name].add(result)
        return out

    def check_record(self, record):
        """By what the API server recorded: no GPU was bound twice at the same time, and never did two daemons decide at once."""
        bounds = record.end()
        with open(self.site.path("log/audit.log"), errors="replace") as log:
            record.bindings.name_daemons(log, self.names)
        self.counts.update(bindings=len(bounds), of_known_daemon=sum(bool(bound.daemon) for bound in bounds),
                           leaders=len({(bound.epoch, bound.daemon) for bound in bounds if bound.daemon}), watch_gaps=record.lists - 2)
        wrong = given_twice(bounds)
        expect(not wrong, f"bound twice: {wrong[:3]}")
        wrong = decided_at_once(bounds)
        expect(not wrong, f"two daemons decided at once: {len(wrong)} of {len(bounds)} bindings; {wrong[:3]}")

    def expect_found(self, record):
        self.site.wait_for("the API server", self.site.is_ready)
        try:
            self.check_record(record)
        except SystemExit as found:
            print(f"found: {found}")
            return self.counts
        raise SystemExit("two daemons decided, and it was not found")

    def check(self, watch, record):
        self.check_record(record)
        watch.ends.set()
        watch.join()
        expect(not watch.wrong, f"held twice: {watch.wrong[:3]}")
        twice = {name: runs for name, runs in watch.runs.items() if len(runs) > 1}
        self.counts["started_again"] = len(twice)
        results = self.account()
        wrong = {name: results[name] for name in self.submitted if results[name] != {"completed"}}
        expect(not wrong, f"listed otherwise: {wrong}")
        for daemon in self.daemons:
            daemon.stop(signal.SIGKILL)
            ran = daemon.goban_run("replay", daemon.state, "--config", daemon.config, "--json")
            expect(ran.returncode == 0, f"replay: {ran.stdout} {ran.stderr}")
            fold = json.loads(ran.stdout)
            expect(fold["other"] == 0 and fold["uncompared"] == 0 and not fold["differences"], ran.stdout)
            self.counts["replayed"] += fold["reproduced"]


def attack(site, goban, options, seed):
    kills = Kills(site, goban, seed, options.apart)
    watch, record = Watch(site), Record(site)
    try:
        for node in range(1, NODES + 1):
            site.patch(f"/api/v1/nodes/n{node}", {"metadata": {"labels": {"goban.dev/gpus": str(GPUS)}}})
        for daemon in kills.daemons:
            daemon.start()
        watch.start()
        record.start()
        for _ in range(4):
            kills.submit()
        for _ in range(options.kills):
            kills.submit()
            kills.kill()
        if options.apart:
            return kills.expect_found(record)
        kills.settle()
        kills.check(watch, record)
    except BaseException:
        for daemon in kills.daemons:
            with open(daemon.log) as log:
                print(log.read()[-3000:], file=sys.stderr)
        raise
    finally:
        for daemon in kills.daemons:
            if daemon.process and daemon.process.poll() is None:
                daemon.stop(signal.SIGKILL)
            shutil.rmtree(daemon.folder, ignore_errors=True)
    return {**kills.counts, "jobs": len(kills.submitted), "looks": watch.looks}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("goban")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--apart", action="store_true", help="each daemon has a Lease of its own")
    options = parser.parse_args()
    skip_where_missing()
    build()
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    goban = os.path.abspath(options.goban)
    with KubeSite(nodes=NODES, gpus=GPUS, scheduler=False, audited=ACCOUNT) as site:
        give_rights(site, goban, "all")
        if options.apart:
            site.patch("/apis/rbac.authorization.k8s.io/v1/namespaces/goban/roles/goban-leads", {"rules": [
                {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "get", "update"]}]})
        counts = attack(site, goban, options, seed)
    counts["seconds"] = round(time.monotonic() - began)
    print("counts: " + " ".join(f"{name}={count}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
