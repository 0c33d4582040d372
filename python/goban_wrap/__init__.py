"""Reports the progress of an unmodified PyTorch training script to Goban: `goban wrap`.

`sitecustomize.py` next to this package installs the hooks before the script starts. They act only
if GOBAN_PROGRESS_SOCKET names a socket, and an error in them never ends the script.

    hooks      patches of PyTorch
    training   the numbers: steps, epochs, samples, seconds
    reporter   progress lines to the scheduler, and its stop requests
"""
