#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti analyze --ranks N`: which unit goes to which rank, what crosses, and who may say so."""
import json
import pathlib
import re
import unittest

from command import kit_fmu
from systems import SystemTest, component, connect, line_of, outputs, ssd, system, words

MASS = kit_fmu("ChainMass", "2")


def chain(count):
    """Masses in a row: two values go from each to the next, one comes back."""
    pairs = [pair for i in range(count - 1) for pair in
             (f"m{i}.x=m{i + 1}.x_left", f"m{i}.v=m{i + 1}.v_left", f"m{i + 1}.F=m{i}.F_right")]
    return [f"m{i}={MASS}" for i in range(count)] + connect(*pairs)


class PlacementTest(SystemTest):
    def place(self, *arguments, status=0):
        """The placement; what holds for every one is checked."""
        outcome = self.tutti("analyze", *arguments, "--json", status=status)
        placement = json.loads(outcome.out)["placement"]
        self.assertEqual([rank["rank"] for rank in placement["ranks"]], list(range(len(placement["ranks"]))))
        self.assertAlmostEqual(sum(rank["share"] for rank in placement["ranks"]), 1)
        self.assertAlmostEqual(max(rank["share"] for rank in placement["ranks"]) * len(placement["ranks"]),
                               placement["balance"])
        sends = [way["values"] for rank in placement["ranks"] for way in rank["sends"]]
        self.assertEqual((placement["values"], placement["messages"]), (sum(sends), len(sends)))
        return placement

    def ranks(self, *arguments, **more):
        """The rank of each unit."""
        placement = self.place(*arguments, **more)
        pairs = [(unit, rank["rank"]) for rank in placement["ranks"] for unit in rank["units"]]
        self.assertEqual(len(pairs), len(dict(pairs)))
        return dict(pairs)

    def costs(self, **seconds):
        """A file as --stats writes it, of units and their seconds."""
        units = [{"name": name, "seconds": value} for name, value in seconds.items()]
        return self.write("costs.json", json.dumps({"version": "0.1.0", "units": units}))


