#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Connections of systems as SSP, by the text of the standard: which there may be, which way they go, dictionaries.

As in test_ssp.py, every test runs a package and looks at what arrives in the FMUs."""
import itertools
import unittest

from ssp_text import (CELSIUS, F3, FAHRENHEIT, KELVIN, SSD_TYPE, SspTest, binding, component, connect, connector,
                      dictionary, entry, feedthrough, inputs, linear, outputs, reals, reference, ssb, ssd, system)

ALLOWED = {  # (owner, kind) of the source -> (owner, kind) of the destination; as in the table of the standard
    ("System", "structuralParameter"): [("System", "calculatedParameter output local"),
                                        ("Element", "structuralParameter parameter input inout")],
    ("System", "parameter"): [("System", "calculatedParameter output local"), ("Element", "parameter input inout")],
    ("System", "input"): [("System", "output local"), ("Element", "input inout")],
    ("Element", "constant"): [("Element", "structuralParameter parameter input inout"),
                              ("System", "constant calculatedParameter output local")],
    ("Element", "calculatedParameter"): [("Element", "parameter input inout"),
                                         ("System", "calculatedParameter output local")],
    ("Element", "output"): [("Element", "input inout"), ("System", "output local")],
    ("Element", "local"): [("Element", "input inout"), ("System", "output local")],
    ("Element", "inout"): [("Element", "input"), ("System", "output local")],
}
ROWS = [(source, (owner, word)) for source, targets in ALLOWED.items() for owner, words in targets
        for word in words.split()]
KINDS = ["input", "output", "inout", "parameter", "calculatedParameter", "structuralParameter", "constant", "local"]


class AllowedConnections(SspTest):
    """Pitfall 2: the direction follows from kinds and owners, not from `start` and `end`."""

    VALUE = {"System": 3, "Element": 42}

    def source_end(self, what):
        """An element of the system that gives 42, by a connector y of this kind; elements and connections."""
        constant = component("c", F3, [connector("constant", "constant")])
        if what == "inout":
            return [reference("from", "D", connector("y", "inout")), constant], [connect("c/constant", "from/y")]
        inner = system("from", constant, connectors=[connector("y", what)], connections=[connect("c/constant", "/y")])
        return [inner], []

    def target_end(self, what):
        """An element with a connector x of this kind; what arrives goes on to the input of a Feedthrough."""
        if what == "inout":
            elements = [reference("to", "D", connector("x", "inout")), feedthrough("t")]
            return elements, [connect("to/x", "t/float64_in")], "t"
        inner = system("to", feedthrough("t"), connectors=[connector("x", what)],
                       connections=[connect("/x", "t/float64_in")])
        return [inner], [], "to.t"

    def package_of(self, source, target, swapped):
        """A system S in the root with the one connection that matters, and the name of the FMU behind it."""
        elements, connections, connectors, bindings = [], [], [], []
        if source[0] == "System":
            connectors.append(connector("in", source[1]))
            bindings.append(binding(reals(**{"in": 3})))
            start = "/in"
        else:
            more, wires = self.source_end(source[1])
            elements += more
            connections += wires
            start = "from/y"
        outside, wires = [], []
        if target[0] == "System":
            connectors.append(connector("out", target[1]))
            outside, wires = [feedthrough("b")], [connect("S/out", "b/float64_in")]
            end, behind = "/out", "b"
        else:
            more, inside, behind = self.target_end(target[1])
            elements += more
            connections += inside
            end, behind = "to/x", f"S.{behind}"
        connections.append(connect(end, start) if swapped else connect(start, end))
        inner = system("S", *elements, connectors=connectors, bindings=bindings, connections=connections,
                       dictionaries=[dictionary("D", entry("x"), entry("y"))])
        return self.packed(ssd(system("root", inner, *outside, connections=wires)), "Feedthrough3"), behind

    def test_every_row_of_the_table_both_ways_round(self):
        """Pitfall 2: every allowed combination, written from source to destination and the other way round."""
        self.assertEqual(len(ROWS), 42)
        for (source, target), swapped in itertools.product(ROWS, [False, True]):
            with self.subTest(source=source, target=target, swapped=swapped):
                package, behind = self.package_of(source, target, swapped)
                self.arrives(package, {f"{behind}.float64_in": self.VALUE[source[0]]})

    def test_all_other_combinations_are_refused(self):
        allowed = {frozenset(row) for row in ROWS}
        ends = [(owner, word) for owner in ("System", "Element") for word in KINDS]
        refused = 0
        for one, other in itertools.combinations_with_replacement(ends, 2):
            if frozenset((one, other)) in allowed:
                continue
            refused += 1
            with self.subTest(one=one, other=other):
                elements, connectors, names = [], [], []
                for i, (owner, what) in enumerate((one, other)):
                    if owner == "System":
                        connectors.append(connector(f"c{i}", what))
                        names.append(f"/c{i}")
                    else:
                        elements.append(system(f"e{i}", connectors=[connector("x", what)]) if what != "inout" else
                                        reference(f"e{i}", "D", connector("x", what)))
                        names.append(f"e{i}/x")
                inner = system("S", *elements, feedthrough("f"), connectors=connectors, connections=[connect(*names)],
                               dictionaries=[dictionary("D", entry("x"))])
                self.refuses(self.packed(ssd(system("root", inner)), "Feedthrough3"), r"c0|e0|D\.x", r"c1|e1|D\.x")
        self.assertEqual(refused, 136 - 42)

    def test_unspecified_is_whatever_is_needed(self):
        """On systems, on components, and as both ends of a path."""
        inner = system("s", feedthrough("c"), connectors=[connector("x", "unspecified"), connector("y", "unspecified")],
                       connections=[connect("c/float64_in", "/x"), connect("/y", "c/float64_out")])
        for ends in (["x", "float64_out"], ["float64_out", "x"]):
            a = component("a", F3, [connector("float64_in", "unspecified"), connector("float64_out", "unspecified")],
                          [binding(reals(float64_in=3))])
            wire = connect("s/x", "a/float64_out") if ends[0] == "x" else connect("a/float64_out", "s/x")
            root = system("root", a, inner, feedthrough("b"), connections=[wire, connect("b/float64_in", "s/y")])
            self.arrives(self.packed(ssd(root), "Feedthrough3"), {"s.c.float64_in": 3, "b.float64_in": 3})

    def test_local_of_an_fmu_as_source(self):
        """The state of a Tracker is local; connected, it is an output."""
        root = system("root", component("t", "resources/Tracker3.fmu", [connector("x", "local")],
                                        [binding(reals(x=7, T=1e9))]),
                      feedthrough("b"), connections=[connect("b/float64_in", "t/x")])
        row = self.first(self.packed(ssd(root), "Tracker3", "Feedthrough3"))
        self.assertEqual(row["b.float64_in"], "7")

    def test_two_sources(self):
        root = system("root", feedthrough("a"), feedthrough("c"), feedthrough("b"),
                      connections=[connect("a/float64_out", "b/float64_in"), connect("b/float64_in", "c/float64_out")])
        self.refuses(self.packed(ssd(root), "Feedthrough3"), r"a\.float64_out", r"b\.float64_in", r"c\.float64_out")

    def test_two_sources_that_meet_on_the_way(self):
        """Each connector has one, but an output of the system inside gets two."""
        inner = system("s", feedthrough("c"), feedthrough("d"), connectors=outputs("y"),
                       connections=[connect("c/float64_out", "/y"), connect("d/float64_out", "/y")])
        root = system("root", inner, feedthrough("b"), connections=[connect("s/y", "b/float64_in")])
        self.refuses(self.packed(ssd(root), "Feedthrough3"), r"y")

    def test_connectors_that_are_not_there(self):
        for wires, name in ((connect("a/nothing", "b/float64_in"), "nothing"),
                            (connect("a/float64_out", "z/float64_in"), "z"), (connect("/u", "b/float64_in"), "u")):
            root = system("root", feedthrough("a"), feedthrough("b"), connections=[wires])
            self.refuses(self.packed(ssd(root), "Feedthrough3"), name)

    def test_connector_that_the_fmu_does_not_have(self):
        root = system("root", component("a", F3, outputs("nonsense")), feedthrough("b"),
                      connections=[connect("a/nonsense", "b/float64_in")])
        self.refuses(self.packed(ssd(root), "Feedthrough3"), "nonsense")

    def test_connector_by_an_alias(self):
        """FMI 3.0: the name of a connector may be an alias."""
        root = system("root", component("a", F3, outputs("float64_alias"), [binding(reals(float64_in=3))]),
                      feedthrough("b"), connections=[connect("a/float64_alias", "b/float64_in")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"b.float64_in": 3})

    def test_kind_must_be_that_of_the_variable(self):
        root = system("root", component("a", F3, [connector("float64_in", "output")]), feedthrough("b"),
                      connections=[connect("a/float64_in", "b/float64_in")])
        self.refuses(self.packed(ssd(root), "Feedthrough3"), "float64_in")

    def test_one_source_for_many(self):
        root = system("root", feedthrough("a", float64_in=3), *(feedthrough(f"b{i}") for i in range(5)),
                      connections=[connect("a/float64_out", f"b{i}/float64_in", linear(i)) for i in range(5)])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {f"b{i}.float64_in": 3 * i for i in range(5)})

    def test_unconnected_inputs_keep_their_start_values(self):
        root = system("root", component("a", F3, inputs("float64_in", "color_in", "string_in")))
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"a.color_in": "1", "a.string_in": "Set me!"})


class Dictionaries(SspTest):
    def users(self, *inner_dictionaries, entries=("s",), kinds=("inout", "inout")):
        """One system writes into a dictionary, another one, deeper, reads from it."""
        reader = system("deep", feedthrough("b"), reference("ref", "D", connector("s", kinds[1])),
                        connections=[connect("b/float64_in", "ref/s")])
        return system("root", system("writer", feedthrough("a", float64_in=3),
                                     reference("ref", "D", connector("s", kinds[0])),
                                     connections=[connect("a/float64_out", "ref/s")]),
                      system("middle", reader, dictionaries=inner_dictionaries),
                      dictionaries=[dictionary("D", *(entry(name) for name in entries))])

    def test_inline_and_across_levels(self):
        self.arrives(self.packed(ssd(self.users()), "Feedthrough3"), {"middle.deep.b.float64_in": 3})

    def test_input_and_output_on_references(self):
        text = ssd(self.users(kinds=("input", "output")))
        self.arrives(self.packed(text, "Feedthrough3"), {"middle.deep.b.float64_in": 3})

    def test_file(self):
        root = self.users().replace(dictionary("D", entry("s")), dictionary("D", source="resources/bus.ssb"))
        self.arrives(self.packed(ssd(root), "Feedthrough3", bus_ssb=ssb(entry("s"))), {"middle.deep.b.float64_in": 3})

    def test_one_reference_reads_and_writes(self):
        """An inout that is fed by one and read by two others, in one reference; start and end either way."""
        root = system("root", feedthrough("a", float64_in=3), feedthrough("b"), feedthrough("c"),
                      reference("ref", "D", connector("s", "inout")), dictionaries=[dictionary("D", entry("s"))],
                      connections=[connect("b/float64_in", "ref/s"), connect("ref/s", "a/float64_out"),
                                   connect("ref/s", "c/float64_in")])
        self.arrives(self.packed(ssd(root), "Feedthrough3"), {"b.float64_in": 3, "c.float64_in": 3})

    def test_nearer_dictionary_shadows(self):
        """Pitfall 6: the lookup climbs, and stops at the first of that name: nobody writes into this one."""
        text = ssd(self.users(dictionary("D", entry("s"))))
        self.arrives(self.packed(text, "Feedthrough3"), {"writer.a.float64_out": 3, "middle.deep.b.float64_in": 0})

    def test_formats_of_others(self):
        root = self.users().replace('<ssd:SignalDictionary name="D"', '<ssd:SignalDictionary type="a/bus" name="D"')
        self.refuses(self.packed(ssd(root), "Feedthrough3"), "a/bus")

    def test_dictionary_that_is_not_there(self):
        root = self.users().replace('name="D"', 'name="E"')
        self.refuses(self.packed(ssd(root), "Feedthrough3"), "D")

    def test_dictionary_of_a_sibling_is_not_found(self):
        """Pitfall 6: the lookup does not go down."""
        root = system("root", system("x", dictionaries=[dictionary("D", entry("s"))]),
                      system("y", feedthrough("b"), reference("ref", "D", connector("s", "inout")),
                             connections=[connect("ref/s", "b/float64_in")]))
        self.refuses(self.packed(ssd(root), "Feedthrough3"), "D")

    def test_entry_that_is_not_there(self):
        self.refuses(self.packed(ssd(self.users(entries=("t",))), "Feedthrough3"), "s", "D")

    def test_lookup_climbs_out_of_a_file(self):
        """A component that is an .ssd stands for its system, so the dictionaries around it are in reach."""
        inner = ssd(system("inner", feedthrough("b", source="Feedthrough3.fmu"),
                           reference("ref", "D", connector("s", "inout")),
                           connections=[connect("b/float64_in", "ref/s")]))
        root = system("root", feedthrough("a", float64_in=3), reference("ref", "D", connector("s", "inout")),
                      component("n", "resources/inner.ssd", type=SSD_TYPE),
                      connections=[connect("a/float64_out", "ref/s")], dictionaries=[dictionary("D", entry("s"))])
        self.arrives(self.packed(ssd(root), "Feedthrough3", inner_ssd=inner), {"n.b.float64_in": 3})

    def test_units_of_entries_are_those_of_their_file(self):
        """Pitfall 1: a writer in degC, the bus in K (called "u", as degC is outside), a reader in degF."""
        root = system("root", component("a", F3, [connector("float64_out", "output", "Real", unit="u")],
                                        [binding(reals(float64_in=20))]),
                      component("b", F3, [connector("float64_in", "input", "Real", unit="degF")]), feedthrough("c"),
                      reference("ref", "D", connector("s", "inout")),
                      connections=[connect("a/float64_out", "ref/s"), connect("ref/s", "b/float64_in"),
                                   connect("ref/s", "c/float64_in")],
                      dictionaries=[dictionary("D", source="resources/bus.ssb")])
        bus = ssb(entry("s", unit="u"), units={"u": KELVIN})
        self.arrives(self.packed(ssd(root, units={"u": CELSIUS, "degF": FAHRENHEIT}), "Feedthrough3", bus_ssb=bus),
                     {"b.float64_in": 68, "c.float64_in": 293.15})

    def test_two_writers(self):
        root = system("root", feedthrough("a"), feedthrough("c"), feedthrough("b"),
                      reference("one", "D", connector("s", "inout")), reference("two", "D", connector("s", "inout")),
                      dictionaries=[dictionary("D", entry("s"))],
                      connections=[connect("a/float64_out", "one/s"), connect("c/float64_out", "two/s"),
                                   connect("one/s", "b/float64_in")])
        self.refuses(self.packed(ssd(root), "Feedthrough3"), r"a\.float64_out", r"c\.float64_out")


class Tables(SspTest):
    """Components of type text/csv: their columns are outputs over time."""

    WAVE = "time;u;mode\n0;20;0\n1;30;0\n1;50;1\n2;50;1\n"

    def system(self, *more, column="u", kind="output", unit="degC"):
        table = component("t", "resources/wave.csv", [connector(column, kind, "Real", unit=unit),
                                                      connector("mode", "output", "Integer")], type="text/csv")
        reader = component("b", F3, [connector("float64_in", "input", "Real", unit="K"),
                                     connector("int32_in", "input", "Integer")] + outputs("float64_out", "int32_out"))
        inner = system("inner", feedthrough("c"), connectors=inputs("w"), connections=[connect("/w", "c/float64_in")])
        return ssd(system("root", table, reader, inner, *more, connections=[
            connect(f"t/{column}", "b/float64_in"), connect("t/mode", "b/int32_in"),
            connect(f"t/{column}", "inner/w", linear(2, 1))]), units={"K": KELVIN, "degC": CELSIUS})

    def test_columns_drive_inputs(self):
        """Units and transformations count, in nested systems, too; jumps are events; alike on several ranks."""
        source = self.packed(self.system(), "Feedthrough3", wave_csv=self.WAVE)
        options = source, "--stop", "2", "--step", "0.5"
        table = self.simulate(*options)
        self.assertEqual(table.times, [0, 0.5, 1, 1, 1.5, 2])
        self.assert_near(table["b.float64_out"], [273.15 + c for c in (20, 25, 30, 50, 50, 50)], 1e-9)
        self.assertEqual(table["b.int32_out"], [0, 0, 0, 1, 1, 1])
        self.assert_near(table["inner.c.float64_out"], [2 * c + 1 for c in (20, 25, 30, 50, 50, 50)], 1e-9)
        for more in (("--threads", "2"), ("--processes", "2")):
            self.assertEqual(self.simulate(*options, *more).rows, table.rows)
        self.assertEqual(self.simulate(self.unpacked({"SystemStructure.ssd": self.system(), **self.files("Feedthrough3"),
                                                      "resources/wave.csv": self.WAVE}), *options[1:]).rows, table.rows)
        self.tutti("check", source)

    def test_what_is_wrong(self):
        for text, says in ((self.system(column="v"), r"SystemStructure\.ssd:.*'t\.v' is no column of .*wave\.csv"),
                           (self.system(kind="input"), r"'t\.u' is of kind input, but columns of a table are outputs")):
            source = self.packed(text, "Feedthrough3", wave_csv=self.WAVE)
            self.refuses(source, says)
            self.tutti("check", source, status=1)
        self.refuses(self.packed(self.system(), "Feedthrough3"), r"wave\.csv")
        self.refuses(self.packed(self.system(), "Feedthrough3", wave_csv="time,u,mode\n1,2\n"), r"wave\.csv:2")
        self.refuses(self.packed(self.system(), "Feedthrough3", wave_csv="time,u,mode\n1,x,2\n"), r"wave\.csv:2.*'x'")
        source = self.packed(self.system(), "Feedthrough3", wave_csv=self.WAVE)
        outcome = self.tutti("run", source, "--input", self.write("more.csv", "time,b.float64_in\n0,1\n"), status=1)
        self.assertRegex(outcome.err, r"more\.csv and .*wave\.csv: .*same input")


if __name__ == "__main__":
    unittest.main(verbosity=2)
