"""goban serve with engine = "kubernetes" on a real control plane: Jobs start by Goban's decision and nothing else starts them; what
others hold is respected; a Job is cancelled from either side; a daemon that is killed finds everything again; a kube-scheduler takes
over while there is none.

    serve.py GOBAN     (77 without Go and without a build of Kubernetes)
"""

import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from engine import JOBS, give_rights, gone, job, placed
from fixture import PODS, pod
from kube_site import ANY_VERSION, MARK, ApiError, KubeSite, build, program, skip_where_missing
from live_daemon import Daemon, expect


def jobs(daemon):
    """By name, what the daemon lists."""
    status, answer = daemon.request("GET", "/v1/jobs?all=1")
    expect(status == 200, str(answer))
    return {job["name"]: job for job in answer["jobs"]}


def wait_state(site, daemon, name, *states):
    return site.wait_for(f"{name} {states}", lambda: (job := jobs(daemon).get(name, {})).get("state") in states and job, 90)


def serving(site, goban):
    return Daemon(goban, f'engine = "kubernetes"\npolicy = "fifo+packed"\n\n[kubernetes]\nmode = "all"\n'
                         f'kubeconfig = "{site.path("account.kubeconfig")}"\ntakeover = "3s"{ANY_VERSION}\n', gpus=0, own_log=True)


def main():
    skip_where_missing()
    build()
    goban = os.path.abspath(sys.argv[1])
    with KubeSite() as site:
        give_rights(site, goban, "all")
        site.post(PODS, pod("theirs", gpus=4, node="n1"))
        daemon = serving(site, goban)
        try:
            daemon.start()
            run(site, daemon)
            watchdog(site, daemon, goban)
        except BaseException:
            with open(daemon.log) as log:
                print(log.read()[-4000:], file=sys.stderr)
            raise
        finally:
            daemon.stop()
            shutil.rmtree(daemon.folder, ignore_errors=True)
    fences(goban)


def start_watchdog(site, goban):
    """As the manifests say, with their rights; only its times are shorter."""
    text = subprocess.run([goban, "engine", "kubernetes", "manifests", "--mode", "all", "--watchdog", "registry.example/kube-scheduler:1"],
                          capture_output=True, text=True, check=True).stdout
    ran = site.kubectl("apply", "-f", "-", text=text)
    expect(ran.returncode == 0, ran.stderr)
    site.write_kubeconfig("watchdog", site.kubectl("create", "token", "goban-watchdog", "-n", "goban").stdout.strip())
    config = site.get("/api/v1/namespaces/goban/configmaps/goban-watchdog")["data"]["scheduler.yaml"]
    for long, short in (("15s", "5s"), ("10s", "4s"), ("2s", "1s")):
        config = config.replace(f": {long}\n", f": {short}\n")
    path = site.path("state/watchdog.yaml")
    with open(path, "w") as file:
        file.write(config + f"clientConnection: {{kubeconfig: {site.path('watchdog.kubeconfig')}}}\n")
    with open(site.path("log/watchdog.log"), "wb") as log:
        return subprocess.Popen([program(), "kube-scheduler", "--config", path, "--secure-port=0"], stdin=subprocess.DEVNULL, stdout=log,
                                stderr=log, start_new_session=True, env={**os.environ, MARK: site.folder, f"{MARK}_PART": "watchdog"})


def holder(site):
    return site.get("/apis/coordination.k8s.io/v1/namespaces/goban/leases/goban")["spec"]["holderIdentity"]


