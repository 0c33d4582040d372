"""The processes of a step: their files, their labels, their end."""

import os
import signal
import subprocess
import sys
import threading
import time

from goban_shims.client import fail, note
from goban_shims.hosts import ranges

GRACE_S = 30  # between SIGTERM and SIGKILL
WAITED_FOR = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def parent_of(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def supervisor():
    """The process that started the job, and signals all its processes itself."""
    return parent_of(os.getsid(0))


def named(tasks):
    """ "task 3" or "tasks 0-1,3"."""
    return f"task{'s' if len(tasks) > 1 else ''} {ranges([str(task) for task in tasks])}"


class TaskGroup:
    """Tasks that start together. Their exit code is the highest, with 128 + the signal for one that a signal ended; tasks
    that were killed because of another do not count."""

    def __init__(self, is_labelled=False, kills_on_failure=False, limit_s=None, wait_s=None):
        self.is_labelled = is_labelled
        self.kills_on_failure = kills_on_failure
        self.limit_s = limit_s
        self.wait_s = wait_s
        self.planned = []
        self.tasks = []
        self.codes = {}
        self.killed = False  # by us
        self.of_others = False  # because of another task
        self.kill_at = None
        self.interrupts = 0
        self.files = {}
        self.pumps = []
        self.lock = threading.Lock()
        self.at_terminal = os.isatty(0)

    def add(self, command, environment, names, append=False):
        self.planned.append((command, environment, names, append))

    def _open(self, name, append):
        """One description per file, so that tasks that share it do not overwrite each other."""
        if name == "none":
            name = os.devnull
        if name not in self.files:
            mode = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if append else os.O_TRUNC)
            try:
                self.files[name] = os.open(name, mode, 0o666)
            except OSError as problem:
                fail(f"Could not open output file {name}: {problem.strerror}")
        return self.files[name]

    def _output(self, task, name, append, usual):
        """What a task writes to: `usual`, a file, or nothing where only another task is heard."""
        if name in (None, "all") or name.isdigit() and int(name) == task:
            return usual
        return subprocess.DEVNULL if name.isdigit() else self._open(name, append)

    def _streams(self, task, names, append):
        """Standard input, output and errors of a task."""
        pipe = subprocess.PIPE if self.is_labelled else None
        out = self._output(task, names["output"], append, pipe)
        err = self._output(task, names["error"], append, out if out in self.files.values() else pipe)
        source = None
        text = names["input"]
        if text == "none" or text and text.isdigit() and int(text) != task:
            source = subprocess.DEVNULL
        elif text and text != "all" and not text.isdigit():
            try:
                source = os.open(text, os.O_RDONLY)
            except OSError as problem:
                fail(f"Could not open input file {text}: {problem.strerror}")
        elif len(self.planned) > 1 and not self.at_terminal and not self._is_empty_input():
            source = subprocess.PIPE
        return source, out, err

    @staticmethod
    def _is_empty_input():
        try:
            return os.path.samestat(os.fstat(0), os.stat(os.devnull))
        except OSError:
            return True

    def _start(self):
        def prepare():
            # A group of its own, so that what a task started is signalled, too. At a terminal it must be able to read.
            if not self.at_terminal:
                os.setpgid(0, 0)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WAITED_FOR)
        # All files first: where one cannot be opened, no task is left behind.
        streams = [self._streams(task, names, append) for task, (_, _, names, append) in enumerate(self.planned)]
        for (command, environment, _, _), (source, out, err) in zip(self.planned, streams):
            try:
                self.tasks.append(subprocess.Popen(command, env=environment, stdin=source, stdout=out, stderr=err,
                                                   preexec_fn=prepare))
            except OSError as problem:
                note(f"error: execve(): {command[0]}: {problem.strerror}")
                self._signal(signal.SIGKILL)
                for each in self.tasks:
                    each.wait()
                sys.exit(2)
        for task, process in enumerate(self.tasks):
            for stream, to in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
                if stream is not None:
                    self.pumps.append(threading.Thread(target=self._label, args=(task, stream, to), daemon=True))
                    self.pumps[-1].start()
        if any(process.stdin for process in self.tasks):
            threading.Thread(target=self._feed, daemon=True).start()

    def _label(self, task, stream, to):
        width = len(str(len(self.tasks) - 1))
        longest = 1 << 20  # bytes: a task may never end a line
        for line in iter(lambda: stream.readline(longest), b""):
            text = f"{task:>{width}}: ".encode() + line.removesuffix(b"\n") + b"\n"
            with self.lock:
                try:
                    to.buffer.write(text)
                    to.buffer.flush()
                except OSError:  # nobody reads any more; the task must not wait for us
                    to = open(os.devnull, "w", encoding="utf-8")

    def _feed(self):
        """Our input to every task."""
        ends = [process.stdin for process in self.tasks if process.stdin]
        while ends:
            block = os.read(0, 65536)
            for end in list(ends):
                try:
                    if block:
                        end.write(block)
                        end.flush()
                    else:
                        end.close()
                except OSError:
                    ends.remove(end)
            if not block:
                return

    def _signal(self, number):
        for process in self.tasks:
            if process.returncode is None:
                try:
                    (os.kill if self.at_terminal else os.killpg)(process.pid, number)
                except OSError:
                    continue

    def _stop(self, number, now):
        self.killed = True
        self._signal(number)
        if self.kill_at is None:
            self.kill_at = now + GRACE_S

    def _reap(self):
        """Takes the tasks that have ended; those that failed, by their code."""
        failed = {}
        for task, process in enumerate(self.tasks):
            if task in self.codes or process.poll() is None:
                continue
            code = process.returncode
            is_ours = self.of_others or self.killed and code < 0
            self.codes[task] = 0 if is_ours else code if code >= 0 else 128 - code
            if code:
                failed.setdefault(code, []).append(task)
        for code, tasks in failed.items():
            how = f"Exited with exit code {code}" if code > 0 else signal.strsignal(-code)
            note(f"error: {os.environ.get('SLURMD_NODENAME', 'localhost')}: {named(tasks)}: {how}")
        return bool(failed)

    def run(self):
        """Starts the tasks and waits for them; the exit code of the step."""
        signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
        self._start()
        began = time.monotonic()
        first_end = None
        timed_out = False
        while len(self.codes) < len(self.tasks):
            got = signal.sigtimedwait(WAITED_FOR, 0.5)
            now = time.monotonic()
            if got and got.si_signo == signal.SIGINT:
                # At a terminal the tasks get it, too.
                self.interrupts += 1
                if self.interrupts > 2:
                    self._signal(signal.SIGKILL)
                elif not self.at_terminal or self.interrupts > 1:
                    self._stop(signal.SIGINT if self.interrupts == 1 else signal.SIGTERM, now)
            elif got and got.si_signo in (signal.SIGTERM, signal.SIGHUP) and got.si_pid != supervisor():
                self._stop(got.si_signo, now)
            failed = self._reap()
            if failed and self.kills_on_failure and not self.killed:
                note("Terminating the other tasks")
                self.of_others = True
                self._stop(signal.SIGTERM, now)
            if self.codes and first_end is None:
                first_end = now
            if self.wait_s and first_end is not None and now > first_end + self.wait_s and not self.killed:
                note(f"Terminating the other tasks, {self.wait_s} s after the first one ended")
                self.of_others = True
                self._stop(signal.SIGTERM, now)
            if self.limit_s and now > began + self.limit_s and not self.killed:
                note("error: *** STEP CANCELLED DUE TO TIME LIMIT ***")
                timed_out = True
                self._stop(signal.SIGTERM, now)
            if self.kill_at is not None and now > self.kill_at:
                self._signal(signal.SIGKILL)
        for pump in self.pumps:
            pump.join(2)
        if self.interrupts:
            return 130
        code = max(self.codes.values())
        return code or (143 if timed_out else 0)
