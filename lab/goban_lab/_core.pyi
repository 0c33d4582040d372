"""Types of the compiled module."""

from typing import Any

import numpy
from numpy.typing import NDArray

Reals = NDArray[numpy.float64]
Wholes = NDArray[numpy.int32]

class LabError(ValueError):
    """An input or an option is wrong; the text says what, where, and the remedy."""

class Fault(Exception): ...

class View:
    """Jobs, a row each: read-only arrays, valid during the call. Times in seconds on the clock of the
    trace. Keeping an array beyond the call ends the run: keep a copy."""
    def __len__(self) -> int: ...
    @property
    def job(self) -> Wholes:
        """Number of the job in the trace."""
    @property
    def gpus(self) -> Wholes: ...
    @property
    def priority(self) -> Wholes:
        """Larger is more urgent; 0 in most traces."""
    @property
    def user(self) -> Wholes:
        """Number of the user; -1 if unknown."""
    @property
    def starts(self) -> Wholes:
        """How often the job was launched so far."""
    @property
    def running(self) -> Wholes:
        """1 for running jobs, which only policies with preemption see."""
    @property
    def submit_s(self) -> Reals: ...
    @property
    def wait_s(self) -> Reals:
        """Seconds since the job began to wait; 0 for running jobs."""
    @property
    def attained_s(self) -> Reals:
        """Seconds for which it has held its GPUs, over all runs."""
    @property
    def estimate_s(self) -> Reals:
        """The walltime limit; without one the mean run time of the user's jobs that had ended when the
        job was submitted, else of all jobs, else 3600."""
    @property
    def limit_s(self) -> Reals:
        """The walltime limit; 0 without one."""
    @property
    def duration_s(self) -> Reals:
        """The true run time. Errors: AttributeError unless the policy states oracle = True."""
    @property
    def now_s(self) -> float:
        """Simulated time. Errors: AttributeError with when = "arrival"."""
    @property
    def free_gpus(self) -> int:
        """GPUs free now. Errors: AttributeError except in select."""
    @property
    def rng(self) -> numpy.random.Generator:
        """The run's own generator, the only source of random draws that repeat."""

class SizeView(View):
    """What `size` sees: the running elastic jobs by arrival, then the waiting jobs in their order. `gpus` is
    what a job holds, or was planned to start on."""
    @property
    def gpus_min(self) -> Wholes:
        """The fewest GPUs on which the job runs."""
    @property
    def gpus_max(self) -> Wholes:
        """The most GPUs on which the job runs."""
    @property
    def steps_left(self) -> Reals:
        """Steps that remain; of a rigid job, its remaining estimate in seconds. inf where the trace states no
        steps, unless the policy states oracle = True: they follow from the true run time."""
    @property
    def deadline_s(self) -> Reals:
        """On the clock of the trace; inf: none."""
    @property
    def total_gpus(self) -> int:
        """GPUs that are free, or held by jobs of the view."""
    def sizes(self, row: int) -> Wholes:
        """The numbers of GPUs on which the job of a row runs, ascending. Errors: IndexError."""
    def steps_per_s(self, row: int) -> Reals:
        """The speed on each of sizes(row): of the GPU model that it holds, else of the fastest."""

class Free:
    """The GPUs that a job may use now."""
    def __len__(self) -> int: ...
    @property
    def by_node(self) -> NDArray[numpy.uint8]:
        """Number of free GPUs of each node."""
    def one_node(self, gpus: int) -> list[int] | None:
        """GPUs of the node with the fewest free ones that suffice; None if there is none."""
    def lowest(self, gpus: int) -> list[int] | None:
        """The free GPUs with the lowest ids; None if there are too few."""
    def packed(self, gpus: int) -> list[int] | None:
        """What the part `packed` chooses: as few nodes as possible; None if there are too few."""
    def on_node(self, node: int) -> list[int]:
        """The free GPUs of a node. Errors: IndexError."""

class PlaceView:
    """What `place` sees besides the job; valid during the call."""
    @property
    def free(self) -> Free: ...
    @property
    def now_s(self) -> float:
        """When the job would start, in seconds."""
    @property
    def rng(self) -> numpy.random.Generator: ...

