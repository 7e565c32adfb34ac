/* SPDX-License-Identifier: MIT */
/* rti_helper.h - a federation for tests: ambassadors by number, times as numbers, callbacks as they are expected. */
#ifndef TUTTI_TEST_RTI_HELPER_H
#define TUTTI_TEST_RTI_HELPER_H

#include <stdlib.h>

#include "hla/rti/declarations.h"
#include "hla/fom/fom.h"
#include "hla/fom/fom_module.h"
#include "hla/rti/objects.h"
#include "hla/rti/ownership.h"
#include "hla/rti/rti.h"
#include "hla/rti/support.h"
#include "hla/rti/time_management.h"
#include "test.h"

/* The call succeeds; or raises this exception, with a message that has these words in it. */
#define assert_done(expr)                                                                                              \
    do {                                                                                                               \
        enum tt_hla hla_ = (expr);                                                                                     \
        if (hla_ != TUTTI_HLA_OK)                                                                                      \
            fail_msg("%s: %s: %s", #expr, tt_exception_name(hla_), tutti_err_message());                               \
    } while (0)
#define assert_raises(expr, name, words)                                                                               \
    do {                                                                                                               \
        enum tt_hla hla_ = (expr);                                                                                     \
        if (hla_ != TUTTI_HLA_##name)                                                                                  \
            fail_msg("%s: %s (%s), expected " #name, #expr, tt_exception_name(hla_), hla_ ? tutti_err_message() : ""); \
        if (!strstr(tutti_err_message(), words))                                                                       \
            fail_msg("%s: message \"%s\" has no \"%s\"", #expr, tutti_err_message(), words);                           \
    } while (0)

static const char test_fom[] =
    "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\">"
    "<objects><objectClass><name>HLAobjectRoot</name>"
    "<objectClass><name>Vehicle</name>"
    "<attribute><name>speed</name><dataType>HLAfloat64BE</dataType><order>TimeStamp</order></attribute>"
    "<attribute><name>colour</name><dataType>HLAASCIIstring</dataType><order>Receive</order></attribute>"
    "<objectClass><name>Car</name><attribute><name>doors</name><order>TimeStamp</order></attribute></objectClass>"
    "</objectClass></objectClass></objects>"
    "<interactions><interactionClass><name>HLAinteractionRoot</name>"
    "<interactionClass><name>Event</name><order>TimeStamp</order><parameter><name>what</name></parameter>"
    "<interactionClass><name>Crash</name><order>TimeStamp</order><parameter><name>where</name></parameter></"
    "interactionClass>"
    "</interactionClass>"
    "<interactionClass><name>Note</name><order>Receive</order><parameter><name>text</name></parameter></"
    "interactionClass>"
    "</interactionClass></interactions>"
    "<updateRates><updateRate><name>Slow</name><rate>2.5</rate></updateRate></updateRates>"
    "<dimensions><dimension><name>Lane</name><upperBound>8</upperBound></dimension></dimensions>"
    "<switches><objectClassRelevanceAdvisory isEnabled=\"true\"/><interactionRelevanceAdvisory "
    "isEnabled=\"true\"/></switches>"
    "</objectModel>";

/* Handles that follow from the text above. */
enum {
    VEHICLE = TUTTI_MOM_FEDERATION + 1,
    CAR,
    SPEED = TUTTI_MOM_FEDERATION_HLAautoProvide + 1,
    COLOUR,
    DOORS,
    EVENT = TUTTI_MOM_REPORT_FEDERATE_LOST + 1,
    CRASH,
    NOTE,
    WHAT = TUTTI_MOM_LOST_FAULT + 1,
    WHERE,
    TEXT
};

static inline struct tt_fom_module *read_module(const char *text)
{
    struct tt_fom_module *module;
    assert_ok(tt_fom_module_read_bytes(&module, "test.xml", text, strlen(text)));
    return module;
}

static inline struct tt_ambassador *connected(struct tt_rti *rti)
{
    struct tt_ambassador *a;
    assert_done(tt_rti_connect(rti, &a));
    return a;
}

static inline uint32_t join_as(struct tt_ambassador *a, const char *name)
{
    uint32_t handle;
    enum tt_logical_time_kind time;
    assert_done(tt_rti_join(a, &(struct tt_rti_join){"fed", "test", name, NULL, 0}, &handle, &time));
    return handle;
}

enum { MOST_FEDERATES = 8 };

struct world {
    struct tt_rti *rti;
    struct tt_ambassador *a[MOST_FEDERATES];
    enum tt_logical_time_kind time;
};

/* `count` federates A, B, ... with handles 1, 2, ... in the federation "fed". */
static inline struct world world_of(int count, const char *time)
{
    struct world w = {.rti = tt_rti_new((struct tt_rti_limits){0})};
    assert_true(tt_logical_time_kind_find(time, &w.time));
    for (int i = 0; i < count; i++) {
        struct tt_fom_module *module = i ? NULL : read_module(test_fom);
        w.a[i] = connected(w.rti);
        if (!i)
            assert_done(tt_rti_create(w.a[0], "fed", &module, 1, time, NULL));
        assert_int_equal(join_as(w.a[i], (char[]){(char)('A' + i), '\0'}), i + 1);
    }
    return w;
}

static inline int64_t at(const struct world *w, double t)
{
    int64_t time;
    assert_true(tt_logical_time_from_double(w->time, t, &time));
    return time;
}

/* The next callback is this one, and is returned. */
static inline const struct tt_callback *next_is(struct tt_ambassador *a, enum tt_callback_kind kind)
{
    const struct tt_callback *callback = tt_rti_next_callback(a);
    if (!callback || callback->kind != kind)
        fail_msg("%s, expected %s", callback ? tt_callback_name(callback->kind) : "nothing", tt_callback_name(kind));
    return callback;
}
#define assert_next(a, name) next_is(a, TUTTI_CALLBACK_##name)

static inline void assert_quiet(struct tt_ambassador *a)
{
    const struct tt_callback *callback = tt_rti_next_callback(a);
    if (callback)
        fail_msg("%s, expected nothing", tt_callback_name(callback->kind));
}

/* Takes all that waits. */
static inline void drain(struct tt_ambassador *a)
{
    while (tt_rti_next_callback(a)) {
    }
}

static inline void assert_granted(const struct world *w, int i, double t)
{
    const struct tt_callback *callback = assert_next(w->a[i], TimeAdvanceGrant);
    assert_same_double(tt_logical_time_to_double(w->time, callback->time), t);
}

#define NO_TAG ((struct tt_octets){0})
#define NO_TIME ((struct tt_message_stamp){0})
#define TEXT_BYTES(text) ((struct tt_octets){text, strlen(text)})

#endif
