"""gnnbench from Python: start experiments, and read what they measured.

    import gnnbench
    gnnbench.run("experiments/quickstart.yaml", database="x.sqlite")
    trials = gnnbench.results("x.sqlite")["trials"]
"""

from ._program import Error, run
from ._results import Results, results

__all__ = ["Error", "Results", "results", "run"]
