"""Waiting jobs change: limit, priority and the tasks of an array that run at once. A replay makes the same decisions.

    alter.py GOBAN
"""

import json
import sys

from live_daemon import Daemon, expect, let_go, waiting_job


def main():
    with Daemon(sys.argv[1], config='policy = "priority+packed"\n', gpus=2) as daemon:

        def goban(*words):
            ran = daemon.goban_run(*words)
            expect(ran.returncode == 0, f"{words}: {ran.stderr}")
            return ran.stdout

        def job(name):
            return json.loads(goban("show", name, "--json"))[0]

        def refused(part, *words):
            ran = daemon.goban_run("alter", *words)
            expect(ran.returncode != 0 and part in ran.stderr, f"{words}: {ran.returncode} {ran.stderr}")

        path, script = waiting_job(daemon, 0, "go")
        first = goban("submit", "--parsable", "--gpus", "2", "--wrap", script).strip()
        daemon.wait_for("it runs", lambda: job(first)["state"] == "running")
        early = goban("submit", "--parsable", "--gpus", "2", "--time", "1h", "--wrap", "date +%s%N > early").strip()
        late = goban("submit", "--parsable", "--gpus", "2", "--wrap", "date +%s%N > late").strip()
        tasks = goban("submit", "--parsable", "--hold", "--array", "0-5%1", "--wrap", "true").strip()
        expect(goban("alter", late, "--priority", "7", "--time", "2h") == f"changed {late}\n", "its reply")
        for wrong in ("90", "", "1ms"):
            ran = daemon.goban_run("alter", early, "--time", wrong)
            expect(ran.returncode == 2 and "--time" in ran.stderr, f"{wrong}: {ran}")
        goban("alter", early, "--time", "30m")
        expect(job(late)["priority"] == 7 and job(late)["walltime_s"] == 7200, job(late))
        expect(job(early)["walltime_s"] == 1800, job(early))
        goban("alter", tasks, "--throttle", "4")
        expect(job(f"{tasks}_5")["spec"]["array_limit"] == 4, job(f"{tasks}_5"))
        refused("running", first, "--time", "1h")
        refused("not a task", early, "--throttle", "2")
        refused("nothing to change", early)
        refused("--time", early, "--time", "soon")
        refused("unknown job", "999", "--time", "1h")
        daemon.stop()
        daemon.start()
        expect(job(late)["priority"] == 7, "after a restart")
        let_go(path)
        goban("wait", first, early, late, "--timeout", "60s")
        with open(f"{daemon.folder}/early") as one, open(f"{daemon.folder}/late") as other:
            expect(int(other.read()) < int(one.read()), "the higher priority ran first")
        goban("release", tasks)
        goban("wait", tasks, "--timeout", "60s")
        refused("finished", early, "--time", "1h")
        daemon.stop()
        replays = json.loads(goban("replay", daemon.state, "--config", daemon.config, "--virtual-gpus", "2", "--all",
                                   "--json"))
        expect(all(each["other"] == 0 for each in replays), replays)
        daemon.start()
    print("passed")


main()
