"""Write a GPU scheduler in Python and compare it with published ones, at C++ speed.

    import goban_lab as lab

    jobs = lab.trace("jobs.csv").first("7d")
    cluster = lab.cluster("64x8:V100")

    class SmallFirst(lab.Policy):
        select = "easy-backfill"

        def order(self, view):
            return view.gpus * view.estimate_s - 10 * view.wait_s

    result = lab.compare(jobs, cluster, [SmallFirst(), "goban", "las+pal"], seeds=range(20))
    print(result.table())

docs/lab.md explains views, estimates, seeds and errors.
"""

from typing import TYPE_CHECKING, Any

from ._core import Cluster, Free, Job, LabError, PlaceView, SizeView, View
from .compare import Comparison, compare
from .env import env
from .errors import PolicyError
from .plugins import PluginPolicy, cmake_dir, plugin
from .policy import Policy
from .rivals import RivalResult, rival, rivals
from .run import Result, simulate
from .tables import Table
from .traces import Trace, cluster, generate, seconds, trace

if TYPE_CHECKING:
    from .real_runs import Reality, reality
    from .remote import Limits
    from .verifier import Report, verify

__all__ = [
    "Cluster", "Comparison", "Free", "Job", "LabError", "Limits", "PlaceView", "PluginPolicy", "Policy",
    "PolicyError", "Reality", "Report", "Result", "RivalResult", "SizeView", "Table", "Trace", "View", "cluster", "cmake_dir",
    "compare", "env", "generate", "plugin", "reality", "rival", "rivals", "seconds", "simulate", "trace", "verify",
]  # fmt: skip
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """What few programs use is imported when it is asked for."""
    if name in ("Limits", "Report", "verify"):
        from . import verifier

        return getattr(verifier, name)
    if name in ("Reality", "reality"):
        from . import real_runs

        return getattr(real_runs, name)
    raise AttributeError(f"module 'goban_lab' has no attribute {name!r}")
