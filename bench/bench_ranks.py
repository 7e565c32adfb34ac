#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What several ranks gain, and what they cost: bench_ranks.py BUILD

Exchanges of the fabrics against the least that such an exchange can cost (bench_fabric, bench_mpi, bench_tcp); then whole runs
of the command: two units that have work to do, their second instances, a ring of a hundred that have next to none, more ranks than cores, the start
of 16 ranks, and what a step of an FMU costs over TCP. Exit status 1 if a figure is over its bound."""
import pathlib
import re
import subprocess
import sys

from machine import MPIEXEC, Machine, cores

SPEED_UP, START = 1.9, 2.0
TWIN = 0.75  # of the time in turn: two thirds, and what states cost
RACE_CAR = 0.58  # what a thread has to do at least is 0.48 of 0.95
RING = 1.15  # some tenths of a microsecond of a step are not halved
LINEAR = 2.0  # of proportional: the machine has other things to do as well
PEER = 30 / 27  # what an FMU-step takes with a process per FMU, published, in round trips of ZeroMQ on such a machine
EXCHANGE = r"(?m)^(?:fabric +)?(\w+) .*2 ranks .* tutti +([0-9.]+) ([nu])s"


def show(command):
    """What a benchmark prints, which people see, too; and whether its figures are within their bounds."""
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return ended.stdout, ended.returncode == 0


def over_mpi(machine):
    """Ranks over MPICH: two against MPICH alone, then rings that outnumber the cores. The last line of each is its step in us."""
    program, module = machine.build / "bench" / "bench_mpi", machine.build / "tutti_mpi.so"
    if "mpi" not in machine.fabrics or not program.exists():
        return "mpi         skipped: built without MPICH\n", True
    good, steps, text = True, {}, ""
    for ranks in (2, 4, 8, 16):
        said, well = show([MPIEXEC, "-n", str(ranks), program, module])
        *figures, last = said.splitlines() or ["nan"]
        good &= well
        steps[ranks] = float(last)
        text += "".join(line + "\n" for line in figures)
    growth = steps[16] / steps[4]
    text += ("mpi         a step: exchange in a ring, reduction   "
             + "   ".join(f"{ranks} ranks {us:.1f} us" for ranks, us in steps.items())
             + f"   from 4 to 16 times {growth:.1f} (at most 8: twice their number)\n")
    return text, good and growth <= 8


def micro(machine):
    """Exchanges against the least that they can cost: seconds of one between 2 ranks, by fabric, those of a round trip of ZeroMQ, and
    whether all is well."""
    good, exchange, said = True, {}, ""
    for said, well in (show([machine.build / "bench" / "bench_fabric"]), over_mpi(machine),
                       show([machine.build / "bench" / "bench_tcp"])):
        print(said, end="", flush=True)
        good &= well
        for fabric, number, unit in re.findall(EXCHANGE, said):
            exchange.setdefault(fabric, float(number) * {"n": 1e-9, "u": 1e-6}[unit])
    bare = re.search(r"(?m)^tcp .*2 ranks +bare +([0-9.]+) us", said)
    return exchange, 1e-6 * float(bare[1]) if bare else 0, good


def speed_up(machine):
    """Two units with 1 ms of work each: Awais 2015 eq. 6.1 against 6.2, with communication that is next to nothing."""
    worker = machine.fmu("Worker_fmi2.fmu")
    system = (f"a={worker}", f"b={worker}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--place", "a=0", "--place", "b=1")
    one = machine.per_step("local", 1, *system[:-4], steps=40, rounds=12)
    good = True
    for fabric in machine.fabrics:
        two = machine.per_step(fabric, 2, *system, steps=40, rounds=12)
        asked = fabric in ("threads", "processes") and cores() > 1
        bound = f"   (at least {SPEED_UP})" if asked else ""
        print(f"speed-up    {fabric:9} 2 units of 1 ms on 2 ranks  one {1e3 * one:6.3f} ms        two {1e3 * two:6.3f} ms"
              f"        times {one / two:5.2f}{bound}", flush=True)
        good &= not asked or one / two >= SPEED_UP
    return good


def race_car(machine):
    """Andersson 2016, section 9.3.4: five units with the loads of Table 9.7, a chassis and four wheels, on two threads."""
    worker, loads = machine.fmu("Worker_fmi2.fmu"), {"chassis": 0.31, "a": 0.16, "b": 0.16, "c": 0.16, "d": 0.16}
    system = [part for name, load in loads.items() for part in (f"{name}={worker}", "--set", f"{name}.work={1e-3 * load}")]
    system += [part for wheel in "abcd" for part in ("--connect", f"chassis.y={wheel}.u")] + ["--connect", "a.y=chassis.u"]
    placed = [part for name in loads for part in ("--place", f"{name}={0 if name in ('chassis', 'a') else 1}")]
    one = machine.per_step("local", 1, *system, steps=100, rounds=12)
    two = machine.per_step("threads", 2, *system, *placed, steps=100, rounds=12)
    bound = f"   (at most {RACE_CAR}; published 0.66, best 0.53)" if cores() > 1 else ""
    print(f"race car    threads   loads 0.31 + 4 x 0.16 of 1 ms  one {1e3 * one:6.3f} ms        two {1e3 * two:6.3f} ms"
          f"        ratio {two / one:5.2f}{bound}", flush=True)
    return cores() == 1 or two / one <= RACE_CAR


def twins(machine):
    """Two do-steps of time instead of three, with second instances of two units that step one after the other."""
    worker = machine.fmu("Worker_fmi2.fmu")
    good = True
    for work in (50e-6, 1e-3):
        system = (f"a={worker}", f"b={worker}", "--connect", "a.y=b.u", "--connect", "b.y*-3=a.u", "--set", f"a.work={work}", "--set",
                  f"b.work={work}", "--coupling", "seidel", "--control", "richardson", "--h-max", "0.001", "--stop", "0.2", "--record", "none")
        one, two = (min(machine.run("local", 1, *system, *twin)[0]["loop_seconds"] for _ in range(5)) for twin in ((), ("--twin",)))
        bound = f"   (at most {TWIN})" if cores() > 1 else ""
        print(f"twin        threads   steps of {1e6 * work:4.0f} us, richardson  one {1e3 * one:6.1f} ms        two {1e3 * two:6.1f} ms"
              f"        ratio {two / one:5.2f}{bound}", flush=True)
        good &= cores() == 1 or two / one <= TWIN
    return good


def chain(machine, exchange):
    """A hundred tiny units on 2 ranks: three exchanges and half the work."""
    ring, good = machine.ring(100), True
    for fabric in machine.fabrics:
        if fabric not in exchange:
            continue
        steps = 500 if fabric == "tcp" else 10000  # the first ones fault pages in, in every process
        one, two = (machine.per_step(*where, ring, steps=steps, rounds=12) for where in (("local", 1), (fabric, 2)))
        most = 3 * exchange[fabric] + one / 2
        print(f"ring        {fabric:9} 100 tiny units on 2 ranks   one {1e6 * one:7.2f} us       two {1e6 * two:7.2f} us"
              f"       of 3 exchanges and half the work {two / most:5.2f}   (at most {RING})", flush=True)
        good &= two <= RING * most or cores() < 2
    return good


def crowd(machine):
    """Ranks that outnumber cores: from there on the cost of a step grows no more than their number."""
    ring, good = machine.ring(16), True
    for fabric in machine.fabrics:
        steps = 500 if fabric == "tcp" else 4000  # the first ones fault pages in, in every process
        found = {ranks: machine.per_step(fabric, ranks, ring, steps=steps, rounds=6) for ranks in (1, 2, 4, 8, 16)}
        crowded = [ranks for ranks in found if ranks > cores()]
        worst = max(found[ranks] / found[crowded[0]] * crowded[0] / ranks for ranks in crowded)
        texts = "  ".join(f"{ranks}: {1e6 * seconds:.1f}" for ranks, seconds in found.items())
        print(f"crowd       {fabric:9} us per step of 16 units on ranks  {texts}   of proportional {worst:5.2f}"
              f"   (at most {LINEAR})", flush=True)
        good &= worst <= LINEAR
    return good


def start(machine):
    """The whole command, with 16 ranks and one step."""
    ring, good = machine.ring(16), True
    for fabric in machine.fabrics:
        machine.run(fabric, 16, ring, "--step", 0.001, "--stop", 0.001, "--record", "none")  # nodes have the files from now on
        taken = min(machine.run(fabric, 16, ring, "--step", 0.001, "--stop", 0.001, "--record", "none")[1] for _ in range(3))
        print(f"start       {fabric:9} 16 ranks, from command to end             tutti {taken:6.3f} s   (at most {START:g})",
              flush=True)
        good &= taken <= START
    return good


def over_tcp(machine, round_trip):
    """A peer with a process per FMU needs 30 us, where a round trip of ZeroMQ takes 27."""
    good, most = True, PEER * round_trip
    for count in (2, 100):
        each = machine.per_step("tcp", 2, machine.ring(count), steps=500, rounds=8) / count
        print(f"FMU-step    tcp       {count:3} FMUs on 2 ranks              tutti {1e6 * each:6.2f} us   "
              f"(at most {1e6 * most:.1f}: {PEER:.2f} round trips, as with a process per FMU elsewhere)", flush=True)
        good &= each <= most
    return good


def main(build):
    with Machine(pathlib.Path(build)) as machine:
        exchange, round_trip, good = micro(machine)
        good &= speed_up(machine)
        good &= race_car(machine)
        good &= twins(machine)
        good &= chain(machine, exchange)
        good &= crowd(machine)
        good &= start(machine)
        good &= over_tcp(machine, round_trip)
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
