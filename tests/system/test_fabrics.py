#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example on every fabric gives the bytes of the plain run; so do all placements and both modes, and the statistics add
up to the same."""
import pathlib
import unittest
import zipfile

from command import FMUS, kit_fmu, test_fmu
from fabrics import FabricTest, has_mpi, mpi, processes, threads
from systems import component, connect, connection, inputs, outputs, ssd, system, words

EXAMPLES = FMUS.parent / "examples"
# Examples whose own stop time would be long: every fabric has seen everything by then.
SHORT = {"breaker": "1.12", "four_rooms": "14400", "houses": "3000", "billiards": "4", "race_car_init": "0.1", "quarter_car": "0.2"}
TRACKER2, TRACKER3, FOLLOWER2 = kit_fmu("Tracker", "2"), kit_fmu("Tracker", "3"), test_fmu("Follower", "2")
RING = (f"a={TRACKER2}", f"b={FOLLOWER2}", f"c={TRACKER3}", f"d={FOLLOWER2}",
        *connect("a.y=b.u", "b.x=c.u", "c.y=d.u", "d.x=a.u"), "--set", "a.x=1", "--stop", "1")


def example(name, variant=None):
    path = EXAMPLES / name / f"{name}.ssp"
    return f"{path}#{variant}" if variant else str(path)


def examples():
    """All systems of the examples, and their variants."""
    found = sorted(EXAMPLES.glob("*/*.ssp"))
    assert len(found) >= 16, found
    for path in found:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".ssd"):
                    yield path.stem, None if name == "SystemStructure.ssd" else name


class Examples(FabricTest):
    def test_every_example_on_every_fabric(self):
        for name, variant in examples():
            with self.subTest(example=name, variant=variant):
                stop = ("--stop", SHORT[name]) if name in SHORT else ()
                self.same(example(name, variant), *stop, fabrics=self.fabrics())

    def test_more_ranks_than_cores_and_units(self):
        self.same(example("four_rooms"), "--stop", "3600", fabrics=(threads(7), threads(16), processes(5)))
        self.same(example("control_loop"), "--stop", "2", fabrics=(threads(8), processes(8)))


class Statistics(FabricTest):
    def test_where_units_ran(self):
        """Each unit on the rank that it was placed on; each rank counts what its units did."""
        for fabric in self.fabrics():
            with self.subTest(fabric=str(fabric)):
                place = {"a": 1, "b": 0, "c": fabric.ranks - 1, "d": 0}
                options = [word for name, rank in place.items() for word in ("--place", f"{name}={rank}")]
                stats = self.ran(*RING, "--step", "0.1", *options, fabric=fabric).stats
                self.assertEqual((stats["fabric"], stats["ranks"]), (fabric.name, fabric.ranks))
                self.assertEqual({unit["name"]: unit["rank"] for unit in stats["units"]}, place)
                self.assertEqual({unit["do_steps"] for unit in stats["units"]}, {10})
                self.assertGreaterEqual(stats["exchanges"], 10)
                self.assertGreaterEqual(min(unit["seconds"] for unit in stats["units"]), 0)

    def test_units_are_spread(self):
        """Without a word on where, no rank is left without units if there are enough."""
        for fabric in (threads(2), threads(4), processes(3)):
            stats = self.ran(*RING, "--step", "0.1", fabric=fabric).stats
            self.assertEqual({unit["rank"] for unit in stats["units"]}, set(range(fabric.ranks)))

    def test_the_summary(self):
        """People are told once, by one of the ranks."""
        for fabric in self.fabrics():
            outcome = self.finish(self.start("run", *RING, *fabric.options, "-o", "out.csv", launcher=fabric.launcher))
            self.assertEqual(outcome.status, 0, outcome.err)
            for word in ("time", "coupling", "steps", "result"):
                self.assertRegex(outcome.err, rf"(?m)^{word} ")
                self.assertEqual(sum(line.startswith(f"{word} ") for line in outcome.err.splitlines()), 1, outcome.err)

    def test_the_reasons_of_auto_are_told_once(self):
        plain = self.tutti("run", *RING, "--rtol", "1e-4", "--log-level", "info", "-o", "out.csv").lines("info")
        self.assertGreater(len(plain), 2)
        for fabric in self.fabrics():
            outcome = self.finish(self.start("run", *RING, "--rtol", "1e-4", "--log-level", "info", "-o", "out.csv",
                                             *fabric.options, launcher=fabric.launcher))
            told = outcome.lines("info")
            for line in plain:
                if "auto:" in line:
                    self.assertEqual(told.count(line), 1, f"{fabric}: {outcome.err}")


class Placement(FabricTest):
    def test_every_placement_of_four_units(self):
        """All 15 ways to share four units among ranks, and some that leave a rank without any."""
        places = ("0000", "0001", "0010", "0100", "0111", "0011", "0101", "0110", "0012", "0112", "0122", "0102", "0120",
                  "0121", "0123", "1111", "2020", "3333", "3210")
        common = *RING, "--rtol", "1e-3"
        plain = self.ran(*common)
        for place in places:
            options = [word for name, rank in zip("abcd", place) for word in ("--place", f"{name}={rank}")]
            self.same(*common, *options, plain=plain, fabrics=(threads(4),))

    def test_some_units(self):
        """Others find their place around them."""
        stats = self.ran(*RING, "--step", "0.1", "--place", "c=1", fabric=threads(2)).stats
        ranks = {unit["name"]: unit["rank"] for unit in stats["units"]}
        self.assertEqual(ranks["c"], 1)
        self.assertEqual(set(ranks.values()), {0, 1})

    def test_measured_costs(self):
        """What an earlier run measured decides; the result is the same."""
        plain = self.ran(*RING, "--step", "0.1")
        self.assertEqual(plain.status, 0)
        costs = self.write("costs.json", pathlib.Path(self.path("stats.json")).read_text("utf-8"))
        for fabric in (threads(2), processes(2)):
            self.compare(plain, self.ran(*RING, "--step", "0.1", "--costs", costs, fabric=fabric), fabric)

    def test_the_word_of_a_component(self):
        """An SSP may say where a unit runs; the command line may say otherwise."""
        fmus = self.bring(TRACKER2, FOLLOWER2)
        text = ssd(system(component("a", fmus[0], inputs("u"), outputs("y"), inside=words(rank="1")),
                          component("b", fmus[1], inputs("u"), outputs("x"), inside=words(rank="0")),
                          connect=connection("a.y", "b.u") + connection("b.x", "a.u")))
        path = self.write("placed.ssd", text)
        plain = self.ran(path, "--stop", "1", "--step", "0.1")
        self.assertEqual(plain.status, 0, plain.err)
        for options, expected in (((), {"a": 1, "b": 0}), (("--place", "a=0", "--place", "b=1"), {"a": 0, "b": 1})):
            for fabric in (threads(2), processes(2)):
                other = self.ran(path, "--stop", "1", "--step", "0.1", *options, fabric=fabric)
                self.compare(plain, other, fabric)
                self.assertEqual({unit["name"]: unit["rank"] for unit in other.stats["units"]}, expected)

    def test_wrong_ones(self):
        for options, says in ((("--place", "x=0"), "x"), (("--place", "a=2"), "2"), (("--place", "a"), "--place"),
                              (("--place", "a=-1"), "-1"), (("--place", "a=b"), "b")):
            with self.subTest(options=options):
                self.refused("run", *RING, "--threads", "2", *options, "-o", self.path("none.csv"), status=2, says=says)


class Options(FabricTest):
    def test_words_that_do_not_go(self):
        for options, says in ((("--threads", "0"), "--threads"), (("--threads", "-1"), "--threads"),
                              (("--threads", "1.5"), "--threads"), (("--processes", "0"), "--processes"),
                              (("--processes", "x"), "--processes"),
                              (("--threads", "2", "--processes", "2"), "--threads.*--processes|--processes.*--threads"),
                              (("--threads", "2", "--mode", "brave"), "prudent.*optimistic|optimistic.*prudent"),
                              (("--processes", "2", "--timeout", "0"), "--timeout"),
                              (("--processes", "2", "--timeout", "-1"), "--timeout")):
            with self.subTest(options=options):
                self.refused("run", *RING, *options, "-o", self.path("none.csv"), status=2, says=says)
                self.assertFalse(pathlib.Path(self.path("none.csv")).exists())

    def test_costs_that_are_none(self):
        for name, text in (("broken.json", "{"), ("other.json", "[]"), ("empty.json", "")):
            self.refused("run", *RING, "--threads", "2", "--costs", self.write(name, text), status=None, says=name)
        self.refused("run", *RING, "--threads", "2", "--costs", self.path("absent.json"), status=None, says="absent.json")

    def test_one_rank_is_enough(self):
        self.same(*RING, "--step", "0.1", fabrics=(threads(1), processes(1)))

    def test_one_unit(self):
        """A single FMU has nobody to share with, which is no reason to refuse it."""
        self.same(kit_fmu("BouncingBall", "3"), fabrics=(threads(2), processes(2)))
        self.same(kit_fmu("VanDerPol", "2"), "--interface", "me", fabrics=(threads(1), processes(1)))


class Together(FabricTest):
    """What all ranks have to know, although only one of them reads it."""

    def test_acceleration_begins_with_all_signals(self):
        """No unit of the other rank reads a.x; the guess of the iteration is made of it all the same."""
        for accelerate in ("aitken", "anderson"):
            self.same(*RING, "--coupling", "relax", "--sweeps", "jacobi", "--accelerate", accelerate, "--step", "0.1",
                      "--max-iterations", "20", "--rtol", "1e-6", fabrics=(threads(2), processes(2)))

    def test_end_in_an_attempt(self):
        """All ranks know that an FMU ended the run, and go through the end of it together."""
        for version, control in (("2", "richardson"), ("3", "embedded")):
            run = (f"a={kit_fmu('Stair', version)}", f"b={kit_fmu('Tracker', '2')}", "--connect", "a.counter=b.u", "--stop", "12",
                   "--control", control, "--step", "0.7")
            for _ in range(3):
                self.same(*run, fabrics=(threads(2), processes(2)))


class Modes(FabricTest):
    """Signals are sent before it is known whether a step is good, or after: that costs, and changes nothing."""

    def test_prudent_and_optimistic(self):
        systems = ((*RING, "--rtol", "1e-4"), (*RING, "--control", "richardson", "--rtol", "1e-4", "--coupling", "jacobi"),
                   (example("ball_on_stairs"), "--stop", "2"), (example("breaker", "EarlyReturn.ssd"), "--stop", "1.12"),
                   (*RING, "--coupling", "relax", "--step", "0.1"))
        for i, common in enumerate(systems):
            plain = self.ran(*common)
            self.assertEqual(plain.status, 0, plain.err)
            fabrics = [threads(2), processes(2), *([mpi(2)] if has_mpi() and i < 2 else []),
                       *([self.tcp()] if i < 3 else [])]
            for mode in ("prudent", "optimistic"):
                self.same(*common, "--mode", mode, plain=plain, fabrics=fabrics)


if __name__ == "__main__":
    unittest.main()
