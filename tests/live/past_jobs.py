"""Finished jobs that the scheduler has forgotten (keep_ended) are still there for their owner, across restarts.

    past_jobs.py GOBAN
"""

import json
import os
import sys
import time

from live_daemon import Daemon, expect


def main():
    with Daemon(sys.argv[1], config='keep_ended = "1s"\n') as daemon:

        def goban(*words):
            ran = daemon.goban_run(*words)
            expect(ran.returncode == 0, f"{words}: {ran.stderr}")
            return ran.stdout

        def is_forgotten(number):
            time.sleep(0.3)
            goban("submit", "--wrap", "true")  # a decision, in which old jobs are forgotten
            return number not in [each["job"] for each in json.loads(goban("queue", "--all", "--json"))]

        goban("submit", "--name", "seven", "--wrap", "echo out; echo err >&2; exit 7", "-e", "seven.err")
        goban("submit", "--array", "0-4:2", "--wrap", "echo task $GOBAN_ARRAY_TASK_ID")
        goban("submit", "--hold", "--wrap", "true")
        goban("cancel", "5")
        daemon.wait_for("the job is forgotten", lambda: is_forgotten(1), 60)
        daemon.wait_for("the last one, too", lambda: is_forgotten(5), 60)
        daemon.stop()
        daemon.start()
        shown = json.loads(goban("show", "1", "2_2", "2_4", "5", "--json"))
        expect([each["id"] for each in shown] == ["1", "2_2", "2_4", "5"], shown)
        first = shown[0]
        expect(first["name"] == "seven" and first["exit_code"] == 7 and first["result"] == "failed", first)
        expect(first["history"] is True and first["spec"]["work_folder"] == daemon.folder, first)
        expect(first["end_s"] >= first["run_start_s"] if "run_start_s" in first else first["held_s"] > 0, first)
        expect("payload" not in first["spec"] and len(first["past"]) == 1, first)
        expect(shown[3]["detail"].startswith("cancelled by"), shown[3])
        expect(len(json.loads(goban("show", "2", "--json"))) == 3, "a whole array")
        expect("exit code 7" in goban("show", "1"), "as text")
        expect(goban("logs", "1") == "out\n" and goban("logs", "-f", "-n", "1", "1") == "out\n", "output")
        expect(goban("logs", "-e", "1") == "err\n", "standard error")
        expect(goban("logs", "2_4") == "task 4\n", "output of a task")
        os.remove(os.path.join(daemon.folder, f"{first['name']}-1.out"))
        gone = daemon.goban_run("logs", "1")
        expect(gone.returncode == 1 and "seven-1.out does not exist" in gone.stderr, gone.stderr)
        for words in ("cancel",), ("alter", "--time", "1h"):
            ended = daemon.goban_run(*words, "1")
            expect(ended.returncode == 1 and "job 1 ended on 2" in ended.stderr and "(failed)" in ended.stderr, ended.stderr)
        expect("ended on 2" in goban("explain", "--job", "1"), "explain")
        never = daemon.goban_run("submit", "-d", "afterok:1", "--wrap", "true")
        expect(never.returncode == 3 and "afterok:1 can never be met: job 1 ended" in never.stderr, never.stderr)
        goban("submit", "-d", "afterany:1,afterok:2", "--wrap", "true")

        listed = json.loads(goban("history", "jobs", "--json"))
        ids = [each["id"] for each in listed]
        expect({"1", "2_0", "2_2", "2_4", "5"} <= set(ids), ids)
        expect(listed == sorted(listed, key=lambda each: each["end_s"]), "by end time")
        table = goban("history", "jobs", "1", "2")
        expect("seven" in table and "2_4" in table and "failed" in table and len(table.splitlines()) == 5, table)
        some = json.loads(goban("history", "jobs", "2_[2-4]", "--json"))
        expect(sorted(each["id"] for each in some) == ["2_2", "2_4"], some)
        expect(daemon.goban_run("history", "jobs", "2_x").returncode == 2, "no task")
        expect("priority" in goban("show", "1"), "its priority")
        later = json.loads(goban("history", "jobs", "--from", "2100-01-01", "--json"))
        expect(later == [], later)
        expect(len(json.loads(goban("history", "jobs", "-n", "2", "--json"))) == 2, "a limit")
        expect(json.loads(goban("history", "jobs", "--all", "--user", "nobody", "--json")) == [], "another user")
        unknown = daemon.goban_run("show", "4000")
        expect(unknown.returncode == 1 and "unknown job 4000" in unknown.stderr, unknown.stderr)
    print("passed")


main()
