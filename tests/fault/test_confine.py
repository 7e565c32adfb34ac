#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code of FMUs that is confined: Hostile tries one thing after the other, comes through with most of them if it may, and with none
under --confine strict; people hear what it tried. What FMUs need to compute, they can do."""
import contextlib
import ctypes
import errno
import os
import pathlib
import platform
import shutil
import socket
import struct
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import JACOBI, TUTTI, CommandTest, can_confine, kit_fmu  # noqa: E402

HARMLESS = ("nothing", "use_scratch", "use_threads", "look_at_itself")
DEEDS = (
    "read_file", "read_directly", "read_by_link", "read_by_race", "list_folder", "create_file", "append_file", "truncate_file",
    "remove_file", "rename_file", "make_folder", "make_link", "change_mode", "change_time", "change_attribute", "watch_file",
    "write_to_descriptor", "connect_to_port", "send_datagram", "listen_at_port", "connect_to_path", "connect_to_name",
    "signal_process", "signal_group", "signal_by_pipe", "trace_process", "open_memory", "open_environment", "open_descriptor",
    "read_memory", "take_descriptor", "change_priority", "change_limit", "share_memory", "attach_memory", "queue_messages",
    "fork_process", "run_program", "become_program", "run_command", "start_threads", "take_own_memory", "take_shared_memory",
    "take_memory_file", "write_large_file", "write_many_files", "outlive_parent", "leave_group", "make_namespace", "queue_calls",
    "add_key", "load_bpf")
# Where it depends on the machine, or on who one is, whether it works without confinement.
UNSURE = {"change_attribute", "trace_process", "open_memory", "open_environment", "open_descriptor", "read_memory", "take_descriptor",
          "queue_messages", "make_namespace", "queue_calls", "add_key", "load_bpf", "attach_memory", "leave_group", "read_by_race",
          "write_to_descriptor"}
# Refused by the kernel itself, so that nobody can tell; or sometimes so.
SILENT = {"read_by_race", "write_to_descriptor", "take_own_memory", "write_large_file"}
LIMITS = "memory=32M,processes=40,file=1M,scratch=8M"


# Numbers of system calls.
LANDLOCK = 444
SECCOMP, CAPSET = {"x86_64": (317, 126), "aarch64": (277, 91)}.get(platform.machine(), (-1, -1))


def hide(calls):
    """For the process that calls, and those that it starts, the kernel does not have these system calls."""
    errors = 0x00050000 | errno.ENOSYS  # SECCOMP_RET_ERRNO
    code = [(0x20, 0, 0, 0)]  # the number of the call
    for call in calls:
        code += [(0x15, 0, 1, call), (0x06, 0, 0, errors)]
    code.append((0x06, 0, 0, 0x7fff0000))  # SECCOMP_RET_ALLOW
    text = b"".join(struct.pack("HBBI", *instruction) for instruction in code)
    program = struct.pack("HxxxxxxP", len(code), ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        raise OSError(ctypes.get_errno(), "seccomp")


class Confined(CommandTest):
    def setUp(self):
        super().setUp()
        self.outside = self.folder / "outside"
        self.outside.mkdir()
        if can_confine():
            self.skipTest(can_confine())

    def victims(self, deed):
        """What the deed is aimed at: values of its parameters."""
        secret = self.outside / f"secret-{deed}"
        new = self.outside / f"new-{deed}"
        target = {"path": str(secret)}
        if deed in ("create_file", "make_folder", "make_link", "run_command"):
            target["path"] = str(new)
        elif deed == "list_folder":
            target["path"] = str(self.outside)
        elif deed == "connect_to_path":
            target["path"] = str(self.folder / "socket")
            self.listener(socket.AF_UNIX, target["path"])
        elif deed == "connect_to_name":
            target["path"] = f"hostile-{os.getpid()}"
            self.listener(socket.AF_UNIX, "\0" + target["path"])
        elif deed == "connect_to_port":
            target["port"] = self.listener(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        elif deed == "send_datagram":
            target["port"] = self.listener(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM).getsockname()[1]
        elif deed == "share_memory":
            target["path"] = f"/hostile-{os.getpid()}"
            segment = pathlib.Path("/dev/shm") / target["path"][1:]
            segment.write_bytes(bytes(16))
            os.chmod(segment, 0o666)
            self.addCleanup(segment.unlink, missing_ok=True)
        elif deed == "attach_memory":
            target["port"] = self.segment()
        elif deed == "queue_messages":
            target["path"] = f"/hostile-{os.getpid()}"
        if target["path"] == str(secret):
            secret.write_text("secret")
            secret.chmod(0o600)
            self.own(secret)
        return target

    def own(self, path):
        """For a test as another user."""

    def listener(self, family, address, kind=socket.SOCK_STREAM):
        made = socket.socket(family, kind)
        self.addCleanup(made.close)
        if isinstance(address, str) and address[0] == "/":
            with contextlib.suppress(FileNotFoundError):
                os.unlink(address)
        made.bind(address)
        if isinstance(address, str) and address[0] == "/":
            os.chmod(address, 0o777)
        if kind == socket.SOCK_STREAM:
            made.listen()
        return made

    def segment(self):
        """The key of a piece of System V's shared memory."""
        libc = ctypes.CDLL(None, use_errno=True)
        key = 0x7474 << 16 | os.getpid() & 0xffff
        identifier = libc.shmget(key, 4096, 0o1666)  # IPC_CREAT
        if identifier >= 0:
            self.addCleanup(libc.shmctl, identifier, 0, None)  # IPC_RMID
        return key

    def attempt(self, deed, *options, version="2", status=0, launcher=(), **more):
        """Lets Hostile do it: (did it come through, what was said)."""
        settings = [f"--set=deed={deed}", *(f"--set={name}={value}" for name, value in self.victims(deed).items())]
        left = {f"hostile-{i}" for i in range(400)}
        process = self.start("run", kit_fmu("Hostile", version), *settings, "--stop", "0.3", "-o", "result.csv", *options,
                             launcher=launcher, **more)
        outcome = self.finish(process, left)
        for name in left & set(os.listdir(self.tmpdir)):
            os.unlink(self.tmpdir / name)
        self.assertEqual(outcome.status, status, outcome.err)
        return bool(self.result()["succeeded"][-1]), outcome

    def test_none(self):
        """Without confinement, in a worker: Hostile is what it says."""
        count = 0
        for deed in DEEDS:
            with self.subTest(deed):
                status = 1 if deed == "become_program" else 0  # it is gone
                done, _ = self.attempt(deed, "--processes", "1", status=status)
                count += done or status
                if deed not in UNSURE and not status:
                    self.assertTrue(done)
        self.assertGreaterEqual(count, 30)

    def strict(self, *options, launcher=()):
        for deed in DEEDS:
            with self.subTest(deed):
                done, outcome = self.attempt(deed, "--confine", "strict", "--limits", LIMITS, *options, launcher=launcher)
                self.assertFalse(done, outcome.err)
                warnings = outcome.lines("warning")
                if deed not in SILENT:
                    self.assertRegex("\n".join(warnings), "unit 'Hostile_fmi2' tried to .*, which --confine forbids")
        self.assertEqual([path.name for path in self.outside.glob("new-*")], [])
        for secret in self.outside.glob("secret-*"):
            self.assertEqual(secret.read_text(), "secret")
            self.assertEqual(secret.stat().st_mode & 0o777, 0o600)

    def test_strict(self):
        self.strict()

    def test_limits_cannot_be_raised(self):
        done, _ = self.attempt("raise_limit", "--confine", "strict")
        self.assertFalse(done)

    def test_memory_of_the_run(self):
        """An FMU can make its own run fail, but the conductor, which is not confined, follows nothing that it has written."""
        for options in ((), ("--processes", "2")):
            outcome = self.tutti("run", f"a={kit_fmu('Hostile', '2')}", f"b={kit_fmu('Tracker', '2')}", "--set=a.deed=damage_memory",
                                 "--connect=b.y=a.u", "--step", "0.1", *JACOBI, "--confine", "strict", *options, status=1)
            self.assertEqual(len(outcome.lines("error")), 1, outcome.err)
            self.assertEqual(outcome.lines("warning"), [])  # nothing but the signals between ranks was within its reach

    def test_processor_time(self):
        _, outcome = self.attempt("burn_time", "--confine", "strict", "--limits", "cpu=1", status=1)
        self.assertRegex(outcome.err, "has used the processor time that --limits cpu= allows")

    def test_what_fmus_need(self):
        for version in ("1cs", "2", "3"):
            for deed in HARMLESS:
                with self.subTest(deed, version=version):
                    done, outcome = self.attempt(deed, "--confine", "strict", version=version)
                    self.assertTrue(done)
                    self.assertEqual(outcome.lines("warning"), [])

    def test_auto(self):
        """It does what the machine can, which is all of it here."""
        done, outcome = self.attempt("read_file", "--confine", "auto")
        self.assertFalse(done)
        self.assertRegex(outcome.err, r"unit 'Hostile_fmi2' tried to read \S+secret-read_file, which --confine forbids; "
                                      r"--allow read:\S+secret-read_file lets it")

    def test_kernels_that_lack_something(self):
        """As in a container that hides it."""
        if SECCOMP < 0:
            self.skipTest("the numbers of this machine's system calls are not known here")
        for hidden, lacks, denied in (({LANDLOCK}, "Landlock", True), ({SECCOMP}, "seccomp", True), ({LANDLOCK, SECCOMP}, "Landlock.*seccomp", False)):
            with self.subTest(lacks):
                options = {"preexec_fn": lambda calls=hidden: hide(calls)}
                done, outcome = self.attempt("read_file", "--confine", "auto", **options)
                self.assertEqual(done, not denied)
                self.assertRegex(outcome.err, f"FMUs are not confined in all: the kernel lacks {lacks}")
                outcome = self.tutti("run", kit_fmu("Ticker", "2"), "--confine", "strict", status=1, **options)
                self.assertRegex(outcome.err, f"cannot confine FMUs as --confine strict promises: its kernel lacks {lacks}")

    def test_allowed(self):
        outside = str(self.outside)
        for deed, allowance in (("read_file", f"read:{outside}"), ("read_by_link", f"Hostile_fmi2=read:{outside}"),
                                ("create_file", f"write:{outside}"), ("remove_file", f"net,write:{outside}"),
                                ("connect_to_port", "net"), ("send_datagram", "H*=net"), ("listen_at_port", "net"),
                                ("fork_process", "fork"), ("run_program", "exec"),
                                ("run_command", f"exec,write:{outside}")):
            with self.subTest(deed):
                done, outcome = self.attempt(deed, "--confine", "strict", "--allow", allowance)
                self.assertTrue(done, outcome.err)
        done, _ = self.attempt("append_file", "--confine", "strict", "--allow", f"read:{outside}")
        self.assertFalse(done)
        done, _ = self.attempt("connect_to_path", "--confine", "strict", "--allow", "net")
        self.assertFalse(done)
        done, _ = self.attempt("signal_process", "--confine", "strict", "--allow", "exec,net")
        self.assertFalse(done)

    def test_wrong_options(self):
        fmu = kit_fmu("Ticker", "2")
        for options, status, says in (
                (("--confine", "loosely"), 2, "--confine"),
                (("--allow", "net"), 2, "--allow has no effect without --confine"),
                (("--limits", "cpu=1"), 2, "--limits has no effect without --confine"),
                (("--confine", "strict", "--threads", "2"), 2, "--confine needs processes .*--processes 2"),
                (("--confine", "strict", "--allow", "everything"), 2, "'everything' is nothing that can be allowed"),
                (("--confine", "strict", "--allow", "read:/no/such/file"), 2, "there is no '/no/such/file' to read"),
                (("--confine", "strict", "--allow", "Ticker_fmi3=net"), 2, "there is no unit 'Ticker_fmi3'.*Ticker_fmi2"),
                (("--confine", "strict", "--limits", "memory=all"), 2, "'memory=all' is no limit")):
            with self.subTest(options):
                self.refused("run", fmu, *options, status=status, says=says)

    def test_results_are_the_same(self):
        system = [f"a={kit_fmu('Tracker', '2')}", f"b={kit_fmu('Feedthrough', '3')}", f"c={kit_fmu('Resource', '2')}",
                  f"d={kit_fmu('Worker', '3')}", "--step", "0.1", *JACOBI]
        plain = self.simulate(*system)
        for options in (("--confine", "strict"), ("--processes", "2", "--confine", "strict"),
                        ("--processes", "4", "--confine", "auto", "--allow", "a=net")):
            with self.subTest(options):
                self.assertEqual(self.simulate(*system, *options).rows, plain.rows)

    def test_units_that_are_forked(self):
        """Their processes are confined as the worker is. What it takes to fork them is there only where it may come up."""
        for deed in ("read_file", "create_file", "connect_to_port", "send_datagram", "signal_process", "trace_process", "open_memory",
                     "open_environment", "open_descriptor", "read_memory", "take_descriptor", "change_limit", "share_memory", "run_program",
                     "run_command", "start_threads", "write_large_file", "queue_calls"):
            with self.subTest(deed):
                limits = "processes=40,file=1M" if deed == "start_threads" else "processes=60"
                done, outcome = self.attempt(deed, "--confine", "strict", "--limits", limits, "--rollback", "fork",
                                             f"--set=process={os.getpid()}")
                self.assertEqual(done, deed == "write_large_file", outcome.err)  # files may be as large as the memory to talk by
        system = [f"a={kit_fmu('Lacking', '2')}", f"b={kit_fmu('Tracker', '2')}", "--connect", "b.y=a.u", "--rtol", "1e-4", "--interface", "cs"]
        plain = self.simulate(*system)
        for options in (("--confine", "strict"), ("--confine", "strict", "--processes", "2")):
            with self.subTest(options):
                self.assertEqual(self.simulate(*system, *options).rows, plain.rows)
        self.assertNotEqual(self.simulate(*system, "--rollback", "fmu", "--step", "0.1", *JACOBI).rows, plain.rows)

    def test_units_that_share_a_process(self):
        units = [*(f"{name}={kit_fmu('Tracker', '2')}" for name in "ab"), "--step", "0.1", *JACOBI]
        outcome = self.tutti("run", *units, "--confine", "strict", "--allow", "a=net")
        self.assertRegex(outcome.err, "--allow a=net: unit 'b' shares a process with 'a', and may do the same")
        outcome = self.tutti("run", *units, "--confine", "strict", "--allow", "a=net", "--processes", "2")
        self.assertEqual(outcome.lines("warning"), [])

    def test_fmus_that_need_a_tool(self):
        fmu = self.altered(kit_fmu("Ticker", "2"), ("<CoSimulation ", '<CoSimulation needsExecutionTool="true" '))
        outcome = self.tutti("run", fmu, "--confine", "strict")
        self.assertRegex(outcome.err, r"needs another program \(needsExecutionTool\).*--allow \S+=exec,net")
        outcome = self.tutti("run", fmu, "--confine", "strict", "--allow", "exec,net")
        self.assertEqual(outcome.lines("warning"), [])


