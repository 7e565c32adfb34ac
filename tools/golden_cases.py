# SPDX-License-Identifier: MIT
"""The runs of golden.py: all examples, systems of the kit's FMUs, every coupling with every control, solvers and
options, each on one rank and many of them on threads, processes and nodes, with a checkpoint and resumed.

Runs are written as words of the command line with four abbreviations, which `Cases.words` expands:

    a=Tracker_fmi2    an FMU of the kit, or EXAMPLE/NAME of an example; a single one without a=
    car.ssp           the system of an example, also car.ssp#VARIANT.ssd
    a.y->b.u          --connect a.y=b.u
    a.x:=1            --set a.x=1

Not here: --realtime and --live (they depend on the clock), --recover (on when a worker is lost), --join and mpiexec
(other programs), .h5 (equal numbers, but not equal bytes), whole runs of the examples car, houses, race_car and
chromatography (shorter ones are here)."""
import dataclasses
import itertools
import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "nets"))
sys.path.append(str(ROOT / "examples" / "truck"))
import linear_systems  # noqa: E402
import parameters  # noqa: E402

FABRICS = {"threads": ("--threads", "2"), "processes": ("--processes", "2"), "nodes": ("--nodes", "NODES")}
DRIVE = "time,u\n0,0\n0.3,1\n0.5,-0.5\n0.5,2\n1.1,0.25\n2,0.5\n"
TICKS = "clock,time,interval\ntriggered,0.1,1/7\n"
FILES = {"drive.csv": DRIVE, "drive1.csv": DRIVE.replace("u", "u1"), "ticks.csv": TICKS}

# ---- examples ----

