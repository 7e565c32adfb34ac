# SPDX-License-Identifier: MIT
"""Writes SSP documents from short descriptions, packs them with FMUs of the kit, and runs them.

Each function gives the text of an element. Names of connectors in connections are "element/connector", "/connector" for
one of the system itself. Prefixes of namespaces are the usual ones; `renamed` gives a document others."""
import pathlib
import re
import zipfile
from xml.sax.saxutils import quoteattr

from command import CommandTest, kit_fmu

SPACE = "http://ssp-standard.org/SSP1/SystemStructure"
SPACES = {"ssd": SPACE + "Description", "ssc": SPACE + "Common", "ssv": SPACE + "ParameterValues",
          "ssm": SPACE + "ParameterMapping", "ssb": SPACE + "SignalDictionary"}
DEFAULT = "SystemStructure.ssd"

# Units as SSP and FMI define them: value in SI = factor * value + offset.
KELVIN = {"K": 1}
CELSIUS = {"K": 1, "offset": 273.15}
FAHRENHEIT = {"K": 1, "factor": 5 / 9, "offset": 459.67 * 5 / 9}
PASCAL = {"kg": 1, "m": -1, "s": -2}
BAR = {**PASCAL, "factor": 1e5}
RADIAN = {"rad": 1}
DEGREE = {"rad": 1, "factor": 0.017453292519943295}
METRE = {"m": 1}


def tag(name, /, *children, **attributes):
    """An element; attributes without value (None) are left out."""
    words = {key.replace("mime_type", "mime-type"): str(given).lower() if isinstance(given, bool) else str(given)
             for key, given in attributes.items() if given is not None}
    texts = "".join(f" {key}={quoteattr(text)}" for key, text in words.items())
    inside = "".join(child for child in children if child)
    return f"<{name}{texts}>{inside}</{name}>" if inside else f"<{name}{texts}/>"


def group(name, children):
    """An element around children; nothing where there are none."""
    return tag(name, *children) if children else ""


def document(prefix, name, /, *children, version, **attributes):
    spaces = {f"xmlns:{key}": uri for key, uri in SPACES.items()}
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            + tag(f"{prefix}:{name}", *children, **spaces, version=version, **attributes))


def scope(prefix, units, enumerations):
    """Units ({name: BaseUnit}) and enumerations ({name: {item: value}}) of a file."""
    return [group(f"{prefix}:Enumerations", [
                tag("ssc:Enumeration", *(tag("ssc:Item", name=item, value=value) for item, value in items.items()),
                    name=name) for name, items in (enumerations or {}).items()]),
            group(f"{prefix}:Units", [tag("ssc:Unit", tag("ssc:BaseUnit", **base), name=name)
                                      for name, base in (units or {}).items()])]


# ---- system structure


def connector(name, kind, what=None, dims=(), /, **attributes):
    """A connector; `dims` are sizes, or names of connectors that give them."""
    sizes = [tag("ssc:Dimension", **({"sizeConnector": n} if isinstance(n, str) else {"size": n})) for n in dims]
    typed = tag(f"ssc:{what}", **attributes) if what else ""
    return tag("ssd:Connector", typed, *sizes, name=name, kind=kind)


def inputs(*names):
    return [connector(name, "input") for name in names]


def outputs(*names):
    return [connector(name, "output") for name in names]


def component(name, source=None, connectors=(), bindings=(), inside="", **attributes):
    return tag("ssd:Component", group("ssd:Connectors", connectors), group("ssd:ParameterBindings", bindings), inside,
               name=name, source=source, **attributes)


def system(name, *elements, connectors=(), bindings=(), connections=(), dictionaries=(), inside="", **attributes):
    return tag("ssd:System", group("ssd:Connectors", connectors), group("ssd:ParameterBindings", bindings),
               group("ssd:Elements", elements), group("ssd:Connections", connections),
               group("ssd:SignalDictionaries", dictionaries), inside, name=name, **attributes)


