"""Times of commands and submissions at a daemon that holds many jobs. It measures and checks nothing.

    python3 tests/live/many_jobs.py build/bin/goban [--jobs 10000] [--readers 30] [--singles 200]
"""

import argparse
import http.client
import json
import os
import socket
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live_daemon import Daemon


class SocketConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("goban")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Reader(threading.Thread):
    """Reads the list of all jobs again and again."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.stops = False
        self.times = []
        self.refused = 0

    def run(self):
        connection = SocketConnection(self.path)
        while not self.stops:
            begin = time.monotonic()
            connection.request("GET", "/v1/jobs?all=1&limit=10000")
            answer = connection.getresponse()
            answer.read()
            if answer.status == 429:
                self.refused += 1
                time.sleep(float(answer.headers["Retry-After"]))
            else:
                self.times.append(time.monotonic() - begin)


def times_ms(daemon, count, *words):
    """Wall and CPU times of a command, in ms."""
    wall, cpu = [], []
    for _ in range(count):
        before, begin = os.times(), time.monotonic()
        ran = daemon.goban_run(*words)
        wall.append(1e3 * (time.monotonic() - begin))
        after = os.times()
        cpu.append(1e3 * (after.children_user + after.children_system - before.children_user
                          - before.children_system))
        if ran.returncode != 0:
            raise SystemExit(f"goban {' '.join(words)}: {ran.stderr}")
    return wall, cpu


def daemon_cpu_ms(daemon):
    """CPU time of the daemon so far."""
    with open(f"/proc/{daemon.process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cancel_singles(daemon, count):
    """Cancels single jobs by one command."""
    connection = SocketConnection(f"{daemon.state}/goban.sock")
    numbers = []
    for _ in range(count):
        connection.request("POST", "/v1/jobs", json.dumps({"script": "#!/bin/sh\n", "held": True}))
        numbers.append(str(json.load(connection.getresponse())["job"]))
    before, began = daemon_cpu_ms(daemon), decisions(daemon)
    show(f"cancel {count} single jobs", *times_ms(daemon, 1, "cancel", *numbers))
    print(f"  CPU of the daemon {daemon_cpu_ms(daemon) - before:.0f} ms, "
          f"{decisions(daemon) - began:.0f} decisions", flush=True)


def decisions(daemon):
    """Decisions so far: one for each commit cycle that took an input."""
    return json.loads(daemon.goban_run("stats", "--json").stdout)["decisions"]


def show(what, wall, cpu):
    print(f"{what:34} wall p50 {statistics.median(wall):8.1f} ms, max {max(wall):8.1f} ms, "
          f"CPU of the command {statistics.median(cpu):6.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("goban")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--readers", type=int, default=30)
    parser.add_argument("--singles", type=int, default=200)
    arguments = parser.parse_args()
    last = arguments.jobs - 1
    with Daemon(arguments.goban, gpus=2, own_log=True) as daemon:
        show("submit an array", *times_ms(daemon, 1, "submit", f"--array=0-{last}", "--hold",
                                          "--wrap", "true"))
        for words in (("--version",), ("queue",), ("queue", "--json"), ("show", str(last)),
                      ("show", f"1_{last // 2}"), ("hold", "1_7")):
            show("goban " + " ".join(words), *times_ms(daemon, 7, *words))
        submit = ("submit", "--hold", "--wrap", "true")
        show("submit, alone", *times_ms(daemon, 15, *submit))
        readers = [Reader(f"{daemon.state}/goban.sock") for _ in range(arguments.readers)]
        for reader in readers:
            reader.start()
        time.sleep(2)
        show(f"submit, {arguments.readers} readers of all jobs", *times_ms(daemon, 15, *submit))
        for reader in readers:
            reader.stops = True
        for reader in readers:
            reader.join()
        reads = [each for reader in readers for each in reader.times]
        print(f"  {len(reads)} reads, p50 {1e3 * statistics.median(reads):.1f} ms, "
              f"{sum(reader.refused for reader in readers)} refused with 429", flush=True)
        show("cancel one task", *times_ms(daemon, 1, "cancel", "1_9"))
        cancel_singles(daemon, arguments.singles)
        show("cancel the array", *times_ms(daemon, 1, "cancel", "1"))


main()
