/* SPDX-License-Identifier: MIT */
#include "sim/tick_partition.h"

#include <string.h>

/* In Scheduled Execution what has no clock belongs to all. */
static bool partition_has_variable(const struct tt_description *desc, uint32_t variable, uint32_t clock)
{
    const struct tt_var *var = &desc->vars[variable];
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == clock)
            return true;
    return var->clock_count == 0;
}

static bool partition_is_text(const struct tt_var *var)
{
    return var->type == TUTTI_TYPE_STRING || var->type == TUTTI_TYPE_BINARY;
}

static void partition_add_output(struct tt_tick_partition *partition, const struct tt_rank *rank,
                                 const struct tt_unit *unit, const struct tt_tick_variable *output)
{
    const struct tt_var *var = &unit->fmu->desc->vars[output->variable];
    if (partition_is_text(var)) {
        partition->texts[partition->text_count++] = *output;
        return;
    }
    const struct tt_signals *signals = &unit->clocked->signals;
    size_t read = partition->calls.reading_count++;
    partition->references[read] = var->reference;
    partition->readings[read] =
        (struct tt_model_partition_reading){(enum tt_type)var->type, &partition->references[read], 1,
                                            signals->slots[output->place], signals->extents[output->place]};
    if (output->node == TUTTI_NONE)
        return;
    const struct tt_slot *slot = &rank->wires.slots[output->node];
    partition->copies[partition->copy_count++] = (struct tt_tick_copy){
        signals->slots[output->place], slot->values, slot->count * tt_type_size((enum tt_type)slot->type)};
}

static enum tutti_err partition_allocate(struct tt_tick_partition *partition, struct tt_rank *rank,
                                         uint32_t input_count, uint32_t output_count)
{
    struct tt_arena *arena = &rank->arena;
    partition->inputs = tt_arena_array(arena, input_count, sizeof *partition->inputs);
    partition->readings = tt_arena_array(arena, output_count, sizeof *partition->readings);
    partition->references = tt_arena_array(arena, output_count, sizeof *partition->references);
    partition->copies = tt_arena_array(arena, output_count, sizeof *partition->copies);
    partition->texts = tt_arena_array(arena, output_count, sizeof *partition->texts);
    bool made = partition->inputs && partition->readings && partition->references && partition->copies &&
                partition->texts;
    return made ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_ticks_partition_init(struct tt_tick_partition *partition, struct tt_rank *rank,
                                       struct tt_member *member, uint32_t clock, const struct tt_tick_variable *inputs,
                                       uint32_t input_count, const struct tt_tick_variable *outputs,
                                       uint32_t output_count)
{
    struct tt_unit *unit = member->unit;
    const struct tt_description *desc = unit->fmu->desc;
    *partition = (struct tt_tick_partition){0};
    TRY(partition_allocate(partition, rank, input_count, output_count));
    for (uint32_t i = 0; i < input_count; i++)
        if (partition_has_variable(desc, inputs[i].variable, clock))
            partition->inputs[partition->input_count++] = inputs[i].node;
    for (uint32_t i = 0; i < output_count; i++)
        if (partition_has_variable(desc, outputs[i].variable, clock))
            partition_add_output(partition, rank, unit, &outputs[i]);
    partition->hands_on = partition->copy_count > 0 || partition->text_count > 0 || member->wires->output_blocks > 0;
    return tt_instance_clocks_init_partition(&partition->calls, unit->instance, desc->vars[clock].reference,
                                             partition->readings, partition->calls.reading_count);
}

static __attribute__((noinline)) enum tutti_err partition_set_input(struct tt_rank *rank, struct tt_unit *unit,
                                                                    uint32_t node)
{
    struct tt_slot *slot = &rank->wires.slots[node];
    TRY(tt_wires_gather_node(&rank->wires, node));
    struct tt_block block = {(enum tt_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
    return unit->kind->set(unit, &block);
}

static enum tutti_err partition_read_text(const struct tt_rank *rank, struct tt_unit *unit,
                                          const struct tt_tick_variable *text)
{
    TRY(tt_clocked_read(unit, text->place));
    if (text->node == TUTTI_NONE)
        return TUTTI_OK;
    const struct tt_slot *slot = &rank->wires.slots[text->node];
    return tt_signals_owned_copy(slot->owned, (enum tt_type)slot->type, unit->clocked->signals.slots[text->place],
                                 slot->values, slot->count);
}

/* What was read goes to others; what is read one by one. */
static __attribute__((noinline)) enum tutti_err partition_propagate(const struct tt_tick_partition *partition,
                                                                    const struct tt_rank *rank,
                                                                    struct tt_member *member)
{
    struct tt_unit *unit = member->unit;
    for (uint32_t i = 0; i < partition->copy_count; i++)
        memcpy(partition->copies[i].to, partition->copies[i].from, partition->copies[i].size);
    for (uint32_t i = 0; i < partition->text_count; i++)
        TRY(partition_read_text(rank, unit, &partition->texts[i]));
    return tt_wires_get_outputs(member->wires, unit);
}

enum tutti_err tt_ticks_partition_set(const struct tt_tick_partition *partition, struct tt_rank *rank,
                                      struct tt_member *member)
{
    for (uint32_t i = 0; i < partition->input_count; i++)
        TRY(partition_set_input(rank, member->unit, partition->inputs[i]));
    return TUTTI_OK;
}

enum tutti_err tt_ticks_partition_read(const struct tt_tick_partition *partition, const struct tt_rank *rank,
                                       struct tt_member *member, struct tt_fmi_call_modes_watch *watch)
{
    struct tt_unit *unit = member->unit;
    tt_instance_clocks_lock(unit->instance);
    struct tt_fmi_call_frame frame = tt_fmi_call_enter_pass(watch);
    enum tutti_err err = tt_instance_clocks_read(&partition->calls, watch);
    tt_fmi_call_leave_pass(watch, frame);
    if (!err && partition->hands_on)
        err = partition_propagate(partition, rank, member);
    tt_instance_clocks_unlock(unit->instance);
    return err;
}

enum tutti_err tt_ticks_partition_tick(const struct tt_tick_partition *partition, struct tt_rank *rank,
                                       struct tt_member *member, struct tt_fmi_call_modes_watch *watch)
{
    struct tt_unit *unit = member->unit;
    TRY(tt_ticks_partition_set(partition, rank, member));
    TRY(unit->kind->activate(unit, &partition->calls, watch, member->now.t));
    return partition->hands_on ? partition_propagate(partition, rank, member) : TUTTI_OK;
}
