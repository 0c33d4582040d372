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

    def __call__(self, line, code=0, stdin=None):
        run = subprocess.run(["sh", "-c", line], env=self.daemon.environment, cwd=self.daemon.folder, text=True,
                             input=stdin, capture_output=True, timeout=60, check=False)
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
    expect(lines[4] == "step ended with 3", lines)
    text = shims(f"sacct -j {job} -n -P -o JobID,JobName,State,ExitCode,AllocTRES%40")
    expect(text == f"{job}|hello|COMPLETED|0:0|cpu=3,gres/gpu=1,mem=150M,node=1\n", text)
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
    expect(re.search(rf"^ +{array}_0 .* PD +0:00 +1 \(Resources\)$", text, re.M), text)
    expect(re.search(rf"^ +{after} .* PD .*\(Dependency\)$", text, re.M), text)
    expect(shims("squeue -h -t PD -n sweep -o '%F %K|%j'").splitlines() == [f"{array} {task}|sweep" for task in range(3)],
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


def refusals(shims):
    shims("sbatch nowhere.sh", code=1)
    shims("sacct -o Nonsense", code=1)
    shims("sbatch --bogus=3 --wrap true", code=2)
    expect(shims("srun -n 1 --gres=gpu:1 echo alone").strip() == "alone", "srun outside of a job")
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
        refusals(shims)
    print("ok")


if __name__ == "__main__":
    main()
