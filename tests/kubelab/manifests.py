"""goban engine kubernetes manifests on a real API server: everything is accepted; the account may do what its mode needs and nothing
more; a user of pods cannot seize GPUs by annotation or node name, neither directly nor by a template. The commands are those of
docs/kubernetes.md.

    manifests.py GOBAN     (77 without Go and without a build of Kubernetes)
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from kube_site import ANY_VERSION, ApiError, KubeSite, build, program, skip_where_missing
from fixture import PODS, pod
from live_daemon import Daemon, expect
from loopback_site import documented

HERE = os.path.dirname(os.path.abspath(__file__))
JOBS = "/apis/batch/v1/namespaces/default/jobs"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def refused(call, *status, says=""):
    try:
        call()
    except ApiError as error:
        expect(error.status in status and says in error.body, f"{error}, not {status} {says}")
        return
    expect(False, f"was accepted, not {status} {says}")


def with_notes(body, **notes):
    body["metadata"].setdefault("annotations", {}).update({f"goban.dev/{name}": value for name, value in notes.items()})
    return body


MPI_JOBS = "/apis/kubeflow.org/v1/namespaces/default/mpijobs"


def make_kind(site):
    """MPIJobs, without their operator; users may make them."""
    site.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {"metadata": {"name": "mpijobs.kubeflow.org"}, "spec": {
        "group": "kubeflow.org", "scope": "Namespaced", "names": {"kind": "MPIJob", "plural": "mpijobs", "singular": "mpijob"},
        "versions": [{"name": "v1", "served": True, "storage": True,
                      "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    site.post(f"{RBAC}/clusterroles", {"metadata": {"name": "mpijobs"}, "rules": [
        {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs"], "verbs": ["create", "patch", "get"]}]})
    site.post(f"{RBAC}/namespaces/default/rolebindings", {
        "metadata": {"name": "mpijobs"}, "subjects": [{"kind": "User", "name": "mallory"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "mpijobs"}})
    site.wait_for("the kind", lambda: site.get(MPI_JOBS)["items"] is not None)


def give_more(site):
    """Rights that no role of Kubernetes gives users: of the ways past the policy, none is open even with them."""
    site.post(f"{RBAC}/clusterroles", {"metadata": {"name": "more"}, "rules": [
        {"apiGroups": [""], "resources": ["pods/status", "bindings"], "verbs": ["create", "update", "patch"]}]})
    site.post(f"{RBAC}/namespaces/default/rolebindings", {
        "metadata": {"name": "more"}, "subjects": [{"kind": "User", "name": "mallory"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "more"}})


def mpi_job(name):
    return {"apiVersion": "kubeflow.org/v1", "kind": "MPIJob", "metadata": {"name": name}, "spec": {"runPolicy": {"suspend": True}}}


def hostile_user(site, closed):
    """`closed`: the policy stands; before, everything is accepted."""
    def attempt(what, call):
        if closed:
            refused(call, 422, says="goban")
        else:
            call()
        print(f"{'refused' if closed else 'accepted'}: {what}", flush=True)

    def template(change):
        body = pod("x", scheduler="goban")
        change(body)
        del body["metadata"]["name"]
        name = f"job-{time.monotonic_ns()}"
        return {"metadata": {"name": name}, "spec": {"suspend": True, "template": body}}

    suffix = "b" if closed else "a"
    user = {"user": "mallory"}
    attempt("a pod with GPUs by annotation", lambda: site.post(PODS, with_notes(pod(f"m1{suffix}", scheduler="goban"), gpus="0,1"), **user))
    attempt("a pod of Goban's with a node", lambda: site.post(PODS, pod(f"m2{suffix}", scheduler="goban", node="n1"), **user))
    attempt("a Job whose template has the annotation", lambda: site.post(JOBS, template(lambda b: with_notes(b, gpus="0")), **user))
    attempt("a Job whose template has a node", lambda: site.post(JOBS, template(lambda b: b["spec"].update(nodeName="n1")), **user))
    # Goban lets go on what it has suspended: whoever says so in its place passes a quota in front.
    attempt("an MPIJob that Goban would let go on", lambda: site.post(MPI_JOBS, with_notes(mpi_job(f"mpi{suffix}"), suspended="true"), **user))
    replicas = {"metadata": {"name": f"rs{suffix}"}, "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "x"}},
                                                             "template": with_notes(pod("x", scheduler="goban", app="x"), gpus="0")}}
    del replicas["spec"]["template"]["metadata"]["name"], replicas["spec"]["template"]["spec"]["restartPolicy"]
    by_controller(site, replicas, closed)
    site.post(PODS, pod(f"m3{suffix}", scheduler="goban"), **user)  # honest
    attempt("an annotation added later", lambda: site.patch(f"{PODS}/m3{suffix}", with_notes({"metadata": {}}, run="goban:9.9.9"), **user))
    attempt("an annotation added with a pod's status",
            lambda: site.patch(f"{PODS}/m3{suffix}/status", with_notes({"metadata": {}}, run="goban:9.9.8"), **user))
    site.post(PODS, pod(f"m4{suffix}", scheduler="goban"), **user)
    binding = {"metadata": {"name": f"m4{suffix}"}, "target": {"kind": "Node", "name": "n2"}}
    bindings = PODS.replace("/pods", "/bindings")
    if closed:
        attempt("a binding by the old resource", lambda: site.post(bindings, binding, **user))
    attempt("a binding by the old resource, with GPUs", lambda: site.post(bindings, with_notes(binding, gpus="0,1"), **user))
    site.patch(f"{PODS}/m3{suffix}/status", {"status": {"message": "x"}}, **user)
    if not closed:
        return
    # Goban's own are kept: honest changes pass, others do not.
    ours = site.call("POST", f"{PODS}/m3{suffix}/binding", {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": f"m3{suffix}", "annotations": {"goban.dev/gpus": "3"}},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n2"}}, token=site.account)
    expect(ours["status"] == "Success", str(ours))
    site.patch(f"{PODS}/m3{suffix}", {"metadata": {"labels": {"mine": "x"}}}, **user)
    attempt("an annotation changed", lambda: site.patch(f"{PODS}/m3{suffix}", with_notes({"metadata": {}}, gpus="0"), **user))
    attempt("an annotation removed", lambda: site.patch(f"{PODS}/m3{suffix}", with_notes({"metadata": {}}, gpus=None), **user))
    refused(lambda: site.post(f"{PODS}/m1a/binding", {"target": {"kind": "Node", "name": "n1"}, "metadata": {"name": "m1a"}}, **user), 403)
    site.wait_for("a pod that Goban placed", lambda: site.get(f"{PODS}/m3{suffix}")["status"]["phase"] == "Running")
    site.post(JOBS, {"metadata": {"name": "honest"}, "spec": {"template": {"spec": pod("x")["spec"]}}}, **user)
    site.wait_for("an honest Job", lambda: [p for p in site.pods(selector="job-name=honest") if p["status"]["phase"] == "Running"])


def by_controller(site, replicas, closed):
    """Templates of other controllers are not looked at: their pods are."""
    name = replicas["metadata"]["name"]
    path = "/apis/apps/v1/namespaces/default/replicasets"
    site.post(path, replicas, user="mallory")
    if closed:
        said = site.wait_for("the refusal", lambda: [each["message"] for each in site.get(f"{path}/{name}")["status"].get("conditions", ())])
        expect("goban" in said[0], str(said))
    else:
        site.wait_for("its pod", lambda: site.pods(selector="app=x"))
    site.delete(f"{path}/{name}?propagationPolicy=Background")
    site.wait_for("its end", lambda: not site.pods(selector="app=x"))
    print(f"{'refused' if closed else 'accepted'}: a ReplicaSet whose template has the annotation", flush=True)


def least_rights(site, writes):
    account = {"token": site.account}
    site.get("/api/v1/nodes", **account)
    site.get("/api/v1/pods", **account)
    site.get("/apis/batch/v1/jobs", **account)
    events = "/api/v1/namespaces/default/events"
    event = {"metadata": {"generateName": "goban-"}, "involvedObject": {"kind": "Pod", "namespace": "default", "name": "x"}, "reason": "Placed"}
    refused(lambda: site.get(events, **account), 403)
    if writes:
        made = site.post(events, event, **account)["metadata"]["name"]
        refused(lambda: site.delete(f"{events}/{made}", **account), 403)
        refused(lambda: site.patch(f"{events}/{made}", {"message": "x"}, **account), 403)
    else:
        refused(lambda: site.post(events, event, **account), 403)
    for path in ("/api/v1/secrets", "/api/v1/namespaces/default/configmaps", f"{RBAC}/clusterroles"):
        refused(lambda path=path: site.get(path, **account), 403)
    refused(lambda: site.patch("/api/v1/nodes/n1", {"spec": {"unschedulable": True}}, **account), 403)
    refused(lambda: site.post(PODS, pod("mine"), **account), 403)
    leases = "/apis/coordination.k8s.io/v1/namespaces/goban/leases"
    refused(lambda: site.get(f"{leases}/other", **account), 403)
    refused(lambda: site.get(leases, **account), 403)
    refused(lambda: site.delete(f"{leases}/goban", **account), 403)
    if writes:
        site.post(leases, {"metadata": {"name": "goban"}, "spec": {"holderIdentity": "x"}}, **account)
        site.call("PUT", f"{leases}/goban", site.get(f"{leases}/goban", **account), **account)
        refused(lambda: site.post(leases.replace("/goban/", "/default/"), {"metadata": {"name": "goban"}}, **account), 403)
    else:
        refused(lambda: site.post(leases, {"metadata": {"name": "goban"}}, **account), 403)
    if not writes:
        site.post(PODS, pod("target", scheduler="goban"))
        binding = {"metadata": {"name": "target"}, "target": {"kind": "Node", "name": "n1"}}
        refused(lambda: site.post(f"{PODS}/target/binding", binding, **account), 403)
        refused(lambda: site.delete(f"{PODS}/target", **account), 403)
        refused(lambda: site.patch(f"{PODS}/target", {"metadata": {"labels": {"a": "b"}}}, **account), 403)


def shell(site, goban, command):
    """As the reader of the page runs it, with kubectl of the control plane's own version."""
    ran = subprocess.run(["bash", "-c", f'set -o pipefail; goban() {{ "{goban}" "$@"; }}; kubectl() {{ "{program()}" kubectl "$@"; }}; {command}'],
                         env=site.environment, capture_output=True, text=True)
    expect(ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}")
    return ran.stdout