def watchdog(site, daemon, goban):
    """kube-scheduler starts what waits while no daemon renews the Lease; Goban takes the Lease back and adopts what runs."""
    scheduler = start_watchdog(site, goban)
    site.post(JOBS, job("before", 2))
    wait_state(site, daemon, "before", "running")
    before = placed(site, "before")
    expect(holder(site).startswith("goban_") and all(run for _, _, _, run in before), f"Goban decides: {before}")
    daemon.stop(9)
    site.post(JOBS, job("orphan", 2))
    site.post(PODS, pod("indexed", gpus=0, scheduler="goban-exact", **{"goban.dev/gpus": "1"}))
    site.wait_for("kube-scheduler", lambda: len(placed(site, "orphan")) == 2 and all(node for _, node, _, _ in placed(site, "orphan")), 90)
    expect(not holder(site).startswith("goban_"), holder(site))
    expect("nodeName" not in site.get(f"{PODS}/indexed")["spec"], "a pod that needs our annotation waits")
    expect(placed(site, "before") == before, "what ran goes on")
    uids = {p["metadata"]["uid"] for p in site.pods(selector="job-name=orphan")}
    try:
        site.post(PODS, pod("wrong", gpus=0, scheduler="goban", **{"goban.dev/gpus": "1"}), user="admin")
        expect(False, "a pod that the watchdog would start without GPUs is refused")
    except ApiError as error:
        expect(error.status == 422 and "goban-exact" in error.body, str(error))
    daemon.start()
    wait_state(site, daemon, "orphan", "running")
    expect(scheduler.wait(30) == 1, "it has ended")
    expect(holder(site).startswith("goban_"), holder(site))
    wait_state(site, daemon, "indexed", "running")
    site.wait_for("our marks", lambda: all(run for _, _, _, run in placed(site, "orphan")))
    expect({p["metadata"]["uid"] for p in site.pods(selector="job-name=orphan")} == uids, "adopted, not stopped")


def keeps_bound(site, daemon):
    """A pod whose node falls silent before it begins keeps its GPUs in the books of the next daemon; it ends with its node."""
    def stand(words):
        site.wait_for(words, lambda: jobs(daemon).get("late", {}).get("state") == "starting", 20)
        (node,) = [line.split() for line in daemon.goban_run("nodes").stdout.splitlines() if line.startswith(dead)]
        expect(node[3] == "3", f"{words}: {node}")
    for node in range(1, 4):
        site.silence(f"n{node}")
    site.post(PODS, pod("late", gpus=3, scheduler="goban"))
    site.wait_for("its node", lambda: site.get(f"{PODS}/late")["spec"].get("nodeName"))
    dead = site.get(f"{PODS}/late")["spec"]["nodeName"]
    for node in range(1, 4):
        if f"n{node}" != dead:
            site.speak(f"n{node}")
    site.wait_for("its silence", lambda: "not ready" in daemon.goban_run("nodes").stdout, 90)
    stand("before the restart")
    daemon.stop(signal.SIGKILL)
    daemon.start()
    time.sleep(5)
    stand("after the restart")
    ran = daemon.goban_run("nodes", "fence", dead)
    expect(ran.returncode == 0, ran.stderr)
    site.wait_for("its end", lambda: jobs(daemon)["late"].get("result") == "node_failed", 20)
    site.speak(dead)


def fences(goban):
    """A Job that may not fail once goes on elsewhere when one of its nodes is fenced, though neither the API server nor the daemon lives on,
    and no other job waits for that."""
    with KubeSite(nodes=3) as site:
        give_rights(site, goban, "all")
        daemon = serving(site, goban)
        try:
            daemon.start()
            site.post(JOBS, job("span", 2, gpus=4))
            wait_state(site, daemon, "span", "running")
            dead = placed(site, "span")[0][1]
            site.silence(dead)
            site.wait_for("its silence", lambda: "not ready" in daemon.goban_run("nodes").stdout, 90)
            site.kill("kube-apiserver")
            ran = daemon.goban_run("nodes", "fence", dead)
            expect(ran.returncode == 0, ran.stderr)
            daemon.stop(signal.SIGKILL)
            site.restart("kube-apiserver")
            daemon.start()
            site.wait_for("its second run", lambda: len(pods := placed(site, "span")) == 2 and all(run for *_, run in pods)
                          and dead not in [node for _, node, _, _ in pods], 60)  # controllers may take 30 s to find the server
            wait_state(site, daemon, "span", "running")
            expect(site.get(f"{JOBS}/span")["status"].get("failed", 0) == 0, "it has not failed")
            site.speak(dead)
            # A kubelet that is back may refuse pods until it has seen that those before are gone; then nothing starts there for 30 s.
            site.post(JOBS, job("small", 1, retries=3))
            site.wait_for("the node's return", lambda: jobs(daemon).get("small", {}).get("state") == "running", 90)
            daemon.goban_run("cancel", "--all")
            site.wait_for("the end of all", lambda: not site.pods(), 60)
            keeps_bound(site, daemon)
        finally:
            daemon.stop()
            shutil.rmtree(daemon.folder, ignore_errors=True)


