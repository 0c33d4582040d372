"""Starts a script as two ranks, as torchrun does: two_ranks.py SCRIPT [ARGUMENTS...]

(torchrun of PyTorch 1.13 does not run under Python 3.11, which is what Debian 12 has.)
"""

import os
import subprocess
import sys

ranks = []
for rank in range(2):
    places = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    ranks.append(subprocess.Popen([sys.executable, *sys.argv[1:]], env={**os.environ, **places}))
sys.exit(max(rank.wait() for rank in ranks))
