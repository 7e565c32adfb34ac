# SPDX-License-Identifier: MIT
"""Starts the `tutti` command as a person would, and looks at all it leaves behind.

The environment names the command (TUTTI) and the folder of the kit's FMUs (FMUS); without it, those of build/ are used.
Every run gets a private TMPDIR, and whatever it was asked to do, it must end by itself (no signal kills it), leave no
process and no temporary folder behind, and give the sanitizers nothing to say."""
import contextlib
import csv
import dataclasses
import functools
import io
import itertools
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTTI = os.environ.get("TUTTI") or str(ROOT / "build" / "tutti")
FMUS = pathlib.Path(os.environ.get("FMUS") or ROOT / "build" / "fmus")
TEST_FMUS = FMUS.parent / "tests" / "unit" / "kit"
SANITIZED = re.search(rb"__[at]san_init", pathlib.Path(TUTTI).read_bytes()) is not None
THREAD_SANITIZED = b"__tsan_init" in pathlib.Path(TUTTI).read_bytes()

VERSIONS = {"1cs": "1.0", "2": "2.0", "3": "3.0"}  # of Co-Simulation, as in the names of the kit's FMUs
ME_VERSIONS = {"1me": "1.0", "2": "2.0", "3": "3.0"}  # of Model Exchange
SOLVERS = ("cvode", "adams", "switch", "dopri5", "dopri8", "dirk", "radau5", "rodas", "bdf", "ida", "rk4", "heun", "euler", "implicit_euler")
# The plain master: all step at once, by steps of one size, with inputs held; events are the units' own affair.
JACOBI = ("--coupling", "jacobi", "--control", "fixed", "--extrapolate", "0", "--events", "none")
DESCRIPTION = "modelDescription.xml"
PATIENCE = int(os.environ.get("TUTTI_PATIENCE") or 300)  # seconds after which a run counts as hanging; a safety net, not a measurement
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # for the command, too: some of its crashes are wanted


def kit_fmu(model, version):
    """The path of an FMU of the kit, as text."""
    return str(FMUS / f"{model}_fmi{version}.fmu")


def test_fmu(model, version):
    """The path of an FMU that only tests need (tests/unit/kit), as text."""
    return str(TEST_FMUS / f"{model}_fmi{version}.fmu")


def kit_fmus(pattern="*"):
    """All FMUs of the kit that fit, as paths."""
    found = sorted(FMUS.glob(f"{pattern}.fmu"))
    assert found, f"no {pattern}.fmu in {FMUS}"
    return found


