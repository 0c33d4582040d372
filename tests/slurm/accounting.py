"""A Slurm with slurmdbd and limits: a job that a limit would stop is not placed, and `goban explain` names the limit; arrays keep
their %N; a job gets its signal before it is requeued, and is suspended; goban submit calls sbatch; a page says what Slurm did.

    accounting.py GOBAN     (needs root, Slurm, slurmdbd and MariaDB; 77 without them)
"""

import os
import signal
import sys
import time

from serving import USER, Serving, expect
from slurm_site import skip_where_missing

OTHER = "daemon"
SIGNALLED = """#!/bin/sh
#SBATCH --signal=B:USR1@2
trap 'echo signal $SLURM_JOB_ID $SLURM_RESTART_COUNT >> {lines}' USR1
echo start $SLURM_JOB_ID >> {lines}
while true; do sleep 0.1; done
"""


def accounts(site):
    for words in (("account", "lab1", "GrpTRES=gres/gpu=3"), ("user", USER, "account=lab1"), ("qos", "one", "MaxJobsPU=1")):
        site.run("sacctmgr", "-i", "add", *words, check=True)
    site.run("sacctmgr", "-i", "modify", "user", USER, "set", "qos+=one", check=True)


def limits(serving):
    site = serving.site
    first = site.sbatch("--gres=gpu:2", user=USER)
    serving.wait_state(first, "running")
    second = site.sbatch("--gres=gpu:2", user=USER)
    reached = "limit GrpTRES gres/gpu=3 of account lab1 is reached"
    site.wait_for("the limit", lambda: reached in serving.job(second).get("blocked", ""))
    expect(reached in serving.daemon.goban_run("explain", f"@{second}").stdout, "explain names it")
    third = site.sbatch("--gres=gpu:1", user=USER)
    serving.wait_state(third, "running")
    job = site.job(second)
    expect(job["Priority"] == "0" and job.get("AdminComment", "(null)") == "(null)", f"it was never placed: {job}")
    site.run("scancel", first, check=True)
    serving.wait_state(second, "running")
    site.run("scancel", second, third)
    alone = [site.sbatch("--gres=gpu:1", "--qos=one", user=USER) for _ in range(2)]
    serving.wait_state(alone[0], "running")
    site.wait_for("the QOS", lambda: "MaxPerUser Jobs=1 of QOS one" in serving.job(alone[1]).get("blocked", ""))
    site.run("scancel", *alone)


def arrays(serving):
    site = serving.site
    array = site.sbatch("--gres=gpu:1", "--array=0-3%1", user=USER, script="#!/bin/sh\nexec sleep 2\n")
    seen = set()

    def done():
        running = [job for job in serving.jobs().values() if job["state"] == "running"]
        seen.update(job["engine_id"] for job in running)
        expect(len(running) <= 1, f"one at a time: {running}")
        return len(seen) >= 3
    site.wait_for("three tasks, one after another", done, 60)
    site.run("scancel", array)


def signals(serving):
    site = serving.site
    lines = site.path("signals")
    open(lines, "w").close()
    os.chmod(lines, 0o666)
    number = site.sbatch("--gres=gpu:1", user=USER, script=SIGNALLED.format(lines=lines))
    serving.wait_state(number, "running")
    site.wait_for("its start", lambda: "start" in open(lines).read())
    began = time.monotonic()
    expect(serving.daemon.goban_run("requeue", f"@{number}").returncode == 0, "requeue")
    site.wait_for("the signal", lambda: "signal" in open(lines).read())
    site.wait_for("its second run", lambda: open(lines).read().count("start") == 2, 60)
    expect(time.monotonic() - began >= 2, "it had its time")
    serving.wait_state(number, "running")
    expect(serving.daemon.goban_run("suspend", f"@{number}").returncode == 0, "suspend")
    site.wait_for("its suspension", lambda: site.state(number) == "SUSPENDED")
    expect(serving.daemon.goban_run("resume", f"@{number}").returncode == 0, "resume")
    site.wait_for("its resumption", lambda: site.state(number) == "RUNNING")
    expect(serving.daemon.goban_run("cancel", f"@{number}").returncode == 0, "cancel")
    serving.wait_state(number, "done")


def submits(serving):
    site, goban = serving.site, serving.daemon.goban_run
    ran = goban("submit", "--parsable", "--gpus", "2", "--time", "90m", "--name", "bert", "--epochs", "3", "-o", "/dev/null", "--wrap", "sleep 60")
    expect(ran.returncode == 0 and "without effect" in ran.stderr and "--epochs" in ran.stderr, ran.stderr)
    number = ran.stdout.strip()
    serving.wait_state(number, "running")
    job = site.job(number)
    expect((job["JobName"], job["TimeLimit"], job["TresPerNode"]) == ("bert", "01:30:00", "gres:gpu:2"), str(job))
    expect(goban("cancel", f"@{number}").returncode == 0, "cancel")
    ran = goban("run", "--gpus", "2", "--name", "master", "sh", "-c", "echo $SLURM_JOB_ID $SLURM_JOB_GPUS; exit 3")
    expect(ran.returncode == 3, f"the exit code of the command: {ran.returncode} {ran.stderr}")
    number, gpus = ran.stdout.split()
    expect(len(gpus.split(",")) == 2 and site.job(number)["AdminComment"].startswith("goban:"), f"{ran.stdout} {site.job(number)}")
    refused = goban("submit", "--partition", "none", "--wrap", "true")
    expect(refused.returncode == 1 and "invalid partition" in refused.stderr and "sbatch refused it" in refused.stderr, refused.stderr)
    own = goban("submit", "--parsable", "-p", "other", "-o", "/dev/null", "--gpus", "1", "--wrap", "sleep 60").stdout.strip()
    serving.wait_state(own, "running")
    expect(goban("cancel", f"@{own}").returncode == 0, "what Slurm started itself, by scancel")
    site.wait_for("its end", lambda: site.state(own) == "CANCELLED")


