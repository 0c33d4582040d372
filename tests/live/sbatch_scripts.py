"""Job scripts as sites document them for Slurm, run unchanged on one machine by the commands of `goban shims`.

torchrun, accelerate, mpirun, conda and ray are stand-ins that print how they were called.

    sbatch_scripts.py GOBAN
"""

import os
import re
import stat
import sys

from live_daemon import Daemon, expect
from shims import Shims

STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*"
"""
CONDA = """#!/bin/sh
[ "$1" = shell.bash ] && echo 'conda() { echo "conda $*"; }'
"""
RANKS = "print('rank', *[__import__('os').environ[name] for name in ('RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'MASTER_ADDR')])\n"

# Name: the script, and the lines that must be in its output in any order. {node} is the machine, {job} the number.
SCRIPTS = {
    "torchrun": ("""#!/bin/bash
#SBATCH --job-name=multinode-example
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=2
#SBATCH --cpus-per-task=1
#SBATCH --time=00:10:00
nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )
nodes_array=($nodes)
head_node=${nodes_array[0]}
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" echo "$head_node")
export LOGLEVEL=INFO
srun torchrun --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_PER_NODE --rdzv_endpoint $head_node_ip:29500 train.py 50 10
""", ["torchrun --nnodes 1 --nproc_per_node 2 --rdzv_endpoint {node}:29500 train.py 50 10"]),

    "ddp_with_srun": ("""#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --gres=gpu:2
#SBATCH --cpus-per-task=1
#SBATCH --mem=100M
export MASTER_PORT=$(expr 10000 + $(echo -n $SLURM_JOBID | tail -c 4))
export WORLD_SIZE=$(($SLURM_NNODES * $SLURM_NTASKS_PER_NODE))
master_addr=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR=$master_addr
echo "WORLD_SIZE=$WORLD_SIZE tasks=$SLURM_NTASKS cores=$SLURM_JOB_CPUS_PER_NODE mem=$SLURM_MEM_PER_NODE"
srun python3 ranks.py
""", ["WORLD_SIZE=2 tasks=2 cores=2 mem=100", "rank 0 0 2 {node}", "rank 1 1 2 {node}"]),

    "accelerate": ("""#!/bin/bash
#SBATCH --job-name=accelerate
#SBATCH -N 1
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:2
#SBATCH --cpus-per-task=2
export GPUS_PER_NODE=2
head_node_ip=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export LAUNCHER="accelerate launch --num_processes $((SLURM_NNODES * GPUS_PER_NODE)) --num_machines $SLURM_NNODES \\
    --machine_rank $SLURM_PROCID --main_process_ip $head_node_ip"
srun $LAUNCHER train.py
""", ["accelerate launch --num_processes 2 --num_machines 1 --machine_rank 0 --main_process_ip {node} train.py"]),

    "gpu_per_task": ("""#!/bin/bash
#SBATCH --ntasks=2
#SBATCH --gpus-per-task=1
#SBATCH --gpus-per-node=2
srun --label bash -c 'echo "${#CUDA_VISIBLE_DEVICES} $SLURM_GPUS_ON_NODE"'
""", ["0: 1 1", "1: 1 1"]),

    "array": ("""#!/bin/bash
#SBATCH --array=1-5:2%2
#SBATCH -c 1 --gpus=0
echo "$SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT from $SLURM_ARRAY_TASK_MIN to $SLURM_ARRAY_TASK_MAX by $SLURM_ARRAY_TASK_STEP"
[ "$SLURM_ARRAY_JOB_ID" -le "$SLURM_JOB_ID" ] && echo array
""", None),

    "login_shell_with_conda": ("""#!/bin/bash -l
#SBATCH --gpus=1 --cpus-per-task=1
eval "$(conda-setup shell.bash)"
conda activate ml
shopt -q login_shell && echo "login shell, line $LINENO"
srun --ntasks=1 echo step
squeue -h -j $SLURM_JOB_ID -o "%T %j"
""", ["conda activate ml", "login shell, line 5", "step", "RUNNING login_shell_with_conda.sh"]),

    "openmp": ("""#!/bin/sh
#SBATCH -n 1 -c 2 --gres=none
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
echo $OMP_NUM_THREADS $SLURM_NTASKS $SLURM_CPUS_ON_NODE ${SLURM_JOB_GPUS-no GPU}
""", None),

    "mpi": ("""#!/bin/bash
