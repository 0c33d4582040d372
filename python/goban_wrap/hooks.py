"""Patches of PyTorch: modules are patched when the script imports them.

    Optimizer         a step is a training step
    DataLoader        epochs, batch size, time waiting for data
    torch.save        of named tensors: a checkpoint
    DDP, collectives  time that a rank waits for others

Nothing is patched before its module is imported, so programs without PyTorch are not affected.
"""

import functools
import importlib.abc
import importlib.machinery
import os
import sys
import time
import weakref

from .reporter import Reporter
from .training import Training

_EVERY_S = 1.0  # between two reports
_STEPS_TO_AGREE = 2  # ranks are at most one step apart
_MARK = "_goban_wrapped"


class Watch:
    """State of this process; created at its first optimizer step."""

    def __init__(self):
        number = lambda name, other: int(os.environ.get(name, "") or other)  # noqa: E731
        self.training = Training(
            rank=number("RANK", 0), ranks=number("WORLD_SIZE", 1), epochs=number("GOBAN_EPOCHS", 0)
        )
        self.reporter = None
        self.next_report = 0.0
        self.stop_left_s = None  # the scheduler requested a stop
        self.stop_since = 0.0
        self.leave_at = None  # the step after which all ranks exit

    def start(self):
        if self.reporter is None:
            group = sys.modules.get("torch.distributed")
            if group is not None and group.is_available() and group.is_initialized():
                self.training.rank = group.get_rank()
                self.training.ranks = group.get_world_size()
            self.reporter = Reporter(os.environ["GOBAN_PROGRESS_SOCKET"], self.asked_to_stop)

    # Stopping. Rank 0 chooses a step that no rank has done, and all ranks exit after it.

    def asked_to_stop(self, left_s):
        """Runs in the reporter's thread, because the main thread may be waiting for other ranks."""
        self.stop_since = time.monotonic()
        self.stop_left_s = left_s
        soon = self.training.next_checkpoint_in_s()
        waits = soon is not None and 1.5 * soon + 1 < left_s
        if self.training.rank == 0 and not waits:
            self.choose_step()

    def choose_step(self):
        at = self.training.step + _STEPS_TO_AGREE
        store = _store() if self.training.ranks > 1 else None
        if store is not None:
            store.add("goban/leave_at", at)
        self.leave_at = at

    def look_for_step(self):
        if self.leave_at is None and self.training.rank != 0:
            store = _store()
            at = store.add("goban/leave_at", 0) if store is not None else 0
            if at > 0:
                self.leave_at = at
        waited = time.monotonic() - self.stop_since
        if self.leave_at is None and self.training.rank == 0 and waited > 0.7 * self.stop_left_s:
            self.choose_step()  # the checkpoint would come too late

    def leave(self):
        self.report(last=True)
        if self.training.rank == 0:
            self.reporter.say("stopping")
            self.reporter.say("end stopped")
        self.reporter.flush()
        print(f"goban wrap: rank {self.training.rank} stops after step {self.training.step}",
              file=sys.stderr)
        sys.stdout.flush()
        raise SystemExit(0)

    # Reporting.

    def report(self, last=False):
        self.next_report = time.monotonic() + _EVERY_S
        if self.training.rank == 0:
            self.reporter.say(self.training.progress_line())
        self.reporter.say(self.training.rank_line())
        if last:
            self.reporter.flush()

    def stepped(self, optimizer):
        self.start()
        if not self.training.stepped(optimizer):
            return
        if time.monotonic() >= self.next_report:
            self.report()
        if self.stop_left_s is not None:
            self.look_for_step()
        if self.leave_at is not None and self.training.step >= self.leave_at:
            self.leave()

    def checkpointed(self):
        if self.reporter is None or self.training.step == 0:
            return
        self.training.checkpointed()
        if self.training.rank == 0:
            self.report()
            self.reporter.say(f"checkpoint step={self.training.total_steps()}")
            if self.stop_left_s is not None and self.leave_at is None:
                self.choose_step()

    def ended(self):
        if self.reporter is not None:
            self.report(last=True)


_watch = Watch()


def _store():
    """The key-value store of the ranks; None if there is none."""
    try:
        from torch.distributed import distributed_c10d

        return distributed_c10d._get_default_store()
    except Exception:
        return None


def _quietly(function):
    """Errors of this package must not affect the script."""

    @functools.wraps(function)
    def guarded(*arguments, **names):
        try:
            return function(*arguments, **names)
        except SystemExit:
            raise
        except Exception as problem:
            if not _quietly.told:
                print(f"goban wrap: {function.__name__}: {problem!r}", file=sys.stderr)
            _quietly.told = True
            return None

    return guarded


_quietly.told = False


# Optimizers.


def _patch_optimizer(module):
    optimizer = module.Optimizer
    init = optimizer.__init__

    @functools.wraps(init)
    def made(self, *arguments, **names):
        _wrap_step(type(self))
        init(self, *arguments, **names)

    optimizer.__init__ = made
    load = optimizer.load_state_dict

    @functools.wraps(load)
    def loaded(self, *arguments, **names):
        result = load(self, *arguments, **names)
        _quietly(_state_loaded)(self)
        return result

    optimizer.load_state_dict = loaded


def _state_loaded(optimizer):
    """Many optimizers count their steps (Adam and similar ones); SGD does not."""
    counts = [int(state["step"]) for state in optimizer.state.values() if "step" in state]
    if counts:
        _watch.training.loaded(max(counts))


