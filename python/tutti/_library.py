# SPDX-License-Identifier: MIT
"""libtutti by ctypes, with the functions of the headers in include/tutti. Every call releases the GIL."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import pathlib
import sys
from ctypes import POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint, c_ulong, c_void_p
from collections.abc import Callable
from typing import Any

from ._errors import Error, error_of

START = ctypes.CFUNCTYPE(c_int, c_void_p, c_double, POINTER(c_double))
STEP = ctypes.CFUNCTYPE(c_int, c_void_p, c_double, c_double, POINTER(c_double))
DERIVATIVES = ctypes.CFUNCTYPE(c_int, c_void_p, c_double, POINTER(c_double), POINTER(c_double))
WRITE = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
TAKE_TEXT = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p, c_size_t)
PROGRESS = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class Log(Structure):
    """struct tutti_log"""

    _fields_ = [("level", c_int), ("write", WRITE), ("context", c_void_p)]


class Progress(Structure):
    """struct tutti_progress"""

    _fields_ = [("start", c_double), ("stop", c_double), ("time", c_double), ("step", c_double), ("steps", c_ulong),
                ("elapsed", c_double)]


class Recorded(Structure):
    """struct tutti_recorded"""

    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("description", c_char_p), ("type", c_char_p), ("is_text", c_bool)]


class Variable(Structure):
    """struct tutti_variable"""

    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("description", c_char_p), ("type", c_char_p),
                ("causality", c_char_p), ("variability", c_char_p), ("start", c_double), ("minimum", c_double),
                ("maximum", c_double), ("nominal", c_double), ("is_text", c_bool), ("count", c_size_t)]


class ResultVariable(Structure):
    """struct tutti_result_variable"""

    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("description", c_char_p), ("numeric", c_bool), ("held", c_bool)]


class Statistic(Structure):
    """struct tutti_statistic"""

    _fields_ = [("name", c_char_p), ("help", c_char_p), ("kind", c_int), ("number", c_double), ("text", c_char_p)]


class OptionWord(Structure):
    """struct tutti_option_word"""

    _fields_ = [("name", c_char_p), ("text", c_char_p)]


class OptionDescription(Structure):
    """struct tutti_option_description"""

    _fields_ = [("name", c_char_p), ("argument", c_char_p), ("help", c_char_p), ("words", POINTER(OptionWord)),
                ("repeatable", c_bool)]


class TellOption(Structure):
    """struct tutti_tell_option"""

    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class ProgramVariable(Structure):
    """struct tutti_program_variable"""

    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("description", c_char_p), ("role", c_int), ("start", c_double)]


class Program(Structure):
    """struct tutti_program"""

    _fields_ = [("name", c_char_p), ("variables", POINTER(ProgramVariable)), ("variable_count", c_size_t), ("context", c_void_p),
                ("feeds_through", c_bool), ("has_no_memory", c_bool), ("start", START), ("step", STEP),
                ("derivatives", DERIVATIVES), ("outputs", START)]


class Matrix(Structure):
    """struct tutti_matrix"""

    _fields_ = [("row_count", c_size_t), ("column_count", c_size_t), ("starts", POINTER(c_int)), ("rows", POINTER(c_int)),
                ("values", POINTER(c_double))]


class StateSpace(Structure):
    """struct tutti_state_space"""

    _fields_ = [("a", Matrix), ("b", Matrix), ("c", Matrix), ("d", Matrix)]


EXTRA_START = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_double, POINTER(c_double))
EXTRA_RHS = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_double, POINTER(c_double), POINTER(c_double))
EXTRA_STRUCTURE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(POINTER(c_int)), POINTER(POINTER(c_int)))


class Extra(Structure):
    """struct tutti_extra"""

    _fields_ = [("count", c_size_t), ("context", c_void_p), ("start", EXTRA_START), ("rhs", EXTRA_RHS),
                ("structure", EXTRA_STRUCTURE), ("jacobian", EXTRA_RHS), ("output_count", c_size_t),
                ("output_names", POINTER(c_char_p)), ("output", EXTRA_RHS)]


class Linearization(Structure):
    """struct tutti_linearization"""

    _fields_ = [("time", c_double), ("fmi", c_char_p), ("state_count", c_size_t), ("input_count", c_size_t),
                ("output_count", c_size_t), ("state_names", POINTER(c_char_p)), ("input_names", POINTER(c_char_p)),
                ("output_names", POINTER(c_char_p)), ("states", POINTER(c_double)), ("derivatives", POINTER(c_double)),
                ("inputs", POINTER(c_double)), ("outputs", POINTER(c_double)), ("a", Matrix), ("b", Matrix), ("c", Matrix),
                ("d", Matrix), ("exact", c_bool), ("structure_known", c_bool), ("eigenvalue_count", c_size_t),
                ("eigenvalues_re", POINTER(c_double)), ("eigenvalues_im", POINTER(c_double)), ("margin", c_double),
                ("stability", c_int), ("hidden_count", c_size_t), ("hidden_names", POINTER(c_char_p))]


class Estimated(Structure):
    """struct tutti_estimated"""

    _fields_ = [("name", c_char_p), ("value", c_double), ("start", c_double), ("low", c_double), ("high", c_double), ("error", c_double),
                ("lower", c_double), ("upper", c_double), ("determined", c_bool), ("at_bound", c_bool)]


class EstimationSummary(Structure):
    """struct tutti_estimation_summary"""

    _fields_ = [("sum_of_squares", c_double), ("residuals", c_size_t), ("parameters", c_size_t), ("runs", c_size_t),
                ("iterations", c_size_t), ("sensitivities", c_bool), ("converged", c_bool)]


_ERR = "error"  # of functions that return an enum tutti_err: anything but 0 is raised
# Name: what it returns, its arguments. All pointers to structs that only the library knows are c_void_p.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "tutti_version": (c_char_p,),
    "tutti_err_name": (c_char_p, c_int),
    "tutti_err_message": (c_char_p,),
    "tutti_err_unit": (c_char_p,),
    "tutti_err_variable": (c_char_p,),
    "tutti_err_time": (c_double,),
    "tutti_options_make": (_ERR, POINTER(c_void_p)),
    "tutti_options_free": (None, c_void_p),
    "tutti_options_set": (_ERR, c_void_p, c_char_p, c_char_p),
    "tutti_options_describe": (c_bool, c_size_t, POINTER(OptionDescription)),
    "tutti_options_set_recording": (None, c_void_p, c_void_p),
    "tutti_options_set_log": (None, c_void_p, POINTER(Log)),
    "tutti_options_set_progress": (None, c_void_p, PROGRESS, c_void_p),
    "tutti_options_set_extra": (None, c_void_p, POINTER(Extra)),
    "tutti_model_state_count": (c_size_t, c_void_p),
    "tutti_model_states": (POINTER(c_double), c_void_p),
    "tutti_model_get": (_ERR, c_void_p, c_char_p, POINTER(c_double)),
    "tutti_model_linearize": (_ERR, c_void_p, ctypes.c_uint, POINTER(StateSpace)),
    "tutti_options_set_interrupt": (None, c_void_p, POINTER(c_int)),
    "tutti_stats_make": (_ERR, POINTER(c_void_p)),
    "tutti_stats_free": (None, c_void_p),
    "tutti_stats_get": (c_bool, c_void_p, c_size_t, POINTER(Statistic)),
    "tutti_stats_get_of_unit": (c_bool, c_void_p, c_size_t, c_size_t, POINTER(Statistic)),
    "tutti_stats_unit_count": (c_size_t, c_void_p),
    "tutti_run": (_ERR, c_void_p, c_void_p),
    "tutti_recording_make": (_ERR, POINTER(c_void_p)),
    "tutti_recording_free": (None, c_void_p),
    "tutti_recording_column_count": (c_size_t, c_void_p),
    "tutti_recording_describe": (c_bool, c_void_p, c_size_t, POINTER(Recorded)),
    "tutti_recording_rows": (c_size_t, c_void_p),
    "tutti_recording_values": (c_void_p, c_void_p),
    "tutti_recording_text": (c_char_p, c_void_p, c_size_t, c_size_t),
    "tutti_recording_save": (_ERR, c_void_p, c_char_p),
    "tutti_result_open": (_ERR, POINTER(c_void_p), c_char_p, POINTER(Log)),
    "tutti_result_free": (None, c_void_p),
    "tutti_result_count": (c_size_t, c_void_p),
    "tutti_result_describe": (c_bool, c_void_p, c_size_t, POINTER(ResultVariable)),
    "tutti_result_rows": (c_size_t, c_void_p),
    "tutti_result_times": (c_void_p, c_void_p),
    "tutti_result_time_unit": (c_char_p, c_void_p),
    "tutti_result_type": (c_char_p, c_void_p, c_size_t),
    "tutti_result_read_texts": (_ERR, c_void_p, c_size_t, TAKE_TEXT, c_void_p),
    "tutti_result_read": (_ERR, c_void_p, POINTER(c_size_t), c_size_t, POINTER(c_void_p)),
    "tutti_simulation_open": (_ERR, POINTER(c_void_p), c_void_p),
    "tutti_simulation_free": (None, c_void_p),
    "tutti_simulation_variable_count": (c_size_t, c_void_p),
    "tutti_simulation_find": (_ERR, c_void_p, c_char_p, POINTER(c_size_t)),
    "tutti_simulation_describe": (_ERR, c_void_p, c_size_t, POINTER(Variable)),
    "tutti_simulation_set": (_ERR, c_void_p, c_char_p),
    "tutti_simulation_start": (_ERR, c_void_p),
    "tutti_simulation_time": (c_double, c_void_p),
    "tutti_simulation_stop": (c_double, c_void_p),
    "tutti_simulation_is_over": (c_bool, c_void_p),
    "tutti_simulation_step": (_ERR, c_void_p),
    "tutti_simulation_advance": (_ERR, c_void_p, c_double),
    "tutti_simulation_get": (_ERR, c_void_p, c_size_t, POINTER(c_double), c_size_t),
    "tutti_simulation_get_many": (_ERR, c_void_p, POINTER(c_size_t), c_size_t, POINTER(c_double)),
    "tutti_simulation_get_text": (_ERR, c_void_p, c_size_t, POINTER(c_char_p)),
    "tutti_simulation_put": (_ERR, c_void_p, c_size_t, POINTER(c_double), c_size_t),
    "tutti_simulation_put_many": (_ERR, c_void_p, POINTER(c_size_t), c_size_t, POINTER(c_double)),
    "tutti_simulation_save": (_ERR, c_void_p, POINTER(c_void_p)),
    "tutti_simulation_restore": (_ERR, c_void_p, c_void_p),
    "tutti_simulation_save_file": (_ERR, c_void_p, c_char_p),
    "tutti_simulation_restore_file": (_ERR, c_void_p, c_char_p),
    "tutti_point_free": (None, c_void_p, c_void_p),
    "tutti_simulation_reset": (_ERR, c_void_p),
    "tutti_simulation_finish": (_ERR, c_void_p, c_void_p),
    "tutti_program_open": (_ERR, POINTER(c_void_p), POINTER(Program), c_char_p),
    "tutti_program_close": (None, c_void_p),
    "tutti_save": (_ERR, c_char_p, c_void_p),
    "tutti_tell_free": (None, c_void_p),
    "tutti_tell_info": (_ERR, POINTER(c_void_p), c_char_p),
    "tutti_tell_check": (_ERR, POINTER(c_void_p), c_void_p, c_uint),
    "tutti_tell_graph": (_ERR, POINTER(c_void_p), c_void_p, c_char_p, c_char_p),
    "tutti_tell_analysis": (_ERR, POINTER(c_void_p), c_void_p, c_int),
    "tutti_tell_comparison": (_ERR, POINTER(c_void_p), c_char_p, c_char_p, POINTER(TellOption), c_size_t, POINTER(Log)),
    "tutti_tell_plot": (_ERR, POINTER(c_void_p), POINTER(c_size_t), c_char_p, POINTER(c_char_p), c_size_t, POINTER(TellOption), c_size_t,
                        POINTER(Log)),
    "tutti_sweep_make": (_ERR, POINTER(c_void_p), c_void_p),
    "tutti_sweep_free": (None, c_void_p),
    "tutti_sweep_run_count": (c_size_t, c_void_p),
    "tutti_sweep_found_count": (c_size_t, c_void_p),
    "tutti_sweep_parameter_count": (c_size_t, c_void_p),
    "tutti_sweep_column_count": (c_size_t, c_void_p),
    "tutti_sweep_column_name": (c_char_p, c_void_p, c_size_t),
    "tutti_sweep_value": (c_double, c_void_p, c_size_t, c_size_t),
    "tutti_sweep_status": (c_char_p, c_void_p, c_size_t),
    "tutti_sweep_message": (c_char_p, c_void_p, c_size_t),
    "tutti_estimate": (_ERR, POINTER(c_void_p), c_void_p),
    "tutti_estimation_free": (None, c_void_p),
    "tutti_estimation_sum_up": (EstimationSummary, c_void_p),
    "tutti_estimation_parameter": (c_bool, c_void_p, c_size_t, POINTER(Estimated)),
    "tutti_estimation_covariance": (c_double, c_void_p, c_size_t, c_size_t),
    "tutti_estimation_undetermined": (c_char_p, c_void_p, c_size_t),
    "tutti_linearize": (_ERR, c_void_p, c_void_p, POINTER(Linearization)),
    "tutti_linearization_fini": (None, POINTER(Linearization)),
    "tutti_stability_name": (c_char_p, c_int),
}


def _find() -> str:
    """The path of the library: TUTTI_LIBRARY, beside this file (a wheel), in the build tree, or installed."""
    here = pathlib.Path(__file__).absolute().parent  # in a build tree, a link to the sources
    name = "libtutti.so.0"
    told = os.environ.get("TUTTI_LIBRARY")
    if told:
        return told
    for folder in (here, here.parents[1] / "src", here.resolve().parents[1] / "build" / "src"):
        if (folder / name).exists():
            return str(folder / name)
    return name


def _load() -> ctypes.CDLL:
    path = _find()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"the library of Tutti cannot be loaded ({error}); install Tutti, or say where it is: "
                          "TUTTI_LIBRARY=.../libtutti.so.0") from None
    for name, (returns, *arguments) in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}: it is of another version than this module") from None
        function.argtypes = arguments
        function.restype = c_int if returns is _ERR else returns
        if returns is _ERR:
            function.errcheck = _check
    return library


def _check(err: int, _function: Any, arguments: tuple[Any, ...]) -> None:
    """Raises the error; the thread's message is read before any further call."""
    if err:
        raise error_of(err, text(lib.tutti_err_name(err)), text(lib.tutti_err_message()),
                       text_or_none(lib.tutti_err_unit()), text_or_none(lib.tutti_err_variable()), lib.tutti_err_time())


def text(value: bytes | None) -> str:
    """A text of an FMU, which should be UTF-8."""
    return value.decode("utf-8", "replace") if value else ""


def text_or_none(value: bytes | None) -> str | None:
    return text(value) if value is not None else None


def handle(make: Any, *arguments: Any) -> c_void_p:
    """The object that a function stores in its first argument."""
    out = c_void_p()
    make(ctypes.byref(out), *arguments)
    return out


def is_over(finalizing: Callable[[], bool] = sys.is_finalizing) -> bool:
    """Whether the interpreter is exiting: then the library may already be unloaded, and objects are not freed."""
    return finalizing()


lib = _load()

__all__ = ["lib", "text", "text_or_none", "handle", "Error"]