def connect(start, end, transformation="", **attributes):
    (start_element, start_connector), (end_element, end_connector) = start.split("/"), end.split("/")
    return tag("ssd:Connection", transformation, startElement=start_element or None, startConnector=start_connector,
               endElement=end_element or None, endConnector=end_connector, **attributes)


def linear(factor=None, offset=None):
    return tag("ssc:LinearTransformation", factor=factor, offset=offset)


def mapped(what, **entries):
    """A table: "Boolean", "Integer" or "Enumeration", and pairs."""
    pairs = entries.pop("pairs", None) or list(entries.items())
    return tag(f"ssc:{what}MappingTransformation",
               *(tag("ssc:MapEntry", source=source, target=target) for source, target in pairs))


def dictionary(name, *entries, source=None, **more):
    """A dictionary of a system; entries from `entry`, or in a file."""
    inline = "" if source else ssb(*entries, **more).split("?>\n", 1)[1]
    return tag("ssd:SignalDictionary", inline, name=name, source=source)


def reference(name, to, *connectors):
    return tag("ssd:SignalDictionaryReference", group("ssd:Connectors", connectors), name=name, dictionary=to)


def ssd(root, units=None, enumerations=None, experiment=None, version="2.0", name="test", inside=""):
    return document("ssd", "SystemStructureDescription", root, *scope("ssd", units, enumerations),
                    tag("ssd:DefaultExperiment", **experiment) if experiment else "", inside, version=version,
                    name=name)


# ---- parameters, mappings, dictionaries


def value(name, what, /, *texts, dims=(), **attributes):
    """A parameter; several texts are <Value> elements, a list of numbers is one text."""
    single = texts[0] if len(texts) == 1 else None
    return tag("ssv:Parameter", tag(f"ssv:{what}", *(tag("ssv:Value", value=text) for text in texts if single is None),
                                    value=single, **attributes),
               *(tag("ssc:Dimension", size=size) for size in dims), name=name)


def reals(**values):
    """Real parameters; names with dots come as **{"a.b": 1}."""
    return [value(name, "Real", number) for name, number in values.items()]


def ssv(parameters, units=None, enumerations=None, version="2.0"):
    return document("ssv", "ParameterSet", tag("ssv:Parameters", *parameters), *scope("ssv", units, enumerations),
                    version=version, name="values")


def rename(source, target, transformation="", **attributes):
    return tag("ssm:MappingEntry", transformation, source=source, target=target, **attributes)


def ssm(*entries, version="2.0"):
    return document("ssm", "ParameterMapping", *entries, version=version)


def entry(name, what="Real", /, dims=(), **attributes):
    return tag("ssb:DictionaryEntry", tag(f"ssc:{what}", **attributes),
               *(tag("ssc:Dimension", size=size) for size in dims), name=name)


def ssb(*entries, units=None, enumerations=None, version="2.0"):
    return document("ssb", "SignalDictionary", *entries, *scope("ssb", units, enumerations), version=version)


def inline(text):
    """A document as it stands inside another one."""
    return text.split("?>\n", 1)[1]


def binding(values, mapping=None, mapping_base=None, **attributes):
    """A parameter binding. A text that begins with '<' is a document, which goes inline; another one names a file."""
    mapping_tag = ""
    if mapping is not None:
        mapping_tag = tag("ssd:ParameterMapping", inline(mapping) if mapping.startswith("<") else "",
                          source=None if mapping.startswith("<") else mapping, sourceBase=mapping_base)
    if isinstance(values, list):
        values = ssv(values)
    given = values.startswith("<")
    return tag("ssd:ParameterBinding", tag("ssd:ParameterValues", inline(values)) if given else "", mapping_tag,
               source=None if given else values, **attributes)


def renamed(text, **prefixes):
    """A document with other prefixes; "" makes a namespace the default one."""
    for old, new in prefixes.items():
        text = re.sub(rf"(</?){old}:", rf"\1{new}:" if new else r"\1", text)
        text = text.replace(f"xmlns:{old}=", f"xmlns:{new}=" if new else "xmlns=")
    return text


