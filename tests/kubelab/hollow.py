"""A real kubelet, on a runtime that runs nothing (kubemark's hollow node): a pod that Goban binds runs there, what the kubelet has no room
for it refuses, which declines the start and closes the node, and what is taken back ends.

    hollow.py ENGINE_CHECK GOBAN     (77 without Go and without a build of Kubernetes)
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from engine import JOBS, Daemon, give_rights, job, placed
from kube_site import KubeSite, build, skip_where_missing
from live_daemon import expect


def containers(site, name):
    """Of the pods of a Job that run: what their kubelet says of their containers."""
    return [status["state"] for p in site.pods(selector=f"job-name={name}") if p["status"]["phase"] == "Running"
            for status in p["status"].get("containerStatuses", ())]


def runs(site, d):
    site.post(JOBS, job("runs", 2, gpus=2))
    d.launch("runs", 1, ("h1", [0, 1, 2, 3]))
    d.report("started", 1)
    expect([p[1:3] for p in placed(site, "runs")] == [("h1", "0,1"), ("h1", "2,3")], str(placed(site, "runs")))
    states = containers(site, "runs")
    expect(len(states) == 2 and all("running" in state for state in states), str(states))


def refused(site, d):
    """More cores than the node has: no book of ours knows that."""
    made = job("thirsty", 2, gpus=1, retries=4)
    made["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "1000"}
    site.post(JOBS, made)
    d.launch("thirsty", 2, ("h2", [0, 1]))
    declined = d.report("declined", 2)
    expect("OutOfcpu" in declined["detail"], str(declined))
    expect(declined.get("parts") == [{"node": "h2"}] or declined["parts"][0]["node"] == "h2" and not declined["parts"][0].get("gpus"),
           f"the node as a whole is left out: {declined}")
    expect(not any(e["event"] in ("started", "ended") and e["job"] == 2 for e in d.events), "it has not run, nor failed")
    d.seen("thirsty")  # it waits again, whole
    d.order(do="withdraw", id=d.seen("thirsty")["id"])


def taken_back(site, d):
    d.order(do="stop", job=1, run=1, reason="preempt")
    d.report("ended", 1)
    d.launch("runs", 1, ("h2", [0, 1, 2, 3]), run=2)
    d.report("started", 1, 2)
    expect({p[1] for p in placed(site, "runs")} == {"h2"}, str(placed(site, "runs")))


def main():
    skip_where_missing()
    build()
    program, goban = (os.path.abspath(word) for word in sys.argv[1:3])
    with KubeSite(nodes=0, scheduler=False) as site:
        for name in ("h1", "h2"):
            site.start_kubelet(name, 4)
        give_rights(site, goban, "all")
        with Daemon(program, site) as d:
            d.wait("the nodes", lambda: {name: node["gpus"] for name, node in d.nodes.items()} == {"h1": 4, "h2": 4})
            for part in (runs, refused, taken_back):
                part(site, d)
                print(f"{part.__name__}: passed", flush=True)


if __name__ == "__main__":
    main()
