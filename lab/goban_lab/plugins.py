"""Policies in shared libraries, written in C++ or C."""

from __future__ import annotations

import os
from pathlib import Path

from . import _core


class PluginPolicy:
    """A policy of a shared library: see plugin()."""

    def __init__(self, library: _core.Library, name: str, path: str) -> None:
        self.library = library
        self.name = name
        self.path = path

    @property
    def oracle(self) -> bool:
        """The policy sees true run times."""
        return self.library.is_oracle(self.name)

    def __repr__(self) -> str:
        return f"<{self.name} of {self.path}>"


def plugin(path: str | os.PathLike[str], name: str = "") -> PluginPolicy:
    """The policy `name` of a shared library built with goban_lab.hpp; without a name, its only policy. It
    goes where a policy goes: lab.compare(jobs, cluster, [lab.plugin("libmine.so"), "goban"]). Errors:
    LabError, among others for a library that was built for another version of the interface."""
    where = os.fspath(path)
    library = _core.load_plugin(where)
    names = library.names
    if not name and len(names) == 1:
        name = names[0]
    if name not in names:
        said = f"has no policy {name!r}" if name else "has several policies"
        raise _core.LabError(f"{where}: {said}: name one of {', '.join(names)}")
    return PluginPolicy(library, name, where)


def cmake_dir() -> str:
    """The folder in which CMake finds the package goban_lab, with the header goban_lab.hpp:
    cmake -Dgoban_lab_DIR="$(python -m goban_lab cmake-dir)"."""
    return str(Path(__file__).parent / "cmake")
