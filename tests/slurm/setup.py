"""goban engine slurm setup on a real Slurm: jobs of the managed partition wait, and nobody but Goban starts them; what no
node has is refused; --undo and release-all give everything back with a full queue. The commands are those of docs/slurm.md.

    setup.py GOBAN     (needs root and Slurm; 77 without them)
"""

import os
import pwd
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from live_daemon import expect
from slurm_site import SlurmSite, skip_where_missing
from loopback_site import documented

USER = "nobody"
JOBS = 60


def refused(site, *words, user=None, says=""):
    ran = site.run(*words, user=user)
    expect(ran.returncode != 0 and says in ran.stderr, f"{words}: {ran.returncode} {ran.stderr!r}")


def allowed(site, *words, user=None):
    ran = site.run(*words, user=user)
    expect(ran.returncode == 0, f"{words}: {ran.stderr}")
    return ran.stdout


def who_starts_a_job(site):
    number = site.sbatch("--gres=gpu:2", user=USER)
    expect(site.state(number) == "PENDING" and site.job(number)["Reason"] == "JobHeldUser", "it waits")
    refused(site, "scontrol", "release", number, user=USER)
    refused(site, "scontrol", "update", f"jobid={number}", "Priority=9", user=USER)
    refused(site, "scontrol", "top", number, user=USER)
    refused(site, "scontrol", "update", f"jobid={number}", "Nice=10", user=USER)  # Slurm would compute a priority from it
    refused(site, "scontrol", "update", f"jobid={number}", "Partition=other", user=USER)
    allowed(site, "scontrol", "update", f"jobid={number}", "ReqNodeList=n3", user=USER)  # a wish
    allowed(site, "scontrol", "update", f"jobid={number}", "AdminComment=goban:1.2.3")  # decided
    for change in ("ReqNodeList=n2", "TresPerNode="):
        refused(site, "scontrol", "update", f"jobid={number}", change, user=USER)
    allowed(site, "scontrol", "update", f"jobid={number}", "TimeLimit=5", user=USER)
    expect(site.job(number)["Priority"] == "0" and site.job(number)["Partition"] == "gpu", "after all that it still waits")
    beside = site.sbatch("-p", "other", "--begin=now+1hour", "--gres=gpu:1", user=USER)
    refused(site, "scontrol", "update", f"jobid={beside}", "Partition=gpu", user=USER)
    allowed(site, "scontrol", "update", f"jobid={beside}", "Nice=10", user=USER)
    site.run("scancel", beside)
    return number


def holds_of_a_user(site):
    number = site.sbatch("--hold", "--gres=gpu:1", user=USER)
    expect(site.job(number)["AdminComment"] == "goban:held", "marked at submission")
    allowed(site, "scontrol", "release", number, user=USER)
    expect(site.job(number)["Comment"] == "goban:released" and site.job(number)["Priority"] == "0", "released to Goban")
    allowed(site, "scontrol", "hold", number, user=USER)
    expect(site.job(number)["Comment"] == "goban:held", "marked again")
    return number


def without_gpus(site):
    number = site.sbatch(user=USER)
    site.wait_for("a job without GPUs", lambda: site.state(number) == "RUNNING")
    none = site.sbatch("--gres=gpu:0", user=USER)
    site.wait_for("a job that requests none", lambda: site.state(none) == "RUNNING")
    site.run("scancel", none)
    held = site.sbatch("--hold", user=USER)
    expect(site.job(held)["Priority"] == "0", "held by its owner")
    allowed(site, "scontrol", "release", held, user=USER)
    site.wait_for("his release", lambda: site.state(held) == "RUNNING")
    site.run("scancel", number, held)


def with_a_choice_of_their_own(site):
    number = site.sbatch("--exclude=n1,n2,n3", "--gres=gpu:1", user=USER)
    site.wait_for("a job that excludes nodes", lambda: site.state(number) == "RUNNING")
    facts = site.job(number)
    expect(facts["AdminComment"] == "goban:slurm:own-choice-of-nodes" and facts["NodeList"] == "n4", str(facts))
    named = site.sbatch("--nodelist=n3", "--gres=gpu:1", user=USER)
    expect(site.job(named)["Reason"] == "JobHeldUser", "Goban places it there")
    site.run("scancel", number, named)
    refused(site, "sbatch", "--constraint=none", "--gres=gpu:1", "--wrap", "true", user=USER)


def what_no_node_has(site):
    for gres, says in (("gpu:9", "no node has more than 4"), ("gpu:h100:1", "no GPUs of type h100"), ("gpu:x\ny:1", "invalid name")):
        refused(site, "sbatch", f"--gres={gres}", "--wrap", "true", user=USER, says=says)