# On every fabric. Some get a short time, so that all cases take less than three minutes.
EXAMPLES = """
    ball_on_stairs.ssp --stop 1
    billiards.ssp --stop 2
    breaker.ssp --stop 1.03
    breaker.ssp#EarlyReturn.ssd --start 0.99 --stop 1.03
    car.ssp --stop 0.1
    control_loop.ssp --stop 4
    control_loop.ssp#Fmi3.ssd --stop 4
    control_loop.ssp#Plain.ssd --stop 4 --step 0.1
    double_pendulum.ssp --stop 0.5
    double_pendulum.ssp#Plain.ssd --stop 0.5 --step 0.01
    evaluation_order.ssp
    evaluation_order.ssp#Branches.ssd
    evaluation_order.ssp#Outputs.ssd
    four_rooms.ssp --stop 7200
    hopf.ssp --stop 2 --rtol 1e-3
    houses.ssp --stop 900
    init_failure.ssp
    init_failure.ssp#NoStructure.ssd
    init_loop.ssp
    linear_coupling.ssp --stop 0.5
    linear_coupling.ssp#Derivatives.ssd --stop 0.5
    linear_coupling.ssp#Differences.ssd --stop 0.5
    load_flow.ssp
    lorenz.ssp --stop 2
    lotka_volterra.ssp --stop 10
    mass_spring_damper.ssp --stop 2
    mass_spring_damper.ssp#History.ssd --stop 2
    oscillator.ssp
    quarter_car.ssp --stop 0.5
    quarter_car.ssp#History.ssd --stop 0.5
    race_car_init.ssp --step 0.001 --stop 0.004
    smoothing.ssp
    van_der_pol.ssp --stop 3
    virtual_ecu.ssp --stop 0.05
"""
# Runs that the pages of the examples show, among them some that fail; on one rank.
EXAMPLE_RUNS = """
    ball_on_stairs.ssp --coupling relax --control diverge --stop 1
    billiards.ssp --coupling federated --quantum 1 --stop 2
    blocked_pendulum/BlockedPendulum_fmi3 --interface me --solver cvode
    blocked_pendulum/BlockedPendulum_fmi1me
    blocked_pendulum/BlockedPendulum_fmi2
    breaker.ssp --rtol 1e-4 --start 0.99 --stop 1.03
    car.ssp --coupling jacobi --step 0.01 --stop 0.5
    car.ssp --rtol 1e-3 --stop 0.2
    chromatography/Chromatography22_fmi3 --interface me --solver cvode --jacobian sparse --rtol 1e-6 --input {examples}/chromatography/gradient.csv --output-step 0.5 --stop 2
    control_loop.ssp --rtol 1e-5 --atol 1e-5 --h-max 0.14 --stop 4
    control_loop.ssp --coupling jacobi --events none --step 0.1
    coupled_pendula/Pendulum_fmi3 --interface me --input drive1.csv --step 0.05 --stop 2 --solver bdf --predictor correct-2 --rtol 1e-6
    double_pendulum.ssp --coupling jacobi --step 0.01 --extrapolate 1 --correct --stop 1
    driven_oscillator/DrivenVanDerPol_fmi3 --solver cvode --rtol 1e-6 --signal 'u=100*sin(30*time)' --stop 1
    driven_oscillator/DrivenVanDerPol_fmi1cs --signal 'u=100*sin(30*time)' --stop 1
    four_rooms.ssp --coupling jacobi --stop 7200
    four_rooms.ssp --coupling jacobi --step 300 --extrapolate 1
    hopf.ssp feed.alpha:=1.3 --rtol 1e-5 --stop 2
    houses.ssp --coupling federated --quantum ambient.T=0.1 --quantum ambient.slope=2e-5 --step 900 --stop 3600
    houses.ssp --coupling jacobi --step 5 --output-step 900 --stop 900
    init_failure.ssp#NoStructure.ssd second.careful:=true
    init_failure.ssp#NoStructure.ssd second.careful:=true second.u:=0.5
    init_loop.ssp model2.k:=1
    linear_coupling.ssp system1.d:=2 system2.d:=-1 --coupling jacobi --extrapolate 0 --step 0.001 --stop 0.2
    linear_coupling.ssp#Derivatives.ssd system1.d:=2 system2.d:=-1 --coupling jacobi --extrapolate 1 --correct --step 0.001 --stop 0.5
    load_flow.ssp load4.p:=5
    lorenz.ssp --coupling newton --step 0.05 --stop 2
    lotka_volterra.ssp --coupling seidel --extrapolate 0 --step 0.5
    lotka_volterra.ssp --coupling relax --step 0.5
    mass_spring_damper.ssp#History.ssd --coupling jacobi --extrapolate 1 --smooth --step 0.085 --stop 4
    oscillator.ssp --coupling jacobi --step 0.5 --extrapolate 0
    oscillator.ssp --coupling seidel --step 0.5 --extrapolate 0
    oscillator.ssp --coupling newton --step 0.5 --stop 50
    quad_tank/QuadTank_fmi3 --interface me --input {examples}/quad_tank/inputs.csv --stop 60
    quad_tank/QuadTank_fmi2 --interface cs --input {examples}/quad_tank/inputs.csv --stop 60
    quarter_car.ssp --coupling jacobi --control richardson --extrapolate 2 --rtol 1e-4 --atol 1e-4 --error-per step
    quarter_car.ssp --coupling jacobi --control richardson --rtol 1e-4 --twin --stop 0.5
    quarter_car.ssp --interface me --stop 0.5
    race_car_init.ssp --interface me --coupling jacobi --extrapolate 0 --correct linear --step 0.005 --stop 0.01
    robot/Robot_fmi3 --interface me --stop 0.2 --rtol 1e-4 --atol 1e-6
    robot/Robot_fmi2 --interface cs --stop 0.2
    smoothing.ssp --coupling jacobi --extrapolate 1 --smooth --step 0.02 --solver cvode --predictor proceed --rtol 1e-6 --atol 1e-6
    van_der_pol.ssp --coupling seidel --step 0.3 --extrapolate 0
    van_der_pol_stiff/StiffVanDerPol_fmi3 --interface me --solver radau5 --rtol 1e-6 --step 2 --output-step 0.02
    van_der_pol_stiff/StiffVanDerPol_fmi1me --solver rodas --rtol 1e-6
    woodpecker/Woodpecker_fmi3 --interface me --solver cvode --rtol 1e-6 --atol 1e-6
    woodpecker/Woodpecker_fmi1me
"""

