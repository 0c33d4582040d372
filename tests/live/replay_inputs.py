"""A journal records the settings behind its decisions: a replay with other settings names the differences,
whichever daemons wrote to it, and reads every journal in the folder, torn or not.

    replay_inputs.py GOBAN
"""

import glob
import json
import os
import sys

from live_daemon import Daemon, expect


def main():
    with Daemon(sys.argv[1], config='policy = "fifo+packed"\n') as daemon:

        def run_job():
            ran = daemon.goban_run("run", "--gpus", "1", "--", "true")
            expect(ran.returncode == 0, ran.stderr)

        def replay(policy, *words):
            return daemon.goban_run("replay", daemon.state, "--virtual-gpus", "2", "--policy", policy, *words)

        run_job()
        daemon.stop()
        same = replay("fifo+packed")
        expect(same.returncode == 0 and "then" not in same.stderr, same.stderr)
        other = replay("las+spread", "--json")
        expect("policy: fifo+packed then, las+spread now" in other.stderr, other.stderr)
        expect("from record 0 on" in other.stderr, other.stderr)
        document = json.loads(other.stdout)
        expect(any("policy" in line for line in document["differences"]), document)
        more = daemon.goban_run("replay", daemon.state, "--virtual-gpus", "4", "--policy", "fifo+packed")
        expect("gpus: 2 then, 4 now" in more.stderr, more.stderr)

        with open(daemon.config, "w") as config:
            config.write('policy = "las+spread"\nseed = 5\n')
        daemon.start()
        run_job()
        daemon.stop()
        before = replay("fifo+packed")
        expect("policy: las+spread then, fifo+packed now" in before.stderr, before.stderr)
        after = replay("las+spread")
        expect("seed: 5 then, 1 now" in after.stderr, after.stderr)

        newest = sorted(glob.glob(os.path.join(daemon.state, "journal", "journal-*.log")))[-1]
        with open(newest, "ab") as journal:
            journal.write(b"0123abcd 40 99.0 what a crash left")
        all_of_it = daemon.goban_run("replay", daemon.state, "--config", daemon.config, "--virtual-gpus", "2",
                                     "--all", "--json")
        journals = json.loads(all_of_it.stdout)
        expect(len(journals) >= 2 and all(each["records"] >= 0 for each in journals), journals)
        expect(journals[-1]["journal"] == newest, journals)
        expect(all(each["other"] == 0 for each in journals[-1:]), journals)
        empty = daemon.goban_run("replay", daemon.folder, "--all", "--virtual-gpus", "2")
        expect(empty.returncode == 1 and "no journal" in empty.stderr, empty.stderr)
        daemon.start()
    print("passed")


main()