def not_ours(site):
    number = site.sbatch("-p", "other", user=USER)
    site.wait_for("a job of another partition", lambda: site.state(number) == "RUNNING")
    allowed(site, "srun", "--gres=gpu:1", "-x", "n1,n2,n3", "true", user=USER)
    allowed(site, "srun", "--gres=gpu:1", "-I", "true", user=USER)
    return number


def allocations(site):
    """salloc waits as sbatch's jobs do."""
    client, number = site.salloc("shell", "--gres=gpu:1", "true", user=USER)
    expect(site.state(number) == "PENDING" and site.job(number)["Reason"] == "JobHeldUser", "it waits")
    refused(site, "scontrol", "release", number, user=USER)
    return client


def watchdog(site, engine):
    """As long as the file changes, jobs wait; then Slurm has them."""
    beat = site.path("beat")
    number = site.sbatch("--gres=gpu:1", user=USER)
    guard = subprocess.Popen([*engine, "watchdog", "--heartbeat", beat, "--after", "3s"], env=site.environment)
    try:
        end = time.monotonic() + 5
        while time.monotonic() < end:
            open(beat, "w").close()
            time.sleep(0.3)
            expect(site.job(number)["Priority"] == "0", "it waits while there are beats")
        began = time.monotonic()
        site.wait_for("the release", lambda: site.job(number)["Priority"] != "0")
        took = time.monotonic() - began
    finally:
        guard.kill()
        guard.wait()
    site.run("scancel", number)
    expect(2 < took < 20, f"after {took:.1f} s, not 3")
    return took


def main():
    skip_where_missing()
    goban = os.path.abspath(sys.argv[1])
    pwd.getpwnam(USER)
    with SlurmSite(typed=False, config="PartitionName=other Nodes=ALL\n") as site:
        site.environment["PATH"] = os.path.dirname(goban) + ":" + site.environment["PATH"]
        before = open(site.path("etc/slurm.conf")).read()
        engine = (goban, "engine", "slurm")
        refused(site, *engine, "setup", says="--partitions")
        refused(site, *engine, "setup", "--partitions", "gpus", says="it has: gpu, other")
        check, write, reread = (line.split() for line in documented("slurm.md", "Set up"))
        expect(site.run(*check).returncode == 1, "not set up yet")
        said = allowed(site, *write)
        expect("JobSubmitPlugins=lua" in said and "GRES: nothing is changed" in said, said)
        allowed(site, *check)
        allowed(site, *reread)
        took = watchdog(site, engine)
        print(f"released {took:.1f} s after the last beat, --after 3s")
        elsewhere = site.sbatch("-p", "other", "--hold", "--gres=gpu:1", user=USER)
        allowed(site, *engine, "release-all")
        expect(site.job(elsewhere)["Priority"] == "0", "what a user holds in a partition of Slurm's own stays held")
        site.run("scancel", elsewhere)
        client = allocations(site)
        placed = who_starts_a_job(site)
        held = holds_of_a_user(site)
        without_gpus(site)
        with_a_choice_of_their_own(site)
        what_no_node_has(site)
        not_ours(site)
        queue = [site.sbatch("--gres=gpu:1", user=USER) for _ in range(JOBS)]
        queue += [site.sbatch("--gres=gpu:1", "--array=0-9%3", user=USER)]
        undo, reread, release = (line.split() for line in documented("slurm.md", "Return to Slurm"))
        allowed(site, *undo)
        expect(open(site.path("etc/slurm.conf")).read() == before, "slurm.conf is as it was")
        expect(not os.path.exists(site.path("etc/job_submit.lua")), "job_submit.lua is gone")
        allowed(site, *reread)
        began = time.monotonic()
        said = allowed(site, *release)
        took = time.monotonic() - began
        expect(f"Released {JOBS + 10 + 2} jobs; 1 stay held" in said, said)
        expect(client.wait(60) == 0, "salloc got its allocation, and gave it back")
        site.wait_for("the first of the queue, as submitted", lambda: site.state(queue[0]) == "RUNNING")
        expect(site.state(queue[-2]) == "PENDING", "the last one waits")
        job = site.job(placed)
        expect(job["ReqNodeList"] == "(null)" and job["AdminComment"] == "goban:none" and job["Priority"] != "0", str(job))
        expect(job["TresPerNode"] == "gres:gpu:2", f"as its user requested it: {job['TresPerNode']}")
        expect(site.job(held)["Priority"] == "0", "what its user holds stays held")
        new = site.sbatch("--gres=gpu:1", user=USER)
        expect(site.job(new)["Priority"] != "0", "new jobs are Slurm's")
        print(f"setup, --undo and release-all of {JOBS + 12} jobs: {took:.2f} s")


if __name__ == "__main__":
    main()