def _wrap_step(kind):
    """Patches the class that defines the step: the step of a derived class either calls it or is
    wrapped itself, and counts once."""
    step = kind.__dict__.get("step")
    if step is None:
        for base in kind.__mro__[1:]:
            if "step" in base.__dict__:
                return _wrap_step(base)
        return None
    if getattr(step, _MARK, False):
        return None

    @functools.wraps(step)
    def stepped(self, *arguments, **names):
        depth = self.__dict__.get("_goban_depth", 0)
        self.__dict__["_goban_depth"] = depth + 1
        try:
            result = step(self, *arguments, **names)
        finally:
            self.__dict__["_goban_depth"] = depth
        if depth == 0:
            _quietly(_watch.stepped)(id(self))
        return result

    setattr(stepped, _MARK, True)
    kind.step = stepped
    return None


# Data.

_begun = weakref.WeakKeyDictionary()  # loader -> number of iterations started


def _patch_loader(module):
    loader = module.DataLoader
    begin = loader.__iter__

    @functools.wraps(begin)
    def begun(self):
        _quietly(_loader_started)(self)
        return _Timed(begin(self))

    loader.__iter__ = begun


def _loader_started(loader):
    _begun[loader] = _begun.get(loader, 0) + 1
    try:
        steps = len(loader)
    except TypeError:  # data without a length
        steps = 0
    sampler = getattr(loader, "batch_sampler", None)
    size = loader.batch_size or getattr(sampler, "batch_size", None) or 0
    _watch.training.loader_started(_begun[loader], steps, size)


class _Timed:
    """An iterator whose waits are counted; everything else is forwarded."""

    def __init__(self, inner):
        self._inner = inner

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._inner)

    def __next__(self):
        start = time.monotonic()
        try:
            return next(self._inner)
        finally:
            _watch.training.data_waited(time.monotonic() - start)

    def __getattr__(self, name):
        return getattr(self._inner, name)


# Checkpoints.


def _patch_torch(module):
    save = module.save

    @functools.wraps(save)
    def saved(obj, *arguments, **names):
        result = save(obj, *arguments, **names)
        if _is_checkpoint(obj):
            _quietly(_watch.checkpointed)()
        return result

    module.save = saved
    backward = module.Tensor.backward

    @functools.wraps(backward)
    def went_backward(self, *arguments, **names):
        result = backward(self, *arguments, **names)
        _watch.training.backward_ended()
        return result

    module.Tensor.backward = went_backward


def _is_checkpoint(obj, depth=0):
    import torch

    if isinstance(obj, torch.nn.Module):
        return True
    if not hasattr(obj, "items") or depth > 3:
        return False
    values = list(obj.values())
    return any(
        isinstance(value, torch.Tensor) or _is_checkpoint(value, depth + 1) for value in values
    )


# Collectives.


def _patch_ddp(module):
    ddp = module.DistributedDataParallel
    init = ddp.__init__

    @functools.wraps(init)
    def made(self, *arguments, **names):
        init(self, *arguments, **names)
        _quietly(_watch_gradients)(self)

    ddp.__init__ = made
    if hasattr(ddp, "_sync_buffers"):
        ddp._sync_buffers = _timed_call(ddp._sync_buffers)


def _watch_gradients(model):
    ready = _watch.training.gradient_ready
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_hook(lambda _gradient: ready())


_COLLECTIVES = (
    "all_reduce broadcast all_gather all_gather_into_tensor all_gather_object gather scatter reduce "
    "reduce_scatter reduce_scatter_tensor all_to_all all_to_all_single barrier broadcast_object_list"
).split()


def _patch_collectives(module):
    package = sys.modules.get("torch.distributed")
    for name in _COLLECTIVES:
        call = getattr(module, name, None)
        if call is None:
            continue
        timed = _timed_call(call)
        setattr(module, name, timed)
        if package is not None and getattr(package, name, None) is call:
            setattr(package, name, timed)


_in_collective = [0]


def _timed_call(call):
    @functools.wraps(call)
    def timed(*arguments, **names):
        start = time.monotonic()
        _in_collective[0] += 1
        try:
            return call(*arguments, **names)
        finally:
            _in_collective[0] -= 1
            if _in_collective[0] == 0:  # some collectives call others
                _watch.training.collective_waited(time.monotonic() - start)

    return timed


# Importing.

_PATCHES = {
    "torch": _patch_torch,
    "torch.optim.optimizer": _patch_optimizer,
    "torch.utils.data.dataloader": _patch_loader,
    "torch.nn.parallel.distributed": _patch_ddp,
    "torch.distributed.distributed_c10d": _patch_collectives,
}


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the other finders find a module, and patches it after its import."""

    def __init__(self):
        self._busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in _PATCHES or name in self._busy:
            return None
        self._busy.add(name)
        try:
            for finder in sys.meta_path:
                if finder is self or not hasattr(finder, "find_spec"):
                    continue
                spec = finder.find_spec(name, path, target)
                if spec is not None and spec.loader is not None:
                    _patch_when_loaded(spec, name)
                    return spec
            return None
        finally:
            self._busy.discard(name)


def _patch_when_loaded(spec, name):
    loader = spec.loader
    run = loader.exec_module

    def loaded(module):
        run(module)
        _quietly(_PATCHES[name])(module)

    loader.exec_module = loaded


def install():
    import atexit

    sys.meta_path.insert(0, _Finder())
    atexit.register(_quietly(_watch.ended))
    if hasattr(os, "register_at_fork"):  # workers of loaders do not train
        os.register_at_fork(after_in_child=_forget)


def _forget():
    global _watch
    _watch = Watch()
    _watch.start = lambda: None
    _watch.stepped = lambda optimizer: None