def terminal(site, daemon):
    """goban run says how a pod with a terminal is started here; that pod is placed as others are."""
    refused = daemon.goban_run("run", "--pty", "--gpus", "2", "sh")
    expect(refused.returncode == 1, refused.stderr)
    command = refused.stderr[refused.stderr.index("kubectl run"):].strip().rstrip(")")
    command = command.replace("IMAGE", "x").replace(" --rm", " --attach=false")  # nobody is at this terminal
    ran = subprocess.run(["bash", "-c", f'kubectl() {{ "{program()}" kubectl "$@"; }}; {command}'], env=site.environment,
                         capture_output=True, text=True)
    expect(ran.returncode == 0, f"{command}: {ran.stderr}")
    wait_state(site, daemon, "sh", "running")
    made = site.get(f"{PODS}/sh")
    (container,) = made["spec"]["containers"]
    expect(container["stdin"] and container["tty"] and container["command"] == ["sh"], str(container))
    expect(len(made["metadata"]["annotations"]["goban.dev/gpus"].split(",")) == 2, str(made["metadata"]))
    site.delete(f"{PODS}/sh")


def logs(site, daemon, name):
    """goban logs asks the API server as its caller: who may not read pods there reads nothing here, whatever the daemon says."""
    number = str(jobs(daemon)[name]["id"])

    def as_user(user, *words):
        daemon.environment["KUBECONFIG"] = site.path(f"{user}.kubeconfig")
        return daemon.goban_run("logs", *words, number)
    said = as_user("admin")
    number = f"@{jobs(daemon)[name]['engine_id']}"  # the same by its id
    pods = sorted(p["metadata"]["name"] for p in site.pods(selector=f"job-name={name}"))
    expect(said.returncode == 0 and sorted(said.stdout.splitlines()) == sorted(
        f"[{each}] {line}" for each in pods for line in (f"output of {each}", "end")), said.stdout + said.stderr)
    expect(sorted(as_user("admin", "-f").stdout.splitlines()) == sorted(said.stdout.splitlines()), "the same when followed")
    for user, status in (("mallory", "HTTP 403"), ("account", "HTTP 403")):  # the daemon's own account may list pods, and not read them
        refused = as_user(user)
        expect(refused.returncode == 1 and status in refused.stderr and not refused.stdout, refused.stdout + refused.stderr)
    del daemon.environment["KUBECONFIG"]


def stays_put(site, daemon):
    """All kubelets are silent for longer than the API server believes them: what runs goes on, on the same nodes, as the same runs."""
    site.post(JOBS, job("long", 2))
    site.post(PODS, pod("alone", scheduler="goban"))
    for name in ("long", "alone"):
        wait_state(site, daemon, name, "running")
    before = {p["metadata"]["uid"] for p in site.pods() if p["spec"].get("nodeName")}
    for node in range(1, 5):
        site.silence(f"n{node}")
    site.wait_for("that no node is ready", lambda: all(c["status"] != "True" for n in site.get("/api/v1/nodes")["items"]
                                                       for c in n["status"]["conditions"] if c["type"] == "Ready"), 90)
    time.sleep(3)
    for node in range(1, 5):
        site.speak(f"n{node}")
    site.wait_for("the nodes", lambda: not any(n["spec"].get("taints") for n in site.get("/api/v1/nodes")["items"]), 90)
    time.sleep(2)
    expect(not any("deletionTimestamp" in p["metadata"] for p in site.pods()), "nothing is taken back")
    expect(before == {p["metadata"]["uid"] for p in site.pods() if p["spec"].get("nodeName")}, "the same pods")
    for name in ("long", "alone"):
        expect(jobs(daemon)[name]["state"] == "running", str(jobs(daemon)[name]))
    site.delete(f"{JOBS}/long?propagationPolicy=Background")
    site.delete(f"{PODS}/alone")


def impossible(site, daemon):
    """Pods that no node may run wait, say why, and keep nobody else from starting."""
    for index in range(3):
        made = pod(f"nowhere-{index}", scheduler="goban")
        made["spec"]["nodeSelector"] = {"no-such": f"x{index}"}
        site.post(PODS, made)
    held = wait_state(site, daemon, "nowhere-0", "waiting", "depends", "held")
    began = time.monotonic()
    site.post(PODS, pod("anywhere", scheduler="goban"))
    wait_state(site, daemon, "anywhere", "running")
    expect(time.monotonic() - began < 10, f"it waited for {time.monotonic() - began:.1f} s")
    why = "no managed node meets its node selector, affinity or tolerations: no-such=x0"
    # The id has slashes.
    for command in ("explain", "show"):
        said = daemon.goban_run(command, f"@{held['engine_id']}")
        expect(said.returncode == 0 and (command != "explain" or why in said.stdout), said.stdout + said.stderr)
    site.wait_for("its pod says why", lambda: why in str(site.get(f"{PODS}/nowhere-0")["status"].get("conditions")), 90)
    for name in ("nowhere-0", "nowhere-1", "nowhere-2", "anywhere"):
        site.delete(f"{PODS}/{name}")


