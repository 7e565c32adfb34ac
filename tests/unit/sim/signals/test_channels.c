/* SPDX-License-Identifier: MIT */
/* Which signals go from rank to rank: for systems of shadows, with a fabric that only writes down what is asked of it. */
#include "test.h"

#include <stdlib.h>

#include "sim/signals/channels.h"
#include "unit/shadow.h"

#define LENGTH(list) (sizeof(list) / sizeof *(list))

enum { UNITS = 4, MOST_RANKS = 3, MOST_CHANNELS = TUTTI_CHANNEL_WAVES + UNITS };

/* ---- a fabric that takes notes ---- */

struct notes {
    struct tt_fabric fabric;
    _Atomic uint64_t stop_after;
    struct tt_heartbeat where;
    const struct tt_channel *channels[MOST_CHANNELS];
    uint32_t count;
    uint32_t asked; /* the channel of the last exchange */
    char *base;     /* ... and where */
};

static enum tutti_err open_channel(struct tt_fabric *fabric, const struct tt_channel *channel)
{
    struct notes *notes = (struct notes *)fabric;
    assert_true(notes->count < MOST_CHANNELS);
    notes->channels[notes->count++] = channel;
    return TUTTI_OK;
}

/* What comes in are doubles that say where they came to. */
static double arriving_at(size_t offset)
{
    return 1000 + (double)offset;
}

static enum tutti_err exchange(struct tt_fabric *fabric, uint32_t channel, char *base)
{
    struct notes *notes = (struct notes *)fabric;
    assert_true(channel < notes->count);
    notes->asked = channel;
    notes->base = base;
    fabric->exchanges++;
    for (uint32_t l = 0; channel == TUTTI_CHANNEL_RATES && l < notes->channels[channel]->link_count; l++) {
        const struct tt_cargo *in = &notes->channels[channel]->links[l].in;
        for (uint32_t i = 0; i < in->piece_count; i++)
            for (size_t at = in->pieces[i].offset; at < in->pieces[i].offset + in->pieces[i].size; at += sizeof(double))
                memcpy(base + at, &(double){arriving_at(at)}, sizeof(double));
    }
    return TUTTI_OK;
}

static const struct tt_fabric_kind taking_notes = {.name = "notes", .open = open_channel, .exchange = exchange};

/* ---- ranks of a system ---- */

static const char *const files[] = {"a=" TUTTI_FMUS "/Feedthrough_fmi3.fmu", "b=" TUTTI_FMUS "/Feedthrough_fmi3.fmu",
                                    "c=" TUTTI_FMUS "/Feedthrough_fmi3.fmu", "d=" TUTTI_FMUS "/StateSpace_fmi3.fmu"};
static const char *const connect[] = {
    "a.float64_out=b.float64_in", "a.float64_out=c.float64_in",
    "a.matrix_out=b.matrix_in",   "a.float32_out=b.float32_in",
    "a.string_out=c.string_in",   "a.strings_out=b.strings_in",
    "a.binary_out=b.binary_in",   "b.int32_out=c.int32_in",
    "b.int16_out=c.int16_in",     "b.boolean_out=a.boolean_in",
    "b.matrix_out=c.matrix_in",   "b.matrix_out[1,2]=d.u[2]",
    "c.float64_out=d.u[1]",       "c.float64_discrete_out=a.float64_discrete_in",
    "d.y[1]=a.float64_in",        "d.y[2]=b.float64_discrete_in",
};
/* Handed over at the start only. */
static const char *const at_start = "b.int16_out=c.int16_in";

/* A rank, as far as signals come to it and go. */
struct side {
    struct tt_wires wires;
    struct tt_step_sequence sequence;
    struct tt_channels channels;
    struct tt_arena arena;
};

struct world {
    struct tt_system *system;
    struct tt_structure structure, running;
    struct tt_unit *units[UNITS];
    int ranks;
    int32_t place[UNITS];
    struct notes notes[MOST_RANKS];
    struct side sides[MOST_RANKS];
};