def main():
    skip_where_missing()
    build()
    goban = os.path.abspath(sys.argv[1])
    with KubeSite(scheduler=True) as site:
        site.post(f"{RBAC}/namespaces/default/rolebindings", {
            "metadata": {"name": "mallory"}, "subjects": [{"kind": "User", "name": "mallory"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}})
        make_kind(site)
        give_more(site)
        hostile_user(site, closed=False)
        for command in documented("kubernetes.md", "See what it would do"):
            shell(site, goban, command)
        site.account = site.kubectl("create", "token", "goban", "-n", "goban").stdout.strip()
        least_rights(site, writes=False)
        for command in documented("kubernetes.md", "Let it decide"):
            shell(site, goban, command)
        site.wait_for("the policy", lambda: policy_stands(site))
        hostile_user(site, closed=True)
        least_rights(site, writes=True)
        image = shell(site, goban, "goban engine kubernetes manifests --mode all --image registry.example/goban:1 --watchdog registry.example/kube-scheduler:1 | "
                                   "kubectl apply --dry-run=server -f -")
        for name in ("goban", "goban-watchdog"):
            expect(f"deployment.apps/{name} created (server dry run)" in image, image)
        agents = shell(site, goban, "goban engine kubernetes manifests --mode all --image registry.example/goban:1 --agents | "
                                    "kubectl apply --dry-run=server -f -")
        for name in ("daemonset.apps/goban-agent", "serviceaccount/goban-agent", "service/goban"):
            expect(f"{name} created (server dry run)" in agents, agents)
        kustomized(site, goban)
        scored(site, goban)
        for command in documented("kubernetes.md", "Return to kube-scheduler"):
            shell(site, goban, command)
        refused(lambda: site.get("/api/v1/pods", token=site.account), 401, 403)


def scored(site, goban):
    """The page's commands put scores into a ConfigMap; the Deployment's daemon gets them, and takes them."""
    folder = site.path("state/scores")
    os.mkdir(folder)
    with open(f"{folder}/scores.csv", "w") as file:
        file.write("GPU_ID,PerfVar_classA\n" + "".join(f"{gpu},{2.0 if gpu < 12 else 1.0}\n" for gpu in range(16)))
    commands = documented("kubernetes.md", "Scores of GPUs")
    for command in commands[:2]:
        shell(site, goban, f"cd {folder}; {command}")
    said = shell(site, goban, commands[2].replace("IMAGE", "registry.example/goban:1").replace("apply -f", "apply --dry-run=server -f"))
    expect("deployment.apps/goban created (server dry run)" in said, said)
    text = shell(site, goban, "goban engine kubernetes manifests --mode all --image registry.example/goban:1 --scores")
    config = textwrap.dedent(text[text.index("goban.toml: |\n") + len("goban.toml: |\n"):text.index("---\napiVersion: v1\nkind: PersistentVolumeClaim")])
    made = site.get("/api/v1/namespaces/goban/configmaps/goban-scores")["data"]
    for name, content in made.items():
        with open(f"{folder}/mounted-{name}", "w") as file:
            file.write(content)
    site.write_kubeconfig("account", site.account)
    keys = config.replace("/etc/goban-scores/", f"{folder}/mounted-").replace(
        "[kubernetes]", f'policy = "fifo+pal"\n[kubernetes]\nkubeconfig = "{site.path("account.kubeconfig")}"\nindices = "exact"')
    def emptied():
        site.delete(f"{JOBS}?propagationPolicy=Background")
        site.delete(f"{PODS}?gracePeriodSeconds=0")
        return not site.pods()
    site.wait_for("empty nodes", emptied)
    for node in range(1, 5):
        site.patch(f"/api/v1/nodes/n{node}", {"metadata": {"labels": {"goban.dev/gpus": "4"}}})
    site.delete("/apis/coordination.k8s.io/v1/namespaces/goban/leases/goban")
    daemon = Daemon(goban, keys + ANY_VERSION, gpus=0, own_log=True)
    try:
        daemon.start()
        site.post(PODS, pod("scored", gpus=0, scheduler="goban", **{"goban.dev/gpus": "4", "goban.dev/class": "A"}))
        node = site.wait_for("its node", lambda: site.get(f"{PODS}/scored")["spec"].get("nodeName"))
        expect(node == "n4", f"{node}: its GPUs are the fast ones")
    finally:
        daemon.stop(9)
        shutil.rmtree(daemon.folder, ignore_errors=True)


def kustomized(site, goban):
    """The example's changes arrive, and the API server takes the result."""
    folder = site.path("state/kustomize")
    shutil.copytree(os.path.join(HERE, "../../examples/kubernetes"), folder)
    shell(site, goban, f"goban engine kubernetes manifests --mode all --image goban >{folder}/goban.yaml")
    said = json.loads(shell(site, goban, f"kubectl apply -k {folder} --dry-run=server -o json"))
    made = {(item["kind"], item["metadata"]["name"]): item for item in said["items"]}
    deployment, claim = made["Deployment", "goban"], made["PersistentVolumeClaim", "goban"]
    expect(deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/goban:1", str(deployment))
    expect(claim["spec"]["storageClassName"] == "shared", str(claim))


def policy_stands(site):
    try:
        site.call("POST", f"{PODS}?dryRun=All", with_notes(pod("probe"), gpus="0"))
        return False
    except ApiError as error:
        return error.status == 422


if __name__ == "__main__":
    main()
