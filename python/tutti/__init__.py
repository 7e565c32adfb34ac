# SPDX-License-Identifier: MIT
"""Tutti couples simulation models (FMUs) and runs them together as one simulation.

    import tutti
    result = tutti.simulate("car.ssp", stop=10, rtol=1e-6)
    result["body.z"]
"""
from ._equations import Model, StateSpace
from ._errors import (ArgumentError, Error, FileError, FMUError, FormatError, Interrupted, SolverError, UnsupportedError)
from ._library import lib as _lib
from ._linearize import LinearSystem, linearize
from ._options import describe as options
from ._plot import Plot, plot
from ._result import Column, Result, Summary, read
from ._simulate import simulate
from ._simulation import Point, Simulation, Variable
from ._study import Estimated, Estimation, Sweep, estimate, sweep
from ._system import System
from ._system import load as open  # pylint: disable=redefined-builtin
from ._tell import Analysis, Compared, Comparison, Finding, Findings, Graph, Info, compare, info

__version__: str = _lib.tutti_version().decode()
__all__ = ["Analysis", "ArgumentError", "Column", "Compared", "Comparison", "Error", "Estimated", "Estimation", "FMUError", "FileError", "Finding",
           "Findings", "FormatError", "Graph", "Info", "Interrupted", "LinearSystem", "Model", "Plot", "Point", "Result", "Simulation",
           "SolverError", "StateSpace", "Summary", "Sweep", "System", "UnsupportedError", "Variable", "compare", "estimate", "info", "linearize", "open",
           "options", "plot", "read", "simulate", "sweep"]
