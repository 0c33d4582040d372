"""The process in which `verify` runs a policy: it holds no trace, and answers one call after another.

The keeper (serve()) imports what policies need and forks a process per run, which limits itself, loads the
policy and answers. What it sends is data: numbers, or JSON; the other side never unpickles it.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import socket
import struct
import sys
import threading
import types
from typing import Any

import numpy

from . import sandbox
from .errors import place_of_error
from .policy import METHODS, Policy, name_of

Frame = tuple[bytes, bytes]
_HEADER = struct.Struct("<cQ")


def send(channel: socket.socket, kind: bytes, body: bytes) -> None:
    channel.sendall(_HEADER.pack(kind, len(body)) + body)


def receive(channel: socket.socket, most: int = 1 << 40) -> Frame:
    """The next frame. Errors: EOFError; ValueError for one of more than `most` bytes; TimeoutError."""
    kind, length = _HEADER.unpack(_exactly(channel, _HEADER.size))
    if length > most:
        raise ValueError(f"an answer of {length} bytes")
    return kind, bytes(_exactly(channel, length))


def _exactly(channel: socket.socket, count: int) -> bytearray:
    out = bytearray(count)
    rest = memoryview(out)
    while rest:
        got = channel.recv_into(rest)
        if got == 0:
            raise EOFError
        rest = rest[got:]
    return out


class _Stopped(Exception):
    """The error of a policy, as it is sent."""

    def __init__(self, problem: str, remedy: str, place: str = "") -> None:
        super().__init__(problem)
        self.text = {"problem": problem, "remedy": remedy, "place": place}


class _Call:
    """One call of a method: what it asks for is fetched, or was sent along."""

    def __init__(self, channel: socket.socket, sent: dict[tuple[str, str], Any]) -> None:
        self.channel = channel
        self.known: dict[tuple[str, str], Any] = {(target, name): _frozen(value)
                                                 for (target, name), value in sent.items()}
        self.open = True

    def get(self, target: str, name: str, *arguments: int) -> Any:
        if not self.open:
            raise RuntimeError(f"the {target} is used after the call it was made for")
        if not arguments and (target, name) in self.known:
            return self.known[target, name]
        send(self.channel, b"G", json.dumps([target, name, [int(each) for each in arguments]]).encode())
        _, body = receive(self.channel)
        found, value = pickle.loads(body)
        if not found:
            kinds = {"AttributeError": AttributeError, "IndexError": IndexError, "TypeError": TypeError}
            raise kinds.get(value[0], RuntimeError)(value[1])
        value = _frozen(value)
        if not arguments:
            self.known[target, name] = value
        return value

    def close(self) -> bool:
        """Ends the call. True if an array is still referred to."""
        self.open = False
        arrays = [each for each in self.known.values() if isinstance(each, numpy.ndarray)]
        self.known.clear()
        kept = False
        while arrays:
            array = arrays.pop()
            kept = kept or sys.getrefcount(array) > 2
        return kept


def _frozen(value: Any) -> Any:
    if isinstance(value, numpy.ndarray):
        value.flags.writeable = False
    return value


class _Shown:
    """Stands in for lab.View, lab.PlaceView, lab.Free or lab.Job."""

    def __init__(self, call: _Call, target: str, **own: Any) -> None:
        self.__dict__.update(_call=call, _target=target, **own)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._call.get(self._target, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} is read-only")

    def __len__(self) -> int:
        return int(self._call.get(self._target, "__len__"))


class _Free(_Shown):
    def one_node(self, gpus: int) -> Any:
        return self._call.get("free", "one_node", gpus)

    def lowest(self, gpus: int) -> Any:
        return self._call.get("free", "lowest", gpus)

    def packed(self, gpus: int) -> Any:
        return self._call.get("free", "packed", gpus)

    def on_node(self, node: int) -> Any:
        return self._call.get("free", "on_node", node)


class _Sizes(_Shown):
    def sizes(self, row: int) -> Any:
        return self._call.get("view", "sizes", row)

    def steps_per_s(self, row: int) -> Any:
        return self._call.get("view", "steps_per_s", row)


def _load(source: str, path: str) -> Policy:
    module = types.ModuleType("policy")
    module.__file__ = path
    sys.modules["policy"] = module
    exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102: this is the purpose
    given = module.__dict__.get("policy")
    if isinstance(given, Policy):
        return given
    classes = [each for each in module.__dict__.values()
               if isinstance(each, type) and issubclass(each, Policy) and each.__module__ == "policy"]
    if len(classes) != 1:
        raise _Stopped(f"the file defines {len(classes)} classes derived from lab.Policy",
                       "define one, or set `policy = Mine()`")
    return classes[0]()


def _stated(policy: Policy) -> dict[str, Any]:
    methods = {}
    parts = {}
    for each in METHODS:
        value = getattr(policy, each)
        if callable(value):
            code = getattr(value, "__code__", None)
            methods[each] = [code.co_filename, code.co_firstlineno] if code is not None else ["", 0]
        else:
            parts[each] = value if value is None or isinstance(value, str) else repr(value)
    when = policy.when
    return {"name": str(name_of(policy)), "methods": methods, "parts": parts,
            "when": when if isinstance(when, (str, int, float)) else repr(when), "oracle": bool(policy.oracle),
            "places_anywhere": bool(policy.places_anywhere)}


def _answer(policy: Policy, method: str, call: _Call, rng: numpy.random.Generator) -> Frame:
    if method == "place":
        free = _Free(call, "free")
        view = _Shown(call, "view", free=free, rng=rng)
        returned = policy.place(view, _Shown(call, "job"))
        if returned is None or returned is False:
            return b"N", b""
        return b"I", _ids(returned)
    view = _Sizes(call, "view", rng=rng) if method == "size" else _Shown(call, "view", rng=rng)
    returned = getattr(policy, method)(view)
    if method == "select":
        return b"I", _ids(returned)
    try:
        keys = numpy.ascontiguousarray(returned, dtype=numpy.float64)
    except (TypeError, ValueError):
        keys = numpy.empty((0, 0))
    if keys.ndim != 1 or not hasattr(returned, "__len__"):
        raise _Stopped(f"returned {type(returned).__name__} {_cut(returned)}, not a number for each row",
                       "return an array of a number for each row of the view")
    return b"K", keys.tobytes()


def _ids(returned: Any) -> bytes:
    try:
        array = numpy.asarray(list(returned))
        if array.size > 0 and array.dtype.kind not in "iu":
            raise TypeError
        return numpy.asarray(array, dtype="<i8").tobytes()
    except (TypeError, ValueError, OverflowError):
        raise _Stopped(f"returned {type(returned).__name__} {_cut(returned)}, not whole numbers",
                       "return a list of whole numbers") from None


def _cut(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 200 else text[:200] + "..."


def _error_of(error: BaseException) -> dict[str, str]:
    if isinstance(error, _Stopped):
        return error.text
    if isinstance(error, MemoryError):
        sandbox.release_reserve()
    place = place_of_error(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}:{error.lineno}"
    return {"problem": f"raised {type(error).__name__}: {error}"[:2000],
            "remedy": "the line given raised it" if place else "run it with lab.simulate() for a traceback",
            "place": place}


def _run(channel: socket.socket, order: dict[str, Any]) -> None:
    """Serves one run."""
    _, body = receive(channel)
    given = pickle.loads(body)
    rng = numpy.random.Generator(numpy.random.PCG64())
    rng.bit_generator.state = given["rng"]
    random.seed()
    numpy.random.seed()
    try:
        sandbox.end_with_parent()
        sandbox.limit_resources(order["cpu_s"], order["mem_bytes"])
        guards = {"files": sandbox.forbid_files(sandbox.readable_by_python()),
                  "capabilities": sandbox.drop_capabilities(), "calls": sandbox.forbid_calls()}
    except (OSError, ValueError) as error:
        text = {"problem": f"was not run: its process could not be limited: {error}",
                "remedy": "give other limits", "place": ""}
        send(channel, b"E", json.dumps(text).encode())
        return
    send(channel, b"R", json.dumps(guards).encode())  # before anything of the policy runs
    try:
        policy = _load(given["source"], given["path"])
        stated = _stated(policy)
    except BaseException as error:
        send(channel, b"E", json.dumps(_error_of(error)).encode())
        return
    send(channel, b"S", json.dumps(stated).encode())
    threads = threading.active_count()
    while True:
        try:
            _, body = receive(channel)
        except EOFError:
            return
        method, sent = pickle.loads(body)
        call = _Call(channel, sent)
        del sent
        try:
            try:
                frame = _answer(policy, method, call, rng)
            finally:
                kept = call.close()
            if kept:
                raise _Stopped("an array of the view is still referred to after the call",
                               "keep a copy instead: view.gpus.copy()")
            if threading.active_count() > threads:
                raise _Stopped("left threads behind", "join them before returning")
        except BaseException as error:
            frame = (b"E", json.dumps(_error_of(error)).encode())
        send(channel, *frame)


def serve(control: socket.socket) -> None:
    """The keeper: forks a process for each run that `control` asks for, and tells how it ended."""
    sandbox.end_with_parent()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 4096, 1)
        if not message:
            return
        order = json.loads(message)
        if "wait" in order:
            _, status, used = os.wait4(order["wait"], 0)
            control.send(json.dumps([status, used.ru_utime + used.ru_stime]).encode())
            continue
        child = os.fork()
        if child == 0:
            control.close()
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            with socket.socket(fileno=descriptors[0]) as channel:
                try:
                    _run(channel, order)
                finally:
                    os._exit(0)
        os.close(descriptors[0])
        control.send(json.dumps(child).encode())


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
