"""Reservations under the daemon: while one is active only its own jobs run on its node, it survives a
kill of the daemon, and at its end its jobs are stopped.

    reservations.py GOBAN
"""

import json
import signal
import subprocess
import sys

from live_daemon import Daemon, expect

RULES = """
[reservations]
unit = "1s"
ahead = "0s"
"""


def main():
    with Daemon(sys.argv[1], RULES) as daemon:

        def goban(*words):
            asked = daemon.goban_run(*words)
            expect(asked.returncode == 0, f"{words}: {asked.stdout}{asked.stderr}")
            return asked.stdout

        def submit(*words):
            return goban("submit", "--parsable", *words, "--wrap", "sleep 600").strip()

        def show(job):
            return json.loads(goban("show", "--json", job))[0]

        def reservation(name):
            all_of_them = json.loads(goban("reservations", "--json"))
            return next(each for each in all_of_them if each["reservation"] == name)

        def wait_for_state(job, state):
            daemon.wait_for(f"job {job} {state}", lambda: show(job)["state"] == state, 120)

        in_the_way = submit("--gpus", "1")
        wait_for_state(in_the_way, "running")
        refused = daemon.goban_run("reserve", "--nodes", "1", "--from", "+20s", "--for", "60s")
        expect(refused.returncode == 1 and "no time limit" in refused.stderr, refused.stderr)
        goban("cancel", in_the_way)
        wait_for_state(in_the_way, "done")

        made = goban("reserve", "--nodes", "1", "--from", "+30s", "--for", "86400s")
        expect(made.startswith("reservation R1: "), made)
        mine = submit("--gpus", "2", "--reservation", "R1")
        foreign = submit("--gpus", "1")
        for job in (mine, foreign):
            why = goban("explain", "--job", job)
            begun = reservation("R1")["state"] == "active"
            expect(begun or "reservation R1 begins at" in why, why)
        none = daemon.goban_run("submit", "--reservation", "R9", "--wrap", "true")
        expect(none.returncode != 0 and "there is no reservation R9" in none.stderr, none.stderr)
        wait_for_state(mine, "running")
        expect(reservation("R1")["state"] == "active", reservation("R1"))
        expect(show(mine)["reservation"] == "R1", show(mine))
        nodes = goban("nodes")
        expect("R1 until" in nodes, nodes)

        daemon.stop(signal.SIGKILL)
        daemon.start()
        expect(reservation("R1")["state"] == "active", "it outlives the daemon")
        expect(show(mine)["state"] == "running", show(mine))
        expect(show(foreign)["state"] == "waiting", show(foreign))

        goban("reservations", "cancel", "R1")
        wait_for_state(mine, "done")
        expect(show(mine)["result"] == "timed_out", show(mine))
        expect("reservation R1 was cancelled" in show(mine)["detail"], show(mine))
        wait_for_state(foreign, "running")
        goban("cancel", foreign)
        wait_for_state(foreign, "done")

        goban("reserve", "--nodes", "1", "--from", "+20s", "--for", "20s")
        short = submit("--gpus", "1", "--reservation", "R2")
        wait_for_state(short, "done")
        expect("reservation R2 has ended" in show(short)["detail"], show(short))
        expect(reservation("R2")["state"] == "ended", reservation("R2"))
        expect(show(short)["end_s"] >= reservation("R2")["end_s"], show(short))

        def stored():
            store = daemon.state + "/store.sqlite"
            words = [daemon.goban, "history", "export", "--store", store, "--out", "-", "--plain"]
            text = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False).stdout
            return ",R1," in text and ",R2," in text

        daemon.wait_for("the records name the reservations", stored)
    print("passed")


main()
