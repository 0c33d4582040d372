"""A policy that runs in a process of its own, as a policy of this one."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy

from . import runner
from ._core import LabError
from .errors import PolicyError, RemoteProblem
from .policy import METHODS, Policy, stated_by

# What a policy may ask for during a call, besides its generator.
_VIEW = {"job", "gpus", "priority", "user", "starts", "running", "submit_s", "wait_s", "attained_s", "estimate_s",
         "limit_s", "duration_s", "now_s", "free_gpus", "__len__", "gpus_min", "gpus_max", "steps_left", "deadline_s",
         "total_gpus", "sizes", "steps_per_s"}
_FREE = {"by_node", "__len__", "one_node", "lowest", "packed", "on_node"}
_JOB = {"id", "name", "gpus", "priority", "user", "submit_s", "estimate_s", "limit_s", "duration_s"}
_NAMES = {"view": _VIEW, "free": _FREE, "job": _JOB}
_ANSWER_BYTES = 256 << 20


@dataclass(frozen=True)
class Limits:
    """Of one run of a policy."""

    cpu_s: int = 60
    mem_bytes: int = 1 << 30
    call_s: float | None = None
    """A method that sleeps uses no CPU: this is how long it may take by the clock. None: ten times
    cpu_s, and 30 s for a machine that is busy."""

    @property
    def answer_s(self) -> float:
        return 10.0 * self.cpu_s + 30.0 if self.call_s is None else self.call_s


class Keeper:
    """Forks processes that run policies. It knows nothing of this process: no trace, no suite."""

    def __init__(self, hash_seed: int) -> None:
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        environment = {"PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": package, "LANG": "C.UTF-8",
                       "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-s", "-m", "goban_lab.runner", str(other.fileno())], cwd="/",
                env=environment, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL)

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        self._control.close()
        self._process.kill()
        self._process.wait()

    def fork(self, limits: Limits) -> tuple[int, socket.socket]:
        """A new process and the channel to it."""
        own, other = socket.socketpair()
        order = {"cpu_s": limits.cpu_s, "mem_bytes": limits.mem_bytes}
        with other:
            try:
                socket.send_fds(self._control, [json.dumps(order).encode()], [other.fileno()])
            except OSError:
                pass  # there is no reply, then
        return int(self._reply()), own

    def wait(self, pid: int) -> tuple[int, float]:
        """The status of an ended process, and its CPU seconds."""
        self._control.send(json.dumps({"wait": pid}).encode())
        status, cpu_s = self._reply()
        return int(status), float(cpu_s)

    def _reply(self) -> Any:
        message = self._control.recv(4096)
        if not message:
            raise LabError("the process that keeps policies has ended: is numpy installed, and memory left?")
        return json.loads(message)


class _Method:
    """A method of the policy over there. `__code__` tells place_of_method() where it is."""

    def __init__(self, name: str, call: Callable[..., Any], file: str, line: int) -> None:
        self._name = name
        self._call = call
        self.__code__ = SimpleNamespace(co_filename=file, co_firstlineno=line)

    def __call__(self, view: Any, job: Any = None) -> Any:
        return self._call(self._name, view, job)


class RemotePolicy(Policy):
    """A file's policy in its own process, for one run. Errors: PolicyError if it cannot be loaded."""

    def __init__(self, keeper: Keeper, source: str, path: str, seed: int, limits: Limits) -> None:
        self._keeper = keeper
        self._limits = limits
        self._wanted: dict[str, set[tuple[str, str]]] = {each: set() for each in METHODS}
        self.cpu_s = 0.0
        self.calls = 0
        self.asked_durations = False
        self._status: int | None = None
        self._pid, self._channel = keeper.fork(limits)
        self._channel.settimeout(limits.answer_s)
        self.name = os.path.splitext(os.path.basename(path))[0]
        rng = numpy.random.PCG64([seed, 0x676F])
        try:
            runner.send(self._channel, b"P", pickle.dumps({"source": source, "path": path, "rng": rng.state}))
            self.guards: dict[str, bool] = json.loads(self._answer(b"R"))
            self._state(json.loads(self._answer(b"S")))
        except RemoteProblem as problem:
            self.close()
            raise PolicyError(self.name, "any", problem.problem, problem.remedy,
                              place=problem.place) from None
        except (LabError, KeyError, TypeError, ValueError) as error:
            self.close()
            raise PolicyError(self.name, "any", str(error), "correct what the class states") from None

    def _state(self, stated: dict[str, Any]) -> None:
        self.name = str(stated["name"])[:200]
        self.when = stated["when"]
        self.oracle = bool(stated["oracle"])
        self.places_anywhere = bool(stated["places_anywhere"])
        for part, value in stated["parts"].items():
            if part in METHODS:
                setattr(self, part, value)
        for method, (file, line) in stated["methods"].items():
            if method in METHODS:
                setattr(self, method, _Method(method, self._ask, str(file), int(line)))
        stated_by(self)

    def __deepcopy__(self, _memo: object) -> RemotePolicy:
        return self  # each run has a process of its own

    def close(self) -> None:
        """Ends the process, if it has not ended."""
        self._channel.close()
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)
            self._status, self.cpu_s = self._keeper.wait(self._pid)

    def _ask(self, method: str, view: Any, job: Any) -> Any:
        self.calls += 1
        targets = {"view": view, "job": job, "free": view.free if method == "place" else None}
        sent = {(target, name): _value(targets[target], name, []) for target, name in self._wanted[method]}
        begin = time.monotonic()
        self._send(b"C", pickle.dumps((method, sent)))
        del sent
        while True:
            kind, body = self._receive(begin)
            if kind == b"G":
                self._send(b"V", self._look_up(method, targets, body))
                continue
            if kind == b"K" and len(body) % 8 == 0 and method in ("order", "preempt", "size"):
                return numpy.frombuffer(body, dtype=numpy.float64)
            if kind == b"I" and len(body) % 8 == 0 and method in ("select", "place"):
                return numpy.frombuffer(body, dtype="<i8").tolist()
            if kind == b"N" and method == "place":
                return None
            raise self._problem_of(kind, body)

    def _look_up(self, method: str, targets: dict[str, Any], body: bytes) -> bytes:
        try:
            target, name, arguments = json.loads(body)
            if name not in _NAMES[target] or not all(type(each) is int for each in arguments):
                raise AttributeError(f"{name}: there is no such thing in the {target}")
            self.asked_durations = self.asked_durations or name == "duration_s"
            value = _value(targets[target], name, arguments)
            if not arguments:
                self._wanted[method].add((target, name))
            return pickle.dumps((True, value))
        except (AttributeError, IndexError, TypeError, ValueError, KeyError, RuntimeError) as error:
            return pickle.dumps((False, (type(error).__name__, str(error))))

    def _answer(self, wanted: bytes) -> bytes:
        kind, body = self._receive(time.monotonic())
        if kind != wanted:
            raise self._problem_of(kind, body)
        return body

    def _problem_of(self, kind: bytes, body: bytes) -> RemoteProblem:
        try:
            if kind == b"E":
                text = json.loads(body)
                return RemoteProblem(*(str(text[each])[:4000] for each in ("problem", "remedy", "place")))
        except (ValueError, KeyError, TypeError):
            pass
        return RemoteProblem("sent what no method returns", "leave the descriptors of the process alone")

    def _send(self, kind: bytes, body: bytes) -> None:
        try:
            runner.send(self._channel, kind, body)
        except TimeoutError:
            raise self._late() from None
        except OSError:
            raise self._ended() from None

    def _receive(self, begin: float) -> runner.Frame:
        left_s = begin + self._limits.answer_s - time.monotonic()
        if left_s <= 0:
            raise self._late()
        self._channel.settimeout(left_s)
        try:
            return runner.receive(self._channel, _ANSWER_BYTES)
        except TimeoutError:
            raise self._late() from None
        except (EOFError, OSError):
            raise self._ended() from None
        except ValueError as error:
            self.close()
            raise RemoteProblem(f"sent {error}", "return one number for each row") from None

    def _late(self) -> RemoteProblem:
        self.close()
        return RemoteProblem(f"did not return within {self._limits.answer_s:g} s",
                             "end the loop or the sleep, or give a larger --time")

    def _ended(self) -> RemoteProblem:
        """Why the process ended on its own. One that has only closed its channel is killed."""
        self.close()
        assert self._status is not None
        if not os.WIFSIGNALED(self._status):
            return RemoteProblem(f"ended its process (status {os.waitstatus_to_exitcode(self._status)})",
                                 "return from the method instead")
        number = os.WTERMSIG(self._status)
        if number == signal.SIGXCPU or self.cpu_s >= self._limits.cpu_s:
            return RemoteProblem(f"used {self._limits.cpu_s} s of CPU in one run",
                                 "end the loop, do less in each call, or give a larger --time")
        if number == signal.SIGKILL:
            return RemoteProblem("was killed by the kernel", "use less memory, or give --mem less than the "
                                 "machine has")
        return RemoteProblem(f"crashed its process ({signal.Signals(number).name})",
                             "look for C functions with wrong arguments, or endless recursion")


def _value(target: Any, name: str, arguments: list[int]) -> Any:
    if name == "__len__":
        return len(target)
    if name in ("one_node", "lowest", "packed", "on_node", "sizes", "steps_per_s"):
        return getattr(target, name)(*arguments)
    return getattr(target, name)