class Analyze(PlacementTest):
    def test_chain(self):
        for count, ranks in ((6, 2), (12, 3), (40, 4), (100, 2)):
            with self.subTest(count=count, ranks=ranks):
                placement = self.place(*chain(count), "--ranks", ranks)
                self.assertEqual(placement["costs"], "estimated")
                self.assertEqual((placement["values"], placement["messages"]), (3 * (ranks - 1), 2 * (ranks - 1)))
                self.assertLess(placement["balance"], 1.05)
                at = {unit: rank["rank"] for rank in placement["ranks"] for unit in rank["units"]}
                self.assertEqual(set(at), {f"m{i}" for i in range(count)})
                sent = {(rank["rank"], way["to"]): way["values"] for rank in placement["ranks"] for way in rank["sends"]}
                counted = {}
                for i in range(count - 1):
                    for a, b, values in ((f"m{i}", f"m{i + 1}", 2), (f"m{i + 1}", f"m{i}", 1)):
                        if at[a] != at[b]:
                            counted[at[a], at[b]] = counted.get((at[a], at[b]), 0) + values
                self.assertEqual(sent, counted)

    def test_words(self):
        lines = self.tutti("analyze", *chain(4), "--ranks", 2).out.splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("ranks"))
        self.assertEqual(lines[begin:begin + 6], [
            "ranks        2, by estimated costs: the greatest load is 1 times the mean",
            "           0  50.0 % m0, m1",
            "                    sends 2 values to 1",
            "           1  50.0 % m2, m3",
            "                    sends 1 value to 0",
            "crossing     3 values at an exchange, in 2 messages"])
        self.assertIsNone(json.loads(self.tutti("analyze", *chain(2), "--json").out)["placement"])
        self.assertNotIn("ranks", self.tutti("analyze", *chain(2)).out)

    def test_log(self):
        outcome = self.tutti("analyze", *chain(4), "--ranks", 2, "--log-level", "info")
        self.assertRegex(outcome.err, r"4 units on 2 ranks, by estimated costs: the greatest load is 1 times the mean; "
                                      r"3 values cross ranks at an exchange, in 2 messages")

    def test_arrays_and_readers(self):
        """An array counts by its elements; what two units of a rank read is sent once."""
        fmu = kit_fmu("Feedthrough", "3")
        units = [f"{name}={fmu}" for name in "abc"]
        at = ("--ranks", 2, "--place", "a=0", "--place", "b=1", "--place", "c=1")
        for pairs, values in ((("a.matrix_out=b.matrix_in",), 6), (("a.matrix_out=b.matrix_in", "a.matrix_out=c.matrix_in"), 6),
                              (("a.vector_out[2]=b.float64_in", "a.vector_out[2]=c.float64_in"), 1),
                              (("a.vector_out[2]=b.float64_in", "a.vector_out[3]=c.float64_in"), 2),
                              (("a.vector_out=b.vector_in", "a.vector_out[3]=c.float64_in"), 3),
                              (("b.string_out=c.string_in",), 0)):
            with self.subTest(pairs=pairs):
                self.assertEqual(self.place(*units, *connect(*pairs), *at)["values"], values)

    def test_more_ranks_than_units(self):
        self.assertEqual(self.ranks(*chain(3), "--ranks", 5), {"m0": 0, "m1": 1, "m2": 2})
        self.assertIn("no unit", self.tutti("analyze", *chain(3), "--ranks", 5).out)
        self.assertEqual(self.ranks(MASS, "--ranks", 2), {"ChainMass_fmi2": 0})

    def test_states_cost(self):
        """An FMU with states has more to do than one without, and most where Tutti integrates it."""
        files = [f"{name}={kit_fmu('Feedthrough', '3')}" for name in "abcdef"] + [f"{name}={MASS}" for name in "xy"]
        at = self.ranks(*files, "--ranks", 2)
        self.assertNotEqual(at["x"], at["y"])
        pair = (f"s={MASS}", f"t={kit_fmu('Feedthrough', '2')}", "--ranks", 2)
        cs, me = (self.place(*pair, "--interface", kind)["ranks"][0]["share"] for kind in ("cs", "me"))
        self.assertTrue(0.5 < cs < me, (cs, me))

    def test_refusals(self):
        for options, says in ((("--ranks", "0"), "--ranks takes a whole number from 1 to 10000$"),
                              (("--ranks", "1.5"), "--ranks takes a whole number"),
                              (("--ranks", "many"), "--ranks"),
                              (("--place", "m0=0"), "--place goes with --ranks N"),
                              (("--costs", self.costs(m0=1)), "--costs goes with --ranks N"),
                              (("--ranks", 2, "--place", "m0"), "--place takes UNIT=RANK, not 'm0'"),
                              (("--ranks", 2, "--place", "=1"), "--place takes UNIT=RANK, not '=1'"),
                              (("--ranks", 2, "--place", "m0=x"), "a rank from 0 on, not 'm0=x'"),
                              (("--ranks", 2, "--place", "m0=-1"), "a rank from 0 on"),
                              (("--ranks", 2, "--place", "m0=1.0"), "a rank from 0 on"),
                              (("--ranks", 2, "--place", "m0=2"), "--place m0=2: there are 2 ranks, 0 to 1"),
                              (("--ranks", 1, "--place", "m0=2"), "--place m0=2: there is one rank only, 0"),
                              (("--ranks", 2, "--place", "m0=99999999999999999999"), "a rank from 0 on"),
                              (("--ranks", 2, "--place", "n0=1"), "there is no unit 'n0'; did you mean 'm0'"),
                              (("--ranks", 2, "--place", "m*=1"), r"there is no unit 'm\*'")):
            with self.subTest(options=options):
                outcome = self.refused("analyze", *chain(3), *options, status=2, says=says)
                self.assertEqual(outcome.out, "")


