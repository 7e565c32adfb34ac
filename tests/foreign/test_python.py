#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libtutti.so loaded by name into a program that was not linked with it, as ctypes and other languages do.

The environment names the library (LIBRARY) and the folders of the FMUs (FMUS, TEST_FMUS)."""
import ctypes
import math
import os
import pathlib
import threading
import unittest

FMUS = pathlib.Path(os.environ["FMUS"])
TEST_FMUS = pathlib.Path(os.environ["TEST_FMUS"])


def load():
    library = ctypes.CDLL(os.environ["LIBRARY"])
    library.tutti_err_message.restype = ctypes.c_char_p
    for name in ("tutti_simulation_open", "tutti_simulation_find", "tutti_simulation_start", "tutti_simulation_advance",
                 "tutti_simulation_get"):
        getattr(library, name).restype = ctypes.c_int
    library.tutti_simulation_advance.argtypes = [ctypes.c_void_p, ctypes.c_double]
    library.tutti_simulation_free.argtypes = [ctypes.c_void_p]
    library.tutti_options_free.argtypes = [ctypes.c_void_p]
    return library


class Loaded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = load()

    def done(self, err):
        self.assertEqual(err, 0, self.library.tutti_err_message().decode())

    def options(self, *files):
        options = ctypes.c_void_p()
        self.done(self.library.tutti_options_make(ctypes.byref(options)))
        self.addCleanup(self.library.tutti_options_free, options)
        for file in files:
            self.done(self.library.tutti_options_set(options, b"file", str(file).encode()))
        return options

    def open(self, *files):
        simulation = ctypes.c_void_p()
        self.done(self.library.tutti_simulation_open(ctypes.byref(simulation), self.options(*files)))
        self.addCleanup(self.library.tutti_simulation_free, simulation)
        return simulation

    def value(self, simulation, name):
        number, value = ctypes.c_size_t(), ctypes.c_double()
        self.done(self.library.tutti_simulation_find(simulation, name.encode(), ctypes.byref(number)))
        self.done(self.library.tutti_simulation_get(simulation, number, ctypes.byref(value), ctypes.c_size_t(1)))
        return value.value

    def test_a_simulation(self):
        simulation = self.open(FMUS / "Dahlquist_fmi3.fmu")
        self.done(self.library.tutti_simulation_start(simulation))
        self.done(self.library.tutti_simulation_advance(simulation, 1))
        self.assertAlmostEqual(self.value(simulation, "x"), math.exp(-1), delta=0.05)

    def test_functions_of_the_same_names(self):
        """FMUs with names of our libraries, and with each other's; descriptions are read when some of them are loaded."""
        simulations = []
        for number in (1, 2):
            simulation = self.open(TEST_FMUS / f"Namesake{number}_fmi2.fmu")
            self.done(self.library.tutti_simulation_start(simulation))
            simulations.append(simulation)
        for number, simulation in zip((1, 2), simulations):
            self.done(self.library.tutti_simulation_advance(simulation, 1))
            self.assertEqual(self.value(simulation, "own"), 8 * number)

    def test_messages_belong_to_threads(self):
        self.assertNotEqual(self.library.tutti_run(self.options("nothing.fmu"), None), 0)
        message = self.library.tutti_err_message()
        self.assertIn(b"nothing.fmu", message)
        others = []

        def work(name):
            others.append(self.library.tutti_err_message())
            self.library.tutti_run(self.options(name), None)
            others.append(self.library.tutti_err_message())

        for name in ("first.fmu", "second.fmu"):
            thread = threading.Thread(target=work, args=[name])
            thread.start()
            thread.join()
        self.assertEqual([others[0], others[2]], [b"", b""])
        self.assertIn(b"first.fmu", others[1])
        self.assertIn(b"second.fmu", others[3])
        self.assertEqual(self.library.tutti_err_message(), message)


if __name__ == "__main__":
    unittest.main()
