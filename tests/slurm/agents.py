"""Agents on the nodes of a real Slurm, part of serve.py: a job finds their socket without a change of its script, its progress
and usage are shown as those of a local job, a lost agent is seen, and the five rules of the report judge the job by what the
agents measured. GPUs are virtual: their utilisation is the CPU time of the jobs that hold them.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile

from serving import USER, expect

TOKEN = "token-of-the-agent-of-n1"
INTERVAL_S = 1
RULES = ("c1_gpus", "c2_batch", "c3_software", "c4_run_time", "c5_gpu_use")
SCRIPT = """#!/bin/sh
export LOADEDMODULES=gcc/12:cuda/11.8
exec python3 -c '
import os, socket, time
report = None
def say(line):
    global report
    try:
        if report is None:
            report = socket.socket(socket.AF_UNIX)
            report.connect(os.environ["GOBAN_PROGRESS_SOCKET"])
        report.sendall(line)
    except OSError:  # the agent is gone
        report = None
say(b"goban-progress 1 job=1 pid=1\\n")
step = 0
while not os.path.exists("STOP"):
    step += 1
    say(b"progress epoch=2 epochs=4 step=%d steps=100000 loss=0.25\\n" % step)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        pass
say(b"rank rank=0 ranks=2 steps=50 busy_s=5 wait_s=1\\nend done\\n")
time.sleep(3)
'
"""
LIAR = """#!/bin/sh
export SLURM_JOB_ID=VICTIM
exec python3 -c '
import os, socket, time
report = socket.socket(socket.AF_UNIX)
report.connect(os.environ["GOBAN_PROGRESS_SOCKET"])
report.sendall(b"progress loss=99\\n")
time.sleep(600)
'
"""


class Agents:
    """One on each node; that of n1 over TCP with its token, the others over the daemon's socket."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="goban-agents-")
        os.chmod(self.folder, 0o755)
        with open(f"{self.folder}/tokens", "w") as out:
            out.write(f"{hashlib.sha256(TOKEN.encode()).hexdigest()} agent n1\n")
        os.chmod(f"{self.folder}/tokens", 0o600)
        with open(f"{self.folder}/token", "w") as out:
            out.write(TOKEN)
        self.keys = f'[service]\nlisten = "127.0.0.1:0"\ntokens = "{self.folder}/tokens"\n'
        self.running = {}

    def start(self, serving, node):
        words = [serving.goban, "agent", "--node", node, "--virtual-gpus", "4", "--interval", str(INTERVAL_S), "--sample", "0.25",
                 "--progress-socket", f"{self.folder}/agent-{node}.sock"]
        if node == "n1":
            port = re.findall(r"http://127\.0\.0\.1:(\d+)/", serving.log())[-1]
            words += ["--server", f"http://127.0.0.1:{port}", "--token-file", f"{self.folder}/token"]
        else:
            words += ["--server", f"{serving.daemon.state}/goban.sock"]
        with open(f"{self.folder}/{node}.log", "ab") as log:
            self.running[node] = subprocess.Popen(words, env=serving.daemon.environment, stdout=log, stderr=log)

    def kill(self, node):
        self.running[node].kill()
        self.running.pop(node).wait()

    def stop(self):
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process.wait(30)
        self.running = {}

    def end(self):
        """The daemon has ended, which reads the tokens."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def stands(serving):
    """What `goban nodes` says of the agents, by node."""
    listed = serving.daemon.goban_run("nodes", "--json").stdout
    return {node["node"]: node.get("agent", {}).get("state") for node in json.loads(listed)}


def readings(serving):
    """Utilisation by (node, index)."""
    cluster = serving.daemon.request("GET", "/v1/cluster")[1]
    return {(node["node"], index): gpu.get("util_pct") for rack in cluster["racks"] for node in rack["nodes"]
            for index, gpu in enumerate(node["gpus"])}


def judged(serving):
    """What each rule of the report says, by its name."""
    state = serving.daemon.state
    with open(f"{state}/rules.toml", "w") as out:
        out.write('[conditions]\nrun_min = "2s"\ncoverage_min = 0.3\nbusy_at = 1\nsoftware = "module"\n')
    ran = serving.daemon.goban_run("analyze", "--jobs", f"{state}/store.sqlite", "--gpu", f"{state}/series", "--rules", f"{state}/rules.toml",
                                   "--json")
    expect(ran.returncode == 0, ran.stderr)
    funnel = next(table for table in json.loads(ran.stdout)["tables"] if table["id"] == "funnel")
    names = [column["key"] for column in funnel["columns"]]
    return {row[0]: dict(zip(names, row)) for row in funnel["rows"]}


def reports(serving, agents):
    site, daemon = serving.site, serving.daemon
    ran = site.run(serving.goban, "engine", "slurm", "setup", "--partitions", "gpu", "--agents", "--agent-folder", agents.folder)
    expect(ran.returncode == 0 and "TaskProlog" in ran.stdout, ran.stdout + ran.stderr)
    site.run("scontrol", "reconfigure", check=True)
    for node in site.node_names():
        agents.start(serving, node)
    site.wait_for("four agents", lambda: set(stands(serving).values()) == {"up"})

    stop = f"{agents.folder}/stop"
    number = site.sbatch("--gres=gpu:2", "-J", "train", script=SCRIPT.replace("STOP", stop), user=USER)
    job = serving.wait_state(number, "running")
    held = {(gpu["node"], gpu["index"]) for gpu in job["gpus"]}
    node = job["gpus"][0]["node"]
    liar = site.sbatch("--gres=gpu:1", "-w", node, "-p", "other", script=LIAR.replace("VICTIM", number))

    def detail():
        return daemon.request("GET", f"/v1/jobs/{job['job']}")[1]
    said = site.wait_for("its progress", lambda: "loss" in detail().get("progress", {}) and detail()["progress"])
    expect(said["loss"] == 0.25 and said["epochs"] == 4, f"not what another user says: {said}")

    def is_busy():
        now = readings(serving)
        return all((now[gpu] or 0) > 2 for gpu in held) and all(now[gpu] == 0 for gpu in now if gpu[0] != node) and now
    site.wait_for("its GPUs' utilisation", is_busy)

    idle = site.sbatch("--gres=gpu:1", "-J", "idle", script="#!/bin/sh\nexec sleep 4\n", user=USER)

    # A lost agent is seen, and the next one goes on; that of n1 has its token.
    agents.kill(node)
    site.wait_for("a lost agent", lambda: stands(serving)[node] == "lost")
    expect("lost" in daemon.goban_run("nodes").stdout, "and in words")
    expect(f'goban_agent_up{{node="{node}"}} 0' in daemon.request("GET", "/metrics", text=True)[1], "and for Prometheus")
    agents.start(serving, node)
    site.wait_for("its return", lambda: stands(serving)[node] == "up")

    expect(serving.wait_state(idle, "done", limit_s=60)["result"] == "completed", "it does nothing")
    site.run("scancel", liar)
    open(stop, "w").close()
    ended = serving.wait_state(number, "done", limit_s=60)
    expect(ended["result"] == "completed", str(ended))
    shown = detail()
    expect(shown["usage"]["gpu_util_pct"] > 0.5 and shown["past"][0]["ranks"][0]["steps"] == 50, f"usage as of a local job: {shown['usage']}, {shown['past']}")
    expect(shown["progress"]["loss"] == 0.25, f"still not what another user says: {shown['progress']}")
    status, curves = daemon.request("GET", f"/v1/jobs/{job['job']}/series")
    expect(status == 200 and any(gpu["points"] for gpu in curves["gpus"]), f"curves: {curves}")

    daemon.stop()  # what it has not written yet is written
    rules = judged(serving)
    kept = {rule: row["kept"] for rule, row in rules.items() if row["applied"] == "yes"}
    expect([kept[rule] for rule in RULES] == [2, 2, 1, 1, 1], f"of two jobs the one that computes and loaded CUDA: {rules}")
    daemon.start()
    site.wait_for("agents that found the daemon again", lambda: all(
        state == "up" for name, state in stands(serving).items() if name != "n1"), 120)


def profiles(serving, folder):
    """`goban profile cluster` measures an idle node as a job, sends its scores, and makes room for a job that waits."""
    site, daemon = serving.site, serving.daemon
    table = f"{folder}/scores.csv"
    environment = {**daemon.environment, **{name: site.environment[name] for name in ("SLURM_CONF", "PATH")}}

    def profile(*words):
        return subprocess.Popen([serving.goban, "profile", "cluster", "--out", table, "--virtual-gpus", "4", "--force", "--json", *words],
                                env=environment, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    measuring = profile("--nodes", "n4", "--quick", "--seconds", "0.1", "--send")
    out, err = measuring.communicate(timeout=180)
    expect(measuring.returncode == 0 and json.loads(out)["measured"] == ["n4"], f"{out} {err}")
    def ended():
        found = [job for job in serving.jobs_listed() if job.get("name") == "goban-profile"]
        return found if all(job["state"] == "done" for job in found) else None
    jobs = site.wait_for("the end of its job", ended)
    expect(len(jobs) == 1 and jobs[0].get("managed", True), f"a job that waits for its turn: {jobs}")
    with open(f"{folder}/scores.profile.json") as book:
        expect([gpu["uuid"] for gpu in json.load(book)["gpus"]] == [f"n4/VIRTUAL-{i}" for i in range(4)], "by UUID")
    cluster = daemon.request("GET", "/v1/cluster")[1]
    scores = {node["node"]: [score for gpu in node["gpus"] for score in gpu["scores"]] for rack in cluster["racks"] for node in rack["nodes"]}
    expect(any(score != 1 for score in scores["n4"]) and all(score == 1 for score in scores["n1"]), f"sent: {scores}")
    again = profile("--nodes", "n4")
    out, err = again.communicate(timeout=60)
    expect(again.returncode == 0 and json.loads(out)["left"]["n4"] == "measured 0 h ago", f"{out} {err}")

    measuring = profile("--nodes", "n3", "--every", "0s")
    site.wait_for("its job on n3", lambda: any(
        job.get("name") == "goban-profile" and job["state"] == "running" for job in serving.jobs_listed()), 60)
    numbers = [site.sbatch("--gres=gpu:4", user=USER) for _ in range(4)]
    out, err = measuring.communicate(timeout=60)
    expect(measuring.returncode == 0 and "made room" in json.loads(out)["left"]["n3"], f"{out} {err}")
    for number in numbers:
        serving.wait_state(number, "running", limit_s=60)
    site.run("scancel", *numbers, check=True)
    for number in numbers:
        serving.wait_state(number, "done")
