#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs a command on a machine that has much else to do.

    tools/stress.py COMMAND [ARGUMENT...]
    tools/stress.py --self-test

While the command runs, one process per core computes, one fills and copies a quarter of the free memory (1 GB at most), and one writes,
syncs and removes a file of 64 MB again and again beside the temporary files. All of them, and the command, run at nice 19. Where a
control group can be made (as root, as a rule), the command has all cores but one, and a third of that one (cpu.max); else that is
reported, and left out. The exit status is the command's."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

SHARE = 1 / 3  # of the core that is throttled
PERIOD = 100000  # microseconds
CHUNK = 1 << 20


def compute(core):
    os.sched_setaffinity(0, {core})
    while True:
        sum(n * n for n in range(100000))
        yield


def fill_memory(_):
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    size = max(CHUNK, min(free // 8, 1 << 29))
    here, there = bytearray(size), bytearray(size)
    while True:
        for begin in range(0, size, CHUNK):
            there[begin:begin + CHUNK] = here[begin:begin + CHUNK]
            yield
        here, there = there, here


def write_files(_):
    with tempfile.TemporaryDirectory(prefix="tutti-stress-") as folder:
        path = pathlib.Path(folder) / "file"
        data = os.urandom(CHUNK)
        while True:
            with open(path, "wb") as file:
                for _ in range(64):
                    file.write(data)
                    yield
                os.fsync(file.fileno())
            path.unlink()


LOADS = {"cpu": compute, "memory": fill_memory, "disk": write_files}


def work(kind, core):
    """A load until the other end of standard input is closed: it ends with the process that started it. Says once that it has begun."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.set_blocking(0, False)
    begun = False
    with contextlib.closing(LOADS[kind](core)) as load:
        for _ in load:
            if not begun:
                os.write(1, b"!")
                begun = True
            with contextlib.suppress(BlockingIOError):
                if os.read(0, 1) == b"":
                    return


def start_loads():
    kinds = [("cpu", core) for core in sorted(os.sched_getaffinity(0))] + [("memory", 0), ("disk", 0)]
    loads = [subprocess.Popen([sys.executable, __file__, "--load", kind, str(core)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
             for kind, core in kinds]
    for load, (kind, _) in zip(loads, kinds):
        if load.stdout.read(1) != b"!":
            sys.exit(f"stress: the load on {kind} does not begin")
    return loads


def end_loads(loads):
    for load in loads:
        load.stdin.close()
    for load in loads:
        load.wait()
        load.stdout.close()


def make_group():
    """A control group with all cores but one, and a part of that; a sentence if there can be none."""
    quota = int((len(os.sched_getaffinity(0)) - 1 + SHARE) * PERIOD)
    for top, files in ((pathlib.Path("/sys/fs/cgroup"), {"cpu.max": f"{quota} {PERIOD}"}),
                       (pathlib.Path("/sys/fs/cgroup/cpu"), {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(quota)})):
        group = top / f"tutti-stress-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for name, value in files.items():
                if not (group / name).exists():
                    raise OSError
                (group / name).write_text(value, encoding="ascii")
            return group
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
    return None


def run(command, group):
    """The command, in the group; its exit status."""
    def enter():
        if group:
            (group / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    with subprocess.Popen(command, preexec_fn=enter) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # the command has it, too
                pass


def remove(group):
    """Once the last of its processes is collected."""
    try:
        group.rmdir()
    except OSError:
        print(f"stress: {group} is left: processes are in it", file=sys.stderr)


def stress(command):
    os.nice(19)
    group = make_group()
    if not group:
        print("stress: no control group can be made here (cpu.max): no core is throttled", file=sys.stderr)
    loads = start_loads()
    try:
        status = run(command, group)
    finally:
        end_loads(loads)
        if group:
            remove(group)
    return status if status >= 0 else 128 - status


def self_test():
    """The command's status comes back; meanwhile each load works; afterwards none is left."""
    assert stress([sys.executable, "-c", "import os, sys; sys.exit(7 if os.nice(0) == 19 else 1)"]) == 7
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return 0
    return 1


def main():
    if sys.argv[1:2] == ["--load"]:
        work(sys.argv[2], int(sys.argv[3]))
        return 0
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    return stress(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