@functools.cache
def can_confine():
    """Empty if --confine strict works here; else why it does not."""
    if SANITIZED:
        return "sanitizers do what is forbidden: memory without end, a look at other threads"
    outcome = subprocess.run([TUTTI, "run", kit_fmu("Ticker", "2"), "--confine", "strict", "--quiet", "-o", "-"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    return outcome.stderr.decode("utf-8", "replace").strip()


def in_turn(those, *lists):
    """Every combination of the lists, each with one of those, who take turns: each of them meets every entry of a list that is no
    shorter, but not every combination. For what does not depend on both, as FMI versions and solvers do not."""
    those = list(those)
    for places in itertools.product(*(range(len(entries)) for entries in lists)):
        yield those[sum(places) % len(those)], *(entries[place] for place, entries in zip(places, lists))


def description(fmu):
    """The text of an FMU's model description."""
    with zipfile.ZipFile(fmu) as archive:
        return archive.read(DESCRIPTION).decode()


@dataclasses.dataclass
class Outcome:
    """How a run ended, and what it said."""

    status: int
    out: str
    err: str

    def lines(self, word):
        """The lines of the log with this word in front: "error", "warning"."""
        return [line for line in self.err.splitlines() if line.startswith(f"tutti: {word}: ")]


class Table:
    """A CSV file: the header and the rows as text, columns as numbers."""

    def __init__(self, text):
        self.header, *self.rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        self._numbers = {}  # of columns that were asked for
        assert all(len(row) == len(self.header) for row in self.rows), "rows of different lengths"

    def __len__(self):
        return len(self.rows)

    def texts(self, name):
        column = self.header.index(name)
        return [row[column] for row in self.rows]

    def __getitem__(self, name):
        if name not in self._numbers:
            self._numbers[name] = [float(text) for text in self.texts(name)]
        return list(self._numbers[name])

    @property
    def times(self):
        return self["time"]


class CommandTest(unittest.TestCase):
    """A test with a separate folder, in which the command runs. Each subtest has one too, which starts as a copy of the test's: what one
    subtest leaves there no other one meets. When a test or a subtest ends, however it ends, so do the processes that it has started."""

    maxDiff = 4000
    cleanups = None  # of the subtest

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="test-tutti."))
        self.tmpdir = self.folder / "tmp"
        self.tmpdir.mkdir()
        self.home = self.folder / "caches"  # what users are known by lies there: one for the whole test
        self.shared = {"tmp", "caches"}  # entries of the folder that subtests do not copy
        self.offspring = []
        self.addCleanup(self._leave)

    @contextlib.contextmanager
    def subTest(self, *message, **parameters):
        with super().subTest(*message, **parameters):
            outer = self.folder, self.tmpdir, self.offspring, self.cleanups
            self.folder = pathlib.Path(tempfile.mkdtemp(prefix="test-tutti."))
            self.tmpdir, self.offspring = self.folder / "tmp", []
            self.tmpdir.mkdir()
            _copy(outer[0], self.folder, self.shared)
            _give(outer[0], self.folder, self.tmpdir)
            try:
                with contextlib.ExitStack() as self.cleanups:
                    self.cleanups.callback(self._leave)
                    yield
            finally:
                self.folder, self.tmpdir, self.offspring, self.cleanups = outer

    def addCleanup(self, function, /, *arguments, **options):
        """At the end of the subtest, or of the test."""
        if self.cleanups:
            self.cleanups.callback(function, *arguments, **options)
        else:
            super().addCleanup(function, *arguments, **options)

    def spawn(self, words, env=None, **options):
        """Starts a program in the test's folder, the first process of a new session. It does not outlive the test or the subtest that
        starts it."""
        options = {"cwd": self.folder, "stdin": subprocess.DEVNULL, "start_new_session": True, **options}
        process = subprocess.Popen([*map(str, words)], env=self.environment(**(env or {})), **options)
        self.offspring.append(process)
        return process

    def _leave(self):
        """Ends the processes that are left, and takes the folder away."""
        while self.offspring:
            process = self.offspring.pop()
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # a child that was not waited for: its number is not reused
                process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        """The path of a file in the test's folder, as text."""
        return str(self.folder / name)

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")
        return self.path(name)

    # ---- starting the command

    def environment(self, **extra):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KIT_", "LC_", "LANG"))}
        return {**kept, "TMPDIR": str(self.tmpdir), "XDG_CACHE_HOME": str(self.home), **extra}

    def start(self, *arguments, env=None, launcher=(), **options):
        """Starts the command in a process group of its own, by another one that starts several, if there is a launcher;
        see finish(). Its pipes have no buffers that could keep from finish() what came together with a line that was
        read before."""
        options = {"bufsize": 0, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return self.spawn([*launcher, TUTTI, *arguments], env, **options)

    def await_print(self, process):
        """Waits until an FMU with the fault "print" has printed: it is under way. Its words come where the log is."""
        while b"prints" not in (line := process.stderr.readline()):
            self.assertTrue(line, "it has ended")

    def interrupt(self, process, number=signal.SIGINT):
        """Sends a signal to a run, and waits until it has answered: one that follows is another one."""
        process.send_signal(number)
        while b"once more: at once" not in (line := process.stderr.readline()):
            self.assertTrue(line, "it has ended")

    def finish(self, process, left=()):
        """Waits for the end, and checks what holds for every run. `left` may be in TMPDIR: it was there before."""
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail(f"{process.args} hangs")
        outcome = Outcome(process.returncode, _text(out), _text(err))
        said = f"{process.args}\n{outcome.err}"
        self.assertGreaterEqual(outcome.status, 0, f"killed by signal {-outcome.status}: {said}")
        self.assertNotIn("Sanitizer", outcome.err, said)
        self.assertNotIn("runtime error:", outcome.err, said)
        self.assertEqual(set(os.listdir(self.tmpdir)) - set(left), set(), f"temporary files are left by {said}")
        self.assertTrue(wait_until(lambda: is_gone(process.pid)), f"a process is left by {said}")  # its parent may have been killed
        return outcome

    def tutti(self, *arguments, status=0, **options):
        """Runs the command to its end, which has to have this exit status; None: 0 or 1."""
        outcome = self.finish(self.start(*arguments, **options))
        status = outcome.status if status is None and outcome.status < 2 else status
        self.assertEqual(outcome.status, status, f"exit status of {arguments}: {outcome.err}\n{outcome.out[:2000]}")
        return outcome

    def simulate(self, fmu, *options, status=0, **more):
        """`tutti run` with the result on standard output, as a table; nobody may have been warned."""
        outcome = self.tutti("run", fmu, "-o", "-", "--quiet", *options, status=status, **more)
        self.assertEqual(outcome.err, "")
        return Table(outcome.out)

    def refused(self, *arguments, status, says, **options):
        """Runs the command, which has to fail with exactly one message that fits the patterns."""
        outcome = self.tutti(*arguments, status=status, **options)
        messages = [line for line in outcome.err.splitlines() if line.strip()]
        self.assertEqual(len(messages), 1, outcome.err)
        self.assertRegex(messages[0], r"^tutti( \w+)?: ")
        for pattern in [says] if isinstance(says, str) else says:
            self.assertRegex(messages[0], pattern)
        return outcome

    def result(self, name="result.csv"):
        """A result file as a table."""
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return Table(file.read())

    def german(self):
        """The environment of a German system; made here if the machine has none."""
        if not shutil.which("localedef"):
            self.skipTest("no localedef: no other locale to run in")
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", self.path("de_DE.UTF-8")],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest("localedef cannot make de_DE.UTF-8")
        return {"LOCPATH": str(self.folder), "LC_ALL": "de_DE.UTF-8"}

    # ---- FMUs that are not as the kit made them

    def altered(self, fmu, *edits, name="altered.fmu", rename=None, drop=(), add=None):
        """A copy of an FMU. `edits` are pairs of old and new text in the description; entries of the archive are
        renamed (by a function), dropped (by their beginning) or added (a dictionary)."""
        text = description(fmu)
        for old, new in edits:
            self.assertIn(old, text, f"{fmu} is not what this test thinks")
            text = text.replace(old, new, 1)
        with zipfile.ZipFile(fmu) as source, zipfile.ZipFile(self.path(name), "w") as target:
            for entry in source.namelist():
                if not entry.startswith(tuple(drop)):
                    target.writestr(rename(entry) if rename else entry,
                                    text if entry == DESCRIPTION else source.read(entry))
            for entry, data in (add or {}).items():
                target.writestr(entry, data)
        return self.path(name)

    # ---- comparing

    def assert_near(self, values, expected, tolerance):
        """Both lists agree within the absolute tolerance."""
        self.assertEqual(len(values), len(expected))
        worst = max((abs(a - b), i) for i, (a, b) in enumerate(zip(values, expected)))
        self.assertLessEqual(worst[0], tolerance, f"value {worst[1]} of {len(values)}")


def _copy(source, target, but):
    """Copies the contents of a folder; other things than files and folders (a pipe) are linked. Files of processes may vanish meanwhile."""
    for entry in os.scandir(source):
        if entry.name in but:
            continue
        with contextlib.suppress(FileNotFoundError):
            path = target / entry.name
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), path)
            elif entry.is_dir():
                path.mkdir()
                _copy(entry.path, path, ())
                shutil.copystat(entry.path, path)
            elif entry.is_file():
                shutil.copy2(entry.path, path)
            else:
                os.symlink(entry.path, path)
            _give(entry.path, path)


