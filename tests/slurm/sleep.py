"""Nodes sleep and wake by Slurm's power states: idle ones sleep after a while, and a job that needs them gets them. The nodes of this test
lose and get their slurmd as others lose and get their power.

    sleep.py GOBAN     (needs root and Slurm; 77 without them)
"""

import contextlib
import os
import sys
import threading
import time

from serving import USER, Serving, expect
from slurm_site import skip_where_missing

# Half a minute of an idle node costs more than a wake.
POWER = """[[node]]
name = "node"
gpus = 4
host_idle_w = 200
gpu_idle_w = 30
gpu_max_w = 300
gpu_dynamic_w = 200
[[node.state]]
name = "off"
power_w = 5
wake = "1s"
"""
CONFIG = "SuspendProgram={0}/suspend\nResumeProgram={0}/resume\nSuspendTimeout=2\nResumeTimeout=60\nSuspendTime=8640000\n"


class Supply(threading.Thread):
    """Does what Slurm's programs for power ask."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.ends, self.done = site, threading.Event(), []
        for name in "suspend", "resume":
            site.write(name, f'#!/bin/sh\nfor node in $(scontrol show hostnames "$1"); do echo "{name} $node" >> {site.path("power")}; done\n', 0o755)

    def run(self):
        while not self.ends.wait(0.2):
            with contextlib.suppress(FileNotFoundError), open(self.site.path("power")) as lines:
                for line in lines.read().splitlines()[len(self.done):]:
                    what, node = line.split()
                    if what == "suspend":
                        self.site.kill(node)
                    else:
                        self.site.start(node, "-b")  # as after a boot
                    self.done.append((what, node))

    def nodes(self, what):
        return {node for said, node in self.done if said == what}


def sleeps_and_wakes(serving, supply):
    site = serving.site
    number = site.sbatch("--gres=gpu:4", user=USER)
    node = serving.wait_state(number, "running")["gpus"][0]["node"]
    others = set(site.node_names()) - {node}
    site.wait_for("idle nodes asleep", lambda: supply.nodes("suspend") == others, 90)
    expect(serving.daemon.goban_run("nodes").stdout.count("asleep") == 3, serving.daemon.goban_run("nodes").stdout)
    wide = site.sbatch("-N2", "--gres=gpu:4", user=USER)
    job = serving.wait_state(wide, "running", limit_s=120)
    woken = {gpu["node"] for gpu in job["gpus"]}
    expect(len(woken) == 2 and woken <= others and woken <= supply.nodes("resume"), f"{woken} of {supply.done}")
    site.wait_for("its script", lambda: site.state(wide) == "RUNNING", 90)
    expect(node not in supply.nodes("suspend"), "a busy node stays awake")


def main():
    skip_where_missing()
    began = time.monotonic()
    serving = Serving(sys.argv[1], policy="fifo+packed+sleep", keys='sleep = "slurm"\n')
    site = serving.site
    site.config += CONFIG.format(site.folder)
    site.write("power.toml", POWER)
    serving.text = f'energy = "{site.path("power.toml")}"\n' + serving.text
    supply = Supply(site)
    with serving:
        supply.start()
        try:
            sleeps_and_wakes(serving, supply)
        finally:
            supply.ends.set()
            supply.join()
        serving.daemon.stop(9)
        print(f"{serving.replay()} decisions replayed equal")
        serving.daemon.start()
    print(f"{time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
