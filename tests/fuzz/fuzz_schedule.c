/* SPDX-License-Identifier: MIT */
/* --schedule FILE, and --clock, of an FMU with two clocks. */
#include <stdlib.h>
#include <string.h>

#include "sim/job/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\"><ScheduledExecution "
    "modelIdentifier=\"m\"/>"
    "<ModelVariables><Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>"
    "<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"triggered\"/>"
    "<Clock name=\"f\" valueReference=\"2\" causality=\"input\" intervalVariability=\"fixed\" intervalDecimal=\"0.1\"/>"
    "</ModelVariables><ModelStructure/></fmiModelDescription>";

struct block {
    const char *text;
    size_t left;
};

static enum tutti_err read_block(void *context, void *buffer, size_t size, size_t *got)
{
    struct block *block = context;
    *got = block->left < size ? block->left : size;
    memcpy(buffer, block->text, *got);
    block->text += *got;
    block->left -= *got;
    return TUTTI_OK;
}

/* Everything that was taken is what the rest of the program relies on. */
static void look(const struct tt_schedule *schedule)
{
    for (size_t i = 0; i < schedule->count; i++)
        if (schedule->lines[i].variable != 1 || schedule->lines[i].first.resolution == 0 ||
            schedule->lines[i].interval.resolution == 0)
            abort();
    for (size_t i = 0; i < schedule->interval_count; i++)
        if (schedule->intervals[i].variable != 2 || schedule->intervals[i].interval.counter == 0 ||
            schedule->intervals[i].interval.resolution == 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct block block = {model, sizeof model - 1};
    struct tt_byte_source reader = {read_block, &block};
    struct tt_fmu fmu = {.path = "m.fmu"};
    if (tt_description_read(&fmu.desc, "model.xml", &reader, NULL) != TUTTI_OK)
        abort();
    struct tt_component component = {.name = "m", .fmu = &fmu};
    struct tt_system system = {.name = "m", .single = true, .components = &component, .component_count = 1};
    struct tt_schedule schedule = {0};
    char *text = malloc(size + 1);
    if (!text || tt_map_add(&system.names, "m", 0, NULL) != TUTTI_OK)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    const char *const option = text;
    if (tt_schedule_set_intervals(&schedule, &option, 1, &system) == TUTTI_OK)
        look(&schedule);
    if (tt_schedule_parse(&schedule, text, size, "fuzz.csv", &system) == TUTTI_OK)
        look(&schedule);
    free(text);
    tt_schedule_fini(&schedule);
    tt_map_fini(&system.names);
    tt_description_free(fmu.desc);
    return 0;
}
