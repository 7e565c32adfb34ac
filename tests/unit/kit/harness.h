/* SPDX-License-Identifier: MIT */
/* harness.h - loads the kit's libraries and calls them through the lists of the API headers. */
#ifndef KIT_TEST_HARNESS_H
#define KIT_TEST_HARNESS_H

/* cmocka needs these before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "api1.h"
#include "api2.h"
#include "api3.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTER(name, result, parameters, group) result(*name) parameters;
struct fmi1 {
    FMI1_FUNCTIONS(POINTER)
};
struct fmi2 {
    FMI2_FUNCTIONS(POINTER)
};
struct fmi3 {
    FMI3_FUNCTIONS(POINTER)
};

struct library {
    void *handle;
    char guid[64];
    char resources[512]; /* native path with trailing separator */
};

/* Last message that a test's instances logged, and how many there were. */
extern char last_message[512];
extern int message_count;

struct library library_open(const char *path);
void library_close(struct library *library);
void load1(struct fmi1 *f, const struct library *library, const char *model);
void load2(struct fmi2 *f, const struct library *library);
void load3(struct fmi3 *f, const struct library *library);

extern const fmi2CallbackFunctions callbacks2;
void log1(fmiComponent c, fmiString name, fmiStatus status, fmiString category, fmiString message, ...);
void log3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message);

/* An instance in step mode (CS), or in event mode (ME), at t = 0. */
fmi2Component start2(struct fmi2 *f, const struct library *library, fmi2Type type);
fmi3Instance start3(struct fmi3 *f, const struct library *library, bool event_mode, bool early_return);

/* cmocka's own check of floating point numbers goes through float. */
#define assert_near(a, b, tolerance)                                                                                   \
    do {                                                                                                               \
        double a_ = (a), b_ = (b);                                                                                     \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                                           \
            fail_msg("%s = %.17g is not %.17g (difference %g)", #a, a_, b_, a_ - b_);                                  \
    } while (0)

/* The call has to be refused, with a message that holds `words`. */
#define assert_refused(call, words)                                                                                    \
    do {                                                                                                               \
        last_message[0] = '\0';                                                                                        \
        assert_int_equal(call, 3);                                                                                     \
        if (!strstr(last_message, words))                                                                              \
            fail_msg("message \"%s\" does not hold \"%s\"", last_message, words);                                      \
    } while (0)

#endif
