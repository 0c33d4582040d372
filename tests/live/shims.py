"""Slurm's commands on top of goban: job scripts and lines in public use run unchanged.

    shims.py GOBAN
"""

import json
import os
import re
import subprocess
import sys

from live_daemon import Daemon, expect

# As in many tutorials: cores, an array, GPUs, mail, modules and a step per task.
SCRIPT = """#!/bin/bash
#SBATCH --job-name=hello
#SBATCH --output=%x_%j.log
#SBATCH --ntasks=3            # processes
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=50M
#SBATCH --gres=gpu:1
#SBATCH --time=00:05:00
#SBATCH --mail-type=END,FAIL
echo "job $SLURM_JOB_ID named $SLURM_JOB_NAME on $SLURM_JOB_NODELIST"
srun --label sh -c 'echo rank $SLURM_PROCID of $SLURM_NTASKS'
srun -n 1 sh -c 'exit 3' || echo "step ended with $?"
"""


class Shims:
    def __init__(self, daemon):
        self.daemon = daemon
        self.folder = os.path.join(daemon.folder, "slurm commands")
        run = daemon.goban_run("shims", self.folder)
        expect(run.returncode == 0, run.stderr)
        daemon.environment["PATH"] = f"{self.folder}:{os.environ['PATH']}"

    def __call__(self, line, code=0, stdin=None, timeout=60):
        run = subprocess.run(["sh", "-c", line], env=self.daemon.environment, cwd=self.daemon.folder, text=True,
                             input=stdin, capture_output=True, timeout=timeout, check=False)
        expect(run.returncode == code, f"{line}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
        return run.stdout


def scripts(shims):
    with open(os.path.join(shims.daemon.folder, "hello.sh"), "w") as out:
        out.write(SCRIPT)
    text = shims("sbatch --wait hello.sh")
    expect(re.fullmatch(r"Submitted batch job \d+\n", text), text)
    job = text.split()[-1]
    with open(os.path.join(shims.daemon.folder, f"hello_{job}.log")) as log:
        lines = log.read().splitlines()
    expect(lines[0].startswith(f"job {job} named hello on "), lines)
    expect(sorted(lines[1:4]) == [f"{rank}: rank {rank} of 3" for rank in range(3)], lines)
    expect(lines[-1] == "step ended with 3", lines)
    text = shims(f"sacct -j {job} -n -P -o JobID,JobName,State,ExitCode,AllocTRES%40")
    tres = "cpu=3,gres/gpu=1,mem=150M,node=1"
    expect(text == f"{job}|hello|COMPLETED|0:0|{tres}\n{job}.batch|batch|COMPLETED|0:0|{tres}\n", text)
    piped = shims("sbatch --parsable -J piped -o /dev/null -t 1", stdin="#!/bin/sh\ntrue\n").strip()
    expect(piped.isdigit(), piped)


def waiting_jobs(shims):
    first = shims("sbatch --parsable --gpus=2 -o /dev/null --wrap='sleep 600'").strip()
    shims.daemon.wait_for("its start", lambda: shims(f"squeue -h -j {first} -o %T").strip() == "RUNNING")
    array = shims("sbatch --parsable -J sweep -G 1 -o /dev/null -a 0-2 --exclusive=user --wrap='sleep 600'").strip()
    after = shims(f"sbatch --parsable -d afterok:{first} -n1 -o/dev/null --wrap true").strip()
    text = shims("squeue --me")
    expect(text.split("\n", 1)[0].split() == ["JOBID", "PARTITION", "NAME", "USER", "ST", "TIME", "NODES", "NODELIST(REASON)"], text)
    expect(re.search(rf"^ +{first} .* R +0:\d\d +1 \S+$", text, re.M), text)
    expect(re.search(rf"^ +{array}_\[0-2\] .* PD +0:00 +1 \((Resources|Priority)\)$", text, re.M), text)
    expect(re.search(rf"^ +{after} .* PD .*\(Dependency\)$", text, re.M), text)
    expect(shims("squeue -h -r -t PD -n sweep -o '%F %K|%j'").splitlines() == [f"{array} {task}|sweep" for task in range(3)],
           "fields of array tasks")
    text = shims("sinfo")
    expect(re.search(r"^ *goban\* +up +infinite +1 +alloc +\S+$", text, re.M), text)
    shims("scancel -n sweep -t PENDING")
    expect(shims("squeue -h -n sweep") == "", "the array is cancelled")
    shims(f"scancel {first}")
    shims.daemon.wait_for("its end", lambda: shims(f"squeue -h -j {first}") == "")
    expect(f"{first} CANCELLED" in " ".join(shims(f"sacct -X -n -j {first} -o JobID,State").split()), "sacct")
    shims("scancel", code=1)
    shims(f"scancel -u {json.loads(shims.daemon.goban_run('queue', '--all', '--json').stdout)[0]['user']}")


def signals(shims):
    """scancel --signal does not end a job: without -b it goes to the tasks of srun only, as in Slurm."""
    write = "trap 'echo {0} >> traps' USR1; echo {0} ready >> traps; while :; do sleep 0.1; done"
    with open(os.path.join(shims.daemon.folder, "traps.sh"), "w") as out:
        out.write("#!/bin/bash\nsrun sh -c \"" + write.format("task") + "\" &\n" + write.format("script") + "\n")
    job = shims("sbatch --parsable --gpus=0 -o /dev/null traps.sh").strip()

    def said():
        with open(os.path.join(shims.daemon.folder, "traps")) as file:
            return file.read().split("\n")[:-1]
    path = os.path.join(shims.daemon.folder, "traps")
    shims.daemon.wait_for("both", lambda: os.path.exists(path) and len(said()) == 2)
    shims(f"scancel --signal=USR1 {job}")
    shims.daemon.wait_for("the task", lambda: said()[2:] == ["task"])
    shims(f"scancel -b -s SIGUSR1 {job}")
    shims.daemon.wait_for("the script", lambda: said()[2:] == ["task", "script"])
    shims(f"scancel --full --signal=10 {job}")
    shims.daemon.wait_for("both again", lambda: sorted(said()[4:]) == ["script", "task"])
    expect(shims(f"squeue -h -j {job} -o %T") == "RUNNING\n", "it runs on")
    shims("scancel --signal=NOPE 1", code=1)
    shims(f"scancel -s KILL {job}")
    shims.daemon.wait_for("its end", lambda: shims(f"squeue -h -j {job}") == "")
    shims(f"scancel {job}")
    shims("scancel 99999")


def control(shims):
    node = shims("sinfo -h -o %n").strip()
    job = shims("sbatch --parsable --hold -J mine -t 10 -n 2 -c 1 --gpus=1 --mem=64 -o out-%j.txt --wrap true").strip()
    text = shims(f"scontrol show job {job}")
    for field in (f"JobId={job} JobName=mine", "JobState=PENDING Reason=JobHeldUser", "TimeLimit=00:10:00", "NumNodes=1 NumCPUs=2",
                  f"WorkDir={os.path.realpath(shims.daemon.folder)}", f"StdOut={os.path.realpath(shims.daemon.folder)}/out-{job}.txt",
                  "MinMemoryNode=64M", "TresPerNode=gres:gpu:1"):
        expect(field in text, f"{field} is not in {text}")
    expect(len(shims(f"scontrol -o show job {job}").splitlines()) == 1, "-o")
    shims(f"scontrol update jobid={job} timelimit=20")
    shims(f"scontrol update JobId={job} TimeLimit=+5 Priority=-3")
    text = shims(f"scontrol show jobid={job}")
    expect("TimeLimit=00:25:00" in text and "Priority=-3" in text, text)
    shims(f"scontrol update JobId={job} foo=bar", code=1)
    shims(f"scontrol release {job}")
    shims.daemon.wait_for("its end", lambda: "JobState=COMPLETED" in shims(f"scontrol show job {job}"))
    job = shims("sbatch --parsable --gpus=0 -o /dev/null --wrap 'sleep 600'").strip()
    shims.daemon.wait_for("its start", lambda: f"NodeList={node}" in shims(f"scontrol show job {job}"))
    state, cpus = shims("sinfo -h -o '%t %C'").split()
    expect(state in ("mix", "alloc") and int(cpus.split("/")[0]) > 0, f"a job without GPUs holds cores: {state} {cpus}")
    shims(f"scontrol suspend {job}")
    shims.daemon.wait_for("its rest", lambda: "JobState=SUSPENDED" in shims(f"scontrol show job {job}"))
    shims(f"scontrol resume {job}")
    shims(f"scontrol requeue {job}")
    shims.daemon.wait_for("its return", lambda: "Restarts=1" in shims(f"scontrol show job {job}"))
    shims(f"scontrol hold {job}", code=1)
    shims(f"scancel {job}")
    # A handler of the signal that asks for the requeue again, as that of submitit.
    ready = os.path.join(shims.daemon.folder, "trap is set")
    job = shims("sbatch --parsable --gpus=0 -o /dev/null -t 10 --signal=USR1@60 "
                f"--wrap 'trap : USR1; touch \"{ready}\"; while :; do sleep 0.1; done'").strip()
    shims.daemon.wait_for("the trap", lambda: os.path.exists(ready))
    for _ in range(2):
        shims(f"scontrol requeue {job}")
    expect("JobState=COMPLETING" in shims(f"scontrol show job {job}"), shims(f"scontrol show job {job}"))
    shims(f"scancel -s KILL {job}")
    shims("scontrol show job 99999", code=1)
    expect(shims("scontrol show hostnames 'a[1-2],b'") == "a1\na2\nb\n", "hostnames")
    expect(shims("SLURM_JOB_NODELIST=n[08-10] scontrol show hostnames") == "n08\nn09\nn10\n", "hostnames of the job")
    expect(shims("scontrol show hostlist a1,a2,b") == "a[1-2],b\n", "hostlist")
    shims("scontrol show hostnames 'a[1'", code=1)
    text = shims(f"scontrol show node {node}")
    expect(f"NodeName={node} " in text and "State=IDLE" in text and ":2" in text, text)
    shims(f"scontrol update nodename={node} state=drain reason=fan")
    expect(re.search("State=DRAIN", shims("scontrol show nodes")), shims("scontrol show nodes"))
    shims(f"scontrol update nodename={node} state=resume")
    shims("scontrol show node nowhere", code=1)
    for line in ("scontrol show nonsense", "scontrol nonsense 3", "scontrol reconfigure", "scontrol", "scontrol hold"):
        shims(line, code=1)
    expect(shims("scontrol ping").endswith(" is UP\n"), "ping")


def refusals(shims):
    shims("sbatch nowhere.sh", code=1)
    shims("sacct -o Nonsense", code=1)
    shims("sbatch --bogus=3 --wrap true", code=2)
    expect(shims("srun -n 1 --gres=gpu:1 echo alone").strip() == "alone", "srun outside of a job")
    expect(sorted(shims("srun -n 2 --label --gpus=0 sh -c 'echo of $SLURM_NTASKS'").splitlines()) == ["0: of 2", "1: of 2"],
           "tasks outside of a job")
    shims("squeue -j 99999", code=1)
    shims("srun sh -c 'exit 7'", code=7)
    own = os.path.join(shims.daemon.folder, "own")
    os.mkdir(own)
    with open(os.path.join(own, "squeue"), "w") as out:
        out.write("#!/bin/sh\n")
    run = shims.daemon.goban_run("shims", own)
    expect(run.returncode == 1 and "not ours" in run.stderr, run.stderr)
    expect(shims.daemon.goban_run("shims", shims.folder).returncode == 0, "our own are written again")


def main():
    with Daemon(sys.argv[1], gpus=2) as daemon:
        shims = Shims(daemon)
        scripts(shims)
        waiting_jobs(shims)
        signals(shims)
        control(shims)
        refusals(shims)
    print("ok")


if __name__ == "__main__":
    main()