class Places(PlacementTest):
    def test_options(self):
        at = self.ranks(*chain(12), "--ranks", 3, "--place", "m0=2", "--place", "m11=0", "--place", "m5=2")
        self.assertEqual((at["m0"], at["m11"], at["m5"]), (2, 0, 2))
        self.assertEqual(self.ranks(*chain(3), "--ranks", 2, "--place", "m0=1", "--place", "m0=0")["m0"], 0)

    def test_annotation(self):
        """`tutti new --place` keeps it, the option is above it, and what is beyond the ranks goes anywhere."""
        self.tutti("new", "row.ssp", *chain(6), "--place", "m0=3", "--place", "m5=0", "--step", "0.1", "--step", "m5=0.2")
        self.assertRegex(self.tutti("info", "row.ssp").out, r"m0: .*, rank 3\n")
        self.assertEqual(self.tutti("check", "row.ssp").out, "")
        at = self.ranks("row.ssp", "--ranks", 4)
        self.assertEqual((at["m0"], at["m5"]), (3, 0))
        at = self.ranks("row.ssp", "--ranks", 4, "--place", "m0=1")
        self.assertEqual((at["m0"], at["m5"]), (1, 0))
        outcome = self.tutti("analyze", "row.ssp", "--ranks", 2)
        self.assertEqual(len(outcome.lines("warning")), 1, outcome.err)
        self.assertRegex(outcome.err, r"m0 is to be on rank 3, but there are 2 ranks, 0 to 1")
        self.tutti("new", "other.ssp", "row.ssp", "--place", "m0=0", "--place", "m1=1")
        at = self.ranks("other.ssp", "--ranks", 2)
        self.assertEqual((at["m0"], at["m1"], at["m5"]), (0, 1, 0))
        self.tutti("run", "row.ssp", "--quiet", "--stop", "1")  # in one process nobody asks

    def test_new_refuses(self):
        for place, says in (("m9=1", "--place m9=1: there is no unit 'm9'; did you mean 'm0'"), ("m0", "UNIT=RANK"),
                            ("m0=first", "a rank from 0 on"), ("m0=4000000000", "a rank from 0 on")):
            self.refused("new", "row.ssp", *chain(2), "--place", place, status=2, says=says)

    def test_words_of_files(self):
        names = self.bring(MASS)
        for at_unit, at_system, says in (("-1", None, "rank takes a whole number from 0 on, not '-1'"),
                                         ("one", None, "rank takes a whole number from 0 on, not 'one'"),
                                         (None, "1", "knows no 'rank' for a system")):
            text = ssd(system(component("a", names[0], outputs("x"), inside=words(rank=at_unit) if at_unit else "")),
                       behind=words(rank=at_system) if at_system else "")
            self.write("one.ssd", text)
            where = rf"one\.ssd:{line_of(text, ' rank=')}: "
            with self.subTest(says=says):
                for command in (("run", "-o", "-"), ("analyze", "--ranks", 2)):
                    self.refused(*command, "one.ssd", status=1, says=(where, says))
                self.assertRegex(self.tutti("check", "one.ssd", status=1).out, where + ".*" + re.escape(says))