/* "a.y" as a node, of those that give values. */
static uint32_t source_named(const struct world *world, const char *name)
{
    uint32_t component, variable;
    struct tt_indices element;
    assert_ok(tt_system_find(world->system, name, "the test", &component, &variable, &element));
    uint32_t node = tt_structure_find(&world->structure, component, variable, true);
    assert_int_not_equal(node, TUTTI_NONE);
    return node;
}

static void mark_start_only(struct tt_system *system)
{
    uint32_t marked = 0;
    for (uint32_t c = 0; c < system->connection_count; c++) {
        char from[64], to[64], both[130];
        tt_system_name(system, &system->connections[c].from, from, sizeof from);
        tt_system_name(system, &system->connections[c].to, to, sizeof to);
        snprintf(both, sizeof both, "%s=%s", from, to);
        system->connections[c].at_start_only = strcmp(both, at_start) == 0;
        marked += system->connections[c].at_start_only;
    }
    assert_int_equal(marked, 1);
}

static void load(struct world *world, const char *const *files_, size_t file_count, const char *const *connect_,
                 size_t connect_count)
{
    struct tt_system_source source = {
        .files = files_, .file_count = file_count, .connect = connect_, .connect_count = connect_count};
    struct tt_findings findings = {0};
    *world = (struct world){0};
    assert_ok(tt_system_load(&world->system, &source, &findings));
    assert_int_equal(findings.errors, 0);
    assert_int_equal(world->system->component_count, UNITS);
    for (int c = 0; c < UNITS; c++) {
        struct tt_fmu *fmu = world->system->components[c].fmu;
        static const double two[16] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
        assert_ok(tt_shadow_new(&world->units[c], fmu, &tt_unit_cs, world->system->components[c].name));
        if (tt_shadow_count_sizes(fmu->desc) > 0)
            assert_ok(tt_shadow_set_sizes(world->units[c], two));
    }
}

static void load_all(struct world *world)
{
    load(world, files, LENGTH(files), connect, LENGTH(connect));
    mark_start_only(world->system);
    assert_ok(tt_structure_init(&world->structure, world->system, TUTTI_PHASE_INITIAL));
    assert_ok(tt_structure_init(&world->running, world->system, TUTTI_PHASE_RUN));
}

static void unload(struct world *world)
{
    tt_structure_fini(&world->running);
    tt_structure_fini(&world->structure);
    for (int c = 0; c < UNITS; c++)
        tt_unit_free(world->units[c]);
    tt_system_free(world->system);
}

static void open_rank(struct world *world, int rank, bool all, bool waves)
{
    struct side *side = &world->sides[rank];
    struct notes *notes = &world->notes[rank];
    *notes = (struct notes){.asked = TUTTI_NONE};
    notes->fabric = (struct tt_fabric){.kind = &taking_notes,
                                       .rank = rank,
                                       .ranks = world->ranks,
                                       .stop_after = &notes->stop_after,
                                       .where = &notes->where};
    *side = (struct side){
        .channels = {.wires = &side->wires, .fabric = &notes->fabric, .place = world->place, .arena = &side->arena}};
    assert_ok(tt_wire_layout_init(&side->wires, &world->structure, world->units));
    assert_ok(tt_channels_open_start(&side->channels));
    assert_ok(tt_step_order_init_sequence(&side->sequence, &world->running, NULL));
    assert_ok(tt_channels_open(&side->channels, all, waves ? &side->sequence : NULL));
}

static void place_units(struct world *world, int ranks, const int32_t *place, bool all, bool waves)
{
    world->ranks = ranks;
    memcpy(world->place, place, sizeof world->place);
    for (int r = 0; r < ranks; r++)
        open_rank(world, r, all, waves);
}

static void displace_units(struct world *world)
{
    for (int r = 0; r < world->ranks; r++) {
        tt_step_order_fini_sequence(&world->sides[r].sequence);
        tt_wires_fini(&world->sides[r].wires);
        tt_arena_fini(&world->sides[r].arena);
    }
}

