"""Pods bound a second, by Goban's engine and by kube-scheduler, on one control plane in one run, in turns; and from the order to the
last binding for gangs. Requests a bound pod are those that the API server's audit log has of Goban's account, without the Lease. CPU is
that of the API server's process, from the first order to the last binding, and for 20 s in which nothing happens.

    bench.py ENGINE_CHECK GOBAN [PODS]      (prints a table)
"""

import collections
import concurrent.futures
import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from engine import Daemon, give_rights, job, JOBS
from fixture import PODS, pod
from kube_site import KubeSite, build

NODES, GPUS = 64, 8
GANG = 8  # pods
CLEAR_S = 300


def make(site, names, scheduler):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: site.post(PODS, pod(name, scheduler=scheduler, batch="b")), names))


def bound(site):
    return sum("nodeName" in p["spec"] for p in site.pods(selector="batch=b"))


def clear(site):
    """By one request for all, sent again where it was cut off. kubectl sends one for each pod, at the pace of its own limit."""
    def cleared():
        site.delete(f"{PODS}?labelSelector=batch%3Db&gracePeriodSeconds=0")
        return not site.pods(selector="batch=b")
    site.wait_for("no pods", cleared, CLEAR_S)


def cpu_s(site, part="kube-apiserver"):
    ticks = 0
    for process in site.own_processes(part):
        with open(f"/proc/{process}/stat") as stat:
            ticks += sum(int(word) for word in stat.read().rpartition(")")[2].split()[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def timed(site, count, began, cpu_before_s):
    """Pods a second, and CPU milliseconds of the API server for each."""
    while bound(site) < count:
        time.sleep(0.1)
    return count / (time.monotonic() - began), 1000 * (cpu_s(site) - cpu_before_s) / count


def by_kube_scheduler(site, count):
    """It starts when all pods wait for it, so that it is not slowed down by their creation."""
    site.kill("kube-scheduler")
    make(site, [f"k{i}" for i in range(count)], None)
    began = time.monotonic()
    before_s = cpu_s(site)
    site.start("kube-scheduler")
    first = began
    while not bound(site):
        first = time.monotonic()
        time.sleep(0.02)
    rate = timed(site, count, first, before_s)
    clear(site)
    return rate


def by_goban(site, d, count, first_job):
    names = [f"g{i}" for i in range(count)]
    make(site, names, "goban")
    ids = {}
    for name in names:
        ids[name] = d.seen(name)["id"]
    began, before_s = time.monotonic(), cpu_s(site)
    for i, name in enumerate(names):
        d.order(do="launch", id=ids[name], job=first_job + i, run=1,
                parts=[{"node": f"n{i // GPUS % NODES + 1}", "gpus": [i % GPUS]}])
    rate = timed(site, count, began, before_s)
    clear(site)
    d.wait("their ends", lambda: not d.jobs, CLEAR_S)
    return rate


def by_gangs(site, d, count, first_job):
    """As many pods, in gangs by labels, all ordered at once."""
    labels = {"batch": "b", "goban.dev/gang-size": str(GANG)}
    names = [f"group{i}" for i in range(count // GANG)]
    pods = [pod(f"{name}-{k}", scheduler="goban", **labels, **{"goban.dev/gang": name}) for name in names for k in range(GANG)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda made: site.post(PODS, made), pods))
    ids = [d.seen(name)["id"] for name in names]
    began, before_s = time.monotonic(), cpu_s(site)
    for i, each in enumerate(ids):
        d.order(do="launch", id=each, job=first_job + i, run=1, parts=[{"node": f"n{i % NODES + 1}", "gpus": list(range(GPUS))}])
    rate = timed(site, len(pods), began, before_s)
    clear(site)
    d.wait("their ends", lambda: not d.jobs, CLEAR_S)
    return rate


def idle_cpu(site):
    """CPU seconds of the API server a second while nothing happens."""
    before_s, began = cpu_s(site), time.monotonic()
    time.sleep(20)
    return (cpu_s(site) - before_s) / (time.monotonic() - began)


def requests(site, leases=False):
    """Of Goban since the start, by verb and resource; without those for its Lease."""
    counts = collections.Counter()
    with open(site.path("log/audit.log")) as log:
        for line in log:
            event = json.loads(line)
            what = event.get("objectRef", {})
            if leases or what.get("resource") != "leases":
                counts[f"{event['verb']} {what.get('resource')}{'/' + what['subresource'] if 'subresource' in what else ''}"] += 1
    return counts


def gangs(site, d, size, first_job):
    """Seconds from the order to the report that all pods run."""
    spans = []
    for i in range(5):
        name = f"gang{size}-{first_job + i}"
        site.post(JOBS, job(name, size, gpus=GPUS))
        seen = d.seen(name)
        began = time.monotonic()
        d.order(do="launch", id=seen["id"], job=first_job + i, run=1,
                parts=[{"node": f"n{n + 1}", "gpus": list(range(GPUS))} for n in range(size)])
        d.report("started", first_job + i)
        spans.append(time.monotonic() - began)
        d.order(do="stop", job=first_job + i, run=1, reason="cancel")
        d.wait("its end", lambda: seen["id"] not in d.jobs)
    return statistics.median(spans)


def main():
    program, goban = (os.path.abspath(word) for word in sys.argv[1:3])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    build()
    with KubeSite(nodes=NODES, gpus=GPUS, audited="system:serviceaccount:goban:goban") as site:
        give_rights(site, goban, "all")
        without = idle_cpu(site)
        with Daemon(program, site) as d:
            d.wait("the nodes", lambda: len(d.nodes) == NODES)
            time.sleep(2)
            before, began = requests(site, leases=True), time.monotonic()
            print(f"API server, nothing happens: {without:.3f} CPU s a second, with Goban's engine {idle_cpu(site):.3f}")
            sent, took = requests(site, leases=True) - before, time.monotonic() - began
            print(f"requests of Goban's engine while nothing happens: {sum(sent.values()) / took:.2f} a second; {dict(sent)}")
            rates, each = {"goban": [], "goban, gangs": [], "kube-scheduler": []}, []
            for turn in range(3):
                before = requests(site)
                rates["goban"].append(by_goban(site, d, count, 1 + turn * count))
                sent = requests(site) - before
                each.append(sum(sent.values()) / count)
                rates["goban, gangs"].append(by_gangs(site, d, count, 50_000 + turn * count))
                rates["kube-scheduler"].append(by_kube_scheduler(site, count))
            for name, turns in rates.items():
                speeds, costs = zip(*turns)
                print(f"{name}: {statistics.median(speeds):.0f} pods/s ({', '.join(f'{speed:.0f}' for speed in speeds)}), "
                      f"{statistics.median(costs):.1f} CPU ms of the API server a pod ({', '.join(f'{cost:.1f}' for cost in costs)})")
            print(f"requests a bound pod: {statistics.median(each):.2f} ({', '.join(f'{one:.2f}' for one in each)}); last turn {dict(sent)}")
            theirs = statistics.median(speed for speed, _ in rates.pop("kube-scheduler"))
            for name, turns in rates.items():
                print(f"{name}: {statistics.median(speed for speed, _ in turns) / theirs:.2f} times kube-scheduler")
            for size in (1, 2, 4, 8, 16, 32):
                print(f"gang of {size} pods of {GPUS} GPUs, order to running: {1000 * gangs(site, d, size, 100_000 + 100 * size):.0f} ms")


if __name__ == "__main__":
    main()
