"""sbatch, srun, squeue, scancel, scontrol, sinfo and sacct on top of goban, for a site of one machine.

`goban shims DIR` writes the commands; each calls main() of this file with its own name. What a script in
public use asks for is translated; what has no meaning here is reported on stderr and left out.
"""

import importlib
import os
import sys

# Which module has a command of its name.
COMMANDS = {"sbatch": "submit", "srun": "steps", "squeue": "squeue", "scancel": "scancel", "scontrol": "scontrol", "sinfo": "sinfo",
            "sacct": "sacct"}


def main(name, words):
    sys.argv[0] = name
    if any(word in ("--version", "-V") for word in words[:1]):
        # Scripts look for the number of a release of Slurm.
        print("slurm 22.05.0 (goban)")
        return 0
    try:
        module = importlib.import_module(f"goban_shims.{COMMANDS[name]}")
        code = getattr(module, name)(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