static const struct tt_channel_link *link_to(const struct world *world, int rank, uint32_t channel, int peer)
{
    const struct tt_channel *opened = world->notes[rank].channels[channel];
    for (uint32_t l = 0; l < opened->link_count; l++)
        if (opened->links[l].peer == peer)
            return &opened->links[l];
    return NULL;
}

/* ---- what is in a cargo ---- */

static size_t offset_of(const struct side *side, uint32_t node)
{
    return (size_t)((const char *)side->wires.slots[node].values - side->wires.signals);
}

/* The text piece of a node; each is there once. */
static void check_text(const struct side *side, const struct tt_cargo *cargo, uint32_t node)
{
    const struct tt_slot *slot = &side->wires.slots[node];
    unsigned found = 0;
    for (uint32_t i = 0; i < cargo->text_count; i++) {
        if (cargo->texts[i].offset != offset_of(side, node))
            continue;
        found++;
        assert_int_equal(cargo->texts[i].type, slot->type);
        assert_int_equal(cargo->texts[i].count, slot->count);
        assert_ptr_equal(cargo->texts[i].owned, slot->owned);
    }
    assert_int_equal(found, 1);
}

/* Exactly the bytes of these nodes, each once; what lies side by side and comes one after the other is one piece. */
static void check_cargo(const struct side *side, const struct tt_cargo *cargo, const bool *nodes)
{
    unsigned char sent[2048] = {0};
    size_t size = 0;
    uint32_t texts = 0;
    assert_true(side->wires.signal_size <= sizeof sent);
    for (uint32_t i = 0; i < cargo->piece_count; i++) {
        const struct tt_cargo_piece *piece = &cargo->pieces[i];
        assert_true(piece->size > 0);
        assert_true(i == 0 || piece[-1].offset + piece[-1].size != piece->offset);
        for (size_t at = piece->offset; at < piece->offset + piece->size; at++)
            sent[at]++;
    }
    for (uint32_t n = 0; n < side->wires.structure->node_count; n++) {
        const struct tt_slot *slot = &side->wires.slots[n];
        size_t bytes = slot->count * tt_type_size((enum tt_type)slot->type);
        if (!side->wires.structure->nodes[n].output)
            continue;
        for (size_t at = offset_of(side, n); at < offset_of(side, n) + bytes; at++)
            assert_int_equal(sent[at], nodes[n] && !slot->owned);
        if (nodes[n] && slot->owned)
            check_text(side, cargo, n);
        texts += nodes[n] && slot->owned;
        size += nodes[n] && !slot->owned ? bytes : 0;
    }
    assert_int_equal(cargo->size, size);
    assert_int_equal(cargo->text_count, texts);
    size_t of_pieces = 0; /* none elsewhere, between signals */
    for (uint32_t i = 0; i < cargo->piece_count; i++)
        of_pieces += cargo->pieces[i].size;
    assert_int_equal(of_pieces, size);
}

/* Nothing in a message says what it holds: both ends must have the same list. */
static void check_same(const struct tt_cargo *out, const struct tt_cargo *in)
{
    assert_int_equal(out->size, in->size);
    assert_int_equal(out->piece_count, in->piece_count);
    for (uint32_t i = 0; i < out->piece_count; i++) {
        assert_int_equal(out->pieces[i].offset, in->pieces[i].offset);
        assert_int_equal(out->pieces[i].size, in->pieces[i].size);
    }
    assert_int_equal(out->text_count, in->text_count);
    for (uint32_t i = 0; i < out->text_count; i++) {
        assert_int_equal(out->texts[i].offset, in->texts[i].offset);
        assert_int_equal(out->texts[i].count, in->texts[i].count);
    }
}

/* Both ends of a link, and no link where nothing is sent. */
static void check_direction(const struct world *world, uint32_t channel, int from, int to, const bool *nodes)
{
    static const struct tt_cargo nothing = {0};
    const struct tt_channel_link *sends = link_to(world, from, channel, to), *takes = link_to(world, to, channel, from);
    const struct tt_cargo *out = sends ? &sends->out : &nothing, *in = takes ? &takes->in : &nothing;
    check_cargo(&world->sides[from], out, nodes);
    check_cargo(&world->sides[to], in, nodes);
    check_same(out, in);
}