class Costs(PlacementTest):
    def test_measured(self):
        placement = self.place(*chain(6), "--ranks", 2, "--costs", self.costs(m0=1, m1=1, m2=1, m3=1, m4=1, m5=5))
        self.assertEqual(placement["costs"], "measured")
        self.assertEqual([rank["units"] for rank in placement["ranks"]], [["m0", "m1", "m2", "m3", "m4"], ["m5"]])
        self.assertEqual([rank["share"] for rank in placement["ranks"]], [0.5, 0.5])

    def test_others(self):
        """Units that are not there cost the mean; names that nobody has are passed over."""
        placement = self.place(*chain(4), "--ranks", 2, "--costs", self.costs(m0=4, m1=2, elsewhere=1000),
                               "--place", "m0=0", "--place", "m1=0", "--place", "m2=1", "--place", "m3=1")
        self.assertEqual([rank["share"] for rank in placement["ranks"]], [0.5, 0.5])

    def test_of_a_run(self):
        self.tutti("run", *chain(5), "--stop", "1", "--stats", "stats.json", "--quiet")
        stats = json.loads(pathlib.Path(self.path("stats.json")).read_text("utf-8"))
        seconds = {unit["name"]: unit["seconds"] for unit in stats["units"]}
        placement = self.place(*chain(5), "--ranks", 2, "--costs", "stats.json")
        self.assertEqual(placement["costs"], "measured")
        for rank in placement["ranks"]:
            self.assertAlmostEqual(rank["share"], sum(seconds[unit] for unit in rank["units"]) / sum(seconds.values()))

    def test_nobody_took_time(self):
        outcome = self.tutti("analyze", *chain(3), "--ranks", 2, "--costs", self.costs(m0=0, m1=0))
        self.assertIn("no unit took any time; costs are estimated", outcome.err)
        self.assertIn("by estimated costs", outcome.out)

    def test_refusals(self):
        self.refused("analyze", *chain(3), "--ranks", 2, "--costs", self.costs(a=1), status=2,
                     says="none of its units is in this system; the first one is 'a=1")
        self.refused("analyze", *chain(3), "--ranks", 2, "--costs", self.costs(m0=-1), status=2,
                     says="a number from 0 on, not 'm0=-1'")
        for text, says in (("", "is no JSON: line 1: "), ("{\n]", "is no JSON: line 2: "), ("{}", "it has no units"),
                           ("[1]", "it has no units"), ('{"units": []}', "it has no units"),
                           ('{"units": [{"name": "m0"}]}', "no name, or no seconds"),
                           ('{"units": [1]}', "no name, or no seconds"),
                           ('{"units": [{"name": "m0", "seconds": "1"}]}', "no name, or no seconds")):
            self.write("bad.json", text)
            with self.subTest(text=text):
                self.refused("analyze", *chain(3), "--ranks", 2, "--costs", "bad.json", status=1, says=("bad.json", says))
        self.refused("run", *chain(3), "--costs", "missing.json", status=1, says=("missing.json", "cannot be read"))


class Runs(PlacementTest):
    def test_units_run_where_they_are_placed(self):
        """As analyze says; and the result does not notice."""
        options = (*chain(7), "--set", "m0.x=0.1", "--stop", "1", "--step", "0.01", "--quiet")
        self.tutti("run", *options, "-o", "here.csv")
        for place in ((), ("--place", "m0=2", "--place", "m6=2", "--place", "m3=0")):
            with self.subTest(place=place):
                self.tutti("run", *options, "--threads", 3, *place, "-o", "there.csv", "--stats", "stats.json")
                stats = json.loads(pathlib.Path(self.path("stats.json")).read_text("utf-8"))
                self.assertEqual({unit["name"]: unit["rank"] for unit in stats["units"]},
                                 self.ranks(*chain(7), "--ranks", 3, *place))
                self.assertEqual(pathlib.Path(self.path("here.csv")).read_bytes(),
                                 pathlib.Path(self.path("there.csv")).read_bytes())


class OncePerProcess(PlacementTest):
    def test_apart(self):
        """They cannot be started here, but placed."""
        for version in ("1cs", "2", "3"):
            files = [f"{name}={kit_fmu('Once', version)}" for name in "abc"] + [f"m={MASS}"]
            with self.subTest(version=version):
                at = self.ranks(*files, "--ranks", 3, status=1)
                self.assertEqual(len({at[name] for name in "abc"}), 3)
                self.refused("analyze", *files, "--ranks", 2, status=2, says=(
                    "a, b, c are of an FMU .*Once.* that can be instantiated only once per process: they need 3 ranks that "
                    "are processes, and there are 2"))
                self.refused("analyze", *files, "--ranks", 3, "--place", "a=1", "--place", "c=1", status=2,
                             says="a and c cannot both be placed on rank 1")


if __name__ == "__main__":
    unittest.main()
