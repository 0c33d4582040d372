"""Imported by Python at its start because `goban wrap` puts this folder first in PYTHONPATH. Installs
the hooks of goban_wrap, then runs the next sitecustomize in the path, if there is one."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_the_next_one():
    others = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("GOBAN_PROGRESS_SOCKET"):
    try:
        from goban_wrap import hooks

        hooks.install()
    except Exception as problem:  # the training is more important than its reports
        print(f"goban wrap: no reports: {problem!r}", file=sys.stderr)

_run_the_next_one()