class AsAnother(Confined):
    """The same without root's privileges, where the tests have them."""

    USER = 65534

    def setUp(self):
        if os.getuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("not root: the other tests are without its privileges already")
        super().setUp()
        self.launcher = ("setpriv", f"--reuid={self.USER}", f"--regid={self.USER}", "--clear-groups")
        self.own(self.folder)
        for path in self.folder.rglob("*"):
            self.own(path)
        process = self.start("run", kit_fmu("Ticker", "2"), "--quiet", "-o", "-", launcher=self.launcher)
        if process.communicate()[1]:
            self.skipTest(f"another user cannot use {TUTTI}")

    def own(self, path):
        os.chown(path, self.USER, self.USER)

    def test_services(self):
        """A service without privileges that may not call capset, as systemd starts it."""
        if CAPSET < 0:
            self.skipTest("the numbers of this machine's system calls are not known here")
        code = ("import sys, os; sys.path[:0] = sys.argv[1:3]; from test_confine import CAPSET, hide; hide({CAPSET}); "
                "os.execv(sys.argv[3], sys.argv[3:])")
        here = pathlib.Path(__file__).resolve().parent
        launcher = (*self.launcher, sys.executable, "-B", "-c", code, here, here.parent / "system")
        outcome = self.finish(self.start("run", kit_fmu("Ticker", "2"), "--confine", "strict", launcher=launcher))
        self.assertEqual(outcome.status, 0, outcome.err)

    def attempt(self, deed, *options, launcher=(), **more):
        return super().attempt(deed, *options, launcher=self.launcher, **more)

    def test_none(self):
        """Some of it needs root."""

    def test_units_that_share_a_process(self):
        """Nothing is different."""

    test_kernels_that_lack_something = test_memory_of_the_run = test_wrong_options = test_units_that_share_a_process
    test_fmus_that_need_a_tool = test_results_are_the_same = test_units_that_share_a_process


if __name__ == "__main__":
    unittest.main()
