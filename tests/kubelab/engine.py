"""The Kubernetes engine on a real control plane: gangs start whole and where they were told to, by index; pods of others are seen and
kept out of the way; jobs end from either side; nodes die; a daemon that is killed finds everything again.

    engine.py ENGINE_CHECK GOBAN     (77 without Go and without a build of Kubernetes)
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from devices import by_claims
from kube_site import ANY_VERSION, VERSION, ApiError, KubeSite, build, skip_where_missing
from fixture import PODS, pod
from live_daemon import expect
from loopback_site import documented

JOBS = "/apis/batch/v1/namespaces/default/jobs"


class Daemon:
    """An engine and what it told."""

    def __init__(self, program, site, table='mode = "all"', epoch=1, recall=(), state="state/1"):
        os.makedirs(site.path(state), exist_ok=True)
        self.process = subprocess.Popen([program, site.path("account.kubeconfig"), table + ANY_VERSION, str(epoch), site.path(state)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.events, self.jobs, self.nodes, self.site = [], {}, {}, site
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.order(do="recall", known=list(recall))

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            with self.changed:
                self.events.append(event)
                if event["event"] == "seen":
                    self.jobs[event["id"]] = event
                elif event["event"] == "gone":
                    self.jobs.pop(event["id"], None)
                elif event["event"] == "cluster":
                    self.nodes = {node["name"]: node for node in event["nodes"]}
                self.changed.notify_all()

    def order(self, **words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def wait(self, what, done, seconds=90):
        with self.changed:
            if not self.changed.wait_for(done, seconds):
                raise AssertionError(f"{what}: not within {seconds} s; last events: {json.dumps(self.events[-6:], indent=1)}")
        return done()

    def report(self, kind, job, run=1, seconds=90):
        return self.wait(f"{kind} of {job}.{run}", lambda: next(
            (e for e in self.events if e["event"] == kind and (e["job"], e["run"]) == (job, run)), None), seconds)

    def seen(self, name, ready=True, **fields):
        """A job by its name; `ready`: it can be started."""
        def found():
            return next((j for j in self.jobs.values() if j["spec"].get("name") == name and (not ready or not j.get("blocked")) and
                         all(j.get(k) == v for k, v in fields.items())), None)
        return self.wait(f"{name} {fields}", found)

    def launch(self, name, job, *parts, run=1, **words):
        seen = self.seen(name)
        self.order(do="launch", id=seen["id"], job=job, run=run, parts=[{"node": n, "gpus": g} for n, g in parts], **words)
        return seen["id"]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def job(name, count, gpus=1, run_s=None, retries=0, hasty=False, **labels):
    """`hasty`: its pods are evicted a second after their node seems dead, which a busy machine makes any node seem."""
    made = pod("x", gpus, run_s=run_s, scheduler="goban", **labels)
    del made["metadata"]["name"]
    if hasty:
        made["spec"]["tolerations"] = [{"key": f"node.kubernetes.io/{why}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
                                       for why in ("not-ready", "unreachable")]
    return {"metadata": {"name": name}, "spec": {"completionMode": "Indexed", "completions": count, "parallelism": count,
                                                 "backoffLimit": retries, "template": made}}


def placed(site, name):
    """(index, node, GPUs, run) of a Job's pods that have not ended."""
    pods = [p for p in site.pods(selector=f"job-name={name}") if p["status"]["phase"] in ("Pending", "Running")]
    return sorted((int(p["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]), p["spec"].get("nodeName"),
                   p["metadata"]["annotations"].get("goban.dev/gpus"), p["metadata"]["annotations"].get("goban.dev/run")) for p in pods)


def gone(site, path):
    try:
        site.get(path)
        return False
    except ApiError as error:
        return error.status == 404


def a_gang_by_index(site, d):
    d.wait("the nodes", lambda: len(d.nodes) == 4 and all(n["gpus"] == 4 for n in d.nodes.values()))
    site.post(JOBS, job("gang", 3, gpus=2, run_s=1.5))
    seen = d.seen("gang")
    expect(seen["spec"]["num_gpus"] == 6 and seen["spec"]["instances"] == 3, str(seen))
    expect(all(node is None for _, node, _, _ in placed(site, "gang")), "nothing starts by itself")
    d.launch("gang", 1, ("n3", [1, 3]), ("n1", [0, 1, 2, 3]))
    d.report("started", 1)
    expect(placed(site, "gang") == [(0, "n3", "1,3", "goban:1.1.1"), (1, "n1", "0,1", "goban:1.1.1"), (2, "n1", "2,3", "goban:1.1.1")],
           str(placed(site, "gang")))
    ended = d.report("ended", 1)
    expect(ended["exit_code"] == 0, str(ended))
    d.wait("the end", lambda: any(e["event"] == "gone" and e["id"] == seen["id"] for e in d.events))


def not_whole(site, d):
    """Pods that do not fit are refused by the kubelet: nothing of the gang stays, and it waits again."""
    site.post(PODS, pod("in-the-way", gpus=3, node="n2"))
    d.seen("in-the-way", running=True)
    site.post(JOBS, job("split", 2, gpus=2, retries=4))
    d.launch("split", 2, ("n3", [0, 1]), ("n2", [0, 1]))
    declined = d.report("declined", 2)
    expect("n2" in declined["detail"] or "pods have a node" in declined["detail"], str(declined))
    expect(not any(e["event"] == "started" and e["job"] == 2 for e in d.events), "it never started")
    d.launch("split", 2, ("n3", [0, 1]), ("n4", [2, 3]), run=2)
    d.report("started", 2, 2)
    expect([p[1:3] for p in placed(site, "split")] == [("n3", "0,1"), ("n4", "2,3")], str(placed(site, "split")))


def unmanaged(site, d):
    others = d.seen("in-the-way", running=True)
    expect(not others.get("managed") and len(others["parts"][0]["gpus"]) == 3, str(others))
    site.delete(f"{PODS}/in-the-way")
    d.wait("its end", lambda: others["id"] not in d.jobs)


def preempted(site, d):
    d.order(do="stop", job=2, run=2, reason="preempt")
    d.report("ended", 2, 2)
    d.launch("split", 2, ("n1", [0, 1, 2, 3]), run=3)
    d.report("started", 2, 3)
    expect([p[1:] for p in placed(site, "split")] == [("n1", "0,1", "goban:1.2.3"), ("n1", "2,3", "goban:1.2.3")], str(placed(site, "split")))


def cancelled(site, d):
    d.order(do="stop", job=2, run=3, reason="cancel")
    d.report("ended", 2, 3)
    site.wait_for("the Job's end", lambda: gone(site, f"{JOBS}/split"))
    site.post(JOBS, job("theirs", 2))
    d.launch("theirs", 3, ("n1", [0, 1]))
    d.report("started", 3)
    site.delete(f"{JOBS}/theirs?propagationPolicy=Background")
    ended = d.report("ended", 3)
    expect(ended["signal"] == 15 and ended.get("cancelled"), str(ended))
    site.post(PODS, pod("single", scheduler="goban"))
    single = d.seen("single")
    d.order(do="withdraw", id=single["id"])
    d.wait("its end", lambda: single["id"] not in d.jobs)
    expect(gone(site, f"{PODS}/single"), "withdrawn")


def events(site):
    """(reason, object, message, count) of those that are there, as kubectl shows them."""
    said = json.loads(site.kubectl("get", "events", "-o", "json", "--field-selector", "source=goban").stdout)["items"]
    return [(each["reason"], f"{each['involvedObject']['kind']}/{each['involvedObject']['name']}", each["message"], each["count"])
            for each in sorted(said, key=lambda each: each["lastTimestamp"])]


def told(site, d):
    """One Event for a gang, however many pods it has; none for another place of it within a minute."""
    site.wait_for("the Events", lambda: {("Placed", "Job/gang"), ("Preempted", "Job/split"), ("Placed", "Job/theirs")} <=
                  {each[:2] for each in events(site)})
    of_gang = [each for each in events(site) if each[1] == "Job/gang"]
    expect(of_gang == [("Placed", "Job/gang", "3 pods with 6 GPUs on n1, n3", 1)], str(of_gang))
    preempted = [each for each in events(site) if each[0] == "Preempted"]
    expect(preempted == [("Preempted", "Job/split", "ended by Goban; it waits again", 1)], str(preempted))
    shown = site.kubectl("get", "events").stdout
    expect(any(line.split()[1:4] == ["Normal", "Placed", "job/gang"] for line in shown.splitlines()), shown)
    # The API server refuses to bind: one Event for a gang of two.
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/goban-decides"
    rules = site.get(role)["rules"]
    binds = ("auth", "can-i", "create", "pods", "--subresource=binding", "--as=system:serviceaccount:goban:goban")
    site.patch(role, {"rules": [rule for rule in rules if "pods/binding" not in rule["resources"]]})
    site.wait_for("the lost right", lambda: site.kubectl(*binds).stdout.strip() == "no")
    site.post(JOBS, job("refused", 2))
    d.launch("refused", 51, ("n1", [0, 1]))
    d.report("declined", 51)
    failed = site.wait_for("its Event", lambda: [each for each in events(site) if each[0] == "BindFailed"])
    expect(len(failed) == 1 and failed[0][1] == "Job/refused" and "HTTP 403" in failed[0][2], str(failed))
    site.patch(role, {"rules": rules})
    site.wait_for("the right", lambda: site.kubectl(*binds).stdout.strip() == "yes")
    site.delete(f"{JOBS}/refused?propagationPolicy=Background")
    d.wait("its end", lambda: not any(each["spec"].get("name") == "refused" for each in d.jobs.values()))


class Operator(threading.Thread):
    """Stands for those of Kubeflow and JobSet, which cannot be had here: makes the pods of an object, removes them while it is suspended,
    and says when it has succeeded."""

    KINDS = {"MPIJob": ("kubeflow.org", "v1", "mpijobs"), "PyTorchJob": ("kubeflow.org", "v1", "pytorchjobs"),
             "JobSet": ("jobset.x-k8s.io", "v1alpha2", "jobsets")}

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.ends = site, threading.Event()
        for kind, (group, version, plural) in self.KINDS.items():
            site.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
                "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, test"}},
                "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                         "versions": [{"name": version, "served": True, "storage": True, "subresources": {"status": {}}, "schema": {
                             "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
            site.wait_for(kind, lambda kind=kind: self.items(kind) is not None)

    def path(self, kind):
        group, version, plural = self.KINDS[kind]
        return f"/apis/{group}/{version}/namespaces/default/{plural}"

    def items(self, kind):
        return self.site.get(self.path(kind))["items"]

    def run(self):
        while not self.ends.wait(0.2):
            with contextlib.suppress(OSError, ApiError):
                for kind in self.KINDS:
                    for item in self.items(kind):
                        self.serve(kind, item)

    def serve(self, kind, item):
        name, spec = item["metadata"]["name"], item["spec"]
        suspended = (spec if kind == "JobSet" else spec.get("runPolicy", {})).get("suspend")
        label = "jobset.sigs.k8s.io/jobset-name" if kind == "JobSet" else "training.kubeflow.org/job-name"
        pods = {p["metadata"]["name"]: p for p in self.site.pods(selector=f"{label}={name}")}
        if pods and all(p["status"]["phase"] == "Succeeded" for p in pods.values()):
            self.site.patch(f"{self.path(kind)}/{name}/status", {"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}})
        elif suspended:
            for each in pods:
                self.site.delete(f"{PODS}/{each}")
        else:
            for each, gpus in spec["pods"].items():
                if each in pods:
                    continue
                made = pod(each, gpus, run_s=spec.get("run_s"), scheduler="goban", **{label: name})
                made["metadata"]["ownerReferences"] = [{"apiVersion": item["apiVersion"], "kind": kind, "name": name, "controller": True,
                                                        "uid": item["metadata"]["uid"]}]
                self.site.post(PODS, made)


def groups(site, d):
    """Gangs of a launcher and workers, of a master and workers, and of a JobSet: whole, preempted and cancelled by their objects."""
    operator = Operator(site)
    operator.start()
    replicas = {"Launcher": {"replicas": 1}, "Worker": {"replicas": 3}}
    site.post(operator.path("MPIJob"), {"apiVersion": "kubeflow.org/v1", "kind": "MPIJob", "metadata": {"name": "mpi"}, "spec": {
        "mpiReplicaSpecs": replicas, "pods": {"mpi-launcher": 0, "mpi-worker-0": 2, "mpi-worker-1": 2, "mpi-worker-2": 2}}})
    seen = d.seen("mpi")
    expect(seen["spec"]["num_gpus"] == 6 and seen["spec"]["instances"] == 3, str(seen))
    d.launch("mpi", 31, ("n1", [0, 1, 2, 3]), ("n4", [1, 2]))
    d.report("started", 31)
    d.order(do="stop", job=31, run=1, reason="preempt")
    d.report("ended", 31)
    d.launch("mpi", 31, ("n2", [0, 1, 2, 3]), ("n3", [0, 1]), run=2)
    d.report("started", 31, 2)
    expect({p["spec"]["nodeName"] for p in site.pods(selector="training.kubeflow.org/job-name=mpi")} == {"n2", "n3"}, "all are elsewhere")
    d.order(do="stop", job=31, run=2, reason="cancel")
    d.report("ended", 31, 2)
    site.wait_for("the MPIJob's end", lambda: gone(site, operator.path("MPIJob") + "/mpi"))
    for number, kind, spec in ((32, "PyTorchJob", {"pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 1}}}),
                               (33, "JobSet", {"replicatedJobs": [{"replicas": 2, "template": {"spec": {"parallelism": 1}}}]})):
        name = kind.lower()
        site.post(operator.path(kind), {"apiVersion": "/".join(operator.KINDS[kind][:2]), "kind": kind, "metadata": {"name": name},
                                        "spec": {**spec, "run_s": 1, "pods": {f"{name}-0": 1, f"{name}-1": 1}}})
        d.launch(name, number, ("n1", [0]), ("n2", [0]))
        d.report("started", number)
        expect(d.report("ended", number)["exit_code"] == 0, f"{kind} has succeeded")
    operator.ends.set()
    operator.join()


def claims(site, d):
    by_claims(site, d, job, JOBS)


def labelled(site, d):
    labels = {"goban.dev/gang": "plain", "goban.dev/gang-size": "3"}
    for index in range(2):
        site.post(PODS, pod(f"plain-{index}", run_s=1, scheduler="goban", **labels))
    waits = d.seen("plain", ready=False)
    site.post(PODS, pod("plain-2", run_s=1, scheduler="goban", **labels))
    d.wait("the last pod", lambda: not d.jobs[waits["id"]].get("blocked"))
    expect("pods exist" in waits.get("blocked", "2 of 3 pods exist"), str(waits))
    d.launch("plain", 4, ("n4", [3]), ("n2", [0, 1]))
    d.report("started", 4)
    expect(d.report("ended", 4)["exit_code"] == 0, "all three ended")
    for index in range(3):
        site.delete(f"{PODS}/plain-{index}")


def pod_groups(site, d):
    """Pods that scheduler-plugins' labels make a gang: of a PodGroup, and of labels alone. One that its controller makes again is not
    started beside the others: all of them are started anew."""
    group, version, plural = "scheduling.x-k8s.io", "v1alpha1", "podgroups"
    site.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, test"}},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "PodGroup", "plural": plural, "singular": "podgroup"},
                 "versions": [{"name": version, "served": True, "storage": True, "schema": {
                     "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    path = f"/apis/{group}/{version}/namespaces/default/{plural}"
    made = pod("x", scheduler="goban", app="grouped", **{f"{group}/pod-group": "grouped"})
    del made["metadata"]["name"], made["spec"]["restartPolicy"]
    site.post("/apis/apps/v1/namespaces/default/replicasets", {"metadata": {"name": "grouped"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "grouped"}}, "template": made}})
    waits = d.seen("grouped", ready=False)
    expect(waits["blocked"] == "its PodGroup grouped is not known", str(waits))
    site.wait_for("the API", lambda: site.get(path)["items"] == [])
    site.post(path, {"apiVersion": f"{group}/{version}", "kind": "PodGroup", "metadata": {"name": "grouped"}, "spec": {"minMember": 3}})
    seen = d.seen("grouped")
    expect(seen["spec"]["num_gpus"] == 3, str(seen))
    d.launch("grouped", 41, ("n1", [0, 1]), ("n2", [0]))
    d.report("started", 41)
    lost = next(p["metadata"] for p in site.pods(selector="app=grouped") if p["spec"]["nodeName"] == "n2")
    site.delete(f"{PODS}/{lost['name']}")
    d.wait("its end", lambda: any(e["event"] in ("ended", "lost") and e["job"] == 41 for e in d.events))
    d.launch("grouped", 41, ("n3", [0, 1, 2]), run=2)
    d.report("started", 41, 2)
    nodes = [p["spec"].get("nodeName") for p in site.pods(selector="app=grouped") if not p["metadata"].get("deletionTimestamp")]
    expect(nodes == ["n3"] * 3, str(nodes))
    site.delete("/apis/apps/v1/namespaces/default/replicasets/grouped?propagationPolicy=Background")
    d.wait("its end", lambda: seen["id"] not in d.jobs)
    site.post(path, {"apiVersion": f"{group}/{version}", "kind": "PodGroup", "metadata": {"name": "duo"}, "spec": {"minMember": 3}})
    for name, count in (("duo-a", 1), ("duo-b", 2)):
        site.post(JOBS, job(name, count, **{f"{group}/pod-group": "duo"}))
    duo = d.seen("duo")
    expect(duo["spec"]["num_gpus"] == 3, str(duo))
    d.launch("duo", 43, ("n1", [0, 1, 2]))
    d.report("started", 43)
    d.order(do="stop", job=43, run=1, reason="cancel")
    d.report("ended", 43)
    site.wait_for("the end of both Jobs", lambda: gone(site, f"{JOBS}/duo-a") and gone(site, f"{JOBS}/duo-b"))
    light = {"pod-group.scheduling.sigs.k8s.io/name": "light", "pod-group.scheduling.sigs.k8s.io/min-available": "2"}
    for index in range(2):
        site.post(PODS, pod(f"light-{index}", run_s=1, scheduler="goban", **light))
    d.launch("light", 42, ("n4", [0, 1]))
    d.report("started", 42)
    expect(d.report("ended", 42)["exit_code"] == 0, "both have ended")
    for index in range(2):
        site.delete(f"{PODS}/light-{index}")


def restart(program, site, first):
    """Killed with a job that runs, one being bound and one that ended meanwhile: each is found as it is."""
    for name in ("runs", "ends", "waits"):
        site.post(JOBS, job(name, 2, run_s=3 if name == "ends" else None, hasty=name == "runs"))
    known = []
    for number, name, node in ((5, "runs", "n1"), (6, "ends", "n2")):
        first.launch(name, number, (node, [0, 1]))
        first.report("started", number)
        known.append({"id": first.seen(name, ready=False)["id"], "job": number, "run": 1, "launched": True,
                      "parts": [{"node": node, "gpus": [0, 1]}]})
    before = placed(site, "runs")
    first.kill()
    site.wait_for("the end of one", lambda: site.get(f"{JOBS}/ends")["status"].get("succeeded") == 2)
    with Daemon(program, site, epoch=2, recall=known) as second:
        for each in known:
            second.order(do="resume", **each)
        second.report("started", 5)
        expect(second.report("ended", 6)["exit_code"] == 0, "it ended while nobody looked")
        second.seen("waits")
        expect(placed(site, "runs") == before, "nothing was touched")
        again = second.seen("runs", running=True)
        expect((again["job"], again["run"]) == (5, 1), str(again))
        # The same order again launches nothing twice.
        second.order(do="launch", id=known[0]["id"], job=5, run=1, parts=known[0]["parts"])
        time.sleep(0.5)
        expect(placed(site, "runs") == before, "nothing was touched")
    return known[0]


def dead_node(program, site, runs):
    """A node that is silent keeps the GPUs of its pods until somebody fences it."""
    with Daemon(program, site, epoch=3, recall=[runs]) as d:
        d.order(do="resume", **runs)
        d.report("started", 5)
        site.silence("n1")
        d.wait("the dead node", lambda: d.nodes.get("n1", {}).get("state") == "drained")
        site.wait_for("the eviction", lambda: all(p["metadata"].get("deletionTimestamp") for p in site.pods(selector="job-name=runs")
                                                  if p["spec"].get("nodeName") == "n1"), 90)
        time.sleep(1)
        expect(runs["id"] in d.jobs and d.jobs[runs["id"]].get("running"), "its GPUs are not free")
        expect(not any(e["event"] in ("lost", "ended") for e in d.events), "nor has it ended")
        d.order(do="fence", node="n2")  # it is not down: nothing happens
        d.order(do="fence", node="n1")
        d.wait("its end", lambda: any(e["event"] in ("lost", "ended", "gone") for e in d.events))
        site.wait_for("no pod on it", lambda: not any(p["spec"].get("nodeName") == "n1" for p in site.pods(selector="job-name=runs")))
        site.speak("n1")
        d.wait("the node's return", lambda: d.nodes["n1"].get("state", "up") == "up")


def silent_cluster(program, site):
    """All nodes are silent: Kubernetes takes its own network for broken and evicts nothing, except perhaps from the first node that it finds
    silent, if pods tolerate that for seconds only. Neither do we; what ran goes on."""
    site.post(JOBS, job("silent", 2))
    site.delete(LEASE)
    with Daemon(program, site, 'mode = "all"\ntakeover = "3s"', epoch=7) as d:
        d.launch("silent", 83, ("n1", [0]), ("n2", [0]))
        d.report("started", 83)
        before = {(p["metadata"]["uid"], p["spec"]["nodeName"]) for p in site.pods(selector="job-name=silent")}
        for name in d.nodes:
            site.silence(name)
        d.wait("that no node is up", lambda: all(node.get("state", "up") != "up" for node in d.nodes.values()))
        states = {name: node["state"] for name, node in d.nodes.items()}
        expect(states == {"n1": "drained", "n2": "drained", "n3": "down", "n4": "down"}, f"what runs is not lost: {states}")
        time.sleep(12)
        pods = site.pods(selector="job-name=silent")
        expect({(p["metadata"]["uid"], p["spec"]["nodeName"]) for p in pods} == before, "the same pods")
        expect(not any(p["metadata"].get("deletionTimestamp") for p in pods), "none is evicted, by nobody")
        expect(d.seen("silent", ready=False).get("running"), "it holds its GPUs")
        for name in d.nodes:
            site.speak(name)
        d.wait("all nodes", lambda: all(node.get("state", "up") == "up" for node in d.nodes.values()))
        time.sleep(2)
        expect({(p["metadata"]["uid"], p["spec"]["nodeName"]) for p in site.pods(selector="job-name=silent")} == before, "it goes on")
        expect(not any(e["event"] in ("lost", "ended", "gone") for e in d.events), str(d.events[-4:]))
        d.order(do="stop", job=83, run=1, reason="cancel")
        d.report("ended", 83)


def unmanaged_node(site, d):
    """A node whose label is removed keeps what runs there, and leaves when that has ended."""
    site.post(PODS, pod("stays", scheduler="goban"))
    d.launch("stays", 52, ("n4", [0]))
    d.report("started", 52)
    managed = {"metadata": {"labels": {"goban.dev/managed": None}}}
    site.patch("/api/v1/nodes/n4", managed)
    d.wait("a drained node", lambda: d.nodes["n4"].get("state") == "drained")
    time.sleep(1)
    expect(site.get(f"{PODS}/stays")["status"]["phase"] == "Running" and d.seen("stays").get("running"), "it goes on")
    site.delete(f"{PODS}/stays")
    d.wait("that the node leaves", lambda: "n4" not in d.nodes)
    managed["metadata"]["labels"]["goban.dev/managed"] = "true"
    site.patch("/api/v1/nodes/n4", managed)
    d.wait("the node", lambda: "n4" in d.nodes)


def late_pods(site, d):
    """Pods that appear while others of their group run are the next job, whatever becomes of these."""
    group = {"pod-group.scheduling.sigs.k8s.io/min-available": "2"}

    def make(kind, index, run_s):
        name = f"{kind}-{index}"
        labels = {**group, "pod-group.scheduling.sigs.k8s.io/name": kind}
        site.post(*((JOBS, job(name, 1, run_s=run_s, **labels)) if kind == "jobs" else (PODS, pod(name, run_s=run_s, scheduler="goban", **labels))))

    def nodes(kind):
        """Of the later ones."""
        return [p["spec"].get("nodeName") for p in site.pods() if p["metadata"]["name"].startswith((f"{kind}-2", f"{kind}-3"))]
    for kind, number in (("late", 53), ("jobs", 55)):
        for index in range(2):
            make(kind, index, 3)
        d.launch(kind, number, ("n1", [0, 1]))
        d.report("started", number)
        time.sleep(1.5)
        for index in (2, 3):
            make(kind, index, 1)
        expect(d.report("ended", number)["exit_code"] == 0, "it has completed")
        d.wait("its end", lambda kind=kind: any(e["event"] == "gone" and e["id"] == f"default/{kind}/pod-group" for e in d.events))
        d.launch(kind, number + 1, ("n2", [0, 1]))
        d.report("started", number + 1)
        expect(nodes(kind) == ["n2", "n2"], f"the next job: {nodes(kind)}")
        expect(d.report("ended", number + 1)["exit_code"] == 0, "it has completed, too")
        for index in range(4):
            site.delete(f"{JOBS if kind == 'jobs' else PODS}/{kind}-{index}?propagationPolicy=Background")


def give_rights(site, goban, mode, *namespaces):
    """The engine runs with the rights of the manifests, which are thereby shown to be enough."""
    words = ["--namespaces", ",".join(namespaces)] if namespaces else []
    text = subprocess.run([goban, "engine", "kubernetes", "manifests", "--mode", mode, *words], capture_output=True, text=True, check=True).stdout
    ran = site.kubectl("apply", "-f", "-", text=text)
    expect(ran.returncode == 0, ran.stderr)
    site.write_kubeconfig("account", site.kubectl("create", "token", "goban", "-n", "goban").stdout.strip())


LEASE = "/apis/coordination.k8s.io/v1/namespaces/goban/leases/goban"


def holder(site):
    return site.get(LEASE)["spec"]["holderIdentity"]


def in_time(program, site):
    """A pod that asks for a day of grace gets what the site gives when it is taken back."""
    made = job("slow", 1)
    made["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 86_400
    site.post(JOBS, made)
    site.delete(LEASE)
    with Daemon(program, site, 'mode = "all"\ngrace = "20s"\ntakeover = "3s"', epoch=4) as d:
        d.launch("slow", 81, ("n2", [0]))
        d.report("started", 81)
        site.silence("n2")  # its kubelet ends nothing
        d.order(do="stop", job=81, run=1, reason="preempt")
        site.wait_for("a shorter grace", lambda: [p["metadata"].get("deletionGracePeriodSeconds") for p in site.pods(selector="job-name=slow")] == [20])
        site.speak("n2")
        d.report("ended", 81)
        d.order(do="withdraw", id=d.seen("slow", ready=False)["id"])
        site.wait_for("the Job's end", lambda: gone(site, f"{JOBS}/slow"))


def sleeps(program, site):
    """A node that sleeps is cordoned, and up to Goban; it is uncordoned when it is ready again. What is placed there waits for it."""
    for command in documented("kubernetes.md", "Sleep"):
        ran = site.kubectl(*command.split()[1:])
        expect(ran.returncode == 0, ran.stderr)
    path = site.path("state/power")
    with open(path, "w") as file:
        file.write(f"#!/bin/sh\necho $1 $2 >>{path}.did\n")
    os.chmod(path, 0o755)

    def did():
        with contextlib.suppress(OSError), open(path + ".did") as file:
            return file.read().split("\n")[:-1]
        return []

    def stand(name):
        node = site.get(f"/api/v1/nodes/{name}")
        return node["spec"].get("unschedulable", False), node["metadata"].get("annotations", {}).get("goban.dev/sleep")
    site.delete(LEASE)
    with Daemon(program, site, f'mode = "all"\nsleep = "{path}"\ntakeover = "3s"', epoch=6) as d:
        d.wait("the nodes", lambda: len(d.nodes) == 4)
        d.order(do="rest", node="n4")
        site.wait_for("the command", lambda: did() == ["sleep n4"])
        expect(stand("n4") == (True, "asleep"), str(stand("n4")))
        site.silence("n4")
        time.sleep(4)  # long enough for its kubelet to notice, too short for the API server
        expect(d.nodes["n4"].get("state", "up") == "up", str(d.nodes))
        site.post(JOBS, job("early", 1))
        d.seen("early")
        d.order(do="wake", node="n4")
        d.launch("early", 82, ("n4", [0]))
        site.wait_for("the command", lambda: did() == ["sleep n4", "wake n4"])
        time.sleep(1)
        expect(stand("n4")[0], "what it said before its sleep does not count")
        site.speak("n4")
        d.report("started", 82)
        site.wait_for("an open node", lambda: stand("n4") == (False, None))
        d.wait("the report that it is awake", lambda: any(e["event"] == "node_up" for e in d.events))
        d.order(do="stop", job=82, run=1, reason="cancel")
        d.report("ended", 82)
    site.delete("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/goban-sleeps")


def shared(program, site):
    """Two on one GPU by decision stay there; the younger is evicted, with the grace of its disruption budget, and the older goes on."""
    labels = {"goban.dev/gpus": "1", "goban.dev/share": "true"}
    site.patch("/api/v1/nodes/n1", {"metadata": {"labels": {"goban.dev/gpus": "4"}}})
    site.delete(LEASE)
    with Daemon(program, site, 'mode = "all"\nindices = "exact"\nsharing = "labelled"\ntakeover = "3s"', epoch=5) as d:
        site.post(JOBS, job("older", 1, gpus=0, **labels))
        made = pod("x", gpus=0, scheduler="goban", app="younger", **labels, **{"goban.dev/gang": "younger", "goban.dev/gang-size": "1"})
        del made["metadata"]["name"], made["spec"]["restartPolicy"]
        site.post("/apis/apps/v1/namespaces/default/replicasets", {"metadata": {"name": "younger"}, "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "younger"}}, "template": made}})
        expect(d.seen("older")["spec"]["training"].get("share") == "yes", str(d.seen("older")))
        d.launch("older", 71, ("n1", [2]))
        d.report("started", 71)
        d.launch("younger", 72, ("n1", [2]), shares=True)
        d.report("started", 72)
        time.sleep(2)
        (older,), (younger,) = site.pods(selector="job-name=older"), site.pods(selector="app=younger")
        notes = [each["metadata"]["annotations"].get("goban.dev/shares") for each in (older, younger)]
        expect(notes == [None, "true"] and not younger["metadata"].get("deletionTimestamp"), f"nobody takes it back: {notes}")
        budget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
        site.post(budget, {"metadata": {"name": "younger"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "younger"}}}})
        site.wait_for("the budget", lambda: site.get(f"{budget}/younger").get("status", {}).get("expectedPods") == 1)
        d.order(do="stop", job=72, run=1, reason="preempt")
        time.sleep(1)
        expect(not gone(site, f"{PODS}/{younger['metadata']['name']}"), "its disruption budget holds")
        site.delete(f"{budget}/younger")
        d.report("ended", 72)
        d.launch("younger", 72, ("n1", [3]), run=2)
        d.report("started", 72, 2)
        expect([p["metadata"]["uid"] for p in site.pods(selector="job-name=older")] == [older["metadata"]["uid"]], "the older one goes on")
    site.delete("/apis/apps/v1/namespaces/default/replicasets/younger?propagationPolicy=Background")
    site.delete(f"{JOBS}/older?propagationPolicy=Background")
    site.wait_for("their ends", lambda: not site.pods(selector="app=younger") and not site.pods(selector="job-name=older"))
    site.patch("/api/v1/nodes/n1", {"metadata": {"labels": {"goban.dev/gpus": None}}})


def two_daemons(program, site):
    """The one that holds the Lease decides; a stand-by takes over what it left, and what both placed on one GPU is undone."""
    for node in ("n1", "n2"):
        site.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"goban.dev/gpus": "4"}}})
    table = 'mode = "all"\nindices = "exact"\ntakeover = "3s"'
    site.delete(LEASE)
    with Daemon(program, site, table, epoch=9, state="state/first") as first:
        site.post(JOBS, job("kept", 2))
        site.post(JOBS, job("half", 2))
        first.launch("kept", 21, ("n1", [0, 1]))
        first.report("started", 21)
        before = holder(site)
        with Daemon(program, site, table, epoch=1, state="state/second") as second:
            time.sleep(4)
            expect(not second.events and holder(site) == before, "a stand-by says nothing")
            os.kill(first.process.pid, signal.SIGSTOP)
            # As if it had died between the two pods of a gang, and had not heard of one on a GPU that it gave away.
            token = site.kubectl("create", "token", "goban", "-n", "goban").stdout.strip()
            site.post(PODS, pod("late", scheduler="goban"))
            one = site.pods(selector="job-name=half")[0]["metadata"]["name"]
            for name, gpu in ((one, "2"), ("late", "1")):
                site.post(f"{PODS}/{name}/binding", token=token, body={
                    "metadata": {"name": name, "annotations": {"goban.dev/gpus": gpu, "goban.dev/run": "goban:9.77.1"}},
                    "target": {"kind": "Node", "name": "n1"}})
            kept = second.seen("kept", running=True)
            expect(holder(site) != before and not kept.get("run"), f"the run of another book is not ours: {kept}")
            second.order(do="resume", id=kept["id"], job=4, run=1, parts=[{"node": "n1", "gpus": [0, 1]}])
            second.report("started", 4)
            site.wait_for("our mark", lambda: [p[3] for p in placed(site, "kept")] == ["goban:10.4.1"] * 2)
            site.wait_for("the end of the younger one", lambda: gone(site, f"{PODS}/late"))
            second.seen("half", running=None)  # it held what it had; now it is whole again, and none of it has a node
            expect([p[1] for p in placed(site, "half")] == [None, None], str(placed(site, "half")))
            os.kill(first.process.pid, signal.SIGCONT)
            first.wait("its end", lambda: any(e["event"] == "shut_out" for e in first.events))
            second.order(do="stall")
            time.sleep(1)
            version = site.get(LEASE)["metadata"]["resourceVersion"]
            time.sleep(1.5)
            expect(site.get(LEASE)["metadata"]["resourceVersion"] == version, "without a commit cycle it is not renewed")
    for name in ("kept", "half"):
        site.delete(f"{JOBS}/{name}?propagationPolicy=Background")
    site.delete(LEASE)
    for node in ("n1", "n2"):
        site.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"goban.dev/gpus": None}}})


