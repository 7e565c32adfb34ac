/* SPDX-License-Identifier: MIT */
/* Robot - six controlled axes with elastic gears: 36 states, 98 event indicators. It stands for the robot r3 of the Modelica Standard Library that
 * Andersson 2016, 8.6.3, takes as it is exported by Dymola, with as many of both; the equations are simple ones of our own.
 *
 * An axis has a motor and a load, joined by a spring with damping and backlash; a current that lags behind its voltage, which has a limit; a controller
 * (P for the angle, PI for the speed); friction of Coulomb, with a steep line through rest; a reference that speeds up, goes on, slows down. The load feels
 * gravity and its neighbour. Every `if` of these equations is a relation with an indicator, which decides until the next event. */
#include "kit.h"

#include <math.h>

enum { AXES = 6, RELATIONS = 16, INDICATORS = AXES * RELATIONS + 2 };

/* Relations of an axis: its indicator is positive where the name holds. */
enum relation {
    STARTED, /* phases of the reference */
    FAST,
    SLOWING,
    DONE,
    SETTLED,
    LATE,
    OVER, /* voltage beyond its limits */
    UNDER,
    FORWARDS, /* motor, faster than the line of friction reaches */
    BACKWARDS,
    TWISTED, /* gear, beyond the backlash */
    UNTWISTED,
    HIGH, /* load beyond its stops */
    LOW,
    RUSHING, /* load faster than drag begins */
    RUSHING_BACK
};

struct axis {
    double motor, speed, load, load_speed, integral, current;
    double der_motor, der_speed, der_load, der_load_speed, der_integral, der_current;
};

struct robot {
    struct axis axis[AXES];
    double indicator[INDICATORS];
    double tip;
    bool holds[INDICATORS];
};
#define KIT_SELF struct robot

static const double gear = 100, stiffness = 8000, damping = 30, backlash = 2e-4, voltage_limit = 60, stop = 2.5;
static const double line = 0.5 /* rad/s of the motor */, coulomb = 0.4, lag = 2e-3, torque_constant = 0.8, drag = 4;
static const double inertia[AXES] = {1.3e-3, 1.3e-3, 1.3e-3, 4e-4, 4e-4, 4e-4},
                    load_inertia[AXES] = {12, 9, 4, 1.2, 0.8, 0.4};
static const double weight[AXES] = {0, 60, 25, 3, 2, 0}, goal[AXES] = {1.0, -0.8, 0.9, 1.2, -1.0, 1.5};

/* The reference: from 0 to the goal between t = 0.1 and 1.6, with a speed that rises and falls on lines for a fifth of that. */
static const double begin = 0.1, rise = 0.3, end = 1.6;

