"""goban engine kubernetes manifests on a real API server: everything is accepted; the account may do what its mode needs and nothing
more; a user of pods cannot seize GPUs by annotation or node name, neither directly nor by a template. The commands are those of
docs/kubernetes.md.

    manifests.py GOBAN     (77 without Go and without a build of Kubernetes)
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from kube_site import ApiError, KubeSite, build, program, skip_where_missing
from fixture import PODS, pod
from live_daemon import expect
from loopback_site import documented

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
    site.post(PODS, pod(f"m3{suffix}", scheduler="goban"), **user)  # honest
    attempt("an annotation added later", lambda: site.patch(f"{PODS}/m3{suffix}", with_notes({"metadata": {}}, run="goban:9.9.9"), **user))
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
        for command in documented("kubernetes.md", "And back"):
            shell(site, goban, command)
        refused(lambda: site.get("/api/v1/pods", token=site.account), 401, 403)


def policy_stands(site):
    try:
        site.call("POST", f"{PODS}?dryRun=All", with_notes(pod("probe"), gpus="0"))
        return False
    except ApiError as error:
        return error.status == 422


if __name__ == "__main__":
    main()