/* Links have something in them, are there once, and in order; no rank is its own peer. */
static void check_links(const struct world *world, int rank, uint32_t channel)
{
    const struct tt_channel *opened = world->notes[rank].channels[channel];
    for (uint32_t l = 0; l < opened->link_count; l++) {
        const struct tt_channel_link *link = &opened->links[l];
        assert_true(l == 0 || opened->links[l - 1].peer < link->peer);
        assert_int_not_equal(link->peer, rank);
        assert_in_range(link->peer, 0, world->ranks - 1);
        assert_false(tt_fabric_cargo_is_empty(&link->out) && tt_fabric_cargo_is_empty(&link->in));
    }
}

/* ---- examples, by name ---- */

#define NAMES(...)                                                                                                     \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }
#define NOTHING ((const char *const[]){NULL})

static void expect(const struct world *world, uint32_t channel, int from, int to, const char *const *names)
{
    bool nodes[64] = {false};
    assert_true(world->structure.node_count <= LENGTH(nodes));
    for (; *names; names++)
        nodes[source_named(world, *names)] = true;
    check_direction(world, channel, from, to, nodes);
}

/* a, b | c, d: everything that b and a have for c and d, once per rank however many read it. */
static void two_nodes_two(void **state)
{
    (void)state;
    struct world world;
    load_all(&world);
    place_units(&world, 2, (const int32_t[]){0, 0, 1, 1}, false, false);
    for (int r = 0; r < 2; r++)
        assert_int_equal(world.notes[r].count, TUTTI_CHANNEL_WAVES);
    expect(&world, TUTTI_CHANNEL_START, 0, 1,
           NAMES("a.float64_out", "a.string_out", "b.int32_out", "b.int16_out", "b.matrix_out"));
    expect(&world, TUTTI_CHANNEL_START, 1, 0, NAMES("c.float64_discrete_out", "d.y"));
    /* what is handed over at the start only is not sent in the run */
    expect(&world, TUTTI_CHANNEL_RUN, 0, 1, NAMES("a.float64_out", "a.string_out", "b.int32_out", "b.matrix_out"));
    expect(&world, TUTTI_CHANNEL_RUN, 1, 0, NAMES("c.float64_discrete_out", "d.y"));
    expect(&world, TUTTI_CHANNEL_RATES, 0, 1, NAMES("a.float64_out", "b.matrix_out"));
    expect(&world, TUTTI_CHANNEL_RATES, 1, 0, NAMES("c.float64_discrete_out", "d.y"));
    assert_true(world.sides[0].channels.texts && world.sides[1].channels.texts);
    displace_units(&world);
    unload(&world);
}

/* a and d on one rank, b and c on separate ranks. */
static void three_ranks(void **state)
{
    (void)state;
    struct world world;
    load_all(&world);
    place_units(&world, 3, (const int32_t[]){2, 0, 1, 2}, false, false);
    expect(&world, TUTTI_CHANNEL_RUN, 2, 0,
           NAMES("a.float64_out", "a.matrix_out", "a.float32_out", "a.strings_out", "a.binary_out", "d.y"));
    expect(&world, TUTTI_CHANNEL_RUN, 2, 1, NAMES("a.float64_out", "a.string_out"));
    expect(&world, TUTTI_CHANNEL_RUN, 0, 1, NAMES("b.int32_out", "b.matrix_out"));
    expect(&world, TUTTI_CHANNEL_START, 0, 1, NAMES("b.int32_out", "b.int16_out", "b.matrix_out"));
    expect(&world, TUTTI_CHANNEL_RUN, 0, 2, NAMES("b.boolean_out", "b.matrix_out"));
    expect(&world, TUTTI_CHANNEL_RUN, 1, 2, NAMES("c.float64_out", "c.float64_discrete_out"));
    expect(&world, TUTTI_CHANNEL_RUN, 1, 0, NOTHING);
    displace_units(&world);
    /* The same with every real to every rank. */
    place_units(&world, 3, (const int32_t[]){2, 0, 1, 2}, true, false);
    expect(&world, TUTTI_CHANNEL_RUN, 2, 0,
           NAMES("a.float64_out", "a.matrix_out", "a.float32_out", "a.strings_out", "a.binary_out", "d.y"));
    expect(&world, TUTTI_CHANNEL_RUN, 2, 1,
           NAMES("a.float64_out", "a.matrix_out", "a.float32_out", "a.string_out", "d.y"));
    expect(&world, TUTTI_CHANNEL_RUN, 0, 1, NAMES("b.int32_out", "b.matrix_out"));
    expect(&world, TUTTI_CHANNEL_RUN, 1, 0, NAMES("c.float64_out", "c.float64_discrete_out"));
    expect(&world, TUTTI_CHANNEL_START, 1, 0, NOTHING); /* start values have no need of it */
    displace_units(&world);
    unload(&world);
}