#SBATCH --ntasks=2 --cpus-per-task=1 --gpus=0
module() { :; }
module load openmpi
mpirun -np $SLURM_NTASKS --map-by slot:PE=$SLURM_CPUS_PER_TASK ./solver
echo $SLURM_NPROCS $SLURM_TASKS_PER_NODE
""", ["mpirun -np 2 --map-by slot:PE=1 ./solver", "2 2"]),

    "requeues_itself": ("""#!/bin/bash
#SBATCH --requeue --open-mode=append --gpus=1
#SBATCH --signal=B:USR1@30 --time=5
echo "start ${SLURM_RESTART_COUNT:-0}"
if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then
  scontrol requeue $SLURM_JOB_ID
  sleep 60
fi
""", ["before", "start 0", "start 1"]),

    "packs_gpus": ("""#!/bin/bash
#SBATCH --ntasks=2 --gres=gpu:2
for i in 1 2; do
  srun --exclusive -N1 -n1 --gres=gpu:1 sh -c 'echo $CUDA_VISIBLE_DEVICES > gpu.$0; until [ -s gpu.1 ] && [ -s gpu.2 ]; do sleep 0.1; done' $i &
done
wait
cmp -s gpu.1 gpu.2 || echo "different GPUs"
""", ["different GPUs"]),

    "xargs_steps": ("""#!/bin/bash
#SBATCH -n 2 --gpus=0
seq 3 | xargs -P 3 -I{} srun -N1 -n1 -c1 --exact sh -c 'echo item {}'
""", ["item 1", "item 2", "item 3"]),

    "finds_its_script": ("""#!/bin/bash
#SBATCH --gpus=0 --time=01:00:00
script=$(scontrol show job "$SLURM_JOB_ID" | awk -F= '/Command=/{print $2}')
echo "script $(basename $script) in $(dirname $script)"
scontrol show job $SLURM_JOB_ID | grep -oP 'TimeLimit=\\K\\S+'
scontrol -o show job $SLURM_JOB_ID | grep -oE 'JobState=\\S+|WorkDir=\\S+|NumNodes=\\S+'
squeue -h -j $SLURM_JOB_ID -o %l
""", ["script finds_its_script.sh in {folder}", "01:00:00", "JobState=RUNNING", "WorkDir={folder}", "NumNodes=1", "1:00:00"]),

    "remarks": ("""#!/bin/bash
#SBATCH --mail-type=ALL --mail-user=me@example.org
#SBATCH --hint=nomultithread --constraint=a100 --exclusive
#SBATCH --comment="a test" --nice=10 --export=ALL,FOO=1 --gpus=0
echo FOO $FOO
""", ["FOO 1"]),

    "cores_and_memory_by_gpu": ("""#!/bin/bash
#SBATCH --gpus=2 --cpus-per-gpu=1 --mem-per-gpu=64M
echo $SLURM_GPUS $SLURM_CPUS_PER_GPU $SLURM_MEM_PER_GPU $SLURM_CPUS_ON_NODE
""", ["2 1 64 2"]),

    "input": ("""#!/bin/bash
#SBATCH --input=list.txt --gpus=0
while read -r line; do echo "got $line"; done
""", ["got one", "got two"]),

    "submits_the_next": ("""#!/bin/bash
#SBATCH --gpus=0 -n 2 --output=submits_the_next.out --open-mode=append
step=${1:-1}
echo "step $step with ${SLURM_NTASKS:-no} tasks"
if [ $step -lt 2 ]; then
  sbatch --job-name=second -n 1 submits_the_next.sh $((step + 1))
fi
""", None),

    "ray": ("""#!/bin/bash
#SBATCH --nodes=1 --exclusive --tasks-per-node=1 --cpus-per-task=2 --gpus-per-task=1
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
nodes_array=($nodes)
head_node=${nodes_array[0]}
srun --nodes=1 --ntasks=1 -w "$head_node" ray start --head --num-cpus "${SLURM_CPUS_PER_TASK}" --num-gpus "${SLURM_GPUS_PER_TASK}" --block &
wait
worker_num=$((SLURM_JOB_NUM_NODES - 1))
echo "$worker_num workers"
""", ["ray start --head --num-cpus 2 --num-gpus 1 --block", "0 workers"]),

    "submitit": ("""#!/bin/bash
