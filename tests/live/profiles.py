"""The first run of an application makes its job profile, and the second one is submitted with it.

    profiles.py GOBAN
"""

import json
import os
import sys

from live_daemon import Daemon, expect


def main():
    work = "import time; text = b'x' * (64 << 20); end = time.time() + 6\nwhile time.time() < end: pass"
    with Daemon(sys.argv[1]) as daemon:

        def run():
            ran = daemon.goban_run("run", "--gpus", "1", "-J", "loop", "--", sys.executable, "-c", work)
            expect(ran.returncode == 0, ran.stderr)
            number = str(len(daemon.jobs_run) + 1)
            daemon.jobs_run.append(number)
            return json.loads(daemon.goban_run("show", "--json", number).stdout)[0]

        daemon.jobs_run = []
        first = run()
        expect("training" not in first["spec"], f"nothing is known: {first['spec']}")
        folder = os.path.join(daemon.state, "profiles")
        files = daemon.wait_for("a profile", lambda: os.listdir(folder))
        with open(os.path.join(folder, files[0])) as text:
            profile = json.load(text)
        expect(profile["model"] == "loop" and profile["source"] == "goban serve, job 1", profile)
        second = run()
        facts = second["spec"]["training"]
        expect(facts["gpu_mem_bytes"] > 64 << 20 and facts["gpu_util_pct"] > 0, facts)
        expect(second["profile"]["model"] == "loop", second)
        shown = daemon.goban_run("show", "2").stdout
        expect("profile" in shown and "by goban serve, job 1" in shown, shown)
        expect(len(os.listdir(folder)) == 1, "one application")
    print("as expected")


main()