class Job:
    """A job that is to be placed; valid during the call. Times in seconds."""
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def gpus(self) -> int: ...
    @property
    def priority(self) -> int: ...
    @property
    def user(self) -> int: ...
    @property
    def submit_s(self) -> float: ...
    @property
    def estimate_s(self) -> float: ...
    @property
    def limit_s(self) -> float: ...
    @property
    def duration_s(self) -> float: ...

class Cluster:
    """A cluster; GPU ids count node by node."""
    @property
    def name(self) -> str: ...
    @property
    def gpus(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def node_gpus(self) -> Wholes:
        """GPUs of each node."""
    @property
    def gpu_node(self) -> Wholes:
        """The node of each GPU."""
    @property
    def node_model(self) -> list[str]:
        """The GPU model of each node."""

class Trace:
    def __len__(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def has_limits(self) -> bool: ...
    @property
    def span_s(self) -> float: ...
    def job_name(self, job: int) -> str: ...
    def columns(self) -> dict[str, Any]: ...
    def first(self, span_s: float) -> Trace: ...
    def resampled(self, block_s: float, seed: int) -> Trace: ...

class Where:
    def __init__(self) -> None: ...
    @property
    def method(self) -> str: ...
    @property
    def job(self) -> int | None: ...
    @property
    def at_s(self) -> float | None: ...
    @property
    def calls(self) -> int: ...

class Run:
    def columns(self) -> dict[str, Any]: ...
    def action_columns(self) -> dict[str, Any] | None: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def decisions(self) -> int: ...
    @property
    def starts(self) -> int: ...
    @property
    def busy_gpu_s(self) -> float: ...
    @property
    def end_s(self) -> float: ...

class Episodes:
    def __init__(self, count: int, slots: int, cluster: Cluster, parts: str,
                 restart_cost_s: float | None) -> None: ...
    def begin(self, index: int, trace: Trace, seed: int) -> None: ...
    def step(self, index: int, action: int) -> None: ...
    def step_all(self, actions: NDArray[numpy.int64]) -> None: ...
    def now_s(self, index: int) -> float: ...
    def arrays(self) -> dict[str, Any]: ...

class RealRuns:
    @property
    def jobs(self) -> int: ...
    def run(self, policy: str, restart_s: list[float], speed: list[float], seed: int) -> tuple[Reals, float]: ...

def read_real_runs(trace: str, rates: str, batch_sizes: str, cluster: str) -> RealRuns: ...
def cluster(name: str) -> Cluster: ...
def read_trace(path: str, format: str, cluster: Cluster | None, rates: str, interpolate: bool) -> Trace: ...
def generate(like: str, jobs: int, gpus: int, load: float, seed: int, limits: bool) -> Trace: ...
def simulate_named(trace: Trace, cluster: Cluster, policy: str, seed: int, restart_cost_s: float | None,
                   round_s: float | None, locality_penalty: float | None, actions: bool) -> Run: ...
def simulate_methods(trace: Trace, cluster: Cluster, stated: dict[str, object], policy: object, rng: object,
                     where: Where, seed: int, restart_cost_s: float | None, round_s: float | None,
                     locality_penalty: float | None, actions: bool) -> Run: ...
class Library:
    @property
    def names(self) -> list[str]: ...
    def is_oracle(self, policy: str) -> bool: ...

def load_plugin(path: str) -> Library: ...
def simulate_plugin(trace: Trace, cluster: Cluster, library: Library, policy: str, seed: int,
                    restart_cost_s: float | None, round_s: float | None, locality_penalty: float | None,
                    actions: bool) -> Run: ...
def arrow_stream(columns: dict[str, Any]) -> object: ...
def sees_durations(policy: str, trace: Trace) -> bool: ...
def check_rates(trace: Trace, cluster: Cluster) -> None: ...
def part_kind(name: str) -> str: ...
def rival_names() -> list[str]: ...
def replay_rival(policy: str, trace: str, rates: str, cluster: str, batch_sizes: str, shares: str,
                 restart_cost_s: float | None) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]: ...
