"""Dynamic resource allocation on a real control plane: slices made by hand, as a driver publishes them, and pods that claim devices.
Parts of engine.py, and what tests/engines/kube_driver.py needs of it."""

import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from fixture import PODS, pod
from kube_site import ApiError
from live_daemon import expect

API, BEFORE = "/apis/resource.k8s.io/v1", "/apis/resource.k8s.io/v1beta1"
DRIVER = "gpu.nvidia.com"


def publish(site, node, gpus):
    """The devices of a node, and the class of the driver."""
    with contextlib.suppress(ApiError):  # it exists
        site.post(f"{API}/deviceclasses", {"metadata": {"name": DRIVER}, "spec": {
            "selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]}})
    site.post(f"{API}/resourceslices", {"metadata": {"name": f"{node}-{DRIVER}"}, "spec": {
        "driver": DRIVER, "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{i}", "attributes": {"type": {"string": "gpu"}, "productName": {"string": "Lab-GPU"}},
                     "capacity": {"memory": {"value": "80Gi"}}} for i in range(gpus)]}})


def request(count):
    return {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": count}}]}}


def templates(site, space, *counts):
    for count in counts:
        site.post(f"{API}/namespaces/{space}/resourceclaimtemplates", {"metadata": {"name": f"gpus-{count}"}, "spec": {"spec": request(count)}})


def claiming(body, count=0, claim=None):
    """The pod, or the template of the Job, claims its GPUs instead of requesting them of a device plug-in."""
    spec = (body["spec"]["template"] if "template" in body["spec"] else body)["spec"]
    spec["resourceClaims"] = [{"name": "gpus", **({"resourceClaimName": claim} if claim else {"resourceClaimTemplateName": f"gpus-{count}"})}]
    spec["containers"][0]["resources"] = {"claims": [{"name": "gpus"}]}
    return body


def allocated(site, name, api=API, space="default"):
    """What a claim has: [(node's pool, device)], [pods' names]; None: nothing."""
    status = site.get(f"{api}/namespaces/{space}/resourceclaims/{name}").get("status", {})
    if "allocation" not in status:
        return None
    return ([(each["pool"], each["device"]) for each in status["allocation"]["devices"]["results"]],
            [each["name"] for each in status.get("reservedFor", ())])


def devices_of(site, selector, space="default"):
    """By the pods' names, what their claims have."""
    out = {}
    for each in site.pods(space, selector):
        for status in each["status"].get("resourceClaimStatuses", ()):
            devices, users = allocated(site, status["resourceClaimName"], space=space) or ([], [])
            expect(not devices or users == [each["metadata"]["name"]], f"{each['metadata']['name']}: {users}")
            out[each["metadata"]["name"]] = devices
    return out


def sorted_devices(site, name):
    """Of a Job's pods, by their indices."""
    found = devices_of(site, f"job-name={name}")
    pods = sorted(site.pods(selector=f"job-name={name}"), key=lambda p: int(p["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]))
    return [found.get(p["metadata"]["name"]) for p in pods]


def by_claims(site, d, job, jobs):
    """A gang whose pods claim devices starts with exactly those of the decision, and starts again elsewhere; what others have is seen."""
    for node in ("n3", "n4"):
        publish(site, node, 4)
    templates(site, "default", 1, 2)
    d.wait("the slices", lambda: all(d.nodes[node].get("gpu_mem_bytes") == 80 << 30 for node in ("n3", "n4")))
    theirs = claiming(pod("claims-theirs"), 1)
    theirs["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n3"}
    site.post(PODS, theirs)  # by kube-scheduler
    d.seen("claims-theirs", running=True)
    ((_, device),) = devices_of(site, "")["claims-theirs"]
    # Until its claim is seen, too, nobody knows which GPU it holds.
    d.wait("its device", lambda: len(d.seen("claims-theirs", running=True)["parts"][0]["gpus"]) == 1)
    seen = d.seen("claims-theirs", running=True)
    expect(not seen.get("managed") and seen["parts"][0]["gpus"] == [int(device.removeprefix("gpu-"))], f"{seen} {device}")
    free = [i for i in range(4) if f"gpu-{i}" != device]
    site.post(jobs, claiming(job("claims", 3), 2))
    seen = d.seen("claims")
    expect(seen["spec"]["num_gpus"] == 6 and seen["spec"]["exclude_nodes"] == ["n1", "n2"], str(seen))
    d.launch("claims", 61, ("n3", [free[2], free[0]]), ("n4", [3, 1, 0, 2]))
    d.report("started", 61)
    expect(sorted_devices(site, "claims") == [[("n3", f"gpu-{free[2]}"), ("n3", f"gpu-{free[0]}")], [("n4", "gpu-3"), ("n4", "gpu-1")],
                                              [("n4", "gpu-0"), ("n4", "gpu-2")]], str(sorted_devices(site, "claims")))
    d.order(do="stop", job=61, run=1, reason="preempt")
    d.report("ended", 61)
    d.launch("claims", 61, ("n4", [0, 1, 2, 3]), ("n3", [free[0], free[1]]), run=2)
    d.report("started", 61, 2)
    expect(sorted_devices(site, "claims")[2] == [("n3", f"gpu-{free[0]}"), ("n3", f"gpu-{free[1]}")], str(sorted_devices(site, "claims")))
    forced(site, d, jobs, free[0])
    site.delete(f"{PODS}/claims-theirs")
    refused_binding(site, d, free[0])
    d.order(do="withdraw", id=d.seen("claims", ready=False)["id"])
    d.wait("its end", lambda: not any(each["spec"].get("name") == "claims" for each in d.jobs.values()))
    kept_claim(site, d)
    older_version(site, d)
    for node in ("n3", "n4"):
        site.delete(f"{API}/resourceslices/{node}-{DRIVER}")
    d.wait("nodes without a driver", lambda: all(each["gpus"] == 4 for each in d.nodes.values()))


def forced(site, d, jobs, gpu):
    """Somebody else allocates a GPU of the gang again, which the API server does not refuse: the gang goes elsewhere, whole."""
    claims = f"{API}/namespaces/default/resourceclaims"
    made = site.post(claims, {"metadata": {"name": "forced"}, "spec": request(1)})
    site.post(PODS, claiming(pod("claims-forced", node="n3"), claim="forced"))
    user = site.get(f"{PODS}/claims-forced")["metadata"]["uid"]
    made["metadata"] = site.patch(f"{claims}/forced", {"metadata": {"finalizers": ["resource.kubernetes.io/delete-protection"]}})["metadata"]
    made["status"] = {"allocation": {"devices": {"results": [{"request": "gpus", "driver": DRIVER, "pool": "n3", "device": f"gpu-{gpu}"}]}},
                      "reservedFor": [{"resource": "pods", "name": "claims-forced", "uid": user}]}
    site.silence("n3")  # its kubelet would see it and end the pod
    site.call("PUT", f"{claims}/forced/status", made)
    site.wait_for("the gang's end", lambda: site.get(f"{jobs}/claims")["spec"].get("suspend"))
    site.speak("n3")
    d.wait("its end", lambda: any(e["event"] in ("lost", "ended") and (e["job"], e["run"]) == (61, 2) for e in d.events))
    d.seen("claims")
    expect(not any(devices_of(site, "job-name=claims").values()), "nothing of it is left")
    site.delete(f"{PODS}/claims-forced")
    site.wait_for("its end", lambda: allocated(site, "forced") is None)
    site.delete(f"{claims}/forced")


def refused_binding(site, d, gpu):
    """Claims that were allocated for a start that failed are free again, and the gang starts as it is told next."""
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/goban-decides"
    rules = site.get(role)["rules"]
    binds = ("auth", "can-i", "create", "pods", "--subresource=binding", "--as=system:serviceaccount:goban:goban")
    site.patch(role, {"rules": [rule for rule in rules if "pods/binding" not in rule["resources"]]})
    site.wait_for("the lost right", lambda: site.kubectl(*binds).stdout.strip() == "no")
    d.launch("claims", 62, ("n4", [0, 1, 2, 3]), ("n3", [gpu, (gpu + 1) % 4]))
    d.report("declined", 62)
    site.wait_for("claims that nobody has", lambda: not any(devices_of(site, "job-name=claims").values()))
    site.patch(role, {"rules": rules})
    site.wait_for("the right", lambda: site.kubectl(*binds).stdout.strip() == "yes")
    d.launch("claims", 62, ("n4", [2, 3, 0, 1]), ("n3", [0, 1]), run=2)
    d.report("started", 62, 2)
    d.order(do="stop", job=62, run=2, reason="preempt")
    d.report("ended", 62, 2)


def kept_claim(site, d):
    """A claim that is not of a template is free when its pod has ended."""
    site.post(f"{API}/namespaces/default/resourceclaims", {"metadata": {"name": "kept"}, "spec": request(2)})
    site.post(PODS, claiming(pod("claims-one", run_s=1, scheduler="goban"), claim="kept"))
    d.launch("claims-one", 63, ("n4", [1, 3]))
    d.report("started", 63)
    expect(allocated(site, "kept") == ([("n4", "gpu-1"), ("n4", "gpu-3")], ["claims-one"]), str(allocated(site, "kept")))
    d.report("ended", 63)
    site.wait_for("a free claim", lambda: allocated(site, "kept") is None)
    site.delete(f"{PODS}/claims-one")
    site.delete(f"{API}/namespaces/default/resourceclaims/kept")


def older_version(site, d):
    """An API server that has v1beta1 only. Its controllers are of v1, and do nothing with claims meanwhile."""
    runtime, site.runtime = site.runtime, "resource.k8s.io/v1=false,resource.k8s.io/v1beta2=false,resource.k8s.io/v1beta1=true"
    site.restart("kube-apiserver")
    wanted = {"name": "gpus", "deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": 1}
    site.post(f"{BEFORE}/namespaces/default/resourceclaims", {"metadata": {"name": "old"}, "spec": {"devices": {"requests": [wanted]}}})
    site.post(PODS, claiming(pod("claims-old", scheduler="goban"), claim="old"))
    d.launch("claims-old", 64, ("n4", [2]))
    d.report("started", 64)
    expect(allocated(site, "old", BEFORE) == ([("n4", "gpu-2")], ["claims-old"]), str(allocated(site, "old", BEFORE)))
    d.order(do="stop", job=64, run=1, reason="cancel")
    d.report("ended", 64)
    site.runtime = runtime
    site.restart("kube-apiserver")
    site.delete(f"{API}/namespaces/default/resourceclaims/old")
