/* SPDX-License-Identifier: MIT */
/* choose_cases.h - cases of tt_choose_method: options and traits, and what is chosen for them, with all reasons and
 * warnings. */
#ifndef TUTTI_TEST_CHOOSE_CASES_H
#define TUTTI_TEST_CHOOSE_CASES_H

#include <math.h>

#include "base/options/options.h"
#include "sim/traits.h"

enum case_loops {
    NO_LOOPS,
    EMPTY_LOOP, /* nothing comes back */
    SMALL_LOOP, /* rho(DL) = 0.5 */
    SLOW_LOOP,  /* 0.9 */
    UNSTABLE_LOOP,
    UNKNOWN_LOOP
};

/* Components 'a' (a.fmu) and 'b' (b.fmu): of Co-Simulation, they can go back and follow inputs; with continuous
 * signals, and a step of 0.1. */
struct choice_case {
    const char *title;
    struct tutti_run_options options;
    unsigned a, b, not_a, not_b; /* traits of components besides these, and what they lack of these */
    unsigned system, not_system; /* the same of the system */
    enum tt_rollback rollback_of_b;
    bool single; /* there is 'a' only */
    unsigned table_order;
    enum case_loops loops;
    const struct tt_coupling *unstable; /* an error grows twofold in each step */
    const char *foreign;
    const char *expected;
};

#define TOLERANCE .has_rtol = true, .rtol = 1e-3
#define STEP .has_step = true, .step = 0.1
#define BOTH_EXCHANGE .a = TUTTI_TRAIT_EXCHANGE, .b = TUTTI_TRAIT_EXCHANGE
#define ALONE .single = true, .not_system = TUTTI_SYSTEM_COUPLED

