"""Resource types of the configuration under the daemon: jobs request them by option and by Grid Engine and
PBS directives, get the resources of the type, and wait while these are in use; --cores of a job with GPUs
reserves cores.

    resource_types.py GOBAN
"""

import json
import os
import sys

from live_daemon import Daemon, expect

CONFIG = """
[[resource_type]]
name = "rt_one"
gpus = 1
max_instances = 2
walltime_default = "1h"
[[resource_type]]
name = "rt_two"
gpus = 2
"""


def main():
    with Daemon(sys.argv[1], CONFIG) as daemon:
        def submit(*words, says=None):
            asked = daemon.goban_run("submit", "--parsable", *words)
            if says is None:
                expect(asked.returncode == 0, asked.stderr)
                return asked.stdout.strip()
            expect(asked.returncode == 3 and says in asked.stderr, f"{asked.returncode} {asked.stderr}")
            return None

        def job(number):
            return json.loads(daemon.goban_run("show", "--json", number).stdout)[0]

        def script(name, *lines):
            path = os.path.join(daemon.folder, name)
            with open(path, "w") as out:
                out.write("\n".join(["#!/bin/sh", *lines, "sleep 600"]) + "\n")
            return path

        submit("--type", "rt_none", "--wrap", "true", says="rt_one")
        submit("--type", "rt_one=3", "--wrap", "true", says="at most 2 can be requested")
        by_option = submit("--type", "rt_one=2", "--wrap", "sleep 600")
        daemon.wait_for("both GPUs", lambda: job(by_option)["state"] == "running")
        expect(job(by_option)["spec"]["num_gpus"] == 2, job(by_option))
        expect(job(by_option)["spec"]["walltime_s"] == 3600, job(by_option))
        grid_engine = submit(script("sge.sh", "#$ -l rt_one=1"))
        pbs = submit(script("pbs.sh", "#PBS -q rt_two"))
        expect(job(grid_engine)["state"] == "waiting" and job(pbs)["state"] == "waiting", "no GPU is free")
        daemon.goban_run("cancel", by_option)
        daemon.wait_for("Grid Engine's job", lambda: job(grid_engine)["state"] == "running")
        expect(job(pbs)["state"] == "waiting", "it needs both GPUs")
        daemon.goban_run("cancel", grid_engine)
        daemon.wait_for("PBS's job", lambda: job(pbs)["state"] == "running")
        expect(job(pbs)["spec"]["num_gpus"] == 2, job(pbs))
        daemon.goban_run("cancel", pbs)

        if len(os.sched_getaffinity(0)) > 1:
            daemon.goban_run("run", "--gpus", "1", "--cores", "1", "--", "true")
            claims = os.path.join(daemon.state, "cores")
            expect(os.path.isdir(claims) and os.listdir(claims), "--cores with GPUs claims cores")
    print("passed")


main()
