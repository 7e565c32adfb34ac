#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every coupling, control, extrapolation and kind of events on several ranks, placed anyhow: the bytes of the plain run, and its
log of steps; or the same refusal. Random systems on random ranks."""
import itertools
import random
import unittest

import test_coupled_random as random_systems
from command import JACOBI, test_fmu
from fabrics import FabricTest, has_mpi, mpi, processes, threads
from systems import component, connect, ssd, system
from test_fabrics import example

SYSTEMS = (  # short, with something of everything in it
    (example("control_loop"), "--stop", "2"),
    (example("quarter_car"), "--stop", "0.05", "--h-min", "1e-5"),
    (example("ball_on_stairs"), "--stop", "0.8"),
    (example("four_rooms"), "--stop", "3600"),
    (example("breaker", "EarlyReturn.ssd"), "--start", "0.99", "--stop", "1.03"),
    (example("linear_coupling"), "--stop", "0.2", "--h-min", "1e-3"),  # not stable with each
    (example("smoothing"), "--stop", "0.2"),
)
COUPLINGS = (("jacobi",), ("jacobi", "--correct"), ("jacobi", "--correct", "solve"), ("jacobi", "--smooth"), ("seidel",), ("relax",),
             ("relax", "--sweeps", "jacobi"), ("relax", "--accelerate", "aitken"),
             ("relax", "--sweeps", "jacobi", "--accelerate", "anderson"), ("newton",), ("newton", "--newton", "full"),
             ("newton", "--newton", "broyden"), ("newton", "--newton", "krylov"), ("strong",),
             ("kinematic",))
CONTROLS = (("fixed",), ("richardson",), ("slope",), ("embedded",), ("quantum", "--quantum", "0.01"))
ITERATED = (("converge",), ("diverge",))
EVENTS = ("none", "early", "output")
RANDOM_SYSTEMS = 24


def masters():
    """Every coupling with every control; extrapolation and events go round."""
    pairs = [*itertools.product(COUPLINGS, CONTROLS),
             *itertools.product((coupling for coupling in COUPLINGS if coupling[0] in ("relax", "newton")), ITERATED)]
    pairs.append((("federated",), ("fixed",)))  # with others: test_units_without_a_master
    for n, (coupling, control) in enumerate(pairs):
        if coupling[0] == "federated":
            yield "--coupling", *coupling, "--control", *control
            continue
        order = 1 + n % 2 if "--smooth" in coupling else (n + n // 5) % (4 if coupling[0] in ("relax", "newton") else 3)
        yield ("--coupling", *coupling, "--control", *control, "--extrapolate", str(order), "--events",
               EVENTS[(n // 2 + n // 7) % 3], "--rtol", "1e-3", "--atol", "1e-4")


class Masters(FabricTest):
    def placed(self, names, ranks, numbers):
        return [word for name in names for word in ("--place", f"{name}={numbers.randrange(ranks)}")]

    def check(self, run, numbers, fabrics):
        plain = self.ran(*run, log=True)
        self.assertIn(plain.status, (0, 1, 2), plain.err)
        for fabric in fabrics:
            names = [unit["name"] for unit in plain.stats.get("units", [])] if plain.stats else []
            place = self.placed(names, min(fabric.ranks, len(names)), numbers)
            self.same(*run, *place, plain=plain, status=None, log=True, fabrics=(fabric,))
        return plain.status == 0

    def test_every_master(self):
        """On ranks that share memory, and on others, in turn."""
        good = total = 0
        for n, master in enumerate(masters()):
            numbers = random.Random(n)
            near, far = [threads(2 + n % 2)], [processes(2)]
            near += [mpi(2)] if n % 6 == 0 and has_mpi() else []
            far += [self.tcp()] if n % 6 == 3 else []
            total += 1
            good += self.check((*SYSTEMS[(n // 2) % len(SYSTEMS)], *master), numbers, far if n % 2 else near)
        self.assertGreater(good, 0.7 * total, "too many are refused")

    def test_units_without_a_master(self):
        """Each at a pace of its own: by fixed steps, which need not fit together, and by quanta; events and discrete outputs."""
        runs = ((SYSTEMS[1][0], "--stop", "0.1", "--quantum", "0.02"),
                (SYSTEMS[1][0], "--stop", "0.1", "--step", "0.01", "--step", "wheel=0.0007", "--step", "chassis=0.0011"),
                (SYSTEMS[1][0], "--stop", "0.1", "--step", "wheel=0.0007", "--quantum", "chassis.x=1e-3"),
                (SYSTEMS[2][0], "--stop", "0.8", "--quantum", "0.05"),
                (SYSTEMS[3][0], "--stop", "3600", "--quantum", "5"),
                (SYSTEMS[4][0], "--stop", "1.03", "--quantum", "0.1"),
                (SYSTEMS[0][0], "--stop", "6.5", "--quantum", "0.1"))
        for n, run in enumerate(runs):
            fabrics = [threads(2), processes(2), *([self.tcp()] if n in (1, 3) else []), *([mpi(2)] if n in (2, 6) and has_mpi() else [])]
            self.assertTrue(self.check((*run, "--coupling", "federated"), random.Random(n), fabrics))

    def test_outputs_solved_for(self):
        """Loops across ranks, of Model Exchange and in event mode."""
        mixers = [word for name in "ab" for word in (f"{name}={test_fmu('PlainMixer', '3')}", "--set", f"{name}.cube=1e-7", "--set",
                                                     f"{name}.d11=0.012", "--set", f"{name}.b1=0.01")]
        systems = ((example("double_pendulum"), "--interface", "me", "--stop", "0.2"),
                   (*mixers, *connect("a.y1=b.u1", "b.y1=a.u1"), "--stop", "0.5"))
        for n, (system, control) in enumerate(itertools.product(systems, (("fixed", "--step", "0.02"), ("embedded",)))):
            run = (*system, "--coupling", "jacobi", "--correct", "solve", "--control", *control, "--extrapolate", str(n % 3), "--rtol", "1e-3")
            fabrics = [threads(2), processes(2), self.tcp(), *([mpi(2)] if has_mpi() else [])]
            self.assertTrue(self.check(run, random.Random(n), fabrics))

    def test_newton_by_parts(self):
        """Inputs on cubics; the last steps of solvers only."""
        for n, options in enumerate((("--extrapolate", "3"), ("--reevaluate", "last"), ("--reevaluate", "last", "--newton", "krylov"))):
            run = (example("lorenz"), "--interface", "me", "--coupling", "newton", "--control", "fixed", "--step", "0.05", "--stop", "0.5", *options)
            fabrics = [threads(2), (processes(2), self.tcp(), *([mpi(2)] if has_mpi() else []))[n % (2 + has_mpi())]]
            self.assertTrue(self.check(run, random.Random(n), fabrics))


class RandomSystems(FabricTest):
    """Lags and gains of all FMI versions and both interfaces, with loops at the start and steps of their own."""

    def test_random_systems(self):
        checked = 0
        for seed in range(RANDOM_SYSTEMS):
            numbers = random.Random(seed)
            units = random_systems.make(numbers)
            self.bring(*(unit.fmu for unit in units))
            self.write("random.ssd", ssd(system(*(
                component(unit.name, unit.fmu.rpartition("/")[2],
                          implementation=random_systems.IMPLEMENTATIONS[unit.interface]) for unit in units))))
            options = [*random_systems.RandomSystems.options(self, units), "--stop", "1", "--step", "0.1"]
            if not random_systems.solve_start(units):
                continue
            ranks = min(numbers.randint(2, 4), len(units))  # no more than there are units
            place = [word for unit in units for word in ("--place", f"{unit.name}={numbers.randrange(ranks)}")]
            fabric = (threads, processes)[seed % 2](ranks)
            plain = self.ran("random.ssd", *options, *JACOBI)
            self.assertEqual(plain.status, 0, plain.err)
            self.same("random.ssd", *options, *JACOBI, *place, plain=plain, fabrics=(fabric,))
            checked += 1
        self.assertGreater(checked, RANDOM_SYSTEMS // 2)


if __name__ == "__main__":
    unittest.main()
