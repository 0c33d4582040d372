"""Reports the progress of an unmodified PyTorch training script to Goban: `goban wrap`.

`sitecustomize.py` beside this package installs the hooks before the script starts. They act only
where GOBAN_PROGRESS_SOCKET names a socket, and a fault of theirs never ends the script.

    hooks      what of PyTorch is watched
    training   what was seen, as numbers: steps, epochs, samples, seconds
    reporter   the lines to the scheduler, and its wish to stop
"""
