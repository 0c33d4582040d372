"""NCCL's environment on Slurm: each task gets what `goban doctor nccl --export` derives on its node, by a TaskProlog as in docs/topology.md.
What the user has set stays.

    task_prolog.py GOBAN     (needs root and Slurm; 77 without them)
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from live_daemon import expect
from slurm_site import ROOT, SlurmSite, skip_where_missing

CARDS = "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_6:1,mlx5_7:1,mlx5_8:1,mlx5_9:1"
JOB = "#!/bin/sh\nsrun -n 2 sh -c 'echo task $SLURM_PROCID $NCCL_IB_HCA $NCCL_SOCKET_IFNAME'\n"


def tasks_of(site, *options):
    """What the two tasks of a job print, in order."""
    out = site.path("log/tasks")
    number = site.sbatch("-n2", "--output=" + out, *options, script=JOB)
    site.wait_for("the end of the job", lambda: site.state(number) == "COMPLETED", limit_s=60)
    with open(out) as file:
        return sorted(file.read().splitlines())


def main():
    skip_where_missing()
    goban = os.path.abspath(sys.argv[1])
    site = SlurmSite(nodes=1)
    prolog = site.path("nccl.sh")
    site.config = f"TaskProlog={prolog}\n"
    os.makedirs(site.folder, exist_ok=True)
    # The machine is a DGX A100 by its files.
    site.write("nccl.sh", f"#!/bin/sh\nexec {goban} doctor nccl --export --from {ROOT}/tests/topology/dgx_a100\n".encode(), 0o755)
    with site:
        derived = tasks_of(site)
        expect(derived == [f"task {task} {CARDS} =enp226s0" for task in range(2)], str(derived))
        own = tasks_of(site, "--export=ALL,NCCL_IB_HCA=mine")
        expect(own == [f"task {task} mine =enp226s0" for task in range(2)], str(own))
    print(f"two tasks got {CARDS}; the user's own value stayed")


if __name__ == "__main__":
    main()