# ---- systems of the kit's FMUs ----

# Of three random linear systems each: a loop, a line and a chain.
LINEAR_OPTIONS = """

    --rtol 1e-5
    --rtol 1e-4 --control richardson
    --step 0.02
    --rtol 1e-4 --coupling newton
    --rtol 1e-4 --coupling relax
    --interface me --rtol 1e-4 --coupling newton --solver bdf
    --rtol 1e-4 --interface cs --extrapolate 1
"""
MASSES = "m0=ChainMass_{} m1=ChainMass_{} m0.x->m1.x_left m0.v->m1.v_left m1.F->m0.F_right m0.x:=0.1 m0.k:=30"
THREE = MASSES + " m2=ChainMass_{} m1.x->m2.x_left m1.v->m2.v_left m2.F->m1.F_right"
PAIR = MASSES.format("fmi2", "fmi3")
FREE = "a=ChainMass_fmi2 b=ChainMass_fmi3"
LINE = "--tlm 'a.F_right,a.v=b.F_right,b.v; delay=0.05; impedance=5' a.x:=1"
RIGID = "--constrain 'a.x=b.x; a.v=b.v; a.F_right,b.F_right' a.x:=0.1 b.x:=0.1 b.m:=3"
LOOP = ("a=Cell_fmi2 b=CellMoves_fmi3 a.q->b.u1 b.q->a.u1 a.y->b.u3 b.y->a.u3 "
        "a.x:=1 a.c:=0.5 a.d:=-0.6 b.c:=-0.4 b.d:=0.7 b.s:=0.5 b.w:=2")
BALL = ("ball=BouncingBall_fmi3 t=Tracker_fmi2 f=Feedthrough_fmi3 ball.h->t.u ball.bounces->f.int32_in "
        "t.y->f.float64_in --stop 1.5")
CAN = "bus=CanBus_fmi3 a=CanProbe_fmi3 b=CanProbe_fmi3 a.CAN->bus.Node1 b.CAN->bus.Node2"
FRAME = "10000000100000000100000000000000"  # of CAN: a request to send, without data
BALL_TO_ALL = ("ball=BouncingBall_fmi3 t=Tracker_fmi2 f=Feedthrough_fmi3 u=Tracker_fmi3 ball.h->t.u "
               "ball.bounces->f.float64_discrete_in t.y->u.u u.y*0.1->f.float64_in --stop 0.6")
