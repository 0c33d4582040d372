"""`goban serve` decides for a real Slurm: it starts jobs where it says, leaves alone what others started, follows cancels on
either side, requeues, lost nodes and restarts, hands scheduling to Slurm when it is gone, and its journal replays equal. Agents on its
nodes report (agents.py).

    serve.py GOBAN     (needs root and Slurm; 77 without them)
"""

import subprocess
import sys
import time

from agents import Agents, profiles, reports
from serving import USER, Serving, expect
from slurm_site import skip_where_missing


def listed(serving, number):
    """The job as `goban queue` lists it."""
    for line in serving.daemon.goban_run("queue", "--all").stdout.splitlines():
        if f"@{number} " in line:
            return line
    return ""


def starts_and_others(serving):
    site = serving.site
    other = site.sbatch("-p", "other", "--gres=gpu:4", "-w", "n1", user=USER)
    taken = serving.wait_state(other, "running")
    expect(not taken["managed"] and {gpu["node"] for gpu in taken["gpus"]} == {"n1"}, str(taken))
    first = site.sbatch("--gres=gpu:4", "-J", "first", user=USER)
    job = serving.wait_state(first, "running")
    node = job["gpus"][0]["node"]
    expect(node != "n1" and len(job["gpus"]) == 4, f"not where somebody else is: {job}")
    expect(site.job(first)["NodeList"] == node, "Slurm runs it where Goban says")
    expect(site.job(first)["AdminComment"].startswith("goban:"), "and knows who decided")
    expect(USER in listed(serving, first) and node in listed(serving, first), listed(serving, first))
    shown = serving.daemon.goban_run("show", f"@{first}").stdout
    expect(f"queue id    {first}" in shown and "output" not in shown, shown)
    said = serving.daemon.goban_run("explain", "--job", f"@{other}").stdout
    expect("not scheduled by goban" in said, said)
    refused = serving.daemon.goban_run("cancel", f"@{other}")
    expect(refused.returncode == 1 and "scancel refused it" in refused.stderr, refused.stderr)  # without slurm.conf
    refused = serving.daemon.goban_run("submit", "--wrap", "true")
    expect(refused.returncode == 1 and "sbatch refused it" in refused.stderr, refused.stderr)
    cpu = site.sbatch("-J", "cpu", user=USER)
    site.wait_for("a job without GPUs", lambda: site.state(cpu) == "RUNNING")
    wide = site.sbatch("-N2", "--gres=gpu:4", user=USER)
    nodes = {gpu["node"] for gpu in serving.wait_state(wide, "running")["gpus"]}
    expect(len(nodes) == 2 and not nodes & {"n1", node}, f"on two nodes: {nodes}")
    expect(site.job(wide)["AdminComment"].startswith("goban:"), "ours")
    site.run("scancel", wide, cpu)
    return other, first


def cancels(serving, running):
    site = serving.site
    queue = [site.sbatch("--gres=gpu:4", user=USER) for _ in range(4)]
    for number in queue[:2]:
        serving.wait_state(number, "running")
    for number in queue[2:]:
        serving.wait_state(number, "waiting")
    expect(site.state(queue[2]) == "PENDING", "it waits at Slurm, too")
    said = serving.daemon.goban_run("explain", "--job", f"@{queue[3]}").stdout
    expect("fewer GPUs are free" in said, said)
    site.run("scancel", queue[2], check=True)
    serving.wait_state(queue[2], "done")
    for number in (queue[3], queue[1]):
        expect(serving.daemon.goban_run("cancel", f"@{number}").returncode == 0, "cancelled here")
        site.wait_for("its end at Slurm", lambda n=number: site.state(n) == "CANCELLED")
        expect(serving.wait_state(number, "done")["result"] == "cancelled", "and here")
    array = site.sbatch("--array=0-1", "--begin=now+1hour", "--gres=gpu:1", user=USER)
    serving.wait_state(f"{array}_1", "depends")
    said = serving.daemon.goban_run("logs", f"@{array}_1").stderr
    expect("writes the output of its jobs" in said, said)
    expect(serving.daemon.goban_run("cancel", f"@{array}").returncode == 0, "all its tasks")
    site.wait_for("their end at Slurm", lambda: set(site.state(array).split()) == {"CANCELLED"})
    site.run("scancel", running, check=True)
    expect(serving.wait_state(running, "done")["result"] in ("cancelled", "failed"), "cancelled there")
    return queue[0]


def requeues(serving, number):
    site = serving.site
    expect(serving.daemon.goban_run("requeue", f"@{number}").returncode == 0, "requeue")
    site.wait_for("its second run", lambda: site.job(number).get("Restarts") == "1" and site.state(number) == "RUNNING", 60)
    serving.wait_state(number, "running")


def loses_a_node(serving, number):
    site = serving.site
    node = serving.job(number)["gpus"][0]["node"]
    site.kill(node)
    site.wait_for("another node", lambda: site.state(number) == "RUNNING" and site.job(number)["NodeList"] != node, 60)
    site.wait_for("that we know", lambda: (job := serving.job(number))["state"] == "running"
                  and job["gpus"][0]["node"] == site.job(number)["NodeList"])
    site.wait_for("its state", lambda: any(
        line.startswith(node) and "down" in line for line in serving.daemon.goban_run("nodes").stdout.splitlines()))
    site.start(node)
    fill = [site.sbatch("--gres=gpu:4", user=USER) for _ in range(3)]
    site.wait_for("the node's return", lambda: node in [site.job(n).get("NodeList") for n in fill], 60)
    return fill


