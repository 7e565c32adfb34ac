/* SPDX-License-Identifier: MIT */
#include "report/load.h"

#include <math.h>
#include <stdlib.h>

void tutti_steps_made_begin(struct tutti_steps_made *made, double t)
{
    *made = (struct tutti_steps_made){.from = t, .to = t, .least = INFINITY, .greatest = 0, .error = NAN};
}

void tutti_steps_made_add(struct tutti_steps_made *made, double size, double error)
{
    if (!made)
        return;
    made->least = fmin(made->least, size);
    made->greatest = fmax(made->greatest, size);
    made->error = fmax(made->error, error);
}

void tutti_steps_made_add_event(struct tutti_steps_made *made, double t)
{
    if (made && made->event_count < TUTTI_LOAD_EVENTS)
        made->events[made->event_count++] = t;
}

void tutti_load_pack(struct tutti_parcel *parcel, const struct tutti_load *load)
{
    const struct tutti_steps_made *steps = &load->steps;
    const double numbers[] = {load->elapsed, steps->from, steps->to, steps->least, steps->greatest, steps->error};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tutti_parcel_put_double(parcel, numbers[i]);
    tutti_parcel_put_u64(parcel, steps->count);
    tutti_parcel_put_u64(parcel, steps->rejected);
    tutti_parcel_put_u64(parcel, steps->located);
    tutti_parcel_put_u64(parcel, steps->event_count);
    for (uint64_t i = 0; i < steps->event_count; i++)
        tutti_parcel_put_double(parcel, steps->events[i]);
    tutti_parcel_put_u64(parcel, load->unit_count);
    for (size_t i = 0; i < load->unit_count; i++) {
        tutti_parcel_put_u32(parcel, load->units[i].component);
        tutti_parcel_put_double(parcel, load->units[i].seconds);
        tutti_parcel_put_u64(parcel, load->units[i].do_steps);
    }
}

static void unpack_steps(struct tutti_unparcel *in, struct tutti_load *load)
{
    struct tutti_steps_made *steps = &load->steps;
    double *const numbers[] = {&load->elapsed, &steps->from,     &steps->to,
                               &steps->least,  &steps->greatest, &steps->error};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = tutti_unparcel_double(in);
    steps->count = tutti_unparcel_u64(in);
    steps->rejected = tutti_unparcel_u64(in);
    steps->located = tutti_unparcel_u64(in);
    steps->event_count = tutti_unparcel_u64(in);
    in->bad = in->bad || steps->event_count > TUTTI_LOAD_EVENTS;
    for (uint64_t i = 0; !in->bad && i < steps->event_count; i++)
        steps->events[i] = tutti_unparcel_double(in);
}

enum tutti_err tutti_load_unpack(struct tutti_unparcel *in, struct tutti_load *load)
{
    enum { UNIT_SIZE = 20 }; /* bytes of a unit: a number out of the air costs no memory */
    *load = (struct tutti_load){0};
    unpack_steps(in, load);
    uint64_t count = tutti_unparcel_u64(in);
    in->bad = in->bad || count > (uint64_t)(in->end - in->at) / UNIT_SIZE;
    if (in->bad)
        return tutti_fail(TUTTI_ERR_FORMAT, "the load of a rank cannot be read");
    load->units = calloc(count + 1, sizeof *load->units);
    if (!load->units)
        return tutti_fail_memory();
    load->unit_count = count;
    for (size_t i = 0; i < count; i++) {
        load->units[i].component = tutti_unparcel_u32(in);
        load->units[i].seconds = tutti_unparcel_double(in);
        load->units[i].do_steps = tutti_unparcel_u64(in);
    }
    return TUTTI_OK;
}