def priorities(goban):
    """Jobs start in the order that the site's weights and shares give them: the same numbers as Slurm's for jobs that nobody holds."""
    weights = ("PriorityType=priority/multifactor\nPriorityWeightFairshare=10000\nPriorityWeightQOS=2000\nPriorityWeightJobSize=300\n"
               "PriorityWeightTRES=gres/gpu=700\nPriorityWeightAge=1000\n")
    with Serving(goban, database=True, policy="priority+packed", slurm=weights) as serving:
        site = serving.site
        for words in (("account", "lab1", "fairshare=3"), ("account", "lab2", "fairshare=1"), ("user", USER, "account=lab1"),
                      ("user", OTHER, "account=lab2"), ("qos", "fast", "priority=50")):
            site.run("sacctmgr", "-i", "add", *words, check=True)
        site.run("sacctmgr", "-i", "modify", "user", OTHER, "set", "qos+=fast", check=True)
        busy = [site.sbatch("--gres=gpu:4", "-p", "other", user=USER) for _ in range(4)]
        for number in busy:
            site.wait_for("busy GPUs", lambda n=number: site.state(n) == "RUNNING")
        time.sleep(1)  # some usage
        site.kill("slurmctld", signal.SIGTERM)
        site.start("slurmctld")  # it calculates shares at its start, then once a minute at most
        site.wait_for("shares", lambda: f"lab1|{USER}|0." in (said := site.run("sshare", "-ahP", "-o", "Account,User,FairShare").stdout)
                      and f"lab1|{USER}|0.000000" not in said)
        serving.restart()
        for number in busy:
            serving.wait_state(number, "running")
        kinds = ((OTHER, ()), (USER, ()), (OTHER, ("--qos=fast",)), (USER, ("--nice=400",)), (USER, ("-N2", "--gres=gpu:2")))
        waiting = {}
        for user, words in kinds:
            words = words if "--gres=gpu:2" in words else (*words, "--gres=gpu:4")
            held, free = (site.sbatch("-p", partition, *words, user=user) for partition in ("gpu", "other"))
            waiting[held] = free
        site.wait_for("priorities", lambda: all(serving.job(number).get("priority") for number in waiting))
        ours = {number: serving.job(number)["priority"] for number in waiting}
        lines = site.run("squeue", "-h", "-O", "JobID:20,PriorityLong:20").stdout.splitlines()
        theirs = dict(line.split() for line in lines)
        gap = {number: ours[number] - int(theirs[free]) for number, free in waiting.items()}
        expect(max(gap.values()) - min(gap.values()) <= 3, f"as Slurm has them, but for what age adds to all: {gap}")
        expect(len(set(theirs[free] for free in waiting.values())) == len(kinds), f"different ones: {theirs}")
        site.run("scancel", *waiting.values())
        site.run("scancel", busy[0])
        best = max(waiting, key=lambda number: int(theirs[waiting[number]]))
        serving.wait_state(best, "running")
        serving.daemon.stop(9)
        print(f"{serving.replay()} decisions replayed equal")
        serving.daemon.start()


def page(serving):
    folder = serving.site.path("page")
    serving.site.run("sacctmgr", "-i", "show", "runawayjobs")
    ran = serving.site.run(serving.goban, "engine", "slurm", "observe-report", "--out", folder, "--policy", "easy-backfill+pal,fifo+packed")
    expect(ran.returncode == 0, f"{ran.stdout} {ran.stderr}")
    expect("slurm-multifactor" in ran.stdout and "easy-backfill+pal" in ran.stdout and "recorded" in ran.stdout, ran.stdout)
    pages = [name for name in os.listdir(folder) if name.startswith("observe-") and name.endswith(".html")]
    expect(len(pages) == 1 and os.path.getsize(os.path.join(folder, pages[0])) > 10000, str(os.listdir(folder)))


def main():
    skip_where_missing(database=True)
    began = time.monotonic()
    with Serving(sys.argv[1], database=True, slurm="AccountingStorageEnforce=limits,qos\n") as serving:
        serving.daemon.environment["SLURM_CONF"] = serving.site.environment["SLURM_CONF"]
        accounts(serving.site)
        serving.restart()  # it reads limits at its start, and again every half minute
        for part in limits, arrays, signals, submits, page:
            part(serving)
            print(f"{part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
        serving.daemon.stop(9)
        print(f"{serving.replay()} decisions replayed equal")
        serving.daemon.start()
    priorities(sys.argv[1])
    print(f"priorities: {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