# On every fabric, and with a checkpoint: its time in brackets.
SYSTEMS = f"""
    masses-1cs [0.6] {MASSES.format("fmi1cs", "fmi1cs")} --stop 1 --step 0.05
    masses-1me [0.6] {MASSES.format("fmi1me", "fmi1me")} --stop 1 --step 0.05
    masses-1-2-3 [0.6] {THREE.format("fmi1me", "fmi2", "fmi3")} --stop 1 --step 0.05
    masses-2-3 [0.6] {PAIR} --stop 1 --step 0.05
    masses-tolerance [0.6] {PAIR} --stop 1 --rtol 1e-4
    masses-me [0.6] {PAIR} --stop 1 --rtol 1e-4 --interface me
    masses-me-jacobi [0.6] {PAIR} --stop 1 --rtol 1e-4 --interface me --coupling jacobi --solver bdf
    masses-own-steps [0.4] {PAIR} --stop 0.6 --step 0.02 --step m1=0.06
    masses-order [0.6] {PAIR} --stop 1 --step 0.05 --order m1,m0
    masses-average [0.6] {PAIR} --stop 1 --step 0.05 --filter average --interface me
    masses-output-step [0.6] {PAIR} --stop 1 --rtol 1e-4 --output-step 0.07
    masses-fork {PAIR} --stop 0.2 --rtol 1e-4 --rollback fork
    masses-prudent [0.6] {PAIR} --stop 1 --rtol 1e-4 --control richardson --mode prudent
    masses-federated [0.6] {PAIR} --stop 1 --step 0.05 --coupling federated
    masses-federated-quantum [0.6] {PAIR} --stop 1 --step 0.05 --coupling federated --control quantum --quantum 0.01
    masses-tlm [0.2] {FREE} {LINE} --stop 0.3
    masses-tlm-fixed [0.6] {FREE} {LINE} --stop 1 --step 0.01
    masses-rigid [0.6] {FREE} {RIGID} --stop 1 --step 0.02
    masses-rigid-tolerance [0.06] {FREE} {RIGID} --stop 0.1 --rtol 1e-4
    ring-of-fmi2-3 [0.6] a=Tracker_fmi2 b=Tracker_fmi3 a.y*-1->b.u b.y*0.5+1->a.u --stop 1 --rtol 1e-4
    ring-of-errors [0.6] a=Tracker_fmi2 b=Tracker_fmi3 a.error*0.3->b.u b.error+0.2->a.u --stop 1 --rtol 1e-4
    ring-of-trackers [0.6] a=Tracker_fmi2 b=Tracker_fmi3 c=Tracker_fmi1cs a.y->b.u b.y->c.u c.y->a.u a.T:=0.3 --stop 1 --step 0.05
    loop [0.6] {LOOP} --stop 1
    loop-fixed [0.6] {LOOP} --stop 1 --step 0.05
    loop-me [0.6] {LOOP} --stop 1 --interface me --rtol 1e-4
    loop-signal [0.6] {LOOP} --signal 'a.u2=0.5*sin(3*time)' --stop 1 --rtol 1e-4
    ball [0.9] {BALL} --rtol 1e-4
    ball-fixed [0.9] {BALL} --step 0.05
    ball-me [0.9] {BALL} --rtol 1e-4 --interface me
    ball-located [0.9] {BALL} --rtol 1e-4 --events output
    balls [0.9] a=BouncingBall_fmi2 b=BouncingBall_fmi3 b.h:=0.7 b.e:=0.5 --stop 1.5 --rtol 1e-4
    stair [1.8] s=Stair_fmi2 f=Feedthrough_fmi2 s.counter->f.int32_in --stop 3 --step 0.3
    heater [240] h=Heater_fmi2 t=Tracker_fmi3 h.T_celsius->t.u h.T:=293 t.T:=20 --stop 400 --step 5
    heaters [36] h=Heater_fmi3 k=Heater_fmi3 f=Feedthrough_fmi3 h.T->k.T_outside h.heating->f.boolean_in --stop 60 --rtol 1e-4
    texts [0.6] a=Feedthrough_fmi3 b=Feedthrough_fmi3 a.string_out->b.string_in a.binary_out->b.binary_in a.color_out->b.color_in 'a.string_in:=a "text", with commas' --stop 1 --step 0.25 --record *
    matrices [0.6] a=Feedthrough_fmi3 b=Feedthrough_fmi3 a.matrix_out->b.matrix_in b.boolean_out->a.boolean_in b.int64_out->a.int64_in 'a.matrix_in:=1 2 3 4 5 6' b.boolean_in:=true --stop 1 --step 0.25 --record *
    array-elements [0.6] a=StateSpace_fmi3 b=StateSpace_fmi3 a.y[1]*0.2->b.u[2] b.y[2]*0.1->a.u[1] --stop 1 --rtol 1e-4
    array-loop [0.3] a=StateSpace_fmi3 b=StateSpace_fmi3 a.y->b.u b.y->a.u 'a.D:=0 0 0.2 0' --stop 0.5 --step 0.05
    convert [0.6] a=Feedthrough_fmi3 b=Feedthrough_fmi3 a.float64_out->b.int32_in b.int32_out->a.boolean_in --convert a.float64_in:=2.5 --stop 1 --step 0.25
    integrators [0.6] a=Dahlquist_fmi2 b=Tracker_fmi3 c=VanDerPol_fmi3 a.x->b.u --stop 1 --rtol 1e-4
    tickers [0.6] a=Ticker_fmi1cs b=Ticker_fmi3 r=Resource_fmi2 --stop 1 --step 0.05
    terminals [0.6] a=PlugSource_fmi3 b=PlugSink_fmi3 a.pin->b.pin a.Powertrain->b.Powertrain --stop 1
    clock-of-a-sampler [0.18] s=Sampler_fmi3 p=PITriggered_fmi3 t=Tracker_fmi2 s.ready->p.tick s.y->p.y p.u->t.u t.y->s.u --stop 0.3
    clock-of-a-crank [0.6] c=Crank_fmi3 p=PITriggered_fmi3 c.tooth->p.tick c.angle->p.y --stop 1
    clock-of-a-crank-me [0.6] c=Crank_fmi3 p=PITriggered_fmi3 c.tooth->p.tick c.angle->p.y --interface me --stop 1
    clocks [0.6] a=Clocks_fmi3 b=Clocks_fmi3 a.out->b.triggered --stop 1
    pi-loop [0.18] p=StateSpace_fmi3 c=PI_fmi3 p.y[1]->c.y c.u->p.u[1] --stop 0.3 --clock c.tick=1/50
    scheduled [0.6] p=Preempt_fmi3 t=Tracker_fmi3 t.y->p.u p.y->t.u --stop 1
    can-bus [0.006] {CAN} a.first:={FRAME} b.first:={FRAME} b.first_at:=30 --stop 0.01 --step 0.001
    lacking [0.6] l=Lacking_fmi2 t=Tracker_fmi2 --stop 1 --step 0.05
"""
# On one rank, or on the ranks that they name.
SINGLE_RUNS = f"""
    masses-place {PAIR} --stop 1 --step 0.05 --place m0=1 --threads 2
    masses-twin {PAIR} --stop 1 --rtol 1e-4 --control richardson --twin
    once a=Once_fmi2 b=Once_fmi2 b.slope:=2 --stop 1 --step 0.05
    once-processes a=Once_fmi2 b=Once_fmi2 b.slope:=2 --stop 1 --step 0.05 --processes 2
    once-threads a=Once_fmi2 b=Once_fmi2 b.slope:=2 --stop 1 --step 0.05 --threads 2
    schedule Clocks_fmi3 --interface se --schedule ticks.csv --stop 0.5
    sensitivity VanDerPol_fmi3 --interface me --sensitivity mu --stop 1
"""
# Systems with an FMU that cannot serialise its state.
REPLAYED = ("masses-1cs", "ring-of-trackers", "tickers", "lacking")
MODELS = ("Dahlquist", "BouncingBall", "VanDerPol", "Stair", "Feedthrough", "Heater", "Tracker")