#SBATCH --cpus-per-task=1
#SBATCH --error=log/%j_0_log.err
#SBATCH --gpus-per-node=1
#SBATCH --job-name=submitit
#SBATCH --mem=64M
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --open-mode=append
#SBATCH --output=log/%j_0_log.out
#SBATCH --signal=USR2@90
#SBATCH --time=5
#SBATCH --wckey=submitit
export SUBMITIT_EXECUTOR=slurm
srun --unbuffered --output log/%j_%t_log.out --error log/%j_%t_log.err python3 -u -c 'import os; print("task", os.environ["SLURM_LOCALID"])'
""", None),

    "several_programs": ("""#!/bin/bash
#SBATCH --ntasks=2 --gpus=0
cat > programs.conf <<END
0 echo server %t
1 echo client %t
END
srun --multi-prog programs.conf
""", ["server 0", "client 1"]),

    "temporary_folder": ("""#!/bin/bash
#SBATCH --job-name="my job" --gpus=0 --chdir=sub
set -euo pipefail
tmp=$(mktemp -d -t "job_${SLURM_JOB_ID}_XXXX"); trap 'rm -rf "$tmp"' EXIT
echo "$SLURM_JOB_NAME in $(basename $PWD) from $(basename $SLURM_SUBMIT_DIR) by $SLURM_JOB_USER on $SLURM_CLUSTER_NAME"
cd "$SLURM_SUBMIT_DIR" && ls list.txt
""", ["my job in sub from {base} by {user} on goban", "list.txt"]),
}


def write(folder, name, text, runs=False):
    path = os.path.join(folder, name)
    with open(path, "w") as out:
        out.write(text)
    if runs:
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def prepare(shims):
    folder = shims.daemon.folder
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    for name in ("torchrun", "accelerate", "mpirun", "ray"):
        write(tools, name, STAND_IN, runs=True)
    write(folder, "conda-setup", CONDA, runs=True)
    write(folder, "ranks.py", RANKS)
    write(folder, "list.txt", "one\ntwo\n")
    for name in ("sub", "log"):
        os.mkdir(os.path.join(folder, name))
    environment = shims.daemon.environment
    environment["PATH"] = f"{tools}:{environment['PATH']}"
    for name, (script, _) in SCRIPTS.items():
        write(folder, f"{name}.sh", script.replace("conda-setup", f"{folder}/conda-setup"))


def read(shims, name):
    with open(os.path.join(shims.daemon.folder, name)) as file:
        return file.read()


def scripts(shims):
    """Submits all scripts, waits for them and compares their output."""
    folder = shims.daemon.folder
    write(folder, "requeues_itself.out", "before\n")
    jobs = {}
    for name in SCRIPTS:
        out = "" if name in ("submitit", "submits_the_next", "array") else f"-o {name}.out"
        jobs[name] = shims(f"sbatch --parsable {out} {name}.sh").strip()
        expect(jobs[name].isdigit(), jobs[name])
    node = shims("sinfo -h -o %n").strip()
    for name, job in jobs.items():
        shims(f"\"$GOBAN\" wait {job} --timeout 4m", timeout=300)
        expect(shims(f"sacct -j {job} -n -X -P -o State,ExitCode").splitlines()[0] == "COMPLETED|0:0",
               f"{name}: " + shims(f"sacct -j {job} -n -X -P -o State,ExitCode") + shims(f"cat *{job}*.out {name}.out || true"))
        wanted = SCRIPTS[name][1]
        if wanted is not None:
            filled = sorted(line.format(node=node, job=job, folder=os.path.realpath(folder), base=os.path.basename(folder),
                                        user=shims("id -un").strip()) for line in wanted)
            # Names of files are relative to --chdir.
            out = f"sub/{name}.out" if name == "temporary_folder" else f"{name}.out"
            lines = [line for line in read(shims, out).splitlines() if not line.startswith(("srun: ", "scontrol: "))]
            expect(sorted(lines) == filled, f"{name}: {sorted(lines)}, not {filled}")
    for task in (1, 3, 5):
        text = read(shims, f"slurm-{jobs['array']}_{task}.out")
        expect(text == f"{task} of 3 from 1 to 5 by 2\narray\n", text)
    expect(read(shims, "openmp.out") == "2 1 2 no GPU\n", read(shims, "openmp.out"))
    shims.daemon.wait_for("the next job", lambda: "\nstep 2 with 1 tasks\n" in read(shims, "submits_the_next.out"))
    expect(read(shims, "submits_the_next.out").startswith("step 1 with 2 tasks\n"), "the first")
    for rank in range(2):
        text = read(shims, f"log/{jobs['submitit']}_{rank}_log.out")
        expect(text == f"task {rank}\n", text)


def workflow_managers(shims):
    """How Snakemake, Nextflow, submitit and shell scripts call Slurm."""
    user = shims("id -un").strip()
    run = "4e3d2c1b-uuid"
    job = shims(f"sbatch --parsable --job-name {run} --output sub/%j.log --comment=rule_all -n 1 --mem 64 --cpus-per-task=1 --gpus=0 "
                f"-D {shims.daemon.folder} --wrap=\"python3 -c 'print(1)'\"").strip()
    done = shims.daemon.wait_for("its end", lambda: shims(
        f"sacct -X --parsable2 --noheader --format=JobIdRaw,State --starttime now-2days --endtime now --name {run}").strip()
        == f"{job}|COMPLETED")
    expect(done, "Snakemake")
    header = "#!/bin/bash\n#SBATCH -J nf-task\n#SBATCH -o .command.log\n#SBATCH --no-requeue\n#SBATCH --signal B:USR2@30\n" \
             "#SBATCH -c 1 --gpus=0\necho nextflow > .command.out\n"
    write(shims.daemon.folder, ".command.run", header)
    text = shims("sbatch .command.run")
    expect(re.fullmatch(r"Submitted batch job \d+\n", text), text)
    nextflow = text.split()[-1]
    shims.daemon.wait_for("Nextflow", lambda: f"{nextflow} CD" in shims(f"squeue --noheader -o '%i %t' -t all -u {user}").splitlines())
    text = shims(f"sacct -o JobID,State,NodeList --parsable2 -j {job}")
    expect(text.splitlines()[0] == "JobID|State|NodeList" and text.splitlines()[1].startswith(f"{job}|COMPLETED|"), text)
    expect(text.splitlines()[2].startswith(f"{job}.batch|COMPLETED|"), text)
    first = shims("sbatch --parsable --gpus=0 --wrap='exit 3'").strip()
    second = shims(f"sbatch --parsable --gpus=0 --dependency=afternotok:{first} --wrap='echo second'").strip()
    third = shims(f"sbatch --parsable --gpus=0 --dependency=afterok:{first} --kill-on-invalid-dep=yes --wrap=true").strip()
    shims(f"\"$GOBAN\" wait {second}")
    expect(shims(f"sacct -j {first} -n -X -o State,ExitCode -P") == "FAILED|3:0\n", "exit code")
    shims.daemon.wait_for("the third", lambda: shims(f"squeue -h -j {third} -o %T") == "")
    expect(shims(f"sacct -j {third} -n -X -o State -P") == "CANCELLED\n", "a dependency that is never met")


def answers(shims):
    """What sbatch itself says and returns."""
    expect(shims("sbatch --wait --quiet --gpus=0 -o /dev/null --wrap 'exit 3'", code=3) == "", "--wait --quiet")
    write(shims.daemon.folder, "waits.sh", "#!/bin/sh\n#SBATCH --wait --gpus=0 -o /dev/null\nexit 4\n")
    expect(re.fullmatch(r"Submitted batch job \d+\n", shims("sbatch waits.sh", code=4)), "#SBATCH --wait")
    text = shims("sbatch --test-only --gpus=1 --wrap true 2>&1")
    node = shims("sinfo -h -o %n").strip()
    expect(re.fullmatch(rf"sbatch: the job would start at \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d with 1 GPUs? on node {node}\n", text), text)
    text = shims("sbatch --test-only --gpus=64 --wrap true 2>&1", code=1)
    expect("would not start" in text, text)
    expect(shims("SBATCH_JOB_NAME=mine sbatch --parsable --gpus=0 -o name.out --wait --wrap 'echo $SLURM_JOB_NAME'").strip().isdigit()
           and read(shims, "name.out") == "mine\n", "SBATCH_JOB_NAME")
    text = shims("sbatch --gpus=0 --wait -o sent.out <<'END'\n#!/bin/sh\n#SBATCH --hint=nomultithread\necho sent\nEND\n")
    expect(read(shims, "sent.out") == "sent\n", text)
    text = shims("sbatch --gpus=0 --test-only --mail-type=END --exclusive --wckey=x --wrap true 2>&1")
    for name in ("--mail-type", "--exclusive", "--wckey"):
        expect(name in text, f"{name} is not named: {text}")


def main():
    with Daemon(sys.argv[1], gpus=4) as daemon:
        daemon.environment["GOBAN"] = daemon.goban
        shims = Shims(daemon)
        prepare(shims)
        scripts(shims)
        workflow_managers(shims)
        answers(shims)
    print("ok")


if __name__ == "__main__":
    main()