/* Reals of one unit lie side by side: one piece. */
static void neighbours_are_one_piece(void **state)
{
    (void)state;
    struct world world;
    load_all(&world);
    place_units(&world, 2, (const int32_t[]){0, 1, 1, 1}, false, false);
    const struct tt_cargo *out = &link_to(&world, 0, TUTTI_CHANNEL_RATES, 1)->out;
    assert_int_equal(out->piece_count, 1); /* a.float64_out, the matrix and a.float32_out */
    assert_int_equal(out->size, 8 * sizeof(double));
    out = &link_to(&world, 0, TUTTI_CHANNEL_RUN, 1)->out;
    assert_int_equal(out->size, 8 * sizeof(double));
    assert_int_equal(out->text_count, 3); /* of 1, 1 and 2 */
    displace_units(&world);
    unload(&world);
}

static void one_rank_opens_nothing(void **state)
{
    (void)state;
    struct world world;
    load_all(&world);
    place_units(&world, 1, (const int32_t[]){0, 0, 0, 0}, true, true);
    struct side *side = &world.sides[0];
    double rates[64] = {1, 2, 3};
    assert_int_equal(world.notes[0].count, 0);
    assert_ok(tt_channels_exchange_start(&side->channels));
    assert_ok(tt_channels_exchange(&side->channels));
    assert_ok(tt_channels_exchange_wave(&side->channels, 0));
    assert_int_equal(side->channels.fabric->exchanges, 3);
    assert_ok(tt_channels_exchange_rates(&side->channels, rates));
    assert_memory_equal(rates, ((double[]){1, 2, 3}), 3 * sizeof *rates);
    assert_int_equal(world.notes[0].asked, TUTTI_NONE); /* counted, and no rank asked */
    displace_units(&world);
    unload(&world);
}

/* c and d read nothing of others here and no unit reads theirs: their rank hears of no other, and opens what all open. */
static void ranks_that_read_nothing_have_no_links(void **state)
{
    (void)state;
    static const char *const few[] = {"a.float64_out=b.float64_in", "c.float64_out=d.u[1]"};
    struct world world;
    load(&world, files, LENGTH(files), few, LENGTH(few));
    assert_ok(tt_structure_init(&world.structure, world.system, TUTTI_PHASE_INITIAL));
    assert_ok(tt_structure_init(&world.running, world.system, TUTTI_PHASE_RUN));
    place_units(&world, 3, (const int32_t[]){0, 1, 2, 2}, false, false);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(world.notes[r].count, TUTTI_CHANNEL_WAVES);
        for (uint32_t k = 0; k < world.notes[r].count; k++)
            assert_int_equal(world.notes[r].channels[k]->link_count, r < 2);
        assert_false(world.sides[r].channels.texts);
    }
    for (uint32_t k = 0; k < TUTTI_CHANNEL_WAVES; k++)
        expect(&world, k, 0, 1, NAMES("a.float64_out"));
    displace_units(&world);
    unload(&world);
}

