"""Tables that other libraries take without a copy of their own."""

from __future__ import annotations

from typing import Any

from . import _core


class Table:
    """Columns of one length, by name. Libraries that take Arrow streams take it as it is:
    pyarrow.table(t), polars.DataFrame(t), pandas.DataFrame.from_arrow(t), duckdb.sql("from t")."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.columns = columns

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A capsule of the Arrow C stream interface, with one batch; the values are copied once.
        `requested_schema` is ignored, as the interface permits."""
        return _core.arrow_stream(self.columns)


def frame(columns: dict[str, Any]) -> Any:
    """A DataFrame where pandas is installed, else the columns themselves."""
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)
