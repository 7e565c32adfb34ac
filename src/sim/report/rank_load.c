/* SPDX-License-Identifier: MIT */
#include "sim/report/rank_load.h"

#include <math.h>
#include <stdlib.h>

void tt_reporter_begin_steps(struct tt_step_counts *made, double t)
{
    *made = (struct tt_step_counts){.from = t, .to = t, .least = INFINITY, .greatest = 0, .error = NAN};
}

void tt_reporter_add_step(struct tt_step_counts *made, double size, double error)
{
    if (!made)
        return;
    made->least = fmin(made->least, size);
    made->greatest = fmax(made->greatest, size);
    made->error = fmax(made->error, error);
}

void tt_reporter_add_event(struct tt_step_counts *made, double t)
{
    if (made && made->event_count < TUTTI_LOAD_EVENTS)
        made->events[made->event_count++] = t;
}

void tt_reporter_pack_load(struct tt_byte_writer *parcel, const struct tt_rank_load *load)
{
    const struct tt_step_counts *steps = &load->steps;
    const double numbers[] = {load->elapsed, steps->from, steps->to, steps->least, steps->greatest, steps->error};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tt_bytes_put_double(parcel, numbers[i]);
    tt_bytes_put_u64(parcel, steps->count);
    tt_bytes_put_u64(parcel, steps->rejected);
    tt_bytes_put_u64(parcel, steps->located);
    tt_bytes_put_u64(parcel, steps->event_count);
    for (uint64_t i = 0; i < steps->event_count; i++)
        tt_bytes_put_double(parcel, steps->events[i]);
    tt_bytes_put_u64(parcel, load->unit_count);
    for (size_t i = 0; i < load->unit_count; i++) {
        tt_bytes_put_u32(parcel, load->units[i].component);
        tt_bytes_put_double(parcel, load->units[i].seconds);
        tt_bytes_put_u64(parcel, load->units[i].do_steps);
    }
}

static void unpack_load_steps(struct tt_byte_reader *in, struct tt_rank_load *load)
{
    struct tt_step_counts *steps = &load->steps;
    double *const numbers[] = {&load->elapsed, &steps->from,     &steps->to,
                               &steps->least,  &steps->greatest, &steps->error};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = tt_bytes_get_double(in);
    steps->count = tt_bytes_get_u64(in);
    steps->rejected = tt_bytes_get_u64(in);
    steps->located = tt_bytes_get_u64(in);
    steps->event_count = tt_bytes_get_u64(in);
    in->bad = in->bad || steps->event_count > TUTTI_LOAD_EVENTS;
    for (uint64_t i = 0; !in->bad && i < steps->event_count; i++)
        steps->events[i] = tt_bytes_get_double(in);
}

enum tutti_err tt_reporter_unpack_load(struct tt_byte_reader *in, struct tt_rank_load *load)
{
    enum { UNIT_SIZE = 20 }; /* bytes of a unit: a number out of the air costs no memory */
    *load = (struct tt_rank_load){0};
    unpack_load_steps(in, load);
    uint64_t count = tt_bytes_get_u64(in);
    in->bad = in->bad || count > (uint64_t)(in->end - in->at) / UNIT_SIZE;
    if (in->bad)
        return tt_fail(TUTTI_ERR_FORMAT, "the load of a rank cannot be read");
    load->units = calloc(count + 1, sizeof *load->units);
    if (!load->units)
        return tt_fail_memory();
    load->unit_count = count;
    for (size_t i = 0; i < count; i++) {
        load->units[i].component = tt_bytes_get_u32(in);
        load->units[i].seconds = tt_bytes_get_double(in);
        load->units[i].do_steps = tt_bytes_get_u64(in);
    }
    return TUTTI_OK;
}