# ---- systems of Feedthroughs

F2, F3 = "resources/Feedthrough2.fmu", "resources/Feedthrough3.fmu"
SSD_TYPE, SSP_TYPE = "application/x-ssp-definition", "application/x-ssp-package"


def feedthrough(name, *bindings, source=F3, **start):
    """A Feedthrough with connectors for its Reals; `start` are values of its variables."""
    bound = [binding(reals(**start))] if start else []
    return component(name, source, inputs("float64_in") + outputs("float64_out"), [*bound, *bindings])


def pair(*options, source=F3, start=3, **attributes):
    """A Feedthrough that feeds another one."""
    return system("root", feedthrough("a", source=source, float64_in=start), feedthrough("b", source=source),
                  connections=[connect("a/float64_out", "b/float64_in", *options, **attributes)])


# ---- running


class SspTest(CommandTest):
    """A test that packs systems and runs them."""

    def files(self, *models):
        """FMUs of the kit as entries of a package: "Feedthrough3" is Feedthrough_fmi3.fmu in resources/."""
        entries = {}
        for model in models:
            name, version = re.fullmatch(r"(.*?)(1cs|1me|2|3)", model).groups()
            entries[f"resources/{model}.fmu"] = pathlib.Path(kit_fmu(name, version))
        return entries

    def package(self, files, name="test.ssp"):
        """An .ssp of these files: texts, or paths of files. Returns its path."""
        with zipfile.ZipFile(self.path(name), "w") as archive:
            for entry_name, content in files.items():
                archive.writestr(entry_name,
                                 content.read_bytes() if isinstance(content, pathlib.Path) else content)
        return self.path(name)

    def unpacked(self, files, name="folder"):
        """The same as a folder."""
        for entry_name, content in files.items():
            path = self.folder / name / entry_name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read_bytes() if isinstance(content, pathlib.Path) else content.encode())
        return self.path(name)

    def packed(self, text, *models, **files):
        """A package whose only SSD is this one; FMUs of the kit, and further files, go into resources/."""
        more = {f"resources/{name.replace('_', '.')}": content for name, content in files.items()}
        return self.package({DEFAULT: text, **self.files(*models), **more})

    def first(self, source, *options):
        """Runs the system for a moment, without any warning; the first row as a dictionary of texts."""
        table = self.simulate(source, "--stop", "0.01", "--step", "0.01", "--record", "*", *options)
        self.assertGreaterEqual(len(table), 2)
        return dict(zip(table.header, table.rows[0]))

    def arrives(self, source, expected, *options):
        """Runs the system: these values, numbers within rounding and texts to the letter, are there from the first
        point to the last."""
        table = self.simulate(source, "--stop", "0.02", "--step", "0.01", "--record", "*", *options)
        self.assertGreaterEqual(len(table), 3)
        for name, wanted in expected.items():
            self.assertIn(name, table.header)
            for text in table.texts(name):
                if isinstance(wanted, str):
                    self.assertEqual(text, wanted, name)
                else:
                    self.assertAlmostEqual(float(text), wanted, delta=1e-9 * max(1, abs(wanted)), msg=name)
        return table

    def warns(self, source, *says):
        """The system runs, but not without warnings that fit all patterns; without patterns there are none."""
        warnings = "\n".join(self.tutti("run", source, "--stop", "0.01", "-o", "-").lines("warning"))
        for pattern in says:
            self.assertRegex(warnings, pattern)
        if not says:
            self.assertEqual(warnings, "")

    def refuses(self, source, *says):
        """The system is wrong, and the message fits all patterns."""
        outcome = self.tutti("run", source, "--stop", "0.01", "-o", "-", "--quiet", status=1)
        errors = outcome.lines("error")
        self.assertTrue(errors, outcome.err)
        for pattern in says:
            self.assertRegex("\n".join(errors), pattern)
        self.assertEqual(outcome.out, "", "something was simulated nevertheless")
        return outcome