def restarts(serving):
    """Killed with jobs running and waiting: all go on, none twice."""
    site = serving.site
    waiting = [site.sbatch("--gres=gpu:4", user=USER) for _ in range(2)]
    for number in waiting:
        serving.wait_state(number, "waiting")
    before = {number: (site.job(number)["StartTime"], site.job(number)["Restarts"])
              for number, job in serving.jobs().items() if job["state"] == "running"}
    expect(len(before) == 4, str(before))
    gone = next(number for number in before if serving.job(number).get("managed", True))
    serving.daemon.stop(9)
    site.run("scancel", gone, check=True)  # while nobody looks
    new = site.sbatch("--gres=gpu:4", user=USER)
    serving.daemon.start()
    site.wait_for("the next of the queue", lambda: site.state(waiting[0]) == "RUNNING", 60)
    serving.wait_state(waiting[1], "waiting")
    serving.wait_state(new, "waiting")
    expect(serving.wait_state(gone, "done")["result"] in ("cancelled", "failed"), "it ended without us")
    for number, was in before.items():
        now = site.job(number)
        expect(number == gone or (now["JobState"], now["StartTime"], now["Restarts"]) == ("RUNNING", *was), f"{number} goes on")
    return waiting[1], new


def killed_after_starts(goban):
    """Killed before it has seen that its job runs: the job is found as it is, and nothing is ordered again."""
    with Serving(goban, poll="1s") as serving:
        site = serving.site
        for seconds in (3, 60, 60):
            number = site.sbatch("--gres=gpu:4", script=f"#!/bin/sh\nexec sleep {seconds}\n", user=USER)
            site.wait_for("its start", lambda n=number: site.state(n) == "RUNNING")
            serving.daemon.stop(9)
            serving.daemon.start()
            mark = site.job(number)["AdminComment"]
            job = serving.wait_state(number, *(("done",) if seconds == 3 else ("running",)))
            expect(job["gpus"][0]["node"] == site.job(number)["NodeList"] and job["runs"] == 1, str(job))
            expect(site.job(number)["AdminComment"] == mark, f"it is placed once: {site.job(number)}")


def watchdog(serving, waiting):
    """No beats: Slurm schedules, and what it started is adopted."""
    site = serving.site
    beat = f"{serving.daemon.state}/heartbeat"
    guard = subprocess.Popen([serving.goban, "engine", "slurm", "watchdog", "--heartbeat", beat, "--after", "4s"],
                             env=site.environment, stdout=subprocess.DEVNULL)
    try:
        time.sleep(6)
        expect(site.job(waiting[0])["Priority"] == "0", "the daemon decides: it waits")
        serving.daemon.stop(9)
        site.wait_for("the release", lambda: site.job(waiting[0])["Priority"] != "0", 30)
        for number, job in site_jobs(site).items():
            if job == "RUNNING" and number not in waiting:
                site.run("scancel", number)
        site.wait_for("a start by Slurm", lambda: all(site.state(number) == "RUNNING" for number in waiting), 60)
    finally:
        guard.kill()
        guard.wait()
    serving.daemon.start()
    for number in waiting:
        job = serving.wait_state(number, "running")
        expect(job.get("managed", True) and job["gpus"][0]["node"] == site.job(number)["NodeList"], f"adopted: {job}")
        site.wait_for("its mark", lambda n=number: site.job(n).get("AdminComment", "").startswith("goban:"))
        expect(site.job(number)["Restarts"] == "0", "not stopped")
    new = site.sbatch("--gres=gpu:4", user=USER)
    serving.wait_state(new, "running")


def site_jobs(site):
    return dict(line.split() for line in site.run("squeue", "-h", "-o", "%A %T").stdout.splitlines())


def observes(goban):
    with Serving(goban, mode="observe") as serving:
        site = serving.site
        fill = [site.sbatch("--gres=gpu:4") for _ in range(6)]
        site.wait_for("four to run", lambda: [site.state(n) for n in fill].count("RUNNING") == 4)

        def shown():
            text = site.run("scontrol", "-o", "-d", "show", "job").stdout + site.run("scontrol", "-o", "show", "node").stdout
            return [word for word in text.split() if word.split("=")[0] not in
                    ("RunTime", "LastSchedEval", "CPULoad", "FreeMem", "Scheduler", "StartTime", "LastBusyTime")]
        before = shown()
        for number in fill[:4]:
            expect(not serving.wait_state(number, "running")["managed"], "all jobs are Slurm's")
        time.sleep(3)
        expect(shown() == before, f"nothing was written: {set(shown()) ^ set(before)}")
        serving.daemon.stop()
        serving.replay()
        serving.daemon.start()


def main():
    skip_where_missing()
    goban = sys.argv[1]
    began = time.monotonic()
    agents = Agents()
    with Serving(goban, keys=agents.keys) as serving:
        try:
            reports(serving, agents)
            profiles(serving, agents.folder)
        finally:
            agents.stop()
        other, first = starts_and_others(serving)
        runs = cancels(serving, first)
        requeues(serving, runs)
        serving.site.run("scancel", other)
        loses_a_node(serving, runs)
        watchdog(serving, restarts(serving))
        serving.daemon.stop(9)
        decisions = serving.replay()
        ran = serving.daemon.goban_run("serve", "--state", serving.daemon.state, "--virtual-gpus", "2")
        expect(ran.returncode == 1 and "are those of engine slurm, not local" in ran.stderr, ran.stderr)
        serving.daemon.start()
        print(f"{decisions} decisions replayed equal")
    agents.end()
    killed_after_starts(goban)
    observes(goban)
    print(f"{time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