# ---- couplings, controls, solvers ----

MASTER_SYSTEMS = (  # with the time of a checkpoint
    (THREE.format("fmi2", "fmi3", "fmi2") + " --stop 0.5", "0.3"), (LOOP + " --stop 0.5", "0.3"), (BALL_TO_ALL, "0.4"),
    ("control_loop.ssp --stop 2", "1.2"), ("quarter_car.ssp --stop 0.05 --h-min 1e-5", "0.03"),
)
COUPLINGS = ("jacobi", "jacobi --correct", "jacobi --correct solve", "jacobi --smooth", "seidel", "relax",
             "relax --sweeps jacobi", "relax --accelerate aitken", "relax --sweeps jacobi --accelerate anderson",
             "newton", "newton --newton full", "newton --newton broyden", "newton --newton krylov", "strong", "kinematic")
CONTROLS = ("fixed", "richardson", "slope", "embedded", "quantum --quantum 0.01")
ITERATED = ("converge", "diverge")  # for relax and newton only
EVENTS = ("none", "early", "output")
SOLVERS = """
    cvode --solver cvode --rtol 1e-5
    adams --solver adams --rtol 1e-5
    switch --solver switch --rtol 1e-5
    dopri5 --solver dopri5 --rtol 1e-5
    dopri8 --solver dopri8 --rtol 1e-5
    dirk --solver dirk --rtol 1e-5
    radau5 --solver radau5 --rtol 1e-5
    rodas --solver rodas --rtol 1e-5
    bdf --solver bdf --rtol 1e-5
    ida --solver ida --rtol 1e-5
    rk4 --solver rk4 --solver-step 0.01
    heun --solver heun --solver-step 0.01
    euler --solver euler --solver-step 0.01
    implicit_euler --solver implicit_euler --solver-step 0.01
    default
    restart --solver bdf --predictor restart
    proceed --solver bdf --predictor proceed
    correct-1 --solver bdf --predictor correct-1
    correct-2 --solver bdf --predictor correct-2
    correct-all --solver bdf --predictor correct-all
    dense --solver radau5 --jacobian dense
    sparse --solver radau5 --jacobian sparse
    plain --solver cvode --jacobian plain
    krylov --solver cvode --linear-solver krylov
    low-order --solver cvode --max-order 2
    short-steps --solver bdf --h-max 0.02 --h-first 1e-4
    differences --solver bdf --no-directional-derivatives
"""
SAVING_SOLVERS = ("bdf", "radau5", "rk4", "heun", "euler")  # whose memory is a part of checkpoints
INPUTS = """
    lines
    hold --interpolate hold
    cubic --interpolate cubic
    slope --input-at slope
    begin --input-at begin
    middle --input-at middle
    end --input-at end
    tolerance --rtol 1e-6
    no-event-mode --no-event-mode
    no-stop-time --no-stop-time
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of `tutti run`, in a folder of its own. The word NODES is the value of --nodes."""

    name: str  # with @ for a run that gives the bytes of the case before the @
    words: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()  # commands that run first
    result: str = "result.csv"

    @property
    def files(self) -> dict[str, str]:
        """The input files by their names."""
        return {name: text for name, text in FILES.items() if name in self.words}

    @property
    def coupled(self) -> bool:
        """Whether the run has a step log."""
        return sum("=" in word and word.endswith(".fmu") for word in self.words) > 1 or ".ssp" in self.words[0]


