"""Jobs without GPUs under the daemon: they run concurrently with GPU jobs, on cores of their own, and
wait if no core is free.

    cpu_jobs.py GOBAN
"""

import json
import os
import sys

from live_daemon import Daemon, expect


def main():
    cores = len(os.sched_getaffinity(0))
    with Daemon(sys.argv[1]) as daemon:
        run = daemon.goban_run("run", "--gpus", "0", "--", "sh", "-c", "nproc; echo [$GOBAN_GPUS]")
        expected = "1\n[]\n" if cores > 1 else f"{cores}\n[]\n"
        expect(run.returncode == 0 and run.stdout == expected, f"{run.stdout!r} {run.stderr!r}")
        much = daemon.goban_run("run", "--gpus", "0", "--cores", "100000", "true")
        expect(much.returncode == 3 and "cores" in much.stderr, f"{much.returncode} {much.stderr}")
        big = "import sys, time; text = b'x' * (200 << 20); time.sleep(20)"
        memory = daemon.goban_run("run", "--gpus", "0", "--mem", "64M", "--", sys.executable, "-c", big)
        expect(memory.returncode != 0 and "out_of_memory" in memory.stderr, memory.stderr)

        def submit(*words):
            asked = daemon.goban_run("submit", "--parsable", *words, "--wrap", "sleep 60")
            expect(asked.returncode == 0, asked.stderr)
            return asked.stdout.strip()

        def state(job):
            return json.loads(daemon.goban_run("show", "--json", job).stdout)[0]["state"]

        with_gpus = submit("--gpus", "2")
        all_cores = submit("--gpus", "0", "--cores", str(os.cpu_count()))
        waits = submit("--gpus", "0")
        for job in (with_gpus, all_cores):
            daemon.wait_for(f"job {job}", lambda job=job: state(job) == "running")
        expect(state(waits) == "waiting", "no core is left")
        why = daemon.goban_run("explain", "--job", waits)
        expect(why.returncode == 0, why.stderr)
        daemon.goban_run("cancel", all_cores)
        daemon.wait_for("the job that waited", lambda: state(waits) == "running")
    print("passed")


main()
