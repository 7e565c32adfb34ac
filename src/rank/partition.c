/* SPDX-License-Identifier: MIT */
#include "rank/partition.h"

#include <string.h>

/* In Scheduled Execution what has no clock belongs to all. */
static bool belongs(const struct tutti_desc *desc, uint32_t variable, uint32_t clock)
{
    const struct tutti_var *var = &desc->vars[variable];
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == clock)
            return true;
    return var->clock_count == 0;
}

static bool is_text(const struct tutti_var *var)
{
    return var->type == TUTTI_TYPE_STRING || var->type == TUTTI_TYPE_BINARY;
}

static void add_output(struct tutti_rank_partition *partition, const struct tutti_rank *rank,
                       const struct tutti_unit *unit, const struct tutti_partition_variable *output)
{
    const struct tutti_var *var = &unit->fmu->desc->vars[output->variable];
    if (is_text(var)) {
        partition->texts[partition->text_count++] = *output;
        return;
    }
    const struct tutti_signals *signals = &unit->clocked->signals;
    size_t read = partition->calls.reading_count++;
    partition->references[read] = var->reference;
    partition->readings[read] = (struct tutti_reading){(enum tutti_type)var->type, &partition->references[read], 1,
                                                       signals->slots[output->place], signals->extents[output->place]};
    if (output->node == TUTTI_NONE)
        return;
    const struct tutti_slot *slot = &rank->wires.slots[output->node];
    partition->copies[partition->copy_count++] = (struct tutti_partition_copy){
        signals->slots[output->place], slot->values, slot->count * tutti_type_size((enum tutti_type)slot->type)};
}

static enum tutti_err make_room(struct tutti_rank_partition *partition, struct tutti_rank *rank, uint32_t input_count,
                                uint32_t output_count)
{
    struct tutti_arena *arena = &rank->arena;
    partition->inputs = tutti_arena_array(arena, input_count, sizeof *partition->inputs);
    partition->readings = tutti_arena_array(arena, output_count, sizeof *partition->readings);
    partition->references = tutti_arena_array(arena, output_count, sizeof *partition->references);
    partition->copies = tutti_arena_array(arena, output_count, sizeof *partition->copies);
    partition->texts = tutti_arena_array(arena, output_count, sizeof *partition->texts);
    bool made = partition->inputs && partition->readings && partition->references && partition->copies &&
                partition->texts;
    return made ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_rank_partition_init(struct tutti_rank_partition *partition, struct tutti_rank *rank,
                                         struct tutti_member *member, uint32_t clock,
                                         const struct tutti_partition_variable *inputs, uint32_t input_count,
                                         const struct tutti_partition_variable *outputs, uint32_t output_count)
{
    struct tutti_unit *unit = member->unit;
    const struct tutti_desc *desc = unit->fmu->desc;
    *partition = (struct tutti_rank_partition){0};
    TRY(make_room(partition, rank, input_count, output_count));
    for (uint32_t i = 0; i < input_count; i++)
        if (belongs(desc, inputs[i].variable, clock))
            partition->inputs[partition->input_count++] = inputs[i].node;
    for (uint32_t i = 0; i < output_count; i++)
        if (belongs(desc, outputs[i].variable, clock))
            add_output(partition, rank, unit, &outputs[i]);
    partition->hands_on = partition->copy_count > 0 || partition->text_count > 0 || member->wires->output_blocks > 0;
    return tutti_partition_init(&partition->calls, unit->instance, desc->vars[clock].reference, partition->readings,
                                partition->calls.reading_count);
}

static __attribute__((noinline)) enum tutti_err set_input(struct tutti_rank *rank, struct tutti_unit *unit,
                                                          uint32_t node)
{
    struct tutti_slot *slot = &rank->wires.slots[node];
    TRY(tutti_wires_gather_node(&rank->wires, node));
    struct tutti_block block = {(enum tutti_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
    return unit->kind->set(unit, &block);
}

static enum tutti_err read_text(const struct tutti_rank *rank, struct tutti_unit *unit,
                                const struct tutti_partition_variable *text)
{
    TRY(tutti_clocked_read(unit, text->place));
    if (text->node == TUTTI_NONE)
        return TUTTI_OK;
    const struct tutti_slot *slot = &rank->wires.slots[text->node];
    return tutti_owned_copy(slot->owned, (enum tutti_type)slot->type, unit->clocked->signals.slots[text->place],
                            slot->values, slot->count);
}

/* What was read goes to others; what is read one by one. */
static __attribute__((noinline)) enum tutti_err hand_on(const struct tutti_rank_partition *partition,
                                                        const struct tutti_rank *rank, struct tutti_member *member)
{
    struct tutti_unit *unit = member->unit;
    for (uint32_t i = 0; i < partition->copy_count; i++)
        memcpy(partition->copies[i].to, partition->copies[i].from, partition->copies[i].size);
    for (uint32_t i = 0; i < partition->text_count; i++)
        TRY(read_text(rank, unit, &partition->texts[i]));
    return tutti_wires_get(member->wires, unit);
}

enum tutti_err tutti_rank_partition_set(const struct tutti_rank_partition *partition, struct tutti_rank *rank,
                                        struct tutti_member *member)
{
    for (uint32_t i = 0; i < partition->input_count; i++)
        TRY(set_input(rank, member->unit, partition->inputs[i]));
    return TUTTI_OK;
}

enum tutti_err tutti_rank_partition_read(const struct tutti_rank_partition *partition, const struct tutti_rank *rank,
                                         struct tutti_member *member, struct tutti_modes_watch *watch)
{
    struct tutti_unit *unit = member->unit;
    tutti_instance_hold(unit->instance);
    struct tutti_frame frame = tutti_modes_enter(watch);
    enum tutti_err err = tutti_partition_read(&partition->calls, watch);
    tutti_modes_leave(watch, frame);
    if (!err && partition->hands_on)
        err = hand_on(partition, rank, member);
    tutti_instance_release(unit->instance);
    return err;
}

enum tutti_err tutti_rank_partition_tick(const struct tutti_rank_partition *partition, struct tutti_rank *rank,
                                         struct tutti_member *member, struct tutti_modes_watch *watch)
{
    struct tutti_unit *unit = member->unit;
    TRY(tutti_rank_partition_set(partition, rank, member));
    TRY(unit->kind->activate(unit, &partition->calls, watch, member->now.t));
    return partition->hands_on ? hand_on(partition, rank, member) : TUTTI_OK;
}
