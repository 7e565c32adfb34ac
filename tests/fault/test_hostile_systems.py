#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Systems that are made to take all time, all memory or the terminal: small files that grow, names that are looked up
very often, sources that hold more than a path. What can be done is done at once; what cannot is refused, and says why.

The large files have so many parts that work which grows with their square would not end before the test is stopped."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import kit_fmu  # noqa: E402
from ssp_text import (SSD_TYPE, SspTest, binding, component, connect, connector, feedthrough,  # noqa: E402
                      mapped, outputs, reals, reference, rename, ssd, ssm, ssv, system, tag, value)

MANY = 200000
FMU = "Feedthrough_fmi3.fmu"


class HostileTest(SspTest):
    def setUp(self):
        super().setUp()
        pathlib.Path(self.path(FMU)).symlink_to(kit_fmu("Feedthrough", "3"))

    def load(self, text, **options):
        """Loads a document and says nothing about it."""
        self.write("big.ssd", text)
        return self.tutti("info", "big.ssd", **options)


class Lookups(HostileTest):
    """Everything that is named very often is found at once."""

    def test_units(self):
        connectors = [connector(f"c{i}", "input", "Real", unit=f"u{MANY - 1 - i}") for i in range(MANY)]
        self.load(ssd(system("root", connectors=connectors), units={f"u{i}": {"m": 1} for i in range(MANY)}))

    def test_ids_that_no_system_has(self):
        elements = [component(f"c{i}", "#x") for i in range(MANY)] + [system(f"s{i}") for i in range(MANY)]
        self.assertIn(f"errors       {MANY};", self.load(ssd(system("root", *elements))).out)

    def test_the_same_flaw_very_often(self):
        """All are counted, some are told."""
        elements = [component(f"c{i}", "#x") for i in range(MANY)]
        self.write("flawed.ssd", ssd(system("root", *elements)))
        for command in (("check", "flawed.ssd"), ("graph", "flawed.ssd", "-o", self.path("g.dot"))):
            outcome = self.tutti(*command, status=1)
            lines = [line for line in (outcome.out + outcome.err).splitlines() if "error: " in line]
            self.assertEqual(len(lines), 20001)
            self.assertIn(f"{MANY - 20000} more errors are not listed", lines[-1])

    def test_dictionaries(self):
        empty = tag("ssb:SignalDictionary", version="2.0")
        self.load(ssd(system("root", *(reference(f"r{i}", f"d{MANY - 1 - i}") for i in range(MANY)),
                             dictionaries=[tag("ssd:SignalDictionary", empty, name=f"d{i}") for i in range(MANY)])))

    def test_nested_documents(self):
        """Each is printed with what is in it, in order."""
        self.write("inner.ssd", ssd(system("root", component("x", FMU), component("y", FMU))))
        out = self.load(ssd(system("root", *(component(f"c{i}", "inner.ssd", type=SSD_TYPE)
                                             for i in range(MANY // 2))))).out
        names = [line.split(":")[0].strip() for line in out.splitlines() if line.startswith("  ")]
        self.assertEqual(names, [name for i in range(MANY // 2) for name in (f"c{i}", "x", "y")])

    def test_a_mapping_of_items(self):
        items = {f"i{n}": n for n in range(MANY)}
        ends = [connector("a", "input", "Enumeration", name="E"), connector("b", "output", "Enumeration", name="E")]
        table = mapped("Enumeration", pairs=[(f"i{n}", f"i{MANY - 1 - n}") for n in range(MANY)])
        outcome = self.load(ssd(system("root", connectors=ends, connections=[connect("/a", "/b", table)]),
                                enumerations={"E": items}))
        self.assertIn("connections  1", outcome.out)

    def test_an_array_of_items(self):
        items = {f"i{n}": n for n in range(MANY)}
        given = [value("a", "Enumeration", *(f"i{MANY - 1 - n}" for n in range(MANY)), dims=[MANY])]
        self.load(ssd(system("root", connectors=[connector("a", "parameter", "Enumeration", [MANY], name="E")],
                             bindings=[binding(given)]), enumerations={"E": items}))


class Growth(HostileTest):
    """Small files that would fill the machine."""

    def refuse(self, text, *says):
        self.write("bomb.ssd", text)
        self.refused("info", "bomb.ssd", status=1, says=says)

    def test_connectors_that_multiply(self):
        levels = [system("L0", connectors=outputs(*(f"k{i}" for i in range(1000))), id="L0")]
        for level in range(1, 6):
            levels.append(system(f"L{level}", *(component(f"e{i}", f"#L{level - 1}", type=SSD_TYPE) for i in range(10)),
                                 id=f"L{level}"))
        self.refuse(ssd(system("root", *levels)), r"bomb\.ssd: ", "MiB")

    def test_a_name_that_is_repeated(self):
        inner = [system(f"s{i}") for i in range(5000)]
        self.refuse(ssd(system("root", system("n" * 1000000, *inner))), r"bomb\.ssd: ", "MiB")

    def test_values_for_everybody(self):
        """100,000 values for each of 10,000 components."""
        self.write("values.ssv", ssv(reals(**{f"q{i}": 1 for i in range(100000)})))
        for what, elements, bindings in (
                ("component", [component(f"c{i}", FMU, bindings=[binding("values.ssv")]) for i in range(10000)], []),
                ("prefix", [component(f"c{i}", FMU) for i in range(10000)],
                 [binding("values.ssv", prefix=f"c{i}.") for i in range(10000)])):
            with self.subTest(what):
                self.refuse(ssd(system("root", *elements, bindings=bindings)), r"bomb\.ssd: ", "names")

    def test_a_name_of_dots(self):
        """Each of its dots could end the name of an element."""
        long_name = "a." * 500000
        elements = [system(f"s{i}") for i in range(10)]
        self.load(ssd(system("root", *elements, bindings=[binding(reals(**{long_name: 1}))])))
        self.refuse(ssd(system("root", system(long_name), *elements,
                               bindings=[binding(reals(**{long_name + "x": 1}))])), r"bomb\.ssd: ", "names")


class Texts(HostileTest):
    """What comes out of files reaches no terminal as it is."""

    def assert_printable(self, outcome):
        for text in (outcome.out, outcome.err):
            self.assertTrue(text.replace("\n", "").isprintable(), repr(text))

    def test_a_name_that_forges_a_line(self):
        self.write("forged.ssd", ssd(system("root", component("a&#10;tutti: error: forged", "none.fmu")))
                   .replace("&amp;#10;", "&#10;&#x9b;31m"))
        for command in ("check", "info", "run"):
            outcome = self.tutti(command, "forged.ssd", status=1)
            self.assert_printable(outcome)
            self.assertNotIn("\ntutti: error: forged", outcome.out + outcome.err)

    def test_a_source_with_control_characters(self):
        self.write("\x1b[31mx.ssv", ssv([]).replace('version="2.0"', 'odd="1" version="2.0"'))
        self.write("red.ssd", ssd(system("root", feedthrough("a", source=FMU), bindings=[binding("%1B%5B31mx.ssv")])))
        for command in ("check red.ssd", "graph red.ssd -o -", "run red.ssd --stop 0.1 --step 0.1 -o -"):
            outcome = self.tutti(*command.split())
            self.assertIn("odd", outcome.out + outcome.err)
            self.assert_printable(outcome)

    def test_a_fragment_that_means_nothing(self):
        """It is not left out in silence."""
        self.write("other.ssd", ssd(system("root", feedthrough("a", source=FMU), id="x")))
        for source, kind in (("other.ssd#x", SSD_TYPE), (f"{FMU}#x", None)):
            self.write("fragment.ssd", ssd(system("root", component("a", source, type=kind))))
            self.refused("info", "fragment.ssd", status=1, says=[r"fragment\.ssd:2: component 'a'", "#x"])


class Saving(HostileTest):
    def test_sources_that_are_no_files(self):
        """Of mappings and their tables, and one that is empty."""
        table = mapped("Boolean", pairs=[("true", "false"), ("false", "true")])
        mapping = ssm(rename("gain", "a.float64_in"))
        bound = binding(reals(gain=3), mapping).replace("<ssd:ParameterBinding>", '<ssd:ParameterBinding source="">')
        ends = [connector("boolean_in", "input"), connector("boolean_out", "output")]
        self.write("in.ssd", ssd(system("root", feedthrough("a", source=FMU), component("b", FMU, ends),
                                        component("c", FMU, ends), bindings=[bound],
                                        connections=[connect("b/boolean_out", "c/boolean_in", table)])))
        for output in ("out.ssp", "folder/out.ssd"):
            pathlib.Path(self.path("folder")).mkdir(exist_ok=True)
            self.tutti("new", output, "in.ssd")
            row = self.first(output)
            self.assertEqual((row["a.float64_out"], row["c.boolean_in"]), ("3", "1"))


if __name__ == "__main__":
    unittest.main()