/* Which channel an exchange is of, and of which array. */
static void exchanges_take_their_channel(void **state)
{
    (void)state;
    struct world world;
    load_all(&world);
    place_units(&world, 2, (const int32_t[]){0, 0, 1, 1}, false, true);
    for (int r = 0; r < 2; r++) {
        struct side *side = &world.sides[r];
        struct notes *notes = &world.notes[r];
        assert_ok(tt_channels_exchange(&side->channels));
        assert_int_equal(notes->asked, TUTTI_CHANNEL_RUN);
        assert_ptr_equal(notes->base, side->wires.signals);
        assert_ok(tt_channels_exchange_start(&side->channels));
        assert_int_equal(notes->asked, TUTTI_CHANNEL_START);
        assert_ptr_equal(notes->base, side->wires.signals);
        for (uint32_t w = 0; w < side->sequence.wave_count; w++) {
            notes->asked = TUTTI_NONE;
            assert_ok(tt_channels_exchange_wave(&side->channels, w));
            assert_int_equal(notes->asked, side->channels.of_wave[w]);
        }
    }
    displace_units(&world);
    place_units(&world, 2, (const int32_t[]){0, 0, 1, 1}, false, false);
    assert_ok(tt_channels_exchange_wave(&world.sides[0].channels, 1)); /* without separate channels */
    assert_int_equal(world.notes[0].asked, TUTTI_CHANNEL_RUN);
    displace_units(&world);
    unload(&world);
}

/* Reals that the rank reads get what comes in, all others keep what was there, and signals are not touched. */
static void rates_come_in_where_they_are_read(void **state)
{
    (void)state;
    struct world world;
    load_all(&world);
    place_units(&world, 2, (const int32_t[]){0, 0, 1, 1}, false, false);
    for (int r = 0; r < 2; r++) {
        struct side *side = &world.sides[r];
        double rates[64];
        unsigned came = 0;
        char *before = malloc(side->wires.signal_size);
        assert_non_null(before);
        memcpy(before, side->wires.signals, side->wires.signal_size);
        assert_true(side->wires.real_count <= LENGTH(rates));
        for (uint32_t i = 0; i < side->wires.real_count; i++)
            rates[i] = -1 - (double)i;
        assert_ok(tt_channels_exchange_rates(&side->channels, rates));
        assert_int_equal(world.notes[r].asked, TUTTI_CHANNEL_RATES);
        assert_ptr_equal(world.notes[r].base, side->channels.rates);
        for (uint32_t i = 0; i < side->wires.real_count; i++) {
            const struct tt_real_signal *real = &side->wires.reals[i];
            bool other = world.place[real->component] != r && strcmp(world.units[real->component]->name, "c") != 0;
            /* of c, float64_out goes to d beside it, float64_discrete_out to a */
            if (real->component == 2)
                other = r == 0 && real->node == source_named(&world, "c.float64_discrete_out");
            if (real->component == 0 && r == 1)
                other = real->node == source_named(&world, "a.float64_out");
            came += other;
            assert_same_double(rates[i], other ? arriving_at(real->place * sizeof(double)) : -1 - (double)i);
        }
        assert_int_equal(came, r == 0 ? 1 + 2 : 1 + 6);
        assert_memory_equal(side->wires.signals, before, side->wires.signal_size);
        free(before);
    }
    displace_units(&world);
    unload(&world);
}

/* ---- all placements ---- */

/* Does a unit of rank `to` read the node, which rank `from` has? Straight from the connections. */
static bool is_read(const struct world *world, uint32_t node, int from, int to, bool start)
{
    const struct tt_structure_node *it = &world->structure.nodes[node];
    if (!it->output || from == to || world->place[it->component] != from)
        return false;
    for (uint32_t c = 0; c < world->system->connection_count; c++) {
        const struct tt_connection *connection = &world->system->connections[c];
        if (connection->from.component == it->component && connection->from.variable == it->variable &&
            world->place[connection->to.component] == to && (start || !connection->at_start_only))
            return true;
    }
    return false;
}