def observes(program, site, goban):
    """Nothing is written: the right to read is enough."""
    for binding in ("goban-reads", "goban-decides"):
        site.delete(f"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{binding}")
    give_rights(site, goban, "observe")
    site.post(PODS, pod("other", gpus=2, node="n4"))
    with Daemon(program, site, table='mode = "observe"') as d:
        other = d.seen("other", running=True)
        expect(not other.get("managed") and other["parts"][0]["node"] == "n4", str(other))
        d.order(do="withdraw", id=other["id"])
        time.sleep(1)
        expect(not gone(site, f"{PODS}/other"), "it is still there")
        expect(gone(site, LEASE), "not even a Lease is written")
    site.delete(f"{PODS}/other")


def api_server_killed(site, d):
    site.post(JOBS, job("long", 1, gpus=4))
    long = d.seen("long")["id"]
    d.wait("that the driver's slices are gone", lambda: not d.jobs[long]["spec"].get("exclude_nodes"))
    d.launch("long", 9, ("n3", [0, 1, 2, 3]))
    d.report("started", 9)
    for name in ("kube-apiserver", "etcd"):
        site.restart(name)
    site.post(JOBS, job("after", 1))
    d.seen("after")
    d.order(do="stop", job=9, run=1, reason="cancel")
    d.report("ended", 9)


def main():
    skip_where_missing()
    build()
    program, goban = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with KubeSite() as site:
        give_rights(site, goban, "all")
        first = Daemon(program, site)
        with contextlib.closing(first.process.stdin):
            has_claims = int(VERSION.split(".")[1]) >= 34  # of the version v1, which is what the parts write
            for part in (a_gang_by_index, not_whole, unmanaged, preempted, cancelled, told, labelled, groups, pod_groups,
                         unmanaged_node, late_pods, *((claims,) if has_claims else ()), api_server_killed):
                began = time.monotonic()
                part(site, first)
                print(f"{part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
            runs = restart(program, site, first)
        for part in (lambda: dead_node(program, site, runs), lambda: in_time(program, site), lambda: sleeps(program, site),
                     lambda: silent_cluster(program, site), lambda: shared(program, site),
                     lambda: two_daemons(program, site), lambda: observes(program, site, goban)):
            began = time.monotonic()
            part()
            print(f"{time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