def _give(source, *paths):
    """Paths that were just made to the owner of another one, who may be another user where tests are run as root."""
    owner = os.lstat(source)
    for path in paths:
        if owner.st_uid != os.getuid():
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def wait_until(what):
    """Waits for a condition; False if it does not come within PATIENCE. All that tests wait for and cannot be told of is looked at here."""
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def await_guest(server, process):
    """Waits until a client connects to a listening socket, or the process has ended: the connection, or None."""
    ended = os.pidfd_open(process.pid) if process.poll() is None else None
    if ended is None:
        return None
    with open(ended, "rb"):
        return server.accept()[0] if server in select.select([server, ended], [], [], PATIENCE)[0] else None


def is_asleep(pid):
    """Whether a process waits for something, with all of its threads, and no signal that it would take is on its way to it."""
    pending, blocked = 0, -1
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        state = dict(line.split(":", 1) for line in (task / "status").read_text("utf-8", "replace").splitlines())
        own, of_all, mask = (int(state[name], 16) for name in ("SigPnd", "ShdPnd", "SigBlk"))
        if state["State"].strip()[0] != "S" or own & ~mask:
            return False
        pending, blocked = of_all, blocked & mask
    return not pending & ~blocked


def processor_seconds(pid):
    """What a process has taken of a processor: what waits for it to have worked for a while; 0 if it is gone."""
    try:
        ticks = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[11]
    except OSError:
        return 0
    return int(ticks) / os.sysconf("SC_CLK_TCK")


def is_gone(group):
    """Whether no process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def _text(data):
    return "" if data is None else data.decode("utf-8", "surrogateescape")