#define NAMED(i, field, n, start_, text)                                                                               \
    KIT_STATE(axis[i].field, .causality = KIT_OUTPUT, .name = "axis" n "." #field, .start = start_,                    \
              .derivative = "der(axis" n "." #field ")", .description = text)
#define SLOPE(i, field, n, depends_)                                                                                   \
    KIT_DERIVATIVE(axis[i].der_##field, .name = "der(axis" n "." #field ")", .depends = depends_)
#define AXIS(i, n, before, after)                                                                                      \
    NAMED(i, motor, n, "0", "angle of the motor"), NAMED(i, speed, n, "0", "speed of the motor"),                      \
        NAMED(i, load, n, "0", "angle of the load"), NAMED(i, load_speed, n, "0", "speed of the load"),                \
        NAMED(i, integral, n, "0", "of the controller"), NAMED(i, current, n, "0", "of the motor"),                    \
        SLOPE(i, motor, n, "axis" n ".speed"),                                                                         \
        SLOPE(i, speed, n, "axis" n ".motor axis" n ".speed axis" n ".load axis" n ".load_speed axis" n ".current"),   \
        SLOPE(i, load, n, "axis" n ".load_speed"),                                                                     \
        SLOPE(i, load_speed, n,                                                                                        \
              "axis" n ".motor axis" n ".speed axis" n ".load axis" n ".load_speed axis" before                        \
              ".load_speed axis" after ".load_speed"),                                                                 \
        SLOPE(i, integral, n, "axis" n ".motor axis" n ".speed"),                                                      \
        SLOPE(i, current, n, "axis" n ".motor axis" n ".speed axis" n ".integral axis" n ".current")
#define ONE(k) KIT_INDICATOR(indicator[k], .name = "indicator[" #k "]")
#define FOUR(a, b, c, d) ONE(a), ONE(b), ONE(c), ONE(d)
#define SIXTEEN(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                                        \
    FOUR(a, b, c, d), FOUR(e, f, g, h), FOUR(i, j, k, l), FOUR(m, n, o, p)

static const struct kit_var variables[] = {
    AXIS(0, "1", "1", "2"),
    AXIS(1, "2", "1", "3"),
    AXIS(2, "3", "2", "4"),
    AXIS(3, "4", "3", "5"),
    AXIS(4, "5", "4", "6"),
    AXIS(5, "6", "5", "6"),
    KIT_OUTPUT(tip, .description = "sum of the loads' angles"),
    SIXTEEN(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    SIXTEEN(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31),
    SIXTEEN(32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47),
    SIXTEEN(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63),
    SIXTEEN(64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79),
    SIXTEEN(80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95),
    ONE(96),
    ONE(97),
};

/* Angle and speed of the reference, by the phase that holds. */
static void reference(const bool *holds, double t, double to, double *angle, double *speed)
{
    double top = to / (end - begin - rise), since = t - begin, left = end - t;
    *angle = *speed = 0;
    if (holds[DONE]) {
        *angle = to;
    } else if (holds[SLOWING]) {
        *angle = to - top / rise * left * left / 2;
        *speed = top / rise * left;
    } else if (holds[FAST]) {
        *angle = top * (since - rise / 2);
        *speed = top;
    } else if (holds[STARTED]) {
        *angle = top / rise * since * since / 2;
        *speed = top / rise * since;
    }
}

static double wanted_voltage(const struct robot *m, int i, double t, double *error)
{
    const struct axis *a = &m->axis[i];
    double angle, speed;
    reference(m->holds + i * RELATIONS, t, goal[i], &angle, &speed);
    double aim = 12 * (gear * angle - a->motor) + gear * speed;
    *error = aim - a->speed;
    return 0.12 * *error + 1.2 * a->integral;
}

static double friction(const bool *holds, double speed)
{
    return holds[FORWARDS] ? coulomb : holds[BACKWARDS] ? -coulomb : coulomb * speed / line;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct robot *m = self;
    for (int i = 0; i < AXES; i++) {
        struct axis *a = &m->axis[i];
        const bool *holds = m->holds + i * RELATIONS;
        double error, voltage = wanted_voltage(m, i, t, &error), twist = a->motor / gear - a->load;
        voltage = holds[OVER] ? voltage_limit : holds[UNDER] ? -voltage_limit : voltage;
        double lost = holds[TWISTED]     ? backlash
                      : holds[UNTWISTED] ? -backlash
                                         : twist; /* nothing is passed on inside */
        double passed = stiffness * (twist - lost) + damping * (a->speed / gear - a->load_speed);
        double pull = (i > 0 ? m->axis[i - 1].load_speed - a->load_speed : 0) +
                      (i + 1 < AXES ? m->axis[i + 1].load_speed - a->load_speed : 0);
        double stopped = holds[HIGH] ? -2e4 * (a->load - stop) : holds[LOW] ? -2e4 * (a->load + stop) : 0;
        double fast = holds[RUSHING] ? a->load_speed - 1 : holds[RUSHING_BACK] ? a->load_speed + 1 : 0;
        a->der_motor = a->speed;
        a->der_speed = (torque_constant * a->current - friction(holds, a->speed) - passed / gear) / inertia[i];
        a->der_load = a->load_speed;
        a->der_load_speed = (passed - weight[i] * sin(a->load) + 2 * pull + stopped - drag * fast) / load_inertia[i];
        a->der_integral = error;
        a->der_current = (voltage - a->current) / lag;
    }
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct robot *m = self;
    m->tip = 0;
    for (int i = 0; i < AXES; i++)
        m->tip += m->axis[i].load;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct robot *m = self;
    for (int i = 0; i < AXES; i++) {
        const struct axis *a = &m->axis[i];
        double error, voltage = wanted_voltage(m, i, t, &error), twist = a->motor / gear - a->load;
        double *g = m->indicator + i * RELATIONS;
        g[STARTED] = t - begin;
        g[FAST] = t - begin - rise;
        g[SLOWING] = t - end + rise;
        g[DONE] = t - end;
        g[SETTLED] = t - end - 0.05 - 0.01 * i;
        g[LATE] = t - 1.9;
        g[OVER] = voltage - voltage_limit;
        g[UNDER] = -voltage_limit - voltage;
        g[FORWARDS] = a->speed - line;
        g[BACKWARDS] = -line - a->speed;
        g[TWISTED] = twist - backlash;
        g[UNTWISTED] = -backlash - twist;
        g[HIGH] = a->load - stop;
        g[LOW] = -stop - a->load;
        g[RUSHING] = a->load_speed - 1;
        g[RUSHING_BACK] = -1 - a->load_speed;
    }
    m->indicator[INDICATORS - 2] = t - 0.05;
    m->indicator[INDICATORS - 1] = t - 1.95;
    return KIT_OK;
}

/* A relation that has just been left counts as left, though rounding may have it at 0. */
static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct robot *m = self;
    indicators(kit, self, t);
    for (int k = 0; k < INDICATORS; k++)
        m->holds[k] = m->indicator[k] > 0;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Robot",
    .description = "Six controlled axes with elastic gears",
    .size = sizeof(struct robot),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 2, .step = 0.01, .tolerance = 1e-4},
    .micro_step = 1e-4,
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
    .indicators = indicators,
    .event = event,
};
