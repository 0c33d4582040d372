"""A real Kubernetes control plane with fake kubelets. Each scenario has nodes, a namespace, a Lease and a daemon of its own, so that all
run side by side: node selectors keep its pods on its nodes."""

import contextlib
import http.client
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kubelab"))

from driver import ClusterDriver, expect, nodes_of
from devices import claiming, publish, templates
from engine import give_rights, gone, job
from fixture import pod
from kube_site import ApiError, KubeSite, build, missing

# Scenarios that do not apply, and why.
LEFT_OUT = {
    "known_jobs_share_a_gpu": "tests/kubelab/engine.py shows sharing by orders; not yet by a policy",
    "what_is_declined_starts_elsewhere": "a Job's controller replaces a pod that the kubelet refused after ten seconds at the earliest; "
                                         "tests/kubelab/engine.py shows the decline",
}
# A gang that waits for several nodes does not keep later jobs back where it may not run on most of the nodes; in the simulator all are its own.
ALONE = {"gangs_start_whole"}
# Here a DRA driver publishes the GPUs, and pods claim them: the same starts, at the same times.
BY_CLAIMS = {"gangs_start_whole", "higher_priority_preempts", "a_requeued_job_waits_again", "a_daemon_that_was_killed_goes_on"}
SCENARIO = "kubelab/scenario"  # label of nodes
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class KubeDriver(ClusterDriver):
    def __init__(self, goban, scenario, site, space, nodes, record):
        super().__init__(goban, scenario, site, nodes)
        self.space, self.record = space, record
        self.pods, self.jobs = f"/api/v1/namespaces/{space}/pods", f"/apis/batch/v1/namespaces/{space}/jobs"

    def config(self):
        return (f'engine = "kubernetes"\npolicy = "{self.scenario.policy}"\n{self.scores()}\n[kubernetes]\nmode = "namespaces"\n'
                f'namespaces = ["{self.space}"]\nindices = "exact"\nkubeconfig = "{self.site.path("account.kubeconfig")}"\n'
                f'lease = "{self.space}/goban"\n'), 0

    def before(self):
        self.wait_for_nodes()

    def index_of(self, gpu):
        node = self.nodes.index(gpu["node"]) if gpu["node"] in self.nodes else -1
        return node * self.scenario.node_gpus + gpu["index"]

    def submit(self, wanted):
        count, gpus = self.shares_of(wanted)
        body = job(wanted.name, count, gpus, run_s=wanted.work_s * self.scale, retries=100, hasty=True, **{"goban.dev/preemptible": "true"})
        spec = body["spec"]["template"]["spec"]
        spec["nodeSelector"] = {SCENARIO: self.space}
        if wanted.priority:
            spec["priorityClassName"] = f"p{wanted.priority}"
        if self.scenario.name in BY_CLAIMS:
            claiming(body, gpus)
        number = self.id_of(self.site.post(self.jobs, body))
        # The Job's controller makes them, after ten seconds if it failed once; a gang queues when its last pod is there.
        self.site.wait_for(f"the pods of {wanted.name}", lambda: len(self.site.get(f"{self.pods}?labelSelector=job-name%3D{wanted.name}")["items"]) >= count)
        return number

    def id_of(self, item):
        return f"{self.space}/{item['metadata']['name']}/{item['metadata']['uid']}"

    def cancel(self, name, where=""):
        if where != "there":
            return super().cancel(name)
        self.site.delete(f"{self.jobs}/{name}?propagationPolicy=Background")

    def lose(self, node):
        """Its GPUs are lost until an operator says that nothing runs there any more; and a Job's controller makes a pod anew after ten
        seconds."""
        name = self.nodes[int(node)]
        lost = [each for each in self.site.get(self.pods)["items"] if each["spec"].get("nodeName") == name]
        self.site.silence(name)
        self.daemon.wait_for("the dead node", lambda: self.state_of(name) != "up", 60)
        ran = self.daemon.goban_run("nodes", "fence", name)
        expect(ran.returncode == 0, ran.stderr)
        self.site.wait_for("pods in place of those", lambda: self.has_others(lost))

    def has_others(self, lost):
        uids = {each["metadata"]["uid"] for each in lost}
        there = [each["metadata"] for each in self.site.get(self.pods)["items"]]
        return {each["metadata"]["labels"]["job-name"] for each in lost} <= {
            meta["labels"].get("job-name") for meta in there if meta["uid"] not in uids and not meta.get("deletionTimestamp")}

    def restore(self, node):
        self.site.speak(self.nodes[int(node)])
        self.daemon.wait_for("the node's return", lambda: self.state_of(self.nodes[int(node)]) == "up", 60)

    def state_of(self, node):
        status, answer = self.daemon.request("GET", "/v1/nodes")
        expect(status == 200, str(answer))
        return next((each["state"] for each in answer["nodes"] if each["node"] == node), "")

    def found(self, name, *gpus):
        """Started by somebody else, who says nothing of indices."""
        node = self.nodes[int(gpus[0]) // self.scenario.node_gpus]
        self.numbers[name] = self.id_of(self.site.post(self.pods, pod(name, gpus=len(gpus), node=node)))
        self.site.wait_for(f"{name} of others", lambda: self.site.get(f"{self.pods}/{name}")["status"]["phase"] == "Running")

    def gone(self, name):
        self.site.delete(f"{self.pods}/{name}")
        self.site.wait_for(f"the end of {name}", lambda: gone(self.site, f"{self.pods}/{name}"))

    def check(self, within_s):
        """Also what the API server has of each run: the nodes and annotations of its pods."""
        worst = super().check(within_s)
        for (name, run), (_, gpus) in self.seen.items():
            bound = self.record.gpus(self.space, name, run)
            there = tuple(sorted(self.index_of({"node": node, "index": index}) for node, index in bound))
            expect(there == gpus, f"{self.scenario.name}: run {run} of {name} is on {gpus}, its pods say {bound}")
        return worst


class Record(threading.Thread):
    """What pods say of their runs, from lists of all of them."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.ends, self.found = site, threading.Event(), {}

    def run(self):
        while not self.ends.wait(0.4):
            with contextlib.suppress(OSError, ApiError, http.client.HTTPException):
                self.look()

    def look(self):
        for each in self.site.get("/api/v1/pods")["items"]:
            meta, node = each["metadata"], each["spec"].get("nodeName")
            notes = meta.get("annotations", {})
            if node and "goban.dev/run" in notes:
                run = int(notes["goban.dev/run"].rpartition(".")[2])
                gpus = {(node, int(gpu)) for gpu in notes["goban.dev/gpus"].split(",")}
                self.found.setdefault((meta["namespace"], meta["labels"]["job-name"], run), set()).update(gpus)

    def gpus(self, space, name, run):
        return sorted(self.found.get((space, name, run), ()))


class KubeConformance:
    missing = staticmethod(missing)
    left_out = LEFT_OUT

    def __init__(self, goban, scenarios):
        self.goban, self.scenarios = goban, scenarios
        self.nodes, count = nodes_of(scenarios)
        self.spaces = {each.name: f"s{index}" for index, each in enumerate(scenarios)}
        self.site = KubeSite(nodes=count, gpus=max(each.node_gpus for each in scenarios), scheduler=False)
        self.record = Record(self.site)

    def __enter__(self):
        build()
        self.site.__enter__()
        try:
            self.prepare()
            return self
        except BaseException:
            self.site.down()
            raise

    def prepare(self):
        for space in self.spaces.values():
            self.site.post("/api/v1/namespaces", {"metadata": {"name": space}})
        give_rights(self.site, self.goban, "namespaces", *self.spaces.values())
        for space in self.spaces.values():  # each daemon has a Lease of its own, which the manifests do not foresee
            self.site.post(f"{RBAC}/namespaces/{space}/roles", {"metadata": {"name": "leads"}, "rules": [
                {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "get", "update"]}]})
            self.site.post(f"{RBAC}/namespaces/{space}/rolebindings", {
                "metadata": {"name": "leads"}, "subjects": [{"kind": "ServiceAccount", "name": "goban", "namespace": "goban"}],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "leads"}})
            self.site.wait_for("the service account of new pods", lambda space=space: not gone(
                self.site, f"/api/v1/namespaces/{space}/serviceaccounts/default"))
        for value in {each.priority for scenario in self.scenarios for each in scenario.jobs.values() if each.priority}:
            self.site.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "metadata": {"name": f"p{value}"}, "value": value, "preemptionPolicy": "Never"})
        for scenario in self.scenarios:
            space, claims = self.spaces[scenario.name], scenario.name in BY_CLAIMS
            if claims:
                templates(self.site, space, *range(1, scenario.node_gpus + 1))
            for node in self.nodes[scenario.name]:
                self.site.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {
                    SCENARIO: space, "goban.dev/gpus": None if claims else str(scenario.node_gpus)}}})
                if claims:
                    publish(self.site, node, scenario.node_gpus)
        self.record.start()

    def stages(self):
        """Only the nodes of a stage are Goban's."""
        alone = [[each] for each in self.scenarios if each.name in ALONE]
        for stage in [[each for each in self.scenarios if each.name not in ALONE], *alone]:
            if not stage:
                continue
            for scenario in self.scenarios:
                for node in self.nodes[scenario.name]:
                    self.site.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"goban.dev/managed": "true" if scenario in stage else None}}})
            yield stage

    def __exit__(self, *_):
        self.record.ends.set()
        self.record.join()
        self.site.down()

    def driver(self, scenario):
        return KubeDriver(self.goban, scenario, self.site, self.spaces[scenario.name], self.nodes[scenario.name], self.record)
