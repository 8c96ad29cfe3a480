"""The results database as pandas frames."""

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path


def _pandas():
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("results as frames need pandas: pip install pandas") from missing
    return pandas


class Results(Mapping):
    """The views and tables of a results database (docs/database.md) by name, each read when it is asked for."""

    def __init__(self, database):
        self.path = Path(database)

    def query(self, sql, parameters=()):
        """What SQL selects, as a frame. The database is opened to be read only."""
        pandas = _pandas()
        with contextlib.closing(self._opened()) as connection:
            return pandas.read_sql_query(sql, connection, params=parameters)

    def __getitem__(self, view):
        if view not in set(self):
            raise KeyError(f"{self.path} has no view {view!r}; it has {', '.join(self)}")
        return self.query(f'SELECT * FROM "{view}"')

    def __iter__(self):
        with contextlib.closing(self._opened()) as connection:
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('view', 'table') AND name NOT LIKE 'sqlite_%'"
                " ORDER BY type = 'table', name"
            ).fetchall()
        return (name for (name,) in rows)

    def __len__(self):
        return sum(1 for _ in self)

    def __repr__(self):
        return f"gnnbench.results({str(self.path)!r})"

    def _opened(self):
        if not self.path.is_file():
            raise FileNotFoundError(f"there is no results database {self.path}; gnnbench.run(…) makes one")
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)


def results(database="gnnbench.sqlite"):
    """results("x.sqlite")["trials"]: a view of the results database as a pandas frame."""
    return Results(database)
