"""The Kubernetes of our tests: it stands up within 15 s, refuses strangers, its kubelets run pods and refuse what does not fit, a
part that was killed can be started again, and it ends exactly what it started.

    fixture.py     (77 without Go and without a build of it)
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from kube_site import ApiError, KubeSite, build, skip_where_missing
from live_daemon import expect

PODS = "/api/v1/namespaces/default/pods"


def pod(name, gpus=1, node=None, run_s=None, scheduler=None, **labels):
    spec = {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": gpus}}}], "restartPolicy": "Never"}
    if node:
        spec["nodeName"] = node
    if scheduler:
        spec["schedulerName"] = scheduler
    notes = {} if run_s is None else {"kubelab/run-s": str(run_s)}
    return {"metadata": {"name": name, "annotations": notes, "labels": labels}, "spec": spec}


def phase(site, name):
    return site.get(f"{PODS}/{name}")["status"]["phase"]


def main():
    skip_where_missing()
    build()
    began = time.monotonic()
    with KubeSite() as site:
        took = time.monotonic() - began
        expect(took < 60, f"up after {took:.1f} s")
        for user, status in (("mallory", 403), ("nobody", 401)):
            try:
                site.get(PODS, user=user)
                expect(False, f"{user} reads pods")
            except ApiError as error:
                expect(error.status == status, f"{user}: {error}")
        site.post(PODS, pod("ends", run_s=0.2))
        site.wait_for("a pod that ends", lambda: phase(site, "ends") == "Succeeded")
        site.post(PODS, pod("first", gpus=4, node="n1"))
        site.wait_for("a pod that runs", lambda: phase(site, "first") == "Running")
        site.post(PODS, pod("second", gpus=1, node="n1"))
        site.wait_for("the kubelet's refusal", lambda: phase(site, "second") == "Failed")
        expect(site.get(f"{PODS}/second")["status"]["reason"] == "OutOfnvidia.com/gpu", "with its reason")
        site.restart("kube-apiserver")
        expect(phase(site, "first") == "Running", "as before")
        ran = site.kubectl("get", "nodes", "-o", "name")
        expect(ran.stdout.split() == [f"node/n{i + 1}" for i in range(4)], ran.stdout + ran.stderr)
    expect(not site.own_processes() and not os.path.exists(site.folder), "all of it is gone")
    print(f"up after {took:.1f} s")


if __name__ == "__main__":
    main()