def page(site, daemon):
    """The nightly page, of pods that kube-scheduler placed, with no more rights than mode observe has."""
    for index in range(4):
        made = job(f"theirs-{index}", 1, gpus=2, run_s=1)
        made["spec"]["template"]["spec"]["schedulerName"] = "default-scheduler"
        site.post(JOBS, made)
    site.wait_for("their ends", lambda: all(site.get(f"{JOBS}/theirs-{index}")["status"].get("succeeded") for index in range(4)))
    folder = site.path("state/bin")
    os.mkdir(folder)
    with open(f"{folder}/kubectl", "w") as file:
        file.write(f'#!/bin/sh\nexec {program()} kubectl "$@"\n')
    os.chmod(f"{folder}/kubectl", 0o755)
    out = site.path("state/page")
    ran = subprocess.run([daemon.goban, "engine", "kubernetes", "observe-report", "--out", out, "--kubeconfig", site.path("account.kubeconfig"),
                          "--policy", "easy-backfill+pal,fifo+packed"], capture_output=True, text=True,
                         env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    expect(ran.returncode == 0, ran.stdout + ran.stderr)
    expect(all(word in ran.stdout for word in ("kube-scheduler", "priority+skip+spread", "easy-backfill+pal", "recorded")), ran.stdout)
    (made,) = (name for name in os.listdir(out) if name.startswith("observe-"))
    expect(os.path.getsize(os.path.join(out, made)) > 10000, made)


def run(site, daemon):
    wait_state(site, daemon, "theirs", "running")
    site.post(JOBS, job("fills", 12))
    wait_state(site, daemon, "fills", "running")
    where = {(node, gpus) for _, node, gpus, _ in placed(site, "fills")}
    expect(len(where) == 12 and all(node != "n1" for node, _ in where), f"each GPU once, none of theirs: {where}")
    site.post(JOBS, job("waits", 4, gpus=2))  # pods of two GPUs, some of them on one node
    wait_state(site, daemon, "waits", "waiting")

    def reasons():
        return [c["message"] for p in site.pods(selector="job-name=waits") for c in p["status"].get("conditions", ())
                if c["type"] == "PodScheduled" and c["status"] == "False"]
    site.wait_for("its four pods say why", lambda: len(reasons()) == 4, 90)
    expect(set(reasons()) == {"fewer GPUs are free than the job requests"}, str(reasons()))
    expect(all(node is None for _, node, _, _ in placed(site, "waits")), "there is no room")
    logs(site, daemon, "fills")
    before = placed(site, "fills")
    daemon.stop(9)
    daemon.start()
    wait_state(site, daemon, "fills", "running")
    expect(placed(site, "fills") == before, "found again as it was")
    ran = daemon.goban_run("cancel", f"@{jobs(daemon)['fills']['engine_id']}")
    expect(ran.returncode == 0, ran.stderr)
    site.wait_for("the Job's end", lambda: gone(site, f"{JOBS}/fills"))
    wait_state(site, daemon, "waits", "running")
    of_pods = [gpus.split(",") for _, _, gpus, _ in placed(site, "waits")]
    expect(len(of_pods) == 4 and all(len(gpus) == 2 for gpus in of_pods), f"two GPUs of one node each: {of_pods}")
    site.delete(f"{JOBS}/waits?propagationPolicy=Background")
    for name in ("waits", "fills"):
        done = wait_state(site, daemon, name, "done")
        expect(done["result"] == "cancelled", f"also if its user deleted it while it ran: {done}")
    refused = daemon.goban_run("submit", "--wrap", "true")
    expect(refused.returncode == 1 and "use kubectl" in refused.stderr, refused.stderr)
    terminal(site, daemon)
    impossible(site, daemon)
    stays_put(site, daemon)
    page(site, daemon)
    print("passed")


if __name__ == "__main__":
    main()