static bool is_real(const struct world *world, uint32_t node)
{
    return world->sides[0].wires.slots[node].type == TUTTI_TYPE_FLOAT64;
}

static bool is_in_wave(const struct world *world, uint32_t node, uint32_t wave)
{
    const struct tt_step_sequence *sequence = &world->sides[0].sequence;
    for (uint32_t i = sequence->wave_first[wave]; i < sequence->wave_first[wave + 1]; i++)
        if (sequence->components[i] == world->structure.nodes[node].component)
            return true;
    return false;
}

static void check_pair(const struct world *world, int from, int to, bool all)
{
    bool start[64] = {false}, run[64] = {false}, rates[64] = {false}, wave[64];
    for (uint32_t n = 0; n < world->structure.node_count; n++) {
        bool theirs = from != to && world->structure.nodes[n].output && is_real(world, n) &&
                      world->place[world->structure.nodes[n].component] == from;
        start[n] = is_read(world, n, from, to, true);
        run[n] = is_read(world, n, from, to, false) || (all && theirs);
        rates[n] = run[n] && is_real(world, n);
    }
    check_direction(world, TUTTI_CHANNEL_START, from, to, start);
    check_direction(world, TUTTI_CHANNEL_RUN, from, to, run);
    check_direction(world, TUTTI_CHANNEL_RATES, from, to, rates);
    for (uint32_t w = 0; w < world->sides[0].sequence.wave_count; w++) {
        uint32_t channel = world->sides[0].channels.of_wave[w];
        bool any = false;
        for (uint32_t n = 0; n < world->structure.node_count; n++) {
            wave[n] = run[n] && is_in_wave(world, n, w);
            any = any || wave[n];
        }
        assert_int_equal(world->sides[from].channels.of_wave[w], channel); /* all open the same ones */
        if (channel == TUTTI_NONE)
            assert_false(any);
        else
            check_direction(world, channel, from, to, wave);
    }
}

/* A wave has a channel if any rank sends something of it. */
static void check_waves_are_used(const struct world *world)
{
    uint32_t next = TUTTI_CHANNEL_WAVES;
    for (uint32_t w = 0; w < world->sides[0].sequence.wave_count; w++) {
        uint32_t channel = world->sides[0].channels.of_wave[w], links = 0;
        if (channel == TUTTI_NONE)
            continue;
        assert_int_equal(channel, next++);
        for (int r = 0; r < world->ranks; r++)
            links += world->notes[r].channels[channel]->link_count;
        assert_true(links >= 2);
    }
    for (int r = 0; r < world->ranks; r++)
        assert_int_equal(world->notes[r].count, next);
}

/* 4 units on 3 ranks, also such that a rank has none. */
static void every_placement_sends_what_is_read(void **state)
{
    (void)state;
    struct world world;
    load_all(&world);
    for (int code = 0; code < 3 * 3 * 3 * 3; code++)
        for (int all = 0; all < 2; all++) {
            int32_t place[UNITS] = {code % 3, code / 3 % 3, code / 9 % 3, code / 27};
            place_units(&world, 3, place, all, true);
            assert_true(world.sides[0].sequence.wave_count > 1);
            for (int from = 0; from < 3; from++)
                for (int to = 0; to < 3; to++)
                    check_pair(&world, from, to, all);
            check_waves_are_used(&world);
            for (int r = 0; r < 3; r++)
                for (uint32_t k = 0; k < world.notes[r].count; k++)
                    check_links(&world, r, k);
            displace_units(&world);
        }
    unload(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_nodes_two),
        cmocka_unit_test(three_ranks),
        cmocka_unit_test(neighbours_are_one_piece),
        cmocka_unit_test(one_rank_opens_nothing),
        cmocka_unit_test(ranks_that_read_nothing_have_no_links),
        cmocka_unit_test(exchanges_take_their_channel),
        cmocka_unit_test(rates_come_in_where_they_are_read),
        cmocka_unit_test(every_placement_sends_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
