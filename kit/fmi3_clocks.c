/* SPDX-License-Identifier: MIT */
/* fmi3_clocks.c - FMI 3.0 on the core: clocks and their intervals. */
#include "fmi3.h"

enum { INTERVAL_MODES = INITIALISATION | EVENT | ACTIVATION | CLOCK_UPDATE };

fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Clock values[])
{
    ENTER("GetClock", EVENT | CLOCK_UPDATE);
    LEAVE(kit_get_clocks(k, vr, n, values));
}

fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Clock values[])
{
    ENTER("SetClock", EVENT);
    LEAVE(kit_set_clocks(k, vr, n, values));
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[])
{
    ENTER("GetIntervalDecimal", INTERVAL_MODES);
    for (size_t i = 0; i < n; i++) {
        struct kit_clock *clock = kit_clock_to_get(k, "GetIntervalDecimal", vr[i], false, false);
        if (!clock)
            return fmi3Error;
        intervals[i] = clock->interval;
        qualifiers[i] = (fmi3IntervalQualifier)kit_tell_qualifier(clock);
    }
    LEAVE(KIT_OK);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3UInt64 counters[],
                                   fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
{
    ENTER("GetIntervalFraction", INTERVAL_MODES);
    for (size_t i = 0; i < n; i++) {
        struct kit_clock *clock = kit_clock_to_get(k, "GetIntervalFraction", vr[i], true, false);
        if (!clock)
            return fmi3Error;
        counters[i] = clock->counter;
        resolutions[i] = clock->resolution;
        qualifiers[i] = (fmi3IntervalQualifier)kit_tell_qualifier(clock);
    }
    LEAVE(KIT_OK);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 shifts[])
{
    ENTER("GetShiftDecimal", INITIALISATION);
    for (size_t i = 0; i < n; i++) {
        const struct kit_clock *clock = kit_clock_to_get(k, "GetShiftDecimal", vr[i], false, true);
        if (!clock)
            return fmi3Error;
        shifts[i] = clock->shift;
    }
    LEAVE(KIT_OK);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3UInt64 counters[],
                                fmi3UInt64 resolutions[])
{
    ENTER("GetShiftFraction", INITIALISATION);
    for (size_t i = 0; i < n; i++) {
        const struct kit_clock *clock = kit_clock_to_get(k, "GetShiftFraction", vr[i], true, true);
        if (!clock)
            return fmi3Error;
        counters[i] = clock->shift_counter;
        resolutions[i] = clock->shift_resolution;
    }
    LEAVE(KIT_OK);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                  const fmi3Float64 intervals[])
{
    ENTER("SetIntervalDecimal", INITIALISATION | EVENT | ACTIVATION);
    for (size_t i = 0; i < n; i++) {
        struct kit_clock *clock = kit_clock_to_set(k, "SetIntervalDecimal", vr[i], false, false);
        if (!clock)
            return fmi3Error;
        if (!(intervals[i] > 0))
            LEAVE(kit_fail(k, KIT_ERROR, "SetIntervalDecimal: an interval of %.17g", intervals[i]));
        clock->interval = intervals[i];
        clock->counter = clock->resolution = 0;
    }
    LEAVE(KIT_OK);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 counters[],
                                   const fmi3UInt64 resolutions[])
{
    ENTER("SetIntervalFraction", INITIALISATION | EVENT | ACTIVATION);
    for (size_t i = 0; i < n; i++) {
        struct kit_clock *clock = kit_clock_to_set(k, "SetIntervalFraction", vr[i], true, false);
        if (!clock)
            return fmi3Error;
        if (counters[i] == 0 || kit_set_interval(k, clock, counters[i], resolutions[i]) != KIT_OK)
            LEAVE(kit_fail(k, KIT_ERROR, "SetIntervalFraction: an interval of 0, or a resolution of 0"));
    }
    LEAVE(KIT_OK);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 shifts[])
{
    ENTER("SetShiftDecimal", INITIALISATION);
    for (size_t i = 0; i < n; i++) {
        struct kit_clock *clock = kit_clock_to_set(k, "SetShiftDecimal", vr[i], false, true);
        if (!clock)
            return fmi3Error;
        clock->shift = shifts[i];
        clock->shift_counter = clock->shift_resolution = 0;
    }
    LEAVE(KIT_OK);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 counters[],
                                const fmi3UInt64 resolutions[])
{
    ENTER("SetShiftFraction", INITIALISATION);
    for (size_t i = 0; i < n; i++) {
        struct kit_clock *clock = kit_clock_to_set(k, "SetShiftFraction", vr[i], true, true);
        if (!clock || kit_set_shift(k, clock, counters[i], resolutions[i]) != KIT_OK)
            return fmi3Error;
    }
    LEAVE(KIT_OK);
}
