/* SPDX-License-Identifier: MIT */
/* exchange.h - a Model Exchange importer for tests: one code for FMI 1.0, 2.0 and 3.0, and a solver of fixed step that
 * finds events. One instance at a time. */
#ifndef KIT_TEST_EXCHANGE_H
#define KIT_TEST_EXCHANGE_H

#include "harness.h"

enum { MAX_STATES = 4, MAX_EVENTS = 64 };

/* The instance under test. */
extern struct exchange {
    int version;
    struct library library;
    struct fmi1 f1;
    struct fmi2 f2;
    struct fmi3 f3;
    void *c;
    size_t nx, nz;
} me;

/* The history of a run: its events, and its end. */
extern struct history {
    int count;
    double time[MAX_EVENTS];
    bool states_changed[MAX_EVENTS], nominals_changed[MAX_EVENTS], by_step[MAX_EVENTS];
    double end;
    double x[MAX_STATES];
} seen;

/* Calls the function of the instance's version, which has to return OK. */
#define CALL(function1, function2, function3)                                                                          \
    assert_int_equal(me.version == 1   ? (int)me.f1.function1                                                          \
                     : me.version == 2 ? (int)me.f2.function2                                                          \
                                       : (int)me.f3.function3,                                                         \
                     0)

/* An instance of a library with nx states and nz indicators, in state "instantiated". */
void open_model(int version, const char *path, const char *name, size_t nx, size_t nz);
void close_model(void);
/* From instantiated to continuous-time mode, at time t; returns the time of the first time event, or INFINITY. */
double initialise(double t);
/* Runs from 0 to `stop` with steps of h, or until the model ends itself. */
void simulate(double stop, double h);

void set_time(double t);
void set_states(const double x[]);
void get_states(double x[]);
void get_derivatives(double dx[]);
void get_nominals(double nominals[]);
void get_indicators(double z[]);
double get(unsigned vr);
int get_integer(unsigned vr);
void set(unsigned vr, double value);
/* After an accepted step; true if the model asks for an event. */
bool completed(void);

struct event {
    bool states_changed, nominals_changed, terminate;
    double next; /* time of the next time event, or INFINITY */
};
/* The event iteration; in FMI 2.0 and 3.0 from event mode to continuous-time mode. */
struct event iterate(void);
/* The same from continuous-time mode. */
struct event handle(void);

#endif
