"""`goban run` and `goban logs -f` follow their job across a restart of the daemon, with an output that
cannot be shown, and until their terminal is closed. A daemon whose log cannot be written continues.

    run_and_logs.py GOBAN
"""

import json
import os
import signal
import subprocess
import sys

from live_daemon import Client, Daemon, expect, let_go, waiting_job


def newest(daemon):
    return json.loads(daemon.goban_run("queue", "--all", "--json").stdout)[-1]


def restart(daemon, how):
    daemon.stop(how)
    daemon.start()


def logs_go_on_with_the_next_daemon(daemon):
    for how in (signal.SIGTERM, signal.SIGKILL):
        path, job = waiting_job(daemon, 0, f"logs{how}")
        number = daemon.goban_run("submit", "--parsable", "--wrap", job).stdout.strip()
        whole = Client(daemon, "logs", "-f", number)
        whole.until("one")
        last = Client(daemon, "logs", "-f", "-n", "1", number)
        last.until("one")
        restart(daemon, how)
        let_go(path)
        for each in (whole, last):
            expect(each.end() == ("two\n", 0), f"all output exactly once: {each.said()}")


def logs_say_that_the_daemon_is_gone(daemon):
    path, job = waiting_job(daemon, 0, "gone")
    number = daemon.goban_run("submit", "--parsable", "--wrap", job).stdout.strip()
    logs = Client(daemon, "logs", "-f", number, patience_s=1)
    logs.until("one")
    run = Client(daemon, "run", "--", "sh", "-c", job, patience_s=1)
    run.until("one")
    ran = newest(daemon)["job"]
    said = run.err + ".run"
    os.rename(run.err, said)
    run.err = said
    daemon.stop()
    expect(logs.end() == ("", 1), "the job has not finished")
    expect(run.end() == ("", 1) and f"job {ran} keeps running" in run.said(), run.said())
    expect("cancel" in run.said(), "the remedy is stated")
    daemon.start()
    let_go(path)
    again = Client(daemon, "logs", "-f", number)
    expect(again.end() == ("one\ntwo\n", 0), again.said())


def runs_stay_with_their_job(daemon):
    for how in (signal.SIGTERM, signal.SIGKILL):
        path, job = waiting_job(daemon, 5, f"run{how}")
        run = Client(daemon, "run", "--", "sh", "-c", job)
        run.until("one")
        restart(daemon, how)
        let_go(path)
        expect(run.end() == ("two\n", 5), run.said())


def runs_wait_without_their_output(daemon):
    run = daemon.goban_run("run", "-o", "/dev/null", "--", "sh", "-c", "sleep 0.3; exit 5")
    expect(run.returncode == 5, f"{run.returncode} {run.stderr}")
    expect("not a regular file" in run.stderr, run.stderr)
    with open("/dev/full", "w") as full:
        out = subprocess.run([daemon.goban, "run", "--", "sh", "-c", "echo lost; exit 6"], stdout=full,
                             stderr=subprocess.PIPE, cwd=daemon.folder, env=daemon.environment, text=True,
                             timeout=300)
    expect(out.returncode == 6 and "No space" in out.stderr, f"{out.returncode} {out.stderr}")


def runs_say_why_they_failed(daemon):
    os.symlink("missing/out", os.path.join(daemon.folder, "astray"))
    run = daemon.goban_run("run", "-o", "astray", "--", "true")
    expect(run.returncode == 1, run.stderr)
    detail = json.loads(daemon.goban_run("show", "--json", str(newest(daemon)["job"])).stdout)[0]["detail"]
    expect(detail and detail in run.stderr, f"{detail!r} in {run.stderr!r}")
    killed = daemon.goban_run("run", "--", "sh", "-c", "kill -KILL $$")
    expect(killed.returncode == 128 + 9 and "signal 9" in killed.stderr, killed.stderr)


def jobs_end_with_the_terminal(daemon):
    path, job = waiting_job(daemon, 0, "hangup")
    run = Client(daemon, "run", "--", "sh", "-c", job)
    run.until("one")
    run.process.send_signal(signal.SIGHUP)
    expect(run.end()[1] == 130, run.said())
    daemon.wait_for("the job is cancelled", lambda: newest(daemon).get("result") == "cancelled", 300)

    ignoring = Client(daemon, "run", "--", "sh", "-c", job,
                      prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    ignoring.until("one")
    ignoring.process.send_signal(signal.SIGHUP)
    let_go(path)
    expect(ignoring.end() == ("two\n", 0), f"as under nohup: {ignoring.said()}")


def daemons_outlive_their_log(goban):
    daemon = Daemon(goban, own_log=True)
    daemon.log = "/dev/full"
    with daemon:
        with open(daemon.config, "w") as config:
            config.write("polcy = 'goban'\n")
        daemon.process.send_signal(signal.SIGHUP)
        expect(daemon.goban_run("run", "true").returncode == 0, "it continues to work")
        daemon.stop()
        expect(daemon.process.returncode == 0, f"no {daemon.process.returncode}")
        open(daemon.config, "w").close()
        daemon.start()


def main():
    with Daemon(sys.argv[1]) as daemon:
        for part in (logs_go_on_with_the_next_daemon, logs_say_that_the_daemon_is_gone,
                     runs_stay_with_their_job, runs_wait_without_their_output, runs_say_why_they_failed,
                     jobs_end_with_the_terminal):
            part(daemon)
            print(part.__name__, "passed")
    daemons_outlive_their_log(sys.argv[1])
    print("daemons_outlive_their_log passed")


main()