static const struct choice_case choice_cases[] = {
    {"nothing is given, and everything is possible",
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"a tolerance", .options = {TOLERANCE},
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"a step", .options = {STEP},
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"a step and a tolerance", .options = {STEP, TOLERANCE},
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"discrete outputs", .system = TUTTI_SYSTEM_DISCRETE,
     .expected = "seidel embedded 2 output general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: there are discrete outputs, and all units can repeat a step\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"components that may return early", .b = TUTTI_TRAIT_EVENTS,
     .expected = "seidel embedded 2 early general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: there are units with events, and all can repeat a step\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"discrete outputs and a step", .options = {STEP}, .system = TUTTI_SYSTEM_DISCRETE,
     .expected = "seidel fixed 0 output general goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: there are discrete outputs, and all units can repeat a step\n"
                 "opening: moves-inputs needs-loops\n"},
    {"one component cannot go back", .not_b = TUTTI_TRAIT_ROLLBACK, .system = TUTTI_SYSTEM_DISCRETE,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: 'b' cannot repeat a step\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: 'b' cannot repeat a step up to an event\n"
                 "fixed: 'b' cannot go back to the beginning of a step\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"one component cannot go back and a tolerance is given", .options = {TOLERANCE}, .not_b = TUTTI_TRAIT_ROLLBACK,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: 'b' cannot repeat a step\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "fixed: 'b' cannot go back to the beginning of a step\n"
                 "warning: --rtol does not control the error of the coupling here: 'b' cannot go back to the beginning "
                 "of a step, so all steps are of 0.1. Use an FMU that can save its state, or a --step that is short "
                 "enough (half of it should give the same result)\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"one component cannot go back and it offers Model Exchange, too", .options = {TOLERANCE},
     .not_b = TUTTI_TRAIT_ROLLBACK, .b = TUTTI_TRAIT_OFFERS_EXCHANGE,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: 'b' cannot repeat a step\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "fixed: 'b' cannot go back to the beginning of a step\n"
                 "warning: --rtol does not control the error of the coupling here: 'b' cannot go back to the beginning "
                 "of a step, so all steps are of 0.1. Use --interface me, or a --step that is short enough (half of it "
                 "should give the same result)\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"one component cannot go back and is not to be forked", .options = {TOLERANCE}, .not_b = TUTTI_TRAIT_ROLLBACK,
     .rollback_of_b = TUTTI_ROLLBACK_FMU,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: 'b' cannot repeat a step\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "fixed: 'b' cannot go back to the beginning of a step\n"
                 "warning: --rtol does not control the error of the coupling here: 'b' cannot go back to the beginning "
                 "of a step, so all steps are of 0.1. Use --rollback auto, or a --step that is short enough (half of "
                 "it should give the same result)\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"one component has a step of its own", .a = TUTTI_TRAIT_OWN_STEP, .system = TUTTI_SYSTEM_DISCRETE,
     .expected = "jacobi fixed 0 none general\n"
                 "coupling: 'a' has steps of its own\n"
                 "control: 'a' has steps of its own\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: 'a' has steps of its own\n"
                 "fixed: 'a' has steps of its own\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"one component has a step of its own and a tolerance is given", .options = {TOLERANCE}, .a = TUTTI_TRAIT_OWN_STEP,
     .expected = "jacobi fixed 0 none general\n"
                 "coupling: 'a' has steps of its own\n"
                 "control: 'a' has steps of its own\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: 'a' has steps of its own\n"
                 "fixed: 'a' has steps of its own\n"
                 "warning: --rtol does not control the error of the coupling here: 'a' has steps of its own, so all "
                 "steps are of 0.1. Use an FMU that can save its state, or a --step that is short enough (half of it "
                 "should give the same result)\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"a fixed internal step", .b = TUTTI_TRAIT_STAIRS,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: 'b' has a fixed internal step\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "fixed: 'b' has a fixed internal step\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"averages as outputs", .b = TUTTI_TRAIT_AVERAGES,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: outputs of 'b' are averages over a step, which depend on its size\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"averages as outputs and a tolerance", .options = {TOLERANCE}, .b = TUTTI_TRAIT_AVERAGES,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: outputs of 'b' are averages over a step, which depend on its size\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"no continuous signal", .not_system = TUTTI_SYSTEM_CONTINUOUS,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no continuous signal to estimate an error by\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"no continuous signal and a tolerance", .options = {TOLERANCE}, .not_system = TUTTI_SYSTEM_CONTINUOUS,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no continuous signal to estimate an error by\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"FMUs propose a step", .system = TUTTI_SYSTEM_STEP_PROPOSED,
     .expected =
         "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback rows-by-step\n"
         "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
         "control: FMUs only propose a step, and all units can repeat a step\n"
         "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
         "events: no unit has discrete outputs or events\n"
         "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"FMUs propose a step and the distance of rows is given", .options = {.has_output_step = true, .output_step = 1},
     .system = TUTTI_SYSTEM_STEP_PROPOSED,
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: FMUs only propose a step, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"the file of another tool gives a step", .system = TUTTI_SYSTEM_STEP_PROPOSED, .foreign = "Dymola",
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: the file gives a step for Dymola, and no tolerance is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"the file of another tool gives a step and a tolerance is given", .options = {TOLERANCE},
     .system = TUTTI_SYSTEM_STEP_PROPOSED, .foreign = "Dymola",
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"the file of another tool gives a step and a longest step is given", .options = {.has_h_max = true, .h_max = 1},
     .system = TUTTI_SYSTEM_STEP_PROPOSED, .foreign = "Dymola",
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"Model Exchange and a tolerance", .options = {TOLERANCE}, BOTH_EXCHANGE,
     .expected = "strong fixed 0 none general together by-attempts\n"
                 "coupling: a tolerance is given, and all units are of Model Exchange: in one solver there is no error "
                 "of the coupling\n"
                 "control: all units are in one solver, which controls the error\n"
                 "extrapolate: all units are in one solver\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"Model Exchange and a tolerance with events", .options = {TOLERANCE}, .a = TUTTI_TRAIT_EXCHANGE,
     .b = TUTTI_TRAIT_EXCHANGE | TUTTI_TRAIT_EVENTS, .system = TUTTI_SYSTEM_DISCRETE,
     .expected = "strong fixed 0 early general together by-attempts\n"
                 "coupling: a tolerance is given, and all units are of Model Exchange: in one solver there is no error "
                 "of the coupling\n"
                 "control: all units are in one solver, which controls the error\n"
                 "extrapolate: all units are in one solver\n"
                 "events: there are units with events, and all are in one solver, which locates them\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"Model Exchange and a tolerance because of the tolerance", .options = {TOLERANCE}, BOTH_EXCHANGE,
     .system = TUTTI_SYSTEM_JOINED,
     .expected = "strong fixed 0 none general together by-attempts\n"
                 "coupling: a tolerance is given, and all units offer Model Exchange: in one solver there is no error "
                 "of the coupling\n"
                 "control: all units are in one solver, which controls the error\n"
                 "extrapolate: all units are in one solver\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"Model Exchange and a tolerance and a solver that does not go back", .options = {TOLERANCE, .solver = "adams"},
     BOTH_EXCHANGE,
     .expected = "strong fixed 0 none general together by-attempts\n"
                 "coupling: a tolerance is given, and all units are of Model Exchange: in one solver there is no error "
                 "of the coupling\n"
                 "control: all units are in one solver, which controls the error\n"
                 "extrapolate: all units are in one solver\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"Model Exchange and a tolerance and a control by name", .options = {TOLERANCE, .control = "embedded"},
     BOTH_EXCHANGE,
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"Model Exchange and a tolerance with different solvers", .options = {TOLERANCE}, BOTH_EXCHANGE,
     .not_system = TUTTI_SYSTEM_SAME_SOLVER,
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"Model Exchange and a tolerance with transmission lines", .options = {TOLERANCE}, BOTH_EXCHANGE,
     .system = TUTTI_SYSTEM_FED | TUTTI_SYSTEM_DELAYED,
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"Model Exchange and a tolerance with a step of its own", .options = {TOLERANCE}, .a = TUTTI_TRAIT_EXCHANGE,
     .b = TUTTI_TRAIT_EXCHANGE | TUTTI_TRAIT_OWN_STEP,
     .expected = "jacobi fixed 0 none general\n"
                 "coupling: 'b' has steps of its own\n"
                 "control: 'b' has steps of its own\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: 'b' has steps of its own\n"
                 "fixed: 'b' has steps of its own\n"
                 "warning: --rtol does not control the error of the coupling here: 'b' has steps of its own, so all "
                 "steps are of 0.1. Use an FMU that can save its state, or a --step that is short enough (half of it "
                 "should give the same result)\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"Model Exchange without a tolerance", BOTH_EXCHANGE,
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"Model Exchange and a step, the first choice is unstable", .options = {STEP}, BOTH_EXCHANGE,
     .unstable = &tt_coupling_seidel,
     .expected = "newton fixed 1 none general goes-back by-attempts relies-on-rollback\n"
                 "coupling: with seidel errors would grow 2 times in each step of 0.1\n"
                 "control: --step is given\n"
                 "extrapolate: a good first guess for the iteration of each step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"Model Exchange and a step, the first choice is unstable but one component cannot go back", .options = {STEP},
     .not_b = TUTTI_TRAIT_ROLLBACK, .unstable = &tt_coupling_seidel,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "fixed: 'b' cannot go back to the beginning of a step\n"
                 "opening: moves-inputs needs-loops\n"},
    {"strong", .options = {.coupling = "strong"}, BOTH_EXCHANGE,
     .expected = "strong fixed 0 none general together by-attempts\n"
                 "control: all units are in one solver, which controls the error\n"
                 "extrapolate: all units are in one solver\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"strong with a tolerance", .options = {TOLERANCE, .coupling = "strong"}, BOTH_EXCHANGE,
     .expected = "strong fixed 0 none general together by-attempts\n"
                 "control: all units are in one solver, which controls the error\n"
                 "extrapolate: all units are in one solver\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"strong with a tolerance and a solver that does not go back",
     .options = {TOLERANCE, .coupling = "strong", .solver = "adams"}, BOTH_EXCHANGE,
     .expected = "strong fixed 0 none general together by-attempts\n"
                 "control: all units are in one solver, which controls the error\n"
                 "extrapolate: all units are in one solver\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"strong with events", .options = {.coupling = "strong"}, .a = TUTTI_TRAIT_EXCHANGE,
     .b = TUTTI_TRAIT_EXCHANGE | TUTTI_TRAIT_EVENTS,
     .expected = "strong fixed 0 early general together by-attempts\n"
                 "control: all units are in one solver, which controls the error\n"
                 "extrapolate: all units are in one solver\n"
                 "events: there are units with events, and all are in one solver, which locates them\n"
                 "opening: moves-inputs needs-loops\n"},
    {"strong with a component of Co-Simulation", .options = {TOLERANCE, .coupling = "strong"},
     .a = TUTTI_TRAIT_EXCHANGE,
     .expected = "strong embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"strong with a component of Co-Simulation that cannot go back", .options = {TOLERANCE, .coupling = "strong"},
     .a = TUTTI_TRAIT_EXCHANGE, .not_b = TUTTI_TRAIT_ROLLBACK, .b = TUTTI_TRAIT_EVENTS,
     .expected = "strong fixed 0 none general\n"
                 "control: 'b' cannot repeat a step\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: 'b' cannot repeat a step up to an event\n"
                 "fixed: 'b' cannot go back to the beginning of a step\n"
                 "warning: --rtol does not control the error of the coupling here: 'b' cannot go back to the beginning "
                 "of a step, so all steps are of 0.1. Use an FMU that can save its state, or a --step that is short "
                 "enough (half of it should give the same result)\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"strong with a step of its own", .options = {.coupling = "strong"}, .a = TUTTI_TRAIT_EXCHANGE,
     .b = TUTTI_TRAIT_EXCHANGE | TUTTI_TRAIT_OWN_STEP,
     .expected = "error 6: --coupling strong needs units that step together, and 'b' (b.fmu) has a step of its own; "
                 "use jacobi or seidel with --control fixed and --events none\n"
                 "opening: moves-inputs needs-loops\n"},
    {"constraints", .options = {STEP}, .system = TUTTI_SYSTEM_CONSTRAINED | TUTTI_SYSTEM_FED,
     .expected = "kinematic fixed 0 none general goes-back by-attempts relies-on-rollback\n"
                 "coupling: --constrain needs it\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"constraints and no step", .system = TUTTI_SYSTEM_CONSTRAINED | TUTTI_SYSTEM_FED,
     .expected = "kinematic embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: --constrain needs it\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"constraints with jacobi", .options = {.coupling = "jacobi"},
     .system = TUTTI_SYSTEM_CONSTRAINED | TUTTI_SYSTEM_FED,
     .expected = "error 6: --constrain goes with --coupling kinematic, not with jacobi\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"constraints, and a component cannot go back", .options = {STEP},
     .system = TUTTI_SYSTEM_CONSTRAINED | TUTTI_SYSTEM_FED, .not_b = TUTTI_TRAIT_ROLLBACK,
     .expected = "error 5: --coupling kinematic takes units back, and 'b' (b.fmu) cannot: it does not save its state; "
                 "use --tlm instead of --constrain, or an FMU with canGetAndSetFMUState\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"constraints, and a component has a step of its own", .options = {STEP},
     .system = TUTTI_SYSTEM_CONSTRAINED | TUTTI_SYSTEM_FED, .b = TUTTI_TRAIT_OWN_STEP,
     .expected = "error 6: --coupling kinematic needs units that step together, and 'b' (b.fmu) has a step of its own; "
                 "use jacobi or seidel with --control fixed and --events none\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"transmission lines and a step", .options = {STEP}, .system = TUTTI_SYSTEM_FED | TUTTI_SYSTEM_DELAYED,
     .expected =
         "seidel fixed 1 none general by-attempts\n"
         "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
         "control: --step is given\n"
         "extrapolate: --tlm: the force at the end of a line follows its velocity, which would be of order 1 if held\n"
         "events: no unit has discrete outputs or events\n"
         "opening: moves-inputs needs-loops\n"},
    {"transmission lines without a step", .system = TUTTI_SYSTEM_FED | TUTTI_SYSTEM_DELAYED,
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"--correct", .options = {.correct = true},
     .expected = "jacobi embedded 2 none general corrects varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: --correct and --smooth need it\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"--correct with trial steps, and a step", .options = {STEP, .correct = true}, .b = TUTTI_TRAIT_TRIALS,
     .expected = "jacobi fixed 0 none general corrects relies-on-rollback\n"
                 "coupling: --correct and --smooth need it\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"--correct solve with relax", .options = {.correct = true, .correct_how = "solve", .coupling = "relax"},
     .expected = "error 6: --correct goes with --coupling jacobi or seidel, not with relax\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"--correct solve", .options = {STEP, .correct = true, .correct_how = "solve"},
     .expected = "jacobi fixed 0 none general corrects solves\n"
                 "coupling: --correct and --smooth need it\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"--smooth", .options = {.smooth = true},
     .expected = "jacobi embedded 1 none general smooths varies goes-back by-attempts relies-on-rollback\n"
                 "coupling: --correct and --smooth need it\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: --smooth needs it\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"--smooth and a step", .options = {STEP, .smooth = true},
     .expected = "jacobi fixed 1 none general smooths by-attempts\n"
                 "coupling: --correct and --smooth need it\n"
                 "control: --step is given\n"
                 "extrapolate: --smooth needs it\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"--smooth with held inputs", .options = {.smooth = true, .extrapolate = "0"},
     .expected = "error 6: --smooth needs inputs that move: use --extrapolate 1 or 2\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"--smooth with seidel", .options = {.smooth = true, .coupling = "seidel"},
     .expected = "error 6: --smooth goes with --coupling jacobi, not with seidel\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"control converge", .options = {.control = "converge"},
     .expected = "relax converge 1 none general varies goes-back by-attempts relies-on-rollback\n"
                 "coupling: --control converge needs steps that are repeated\n"
                 "extrapolate: a good first guess for the iteration of each step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"control diverge with jacobi", .options = {.control = "diverge", .coupling = "jacobi"},
     .expected = "error 6: --control diverge judges an iteration: use it with --coupling relax or newton\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"control quantum without a quantum", .options = {.control = "quantum"},
     .expected = "error 6: --control quantum needs --quantum Q: how far an output may move in a step\n"
                 "opening: moves-inputs needs-loops\n"},
    {"control quantum", .options = {.control = "quantum", .has_quantum = true, .quantum = 0.1},
     .expected =
         "seidel quantum 1 none general varies by-attempts\n"
         "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
         "control: as asked for: steps end where the first output has moved by a quantum\n"
         "extrapolate: steps end where outputs have moved by a quantum: inputs move along polynomials in a step\n"
         "events: no unit has discrete outputs or events\n"
         "opening: moves-inputs needs-loops\n"},
    {"a quantum without its control", .options = {.has_quantum = true, .quantum = 0.1},
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "warning: --quantum has no effect here; it goes with --control quantum\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"a loop", .loops = SMALL_LOOP,
     .expected = "jacobi embedded 2 none general corrects varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: with --correct: outputs depend on each other (algebraic loop, rho(DL) = 0.5)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"a loop and a step", .options = {STEP}, .loops = SMALL_LOOP,
     .expected = "jacobi fixed 0 none general corrects\n"
                 "coupling: with --correct: outputs depend on each other (algebraic loop, rho(DL) = 0.5)\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"an unstable loop and a step", .options = {STEP}, .loops = UNSTABLE_LOOP,
     .expected = "jacobi fixed 0 none general corrects\n"
                 "coupling: with --correct: outputs depend on each other (algebraic loop, rho(DL) = 3)\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"a loop whose gain is 0", .loops = EMPTY_LOOP,
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: there is an algebraic loop, but its gain is 0 (rho(DL) = 0)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"a loop with unknown feed-through", .a = TUTTI_TRAIT_OPAQUE, .loops = UNKNOWN_LOOP,
     .expected = "relax embedded 1 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: outputs depend on each other (algebraic loop, rho(DL) unknown); steps can be repeated\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: a good first guess for the iteration of each step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"a loop with unknown feed-through and a component cannot go back", .options = {STEP},
     .not_b = TUTTI_TRAIT_ROLLBACK, .b = TUTTI_TRAIT_OPAQUE, .loops = UNKNOWN_LOOP,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: 'b' cannot repeat a step; outputs depend on each other (algebraic loop, rho(DL) unknown)\n"
                 "control: --step is given\n"
                 "extrapolate: inputs are held: extrapolation could make the algebraic loop unstable\n"
                 "events: no unit has discrete outputs or events\n"
                 "fixed: 'b' cannot go back to the beginning of a step\n"
                 "warning: there is an algebraic loop, and it is not known whether --coupling seidel is stable: 'b' "
                 "cannot repeat a step; look at the result, or use --interface me or --rollback fork\n"
                 "opening: moves-inputs needs-loops\n"},
    {"a loop with unknown feed-through and a component has a step of its own", .options = {STEP},
     .b = TUTTI_TRAIT_OWN_STEP | TUTTI_TRAIT_UNIFORM, .loops = UNKNOWN_LOOP,
     .expected = "jacobi fixed 0 none general\n"
                 "coupling: 'b' has steps of its own; outputs depend on each other (algebraic loop, rho(DL) unknown)\n"
                 "control: --step is given\n"
                 "extrapolate: inputs are held: extrapolation could make the algebraic loop unstable\n"
                 "events: 'b' has steps of its own\n"
                 "fixed: 'b' has steps of its own\n"
                 "warning: there is an algebraic loop, and it is not known whether --coupling jacobi is stable: 'b' "
                 "has steps of its own; look at the result, or use --interface me\n"
                 "opening: moves-inputs needs-loops\n"},
    {"a stable loop with an opaque component that cannot go back", .not_b = TUTTI_TRAIT_ROLLBACK,
     .b = TUTTI_TRAIT_OPAQUE, .loops = SMALL_LOOP,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: 'b' cannot repeat a step; outputs depend on each other (algebraic loop, rho(DL) = 0.5)\n"
                 "control: 'b' cannot repeat a step\n"
                 "extrapolate: inputs are held: extrapolation could make the algebraic loop unstable\n"
                 "events: no unit has discrete outputs or events\n"
                 "fixed: 'b' cannot go back to the beginning of a step\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"an unstable loop with such a component", .not_b = TUTTI_TRAIT_ROLLBACK, .b = TUTTI_TRAIT_OPAQUE,
     .loops = UNSTABLE_LOOP,
     .expected = "error 5: the units of an algebraic loop cannot be coupled in a stable way: an error grows 3 times in "
                 "every step, however short it is (rho(DL) = 3). --correct or --coupling relax would do, but 'b' "
                 "(b.fmu) cannot go back to the beginning of a step; use --interface me, or an FMU with "
                 "canGetAndSetFMUState, or --rollback fork. --coupling seidel or jacobi runs it all the same\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"a stable loop, and a component has a step of its own", .b = TUTTI_TRAIT_OWN_STEP, .loops = SMALL_LOOP,
     .expected = "jacobi fixed 0 none general\n"
                 "coupling: 'b' has steps of its own; outputs depend on each other (algebraic loop, rho(DL) = 0.5)\n"
                 "control: 'b' has steps of its own\n"
                 "extrapolate: inputs are held: extrapolation could make the algebraic loop unstable\n"
                 "events: 'b' has steps of its own\n"
                 "fixed: 'b' has steps of its own\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"an unstable loop, and a component has a step of its own", .b = TUTTI_TRAIT_OWN_STEP, .loops = UNSTABLE_LOOP,
     .expected = "error 5: the units of an algebraic loop cannot be coupled in a stable way: an error grows 3 times in "
                 "every step, however short it is (rho(DL) = 3). --correct or --coupling relax would do, but 'b' "
                 "(b.fmu) has steps of its own; use --interface me, or an FMU without a step of its own. --coupling "
                 "seidel or jacobi runs it all the same\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"seidel by name, a loop and a tolerance", .options = {TOLERANCE, .coupling = "seidel"}, .loops = SMALL_LOOP,
     .expected = "seidel embedded 2 none general corrects varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: as asked for, with --correct, without which the tolerance cannot be kept: outputs depend "
                 "on each other (algebraic loop, rho(DL) = 0.5)\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"seidel by name, a loop and a step", .options = {STEP, .coupling = "seidel"}, .loops = SMALL_LOOP,
     .expected = "seidel fixed 0 none general\n"
                 "control: --step is given\n"
                 "extrapolate: inputs are held: extrapolation could make the algebraic loop unstable\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"seidel by name, a loop and a step with an opaque component", .options = {TOLERANCE, .coupling = "seidel"},
     .a = TUTTI_TRAIT_OPAQUE, .loops = SMALL_LOOP,
     .expected = "seidel embedded 0 none general late varies per-time goes-back by-attempts relies-on-rollback\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: inputs are held: extrapolation could make the algebraic loop unstable\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"seidel by name, a loop and a step with averages, and the control by name",
     .options = {TOLERANCE, .coupling = "seidel", .control = "embedded"}, .a = TUTTI_TRAIT_AVERAGES,
     .loops = SMALL_LOOP,
     .expected = "seidel embedded 0 none general late varies per-time goes-back by-attempts relies-on-rollback\n"
                 "extrapolate: inputs are held: extrapolation could make the algebraic loop unstable\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"relax by name in a slow loop", .options = {TOLERANCE, .coupling = "relax"}, .loops = SLOW_LOOP,
     .expected = "relax embedded 1 none general accelerates varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: with --accelerate anderson: sweeps converge slowly (algebraic loop, rho(DL) = 0.9)\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: a good first guess for the iteration of each step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"relax by name in a slow loop with a step", .options = {STEP, .coupling = "relax"}, .loops = SLOW_LOOP,
     .expected = "relax fixed 1 none general goes-back by-attempts relies-on-rollback\n"
                 "control: --step is given\n"
                 "extrapolate: a good first guess for the iteration of each step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"relax by name in a fast loop", .options = {TOLERANCE, .coupling = "relax"}, .loops = SMALL_LOOP,
     .expected = "relax embedded 1 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: a good first guess for the iteration of each step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"newton that repeats the last step", .options = {STEP, .coupling = "newton", .reevaluate = "last"},
     .expected = "newton fixed 1 none general last-only goes-back by-attempts relies-on-rollback\n"
                 "control: --step is given\n"
                 "extrapolate: a good first guess for the iteration of each step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"newton that repeats the last step on cubics",
     .options = {STEP, .coupling = "newton", .reevaluate = "last", .extrapolate = "3"},
     .expected = "error 6: --extrapolate 3 is about whole steps, and --reevaluate last repeats a part of them only; "
                 "leave one of them out\n"
                 "opening: moves-inputs forks\n"},
    {"cubics", .options = {STEP, .coupling = "relax", .extrapolate = "3"}, .a = TUTTI_TRAIT_NO_RATES,
     .b = TUTTI_TRAIT_HOLDS, .not_b = TUTTI_TRAIT_FOLLOWS,
     .expected = "relax fixed 3 none general goes-back by-attempts relies-on-rollback\n"
                 "control: --step is given\n"
                 "events: no unit has discrete outputs or events\n"
                 "warning: --extrapolate 3: 'a' gives no derivatives of its outputs, which move on lines, so that the "
                 "order of the coupling is not 4, but 2 at most\n"
                 "warning: --extrapolate 3: 'b' does not follow inputs inside of a step, and holds them, so that the "
                 "order of the coupling is not 4, but 2 at most\n"
                 "opening: moves-inputs forks\n"},
    {"cubics with seidel", .options = {.coupling = "seidel", .extrapolate = "3"},
     .expected = "error 6: --extrapolate 3 is a cubic between both ends of a step, and the end is known only where "
                 "steps are repeated: it goes with --coupling relax or newton, not with seidel; use --extrapolate 2\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"federated", .options = {.coupling = "federated"},
     .expected = "federated fixed 0 none general\n"
                 "control: units without a master make steps of their own, which are not judged\n"
                 "extrapolate: inputs are held from message to message\n"
                 "events: units without a master cross their own\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"federated, and no component can go back", .options = {TOLERANCE, .coupling = "federated"},
     .not_a = TUTTI_TRAIT_ROLLBACK, .not_b = TUTTI_TRAIT_ROLLBACK, .system = TUTTI_SYSTEM_DISCRETE,
     .expected = "federated fixed 0 none general\n"
                 "control: units without a master make steps of their own, which are not judged\n"
                 "extrapolate: inputs are held from message to message\n"
                 "events: units without a master cross their own\n"
                 "fixed: 'a' cannot go back to the beginning of a step\n"
                 "warning: --rtol does not control the error of the coupling here: 'a' cannot go back to the beginning "
                 "of a step, so all steps are of 0.1. Use an FMU that can save its state, or a --step that is short "
                 "enough (half of it should give the same result)\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"federated with steps of its own", .options = {STEP, .coupling = "federated"}, .b = TUTTI_TRAIT_OWN_STEP,
     .expected = "federated fixed 0 none general\n"
                 "control: units without a master make steps of their own, which are not judged\n"
                 "extrapolate: inputs are held from message to message\n"
                 "events: units without a master cross their own\n"
                 "fixed: 'b' has steps of its own\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"federated with a quantum", .options = {.coupling = "federated", .has_quantum = true, .quantum = 0.1},
     .expected = "federated quantum 0 none general\n"
                 "control: --quantum is given: units step where their outputs have moved by it\n"
                 "extrapolate: inputs are held from message to message\n"
                 "events: units without a master cross their own\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"federated with embedded", .options = {.coupling = "federated", .control = "embedded"},
     .expected = "error 6: --control embedded judges steps of all units together, and with --coupling federated each "
                 "has a time of its own; use --control fixed or quantum\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"federated with slopes", .options = {.coupling = "federated", .extrapolate = "1"},
     .expected = "error 6: --extrapolate 1 lets inputs move, which are held from message to message, and with "
                 "--coupling federated each has a time of its own; use --extrapolate 0\n"
                 "opening: moves-inputs free-steps\n"},
    {"federated with events", .options = {.coupling = "federated", .events = "early"},
     .expected = "error 6: --events early ends a step for all units, and with --coupling federated each has a time of "
                 "its own; use --events none: each crosses its own, and tells\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"federated with clocks", .options = {.coupling = "federated"}, .b = TUTTI_TRAIT_CLOCKS,
     .expected = "error 6: a clock of b ticks at points that all units have reached, and with --coupling federated "
                 "each has a time of its own; use --coupling seidel, or another\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"federated with lines", .options = {.coupling = "federated"}, .system = TUTTI_SYSTEM_FED | TUTTI_SYSTEM_DELAYED,
     .expected = "error 6: --tlm has a master that computes what goes from end to end, and with --coupling federated "
                 "each has a time of its own; use --coupling jacobi\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"a quantum in a federation", .options = {.coupling = "federated", .has_quantum = true, .quantum = 0.1},
     .system = TUTTI_SYSTEM_FEDERATE,
     .expected = "error 6: --join sets and sends values at points that all units have reached, and with --coupling "
                 "federated each has a time of its own; use --control fixed\n"
                 "opening: moves-inputs free-steps needs-loops\n"},
    {"jacobi with clocks", .options = {STEP, .coupling = "jacobi"}, .b = TUTTI_TRAIT_CLOCKS,
     .expected = "jacobi fixed 0 none general\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"everything by name",
     .options = {.coupling = "relax", .control = "richardson", .extrapolate = "1", .events = "none"},
     .expected = "relax richardson 1 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"events early by name",
     .options = {.coupling = "jacobi", .control = "fixed", .extrapolate = "0", .events = "early"},
     .expected = "jacobi fixed 0 early general goes-back by-attempts relies-on-rollback\n"
                 "opening: forks\n"},
    {"events early by name and a component cannot go back",
     .options = {.coupling = "jacobi", .control = "fixed", .events = "early"}, .not_b = TUTTI_TRAIT_ROLLBACK,
     .expected = "error 5: --events early takes units back, and 'b' (b.fmu) cannot: it does not save its state; use "
                 "--events none, or an FMU with canGetAndSetFMUState\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"events early by name and a component has a step of its own",
     .options = {.coupling = "jacobi", .control = "fixed", .events = "early"}, .b = TUTTI_TRAIT_OWN_STEP,
     .expected = "error 6: --events early needs units that step together, and 'b' (b.fmu) has a step of its own; use "
                 "jacobi or seidel with --control fixed and --events none\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"events output by name, and a step", .options = {STEP, .events = "output"}, .system = TUTTI_SYSTEM_DISCRETE,
     .expected = "seidel fixed 0 output general goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"events none by name, across which a component cannot go back",
     .options = {.control = "embedded", .events = "none"}, .a = TUTTI_TRAIT_EXCHANGE | TUTTI_TRAIT_FRAGILE,
     .expected = "error 5: --control embedded takes units back, and 'a' (a.fmu) cannot over an event: it does not save "
                 "its state; use --rollback fork, --events early, or an FMU with canGetAndSetFMUState\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"events none by name, across which a component cannot go back left to auto",
     .options = {TOLERANCE, .events = "none"}, .a = TUTTI_TRAIT_EXCHANGE | TUTTI_TRAIT_FRAGILE,
     .expected = "seidel fixed 0 none general\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: 'a' cannot repeat a step\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "fixed: 'a' cannot go back to the beginning of a step\n"
                 "warning: --rtol does not control the error of the coupling here: 'a' cannot go back to the beginning "
                 "of a step, so all steps are of 0.1. Use an FMU that can save its state, or a --step that is short "
                 "enough (half of it should give the same result)\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"richardson, and a component cannot go back", .options = {.control = "richardson", .events = "none"},
     .not_b = TUTTI_TRAIT_ROLLBACK,
     .expected = "error 5: --control richardson takes units back, and 'b' (b.fmu) cannot: it does not save its state; "
                 "use --control fixed or quantum, or an FMU with canGetAndSetFMUState\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"relax, and a component does not come back to its state", .options = {.coupling = "relax", .events = "none"},
     .not_b = TUTTI_TRAIT_ROLLBACK, .b = TUTTI_TRAIT_FORGETS,
     .expected = "error 5: --coupling relax takes units back, and 'b' (b.fmu) cannot: it does not come back to a state "
                 "that it saved; use --coupling seidel, or an FMU with canGetAndSetFMUState that keeps its word\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"relax, and a component must not be forked", .options = {.coupling = "relax", .events = "none"},
     .not_b = TUTTI_TRAIT_ROLLBACK, .rollback_of_b = TUTTI_ROLLBACK_FMU,
     .expected = "error 5: --coupling relax takes units back, and 'b' (b.fmu) cannot: it does not save its state; use "
                 "--rollback auto, --coupling seidel, or an FMU with canGetAndSetFMUState\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"relax, and a component has a step of its own", .options = {.coupling = "relax"}, .b = TUTTI_TRAIT_OWN_STEP,
     .expected = "error 6: --coupling relax needs units that step together, and 'b' (b.fmu) has a step of its own; use "
                 "jacobi or seidel with --control fixed and --events none\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"embedded, and a component cannot vary its step", .options = {.control = "embedded"},
     .b = TUTTI_TRAIT_OWN_STEP | TUTTI_TRAIT_UNIFORM,
     .expected = "error 6: --control embedded needs units that step together, and 'b' (b.fmu) cannot vary its step; "
                 "use jacobi or seidel with --control fixed and --events none\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"the error of each step", .options = {TOLERANCE, .error_per = "step"},
     .expected = "seidel embedded 1 none general varies goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: a tolerance is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: inputs move along polynomials in a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs forks needs-loops\n"},
    {"inputs that no component follows", .not_a = TUTTI_TRAIT_FOLLOWS, .not_b = TUTTI_TRAIT_FOLLOWS,
     .a = TUTTI_TRAIT_HOLDS, .b = TUTTI_TRAIT_HOLDS,
     .expected = "seidel embedded 2 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "extrapolate: errors are controlled: no unit accepts slopes of inputs, which get their values of the "
                 "middle of a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"inputs are to be held", .options = {.extrapolate = "0"},
     .expected = "seidel embedded 0 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"named jacobi, held inputs", .options = {.coupling = "jacobi", .extrapolate = "0"},
     .expected = "jacobi embedded 0 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "control: no step is given, and all units can repeat a step\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: shares-tolerance needs-loops\n"},
    {"a step log, and a step", .options = {STEP, .step_log = "log.csv"},
     .expected = "seidel fixed 0 none general by-attempts\n"
                 "coupling: no outputs depend on each other in a circle (no algebraic loop)\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs needs-loops\n"},
    {"options without effect",
     .options = {STEP, .coupling = "jacobi", .sweeps = "seidel", .accelerate = "aitken", .newton = "kept",
                 .reevaluate = "full", .max_iterations = 3, .order = "a,b", .has_relax_time = true,
                 .has_divergence = true, .error_per = "time", .has_h_min = true, .h_min = 1e-3,
                 .has_event_tolerance = true},
     .expected = "jacobi fixed 0 none general\n"
                 "control: --step is given\n"
                 "extrapolate: steps are fixed, and inputs are held in each\n"
                 "events: no unit has discrete outputs or events\n"
                 "warning: --sweeps has no effect here; it goes with --coupling relax\n"
                 "warning: --accelerate has no effect here; it goes with --coupling relax\n"
                 "warning: --newton has no effect here; it goes with --coupling newton\n"
                 "warning: --reevaluate has no effect here; it goes with --coupling newton\n"
                 "warning: --max-iterations has no effect here; it goes with --coupling relax or newton\n"
                 "warning: --order has no effect here; it goes with --coupling seidel or relax\n"
                 "warning: --relax-time has no effect here; it goes with --constrain\n"
                 "warning: --divergence has no effect here; it goes with --control diverge\n"
                 "warning: --error-per has no effect here; it goes with --control richardson or embedded\n"
                 "warning: --h-min has no effect here; it goes with a --control that varies the step\n"
                 "warning: --event-tolerance has no effect here; it goes with --events output\n"
                 "opening: moves-inputs needs-loops\n"},
    {"an unknown coupling", .options = {.coupling = "gauss"},
     .expected =
         "error 6: --coupling takes auto, jacobi, seidel, relax, newton, strong, kinematic or federated, not 'gauss'\n"
         "opening: shares-tolerance moves-inputs needs-loops\n"},
    {"one FMU", ALONE,
     .expected = "jacobi fixed 0 none\n"
                 "coupling: there is one unit\n"
                 "control: there is one unit\n"
                 "extrapolate: there is one unit\n"
                 "events: there is one unit, which crosses its own\n"
                 "opening: moves-inputs needs-loops\n"},
    {"one FMU and a coupling", .options = {.coupling = "jacobi"}, ALONE,
     .expected = "error 6: --coupling is about units that are coupled, and there is only one; leave it out\n"
                 "opening: moves-inputs needs-loops\n"},
    {"one FMU with another control", .options = {.control = "embedded"}, ALONE,
     .expected = "error 6: --control is about units that are coupled, and there is only one; leave it out\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"one FMU that a table drives, and a tolerance", .options = {TOLERANCE}, ALONE, .system = TUTTI_SYSTEM_DRIVEN,
     .table_order = 2,
     .expected = "jacobi embedded 0 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: there is one unit\n"
                 "control: a tolerance is given, and the FMU, whose inputs are approximated in a step, can repeat it\n"
                 "extrapolate: there is one unit\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"one FMU that a table drives, and a tolerance that cannot go back", .options = {TOLERANCE}, ALONE,
     .system = TUTTI_SYSTEM_DRIVEN, .table_order = 2, .not_a = TUTTI_TRAIT_ROLLBACK,
     .expected = "jacobi fixed 0 none\n"
                 "coupling: there is one unit\n"
                 "control: there is one unit\n"
                 "extrapolate: there is one unit\n"
                 "events: there is one unit, which crosses its own\n"
                 "fixed: 'a' cannot go back to the beginning of a step\n"
                 "warning: --rtol does not control the error of inputs that are held here: 'a' cannot go back to the "
                 "beginning of a step, so all steps are of 0.1. Use an FMU that can save its state, or a --step that "
                 "is short enough (half of it should give the same result)\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"one FMU that a table drives, and a tolerance without a tolerance", ALONE, .system = TUTTI_SYSTEM_DRIVEN,
     .table_order = 1,
     .expected = "jacobi fixed 0 none\n"
                 "coupling: there is one unit\n"
                 "control: there is one unit\n"
                 "extrapolate: there is one unit\n"
                 "events: there is one unit, which crosses its own\n"
                 "opening: moves-inputs needs-loops\n"},
    {"one FMU that a table drives, and a tolerance by steps that are compared", .options = {.control = "richardson"},
     ALONE, .system = TUTTI_SYSTEM_DRIVEN, .table_order = 2,
     .expected = "jacobi richardson 0 none general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: there is one unit\n"
                 "extrapolate: there is one unit\n"
                 "events: no unit has discrete outputs or events\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"one FMU that a table drives, and a tolerance and that follows it", .options = {.control = "richardson"}, ALONE,
     .system = TUTTI_SYSTEM_DRIVEN,
     .expected = "jacobi richardson 0 none varies per-time\n"
                 "coupling: there is one unit\n"
                 "extrapolate: there is one unit\n"
                 "events: there is one unit, which crosses its own\n"
                 "warning: --control richardson has no effect: there is one FMU, and it follows its inputs inside a "
                 "step, or they change at their rows only\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"one FMU that a table drives, and a tolerance with a fixed internal step", .options = {TOLERANCE}, ALONE,
     .system = TUTTI_SYSTEM_DRIVEN, .table_order = 2, .a = TUTTI_TRAIT_STAIRS,
     .expected = "jacobi fixed 0 none\n"
                 "coupling: there is one unit\n"
                 "control: there is one unit\n"
                 "extrapolate: there is one unit\n"
                 "events: there is one unit, which crosses its own\n"
                 "fixed: 'a' has a fixed internal step\n"
                 "warning: --rtol does not control the error of inputs that are held here: 'a' has a fixed internal "
                 "step, so all steps are of 0.1. Use an FMU that can save its state, or a --step that is short enough "
                 "(half of it should give the same result)\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"one FMU that a table drives, and a tolerance without continuous outputs", .options = {TOLERANCE}, .single = true,
     .system = TUTTI_SYSTEM_DRIVEN, .table_order = 2, .not_system = TUTTI_SYSTEM_CONTINUOUS | TUTTI_SYSTEM_COUPLED,
     .expected = "jacobi fixed 0 none\n"
                 "coupling: there is one unit\n"
                 "control: there is one unit\n"
                 "extrapolate: there is one unit\n"
                 "events: there is one unit, which crosses its own\n"
                 "opening: moves-inputs forks needs-loops\n"},
    {"one FMU that a table drives, and a tolerance with events", .options = {TOLERANCE}, ALONE,
     .system = TUTTI_SYSTEM_DRIVEN, .table_order = 2, .a = TUTTI_TRAIT_EVENTS,
     .expected = "jacobi embedded 0 early general varies per-time goes-back by-attempts relies-on-rollback\n"
                 "coupling: there is one unit\n"
                 "control: a tolerance is given, and the FMU, whose inputs are approximated in a step, can repeat it\n"
                 "extrapolate: there is one unit\n"
                 "events: there are units with events, and all can repeat a step\n"
                 "opening: moves-inputs forks needs-loops\n"},
};

static inline struct tt_radii case_radii(enum case_loops loops)
{
    double rho = loops == SMALL_LOOP ? 0.5 : loops == SLOW_LOOP ? 0.9 : loops == UNSTABLE_LOOP ? 3 : NAN;
    struct tt_radii radii = {.known = loops != UNKNOWN_LOOP, .loops = loops > EMPTY_LOOP, .empty = loops == EMPTY_LOOP};
    radii.rho = radii.jacobi[0] = radii.seidel[0] = rho;
    return radii;
}

static inline struct tt_traits case_traits(const struct choice_case *c, struct tt_component_traits *components)
{
    unsigned common = TUTTI_TRAIT_ROLLBACK | TUTTI_TRAIT_FOLLOWS;
    components[0] = (struct tt_component_traits){"a", "a.fmu", (common | c->a) & ~c->not_a, TUTTI_ROLLBACK_AUTO};
    components[1] = (struct tt_component_traits){"b", "b.fmu", (common | c->b) & ~c->not_b, c->rollback_of_b};
    unsigned system = TUTTI_SYSTEM_COUPLED | TUTTI_SYSTEM_CONTINUOUS | TUTTI_SYSTEM_SAME_SOLVER;
    return (struct tt_traits){.components = components,
                              .count = c->single ? 1 : 2,
                              .is = (system | c->system) & ~c->not_system,
                              .foreign = c->foreign,
                              .table_order = c->table_order,
                              .step = 0.1,
                              .has_radii = true,
                              .radii = case_radii(c->loops),
                              .unstable = {c->unstable, 2}};
}

#endif
