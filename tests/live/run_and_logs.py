"""A daemon whose log cannot be written goes on.

    run_and_logs.py GOBAN
"""

import signal
import sys

from live_daemon import Daemon, expect


def daemons_outlive_their_log(goban):
    daemon = Daemon(goban, own_log=True)
    daemon.log = "/dev/full"
    with daemon:
        with open(daemon.config, "w") as config:
            config.write("polcy = 'goban'\n")
        daemon.process.send_signal(signal.SIGHUP)
        expect(daemon.goban_run("run", "true").returncode == 0, "it works on")
        daemon.stop()
        expect(daemon.process.returncode == 0, f"no {daemon.process.returncode}")
        open(daemon.config, "w").close()
        daemon.start()


def main():
    daemons_outlive_their_log(sys.argv[1])
    print("daemons_outlive_their_log as expected")


main()
