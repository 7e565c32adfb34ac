#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values and files on the command line of `tutti run` that cannot be meant, and results that cannot be written.

A wrong command line is exit status 2; a file that cannot be read or written is 1."""
import os
import pathlib
import re
import resource
import shutil
import sys
import unittest
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import CommandTest, kit_fmu  # noqa: E402
from systems import connect  # noqa: E402

DAHLQUIST = kit_fmu("Dahlquist", "2")
FEEDTHROUGH = kit_fmu("Feedthrough", "3")


class Times(CommandTest):
    def wrong(self, *options, says):
        with self.subTest(options=options):
            self.refused("run", DAHLQUIST, *options, status=2, says=says)
            self.assertFalse(os.path.exists(self.path("result.csv")))

    def test_start_behind_the_default_stop(self):
        self.wrong("--start", "5000", says=["after the start time 5000", "default experiment", "--stop"])

    def test_stop_before_start(self):
        for start, stop in ((0, -1), (1, 1), (2, 1), (-1, -2)):
            self.wrong(f"--start={start}", f"--stop={stop}", says=["stop time", "start time"])
        self.wrong("--start", "5", "--stop", "4", says=["4", "5"])

    def test_steps(self):
        for option in ("--step", "--output-step"):
            for value in ("0", "-1", "-0.0", "-1e-300"):
                self.wrong(f"{option}={value}", says=[option, "greater than 0"])
            for value in ("nan", "inf", "-inf", "NaN"):
                self.wrong(f"{option}={value}", says=option)
            for value in ("", "abc", "1,5", "0.1s", "1e", "--", "1 2"):
                self.wrong(f"{option}={value}", says=[option, "number"])
            self.wrong(option, "1e-300", says=option)

    def test_times(self):
        for option in ("--start", "--stop"):
            for value in ("nan", "inf", "-inf"):
                self.wrong(f"{option}={value}", says=option)
            for value in ("", "tomorrow", "1e999x"):
                self.wrong(f"{option}={value}", says=[option, "number"])
        self.wrong("--stop", "1e308", "--start=-1e308", says="stop")

    def test_step_that_no_double_can_tell(self):
        """1e15 + 0.01 is 1e15: time would not pass."""
        self.wrong("--start", "1e15", "--stop", "1000000000000001", "--step", "0.01", says="--step")
        self.wrong("--start", "1e9", "--stop", "1000000001", "--output-step", "1e-7", says="--output-step 1e-0?7")

    def test_tolerance(self):
        for value in ("0", "-1", "nan", "inf"):
            self.wrong(f"--rtol={value}", says="--rtol")


class Settings(CommandTest):
    def wrong(self, fmu, setting, says):
        with self.subTest(setting=setting):
            says = [says] if isinstance(says, str) else says
            self.refused("run", fmu, "--set", setting, status=2, says=["--set", *says])

    def test_unknown_variable(self):
        self.wrong(kit_fmu("BouncingBall", "2"), "bounce=1", "did you mean 'bounces'")
        self.wrong(kit_fmu("Heater", "3"), "T_outide=1", ["'T_outide'", "did you mean 'T_outside'"])
        self.wrong(DAHLQUIST, "der(X)=1", r"did you mean 'der\(x\)'")
        self.wrong(DAHLQUIST, "completely_different=1", ["completely_different", "tutti info"])
        for setting in ("k", "", "=1", "=", "k:1"):
            self.wrong(DAHLQUIST, setting, "NAME=VALUE|VAR=VALUE")

    def test_names_that_steer_terminals(self):
        """Names out of files are told without what a terminal would obey."""
        name = "float64_in&#10;\x9b31m\x7f"
        fmu = self.altered(FEEDTHROUGH, ('name="float64_in"', f'name="{name}"'))
        text = name.replace("&#10;", "\n")
        for options in (("--set", "float64_in\n\x9b31m=1"), ("--set", f"{text}=x"), ("--record", text[:-1]),
                        ("--set", "\x1b[31m=1"), ("--input", "\x1b[31m.csv")):
            with self.subTest(options=options):
                outcome = self.refused("run", fmu, *options, status=None if options[0] == "--input" else 2, says="31m")
                self.assertRegex(outcome.err, "^[ -~\xa0-\uffff]*\n$")
        for file in ("\x1b[31m.fmu", "\x9b31m.fmu"):
            for command in ("run", "info"):
                outcome = self.refused(command, file, status=1, says="31m")
                self.assertRegex(outcome.err, "^[ -~\xa0-\uffff]*\n$")

    def test_values_of_the_wrong_type(self):
        for name, values in (("float64_in", ("", "one", "1,5", "1 2", "0.1m")),
                             ("int8_in", ("1.5", "x", "", "1e2", "128", "-129")),
                             ("uint8_in", ("-1", "256")), ("int16_in", ("32768",)), ("uint16_in", ("65536",)),
                             ("uint32_in", ("4294967296", "-1")), ("int64_in", ("9223372036854775808",)),
                             ("uint64_in", ("18446744073709551616", "-1")), ("float32_in", ("1e39", "abc")),
                             ("boolean_in", ("2", "yes", "")), ("color_in", ("blue", "0", "4", "", "Red")),
                             ("binary_in", ("xyz", "abc", "0x00"))):
            for value in values:
                self.wrong(FEEDTHROUGH, f"{name}={value}", [f"'{name}'"])

    def test_words_of_an_enumeration_are_told(self):
        self.wrong(FEEDTHROUGH, "color_in=blue", ["red", "yellow", "green"])
        self.wrong(kit_fmu("Heater", "1cs"), "mode=auto", ["off", "automatic", "on"])

    def test_values_out_of_range(self):
        self.wrong(FEEDTHROUGH, "int32_in=1000000001", ["'int32_in'", r"1000000000\b|1e\+?0?9"])
        self.wrong(kit_fmu("BouncingBall", "2"), "e=1.5", ["'e'", "from 0 to 1"])
        self.wrong(kit_fmu("BouncingBall", "1cs"), "g=-1", ["'g'", "0"])
        self.wrong(kit_fmu("StateSpace", "3"), "n=101", ["'n'", "100"])
        for value in ("-1", "1.5", "many"):
            self.wrong(kit_fmu("StateSpace", "3"), f"n={value}", "'n'")

    def test_variables_that_cannot_be_set(self):
        self.wrong(FEEDTHROUGH, "constant=1", ["'constant'", "constant"])
        self.wrong(FEEDTHROUGH, "float64_out=1", ["'float64_out'", "calculated"])
        self.wrong(FEEDTHROUGH, "time=1", ["'time'", "--start"])

    def test_arrays(self):
        for setting in ("vector_in=1 2", "vector_in=1 2 3 4", "vector_in=", "matrix_in=1 2 3"):
            self.wrong(FEEDTHROUGH, setting, setting.split("=")[0])
        for setting in ("vector_in[0]=1", "vector_in[4]=1", "vector_in[1,1]=1", "matrix_in[2]=1", "matrix_in[3,1]=1",
                        "vector_in[=1", "vector_in[1=1", "vector_in[-1]=1", "vector_in[1]x=1", "float64_in[1]=1"):
            self.wrong(FEEDTHROUGH, setting, setting.split("[")[0])
        self.wrong(FEEDTHROUGH, "vector_in=1 2 x", ["'vector_in'", "'x'"])

    def test_unknown_record(self):
        self.refused("run", kit_fmu("Heater", "2"), "--record", "T_celcius", status=2,
                     says=["--record", "did you mean 'T_celsius'"])
        self.refused("run", DAHLQUIST, "--record", "x", "--record", "zzz*", status=2, says=["--record", r"'zzz\*'"])
        self.refused("run", FEEDTHROUGH, "--record", "vector_out[9]", status=2, says=r"vector_out\[9\]")


class Trajectories(CommandTest):
    def wrong(self, text, says, status=1, fmu=FEEDTHROUGH):
        with self.subTest(text=text):
            self.refused("run", fmu, "--input", self.write("in.csv", text), status=status, says=[r"in\.csv", says])

    def test_columns(self):
        self.wrong("time,float64_inn\n0,1\n", "did you mean 'float64_in'", status=2)
        self.wrong("time,float64_out\n0,1\n", "no input", status=2)
        self.wrong("time,gain\n0,1\n", "no input", status=2)
        self.wrong("time,vector_in\n0,1\n", "vector_in.*the array has 3")
        self.wrong("time,vector_in\n0,1 2 3\n1,1 2\n", r"csv:3: .*2 values, and the first row has 3")
        self.wrong("time,vector_in\n0,1 2 3\n1,1 x 3\n", r"csv:3: .*'x'")
        self.wrong("time,vector_in\n0,\n", "no values for the array")
        self.wrong('time,vector_in,vector_in[2]\n0,1 2 3,1\n', "for the same input")
        self.wrong('time,vector_in[2],vector_in\n0,1,1 2 3\n', "for the same input")
        self.wrong("time,strings_in\n0,a b\n", r"strings_in\[1\]", status=2)
        self.wrong("time,gain\n0,1\n", "not tunable", status=2)
        self.wrong("time,vector_in[7]\n0,1\n", "vector_in", status=2)
        self.wrong("time,float64_in,float64_in\n0,1,2\n", "float64_in")

    def test_cells(self):
        for text, says in (("time,float64_in\n0,1\n1,abc\n", r"in\.csv:3: .*'abc'"),
                           ("time,color_in\n0,blue\n", ":2: .*red"),
                           ("time,int32_in\n0,1.5\n", ":2: .*int32_in"), ("time,boolean_in\n0,2\n", ":2: .*boolean_in"),
                           ("time,int32_in\n0,2000000000\n", r":2: .*(1000000000\b|1e\+?0?9)"),
                           ("time,float64_in\n0\n", ":2: "),
                           ("time,float64_in\n0,1,2\n", ":2: "), ("time,float64_in\nx,1\n", ":2: "),
                           ("time,float64_in\n1,1\n0,1\n", ":3: "), ("time,float64_in\n0,\n", ":2: "),
                           ("time,float64_in\nnan,1\n", ":2: "), ('time,string_in\n0,"open\n', "quot|:2"),
                           ("", "empty|header|column"), ("time,float64_in\n", "no rows"), ("float64_in\n1\n", "time")):
            self.wrong(text, says)

    def test_files(self):
        for name in ("nowhere.csv", "tmp"):
            self.refused("run", FEEDTHROUGH, "--input", self.path(name), status=1, says=name)
        pathlib.Path(self.path("binary.csv")).write_bytes(bytes(range(256)) * 10)
        self.refused("run", FEEDTHROUGH, "--input", self.path("binary.csv"), status=1, says=r"binary\.csv")


class Effects(CommandTest):
    """What would have no effect is refused."""

    def test_time_out(self):
        self.refused("run", DAHLQUIST, "--timeout", "0", status=2, says="--timeout takes a number greater than 0")

    def test_key(self):
        self.tutti("node", "--keygen", "own.key")
        self.refused("run", DAHLQUIST, "--key", "own.key", status=2, says="--key has no effect without --nodes")
        self.refused("run", DAHLQUIST, "--key", "own.key", "--nodes", "127.0.0.1:1", status=2, says="--key has no effect here")

    def test_list_of_nodes_without_end(self):
        self.refused("run", DAHLQUIST, "--nodes", "/dev/zero", status=2, says="--nodes: /dev/zero:1: too long, or not a text file")
        self.write("lines", "# many\n" * 70000)
        self.refused("run", DAHLQUIST, "--nodes", "lines", status=2, says="--nodes: lines:65537: too long")


class Results(CommandTest):
    """Results that cannot be written; what could be is kept in whole rows."""

    def test_input_file_is_safe(self):
        """Writing the result must not destroy the file that is read, by whatever name."""
        text = "time,u\n0,0\n1,1\n"
        self.write("data.csv", text)
        os.symlink("data.csv", self.path("link.csv"))
        for name in ("data.csv", "./data.csv", "link.csv"):
            with self.subTest(name=name):
                self.refused("run", kit_fmu("Tracker", "2"), "--input", "data.csv", "-o", name, status=2,
                             says="is the file of --input")
                with open(self.path("data.csv"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), text)

    def test_result_and_statistics_in_one_file(self):
        for name in ("same.csv", "-"):
            with self.subTest(name=name):
                self.refused("run", DAHLQUIST, "-o", name, "--stats", name, status=2, says="cannot both be")
        self.refused("run", DAHLQUIST, "-o", "r.csv", "--stats", "./r.csv", status=2, says="-o and --stats cannot both be")
        self.write("in.csv", "time,u\n0,1\n")
        self.refused("run", DAHLQUIST, "-o", "r.csv", "--input", "in.csv", "--stats", "./in.csv", status=2,
                     says="--input and --stats cannot both be")

    def test_models_are_safe(self):
        """No file that is written may be a model, by whatever name it goes, nor one of its parts."""
        a, b = kit_fmu("Dahlquist", "2"), kit_fmu("Tracker", "2")
        for name, fmu in (("a.fmu", a), ("b.fmu", b), ("b.csv", b)):
            shutil.copy(fmu, self.path(name))
        self.tutti("new", "pair.ssp", "a=a.fmu", "b=b.fmu")
        self.tutti("new", "pair.ssd", "a=a.fmu", "b=b.fmu")
        os.symlink("a.fmu", self.path("link.json"))
        model = self.unpacked()
        pair, system = ("a=a.fmu", "b.fmu"), ("pair.ssd",)
        for files, option, name in ((("a.fmu",), "--stats", "a.fmu"), (pair, "--stats", "a.fmu"), (pair, "--stats", "link.json"),
                                    (pair, "--step-log", "./b.fmu"), (("a=a.fmu", "b=b.csv"), "-o", "b.csv"),
                                    (("pair.ssp",), "--stats", "pair.ssp"), (("pair.ssp#SystemStructure.ssd",), "--step-log", "pair.ssp"),
                                    (system, "--step-log", "pair.ssd"), (system, "--step-log", "b.fmu"),
                                    ((model,), "--stats", "model/modelDescription.xml")):
            with self.subTest(files=files, option=option, name=name):
                before = pathlib.Path(self.path(name)).read_bytes()
                self.refused("run", *files, option, name, status=2, says=f"'?{re.escape(name)}'")
                self.assertEqual(pathlib.Path(self.path(name)).read_bytes(), before)
        self.refused("run", *system, "--stats", "b.fmu", status=2, says="--stats 'b.fmu' is there")
        self.assertEqual(pathlib.Path(self.path("b.fmu")).read_bytes(), pathlib.Path(b).read_bytes())

    def unpacked(self, fmu=DAHLQUIST, name="model"):
        """A folder: nothing has to be written to read it."""
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(self.path(name))
        return self.path(name)

    def test_names(self):
        self.refused("run", DAHLQUIST, "-o", "no/where.csv", status=1, says=[r"no/where\.csv", "no folder .*/no;"])
        os.mkdir(self.path("folder.csv"))
        self.refused("run", DAHLQUIST, "-o", "folder.csv", status=1, says=[r"folder\.csv", "is a folder"])
        for name in ("result", "result.xls", ""):
            self.refused("run", DAHLQUIST, "-o", name, status=2, says=r"\.csv")
        self.refused("run", DAHLQUIST, "--stats", "no/where.json", "-o", "r.csv", "--quiet", status=1, says=r"no/where\.json")
        self.assertFalse(os.path.exists(self.path("r.csv")))  # before the run

    def test_statistics_through_a_pipe(self):
        os.mkfifo(self.path("pipe"))
        process = self.start("run", DAHLQUIST, "--stats", "pipe", "--quiet", "--record", "none")
        with open(self.path("pipe"), encoding="utf-8") as pipe:
            self.assertIn('"version"', pipe.read())
        self.finish(process)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_rights(self):
        os.chmod(self.write("result.csv", "time\n"), 0o444)
        self.refused("run", DAHLQUIST, status=1, says=r"result\.csv: Permission denied")
        os.chmod(self.tmpdir, 0o500)
        self.refused("run", DAHLQUIST, "-o", "other.csv", status=1, says="TMPDIR")
        os.chmod(self.tmpdir, 0o700)

    def test_full_disk(self):
        os.symlink("/dev/full", self.path("full.csv"))
        self.refused("run", DAHLQUIST, "-o", "full.csv", status=1, says=[r"full\.csv", "No space left"])
        with open("/dev/full", "wb") as full:
            self.refused("run", DAHLQUIST, "-o", "-", "--quiet", stdout=full, status=1, says="No space left")
        os.symlink("/dev/full", self.path("full.json"))
        self.refused("run", DAHLQUIST, "--stats", "full.json", "--quiet", status=1, says=r"full\.json.*No space left")

    def limited(self, size):
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))}

    def test_file_that_becomes_too_large(self):
        outcome = self.tutti("run", self.unpacked(), "--step", "1e-5", status=1, **self.limited(200000))
        self.assertRegex(outcome.lines("error")[0], r"result\.csv: File too large.*rows before are kept")
        times = self.result().times
        self.assertEqual(times, [n * 1e-5 for n in range(len(times))])
        self.assertGreater(len(times), 5000)

    def test_disk_full_between_checkpoints(self):
        """Ranks bring parts of the next one, which nobody waits for any more."""
        run = (f"a={self.unpacked(kit_fmu('ChainMass', '2'), 'a')}", f"b={self.unpacked(kit_fmu('ChainMass', '3'), 'b')}", *connect(
            "a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"), "--step", "0.01", "--stop", "2", "--place", "a=0", "--place", "b=1")
        for fabric in ("--processes", "--threads"):
            outcome = self.tutti("run", *run, fabric, "2", "--checkpoint", "point", "--every", "0.01", "-o", "result.jsonl", status=1,
                                 **self.limited(8192))
            self.assertRegex(outcome.lines("error")[-1], r"result\.jsonl: File too large.*rows before are kept")

    def test_no_room_to_unpack(self):
        self.refused("run", DAHLQUIST, status=1, says=["TMPDIR|unpack|write", "File too large"], **self.limited(4096))

    def test_temporary_folder(self):
        for folder in ("/nonexistent", DAHLQUIST):
            self.refused("run", DAHLQUIST, env={"TMPDIR": folder}, status=1, says=["TMPDIR", folder])

    def test_old_result_stays_if_the_command_line_is_wrong(self):
        self.tutti("run", DAHLQUIST)
        before = self.result().rows
        for options in (("--set", "nobody=1"), ("--step", "-1"), ("--record", "nobody"), ("--input", "nowhere.csv")):
            self.tutti("run", DAHLQUIST, *options, status=1 if "--input" in options else 2)
            self.assertEqual(self.result().rows, before)


if __name__ == "__main__":
    unittest.main()