def named(text: str) -> list[tuple[str, str]]:
    """The lines of a table: first word, and what follows it."""
    return [(line.split()[0], line.strip().partition(" ")[2]) for line in text.splitlines() if line.strip()]


def short(words: str) -> str:
    """Words as a part of a name."""
    return re.sub(r"[^\w.=:*-]+", "+", re.sub(r"(^| )--|\{examples\}/\w+/", " ", words).strip()) or "plain"


class Cases:
    def __init__(self, build: pathlib.Path) -> None:
        self.build = build
        self.found: list[Case] = []

    def words(self, text: str) -> tuple[str, ...]:
        """The abbreviations of a run, expanded."""
        words: list[str] = []
        for word in shlex.split(text.replace("{examples}", str(ROOT / "examples"))):
            fmu = re.fullmatch(r"(\w+=)?(?:(\w+)/)?([A-Z]\w+_fmi\w+)", word)
            system = re.fullmatch(r"(\w+)\.ssp(#.*)?", word)
            if fmu:
                folder = self.build / ("examples/" + fmu[2] if fmu[2] else "fmus")
                words.append(f"{fmu[1] or ''}{folder / fmu[3]}.fmu")
            elif system:
                words.append(str(self.build / "examples" / system[1] / word))
            elif "->" in word:
                words += ["--connect", word.replace("->", "=")]
            elif ":=" in word:
                words += ["--set", word.replace(":=", "=", 1)]
            else:
                words.append(word)
        return tuple(words)

    # ---- one case, and the same in other ways ----

    def add(self, name: str, words: tuple[str, ...], fabrics: tuple[str, ...] = ()) -> Case:
        case = Case(name, words)
        self.found.append(case)
        for fabric in fabrics:
            self.found.append(Case(f"{name}@{fabric}", (*words, *FABRICS[fabric])))
        return case

    def add_resumed(self, case: Case, at: str, fabric: str = "", *more: str) -> None:
        """With one checkpoint, at that time; and resumed from there, on another fabric. How many checkpoints of several
        reach the disk depends on the machine."""
        taking = (*case.words, *more, "--checkpoint", "point", "--every", at)
        self.found.append(Case(f"{case.name}@checkpoint", taking))
        log = ("--step-log", "steps.csv") if case.coupled else ()
        name = f"{case.name}@resume" + (f"-{fabric}" if fabric else "")
        self.found.append(Case(name, (*case.words, *more, "--resume", "point", *FABRICS.get(fabric, ())),
                               before=(("run", *taking, "--quiet", "-o", case.result, *log),)))

    # ---- all of them ----

    def examples(self) -> None:
        every = tuple(FABRICS)
        for name, options in named(EXAMPLES):
            self.add("example/" + re.sub(r"\.ss[pd]", "", name), self.words(f"{name} {options}"), every)
        for name, options in named(EXAMPLE_RUNS):
            self.add(f"example/{re.sub('.ss[pd]', '', name)}:{short(options)}", self.words(f"{name} {options}"))
        units = " ".join(f"u{i}=chain/Link_fmi2" for i in range(1, 5))
        joints = [f"u{i}.x2=u{i + 1}.x1; u{i}.v2=u{i + 1}.v1; u{i}.f2,u{i + 1}.f1" for i in range(1, 4)]
        constraints = [word for joint in joints for word in ("--constrain", joint)]
        self.add("example/chain", (*self.words(f"{units} u1.x1:=1 --step 0.1 --stop 4"), *constraints), every)
        units = ("engine=truck/Engine_fmi2 clutch=truck/Shaft_fmi2 gearbox=truck/Shaft_fmi2 shaft=truck/Shaft_fmi2 "
                 "trailer=truck/Trailer_fmi2")
        joints = [f"{one[0]}={other[0]}; {one[1]}={other[1]}; {one[2]},{other[2]}" for one, other, _ in parameters.JOINTS]
        constraints = [word for joint in joints for word in ("--constrain", joint)]
        self.add("example/truck", (*self.words(f"{units} --stop 0.2 --step 0.0005"), *parameters.settings(), *constraints),
                 ("threads",))

    def linear(self) -> None:
        options = LINEAR_OPTIONS.splitlines()[1:]
        for seed in range(3 * len(options)):
            sort = linear_systems.SORTS[seed % 3]
            system = linear_systems.LinearSystem(seed, self.build / "fmus", sort=sort, radius=0.2 + 0.03 * seed)
            words = (*system.words(), "--stop", "1", "--record", "*", *options[seed // 3].split())
            case = self.add(f"linear/{sort}-{seed}", words, tuple(FABRICS))
            self.add_resumed(case, "0.6", ("", *FABRICS)[seed % 4])

    def kit(self) -> None:
        for fmi, model in itertools.product(("fmi1cs", "fmi1me", "fmi2", "fmi3"), MODELS):
            for interface in ("cs", "me") if fmi in ("fmi2", "fmi3") else (fmi[-2:],):
                drive = "--input drive.csv" if model == "Tracker" else ""
                words = self.words(f"{model}_{fmi} --interface {interface} --stop 2 --step 0.1 --record * {drive}")
                self.add(f"single/{model}-{fmi}-{interface}", words, ("nodes",) if fmi == "fmi2" else ())
        for name, text in named(SYSTEMS):
            at = re.match(r"\[(.*?)\] ", text)
            case = self.add(f"kit/{name}", self.words(text[at.end() if at else 0:]), tuple(FABRICS))
            if at:
                self.add_resumed(case, at[1], "threads", *(["--checkpoint-replay"] if name in REPLAYED else []))
        for name, text in named(SINGLE_RUNS):
            self.add(f"kit/{name}", self.words(text))

    def several_commands(self) -> None:
        """Packed systems, saved states; and the other formats of results."""
        fixed = self.words(f"{PAIR} --stop 1 --step 0.05")
        outside = self.words("p=packed.fmu t=Tracker_fmi2 p.m0.x->t.u --stop 1 --step 0.05")
        for fmi, options in (("2", "--step 0.05"), ("3", "--step 0.05 --coupling jacobi"), ("2", "--rtol 1e-4")):
            pack = ("pack", *self.words(f"{PAIR} --stop 1 {options}"), "--expose", "m0.x", "--fmi", fmi, "-o", "packed.fmu", "--quiet")
            self.found.append(Case(f"kit/packed-{fmi}:{short(options)}", outside, before=(pack,)))
        states = ("m0=m0.state", "m1=m1.state")
        saved = [word for state in states for word in ("--final-state", state)]
        warm = ("run", *fixed, *saved, "--stop", "0.5", "-o", "warm.csv", "--quiet")
        given = [word for state in states for word in ("--initial-state", state)]
        self.found.append(Case("kit/states", (*fixed, "--start", "0.5", *given), before=(warm,)))
        for form in ("units.csv", "mat", "jsonl"):
            self.found.append(Case(f"kit/format-{form}", fixed, result=f"result.{form}"))

    def masters(self) -> None:
        """Each coupling and control by one of the systems, on one rank and one fabric; every third with a checkpoint."""
        pairs = [*itertools.product(COUPLINGS, CONTROLS),
                 *itertools.product((name for name in COUPLINGS if name.startswith(("relax", "newton"))), ITERATED)]
        for n, (coupling, control) in enumerate(pairs):
            orders = 4 if coupling.startswith(("relax", "newton")) else 3
            order = 1 + n % 2 if "--smooth" in coupling else (n + n // 5) % orders
            system, at = MASTER_SYSTEMS[(n + n // len(CONTROLS)) % len(MASTER_SYSTEMS)]
            words = self.words(f"{system} --coupling {coupling} --control {control} --extrapolate {order} "
                               f"--events {EVENTS[(n // 2 + n // 7) % 3]} --rtol 1e-3 --atol 1e-4")
            case = self.add(f"master/{n:02}:{short(coupling + ' ' + control)}", words, (tuple(FABRICS)[n % 3],))
            if n % 3 == 0:
                self.add_resumed(case, at, ("", *FABRICS)[n % 4])

    def solvers(self) -> None:
        for name, options in named(SOLVERS):
            self.add(f"solver/{name}", self.words(f"VanDerPol_fmi2 --interface me --stop 3 --step 0.5 {options}"))
            self.add(f"solver/{name}-events", self.words(f"BouncingBall_fmi3 --interface me --stop 1.5 --step 0.1 {options}"))
            coupled = self.words(f"{PAIR} --interface me --coupling jacobi --stop 0.6 --step 0.05 {options}")
            case = self.add(f"solver/{name}-coupled", coupled, ("threads",))
            if name in SAVING_SOLVERS:
                self.add_resumed(case, "0.4")
        for name, options in named(INPUTS):
            for interface in ("cs", "me"):
                words = self.words(f"Tracker_fmi3 --interface {interface} --input drive.csv --step 0.15 --stop 2 {options}")
                self.add(f"input/{name}-{interface}", words)


def all_cases(build: pathlib.Path) -> list[Case]:
    cases = Cases(build)
    cases.examples()
    cases.linear()
    cases.kit()
    cases.several_commands()
    cases.masters()
    cases.solvers()
    names = [case.name for case in cases.found]
    assert len(names) == len(set(names)), [name for name in names if names.count(name) > 1]
    assert not any(" " in name for name in names)
    return cases.found
