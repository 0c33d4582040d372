"""Interactive jobs through daemon, supervisor and a real terminal: sizes, keys, exit codes, detaching
and reattaching.

    terminal.py GOBAN
"""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

from live_daemon import Daemon, expect


class Terminal:
    """`goban WORDS` at a terminal with the given rows and columns."""

    def __init__(self, daemon, *words, size=(24, 80)):
        self.shown = ""
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(daemon.folder)
            os.execve(daemon.goban, [daemon.goban, *words], daemon.environment)
        self.resize(size)

    def resize(self, size):
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def type(self, keys):
        os.write(self.file, keys.encode())

    def read(self, wait_s):
        """Returns False if the other side is closed."""
        if not select.select([self.file], [], [], wait_s)[0]:
            return True
        try:
            part = os.read(self.file, 65536)
        except OSError:  # how Linux reports that the other side is closed
            return False
        self.shown += part.decode(errors="replace")
        return part != b""

    def until(self, pattern, limit_s=30):
        end = time.monotonic() + limit_s
        while not re.search(pattern, self.shown):
            if time.monotonic() > end or not self.read(0.1):
                raise SystemExit(f"no {pattern!r} in {self.shown!r}")

    def exit_code(self):
        while self.read(1):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.file)
        return os.waitstatus_to_exitcode(status)


def sizes_and_exit_code(daemon):
    until = 'until [ "$(stty size)" = "%s" ]; do sleep 0.05; done; echo it is %s; '
    job = until % (("33 99",) * 2) + until % (("44 111",) * 2)
    job += 'read line; echo "got <$line>"; exit 7'
    at = Terminal(daemon, "run", "--gpus", "1", "--pty", "--", "sh", "-c", job, size=(33, 99))
    at.until("it is 33 99")
    at.resize((44, 111))
    at.until("it is 44 111")
    at.type("hello\r")
    at.until("got <hello>")
    expect(at.exit_code() == 7, f"exit code 7 after {at.shown!r}")


def keys_go_to_the_job(daemon):
    job = 'trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.05; done'
    at = Terminal(daemon, "run", "--pty", "--", "sh", "-c", job)
    at.until("ready")
    at.type("\x03")
    at.until("caught")
    expect(at.exit_code() == 5, f"exit code 5 after {at.shown!r}")


def short_jobs_lose_nothing(daemon):
    for _ in range(3):
        at = Terminal(daemon, "run", "--pty", "echo", "all of it")
        code = at.exit_code()
        expect(code == 0 and "all of it\r\n" in at.shown, f"{code} {at.shown!r}")


def leaving_and_coming_back(daemon):
    job = 'echo here; read line; echo "again <$line>"; kill -KILL $$'
    at = Terminal(daemon, "run", "--pty", "--", "sh", "-c", job)
    at.until("here")
    at.type("\x1dd")
    expect(at.exit_code() == 0, "detaching is not a failure")
    number = re.search(r"job (\d+) keeps running", at.shown).group(1)
    shown = daemon.goban_run("show", "--json", number).stdout
    expect('"running"' in shown, f"it continues to run: {shown}")
    back = Terminal(daemon, "attach", number)
    time.sleep(0.2)
    back.type("me\r")
    back.until("again <me>")
    expect(back.exit_code() == 128 + 9, "the signal that ended the job")
    again = daemon.goban_run("attach", number)
    expect(again.returncode == 1 and "no terminal" in again.stderr, again.stderr)
    expect(daemon.goban_run("attach", "999").returncode == 1, "no such job")


def without_a_terminal(daemon):
    """At the end of standard input the job reads Ctrl-D."""
    run = daemon.goban_run("run", "--pty", "--", "sh", "-c", "read line; echo \"end <$line>\"; exit 4")
    expect(run.returncode == 4 and "end <>" in run.stdout, f"{run.returncode} {run.stdout!r}")


def main():
    with Daemon(sys.argv[1]) as daemon:
        for part in (sizes_and_exit_code, keys_go_to_the_job, short_jobs_lose_nothing,
                     leaving_and_coming_back, without_a_terminal):
            part(daemon)
            print(part.__name__, "passed")


main()
