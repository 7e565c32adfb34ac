/* SPDX-License-Identifier: MIT */
/* Signals between units: how they are laid out, and that values arrive, whatever their type. */
#include "test.h"

#include <stdlib.h>

#include "sim/signals/wires.h"
#include "count_allocations.h"
#include "model/plan/structure.h"

/* ---- systems of units in initialisation mode ---- */

enum { MOST_UNITS = 4 };

struct wired {
    struct tt_system *system;
    struct tt_structure structure;
    struct tt_unit *units[MOST_UNITS];
    struct tt_wires wires;
};

#define A3 "a=" TUTTI_FMUS "/Feedthrough_fmi3.fmu"
#define B3 "b=" TUTTI_FMUS "/Feedthrough_fmi3.fmu"

/* Up to the units; lists end with NULL. */
static void load_joined(struct wired *wired, const char *const *files, const char *const *connect,
                        const char *const *set, const char *tlm)
{
    struct tt_system_source source = {
        .files = files, .connect = connect, .set = set, .tlms = &tlm, .tlm_count = tlm != NULL};
    struct tt_findings findings = {0};
    memset(wired, 0, sizeof *wired);
    while (files[source.file_count])
        source.file_count++;
    while (connect[source.connect_count])
        source.connect_count++;
    while (set && set[source.set_count])
        source.set_count++;
    assert_ok(tt_system_load(&wired->system, &source, &findings));
    assert_int_equal(findings.errors, 0);
    assert_true(wired->system->component_count <= MOST_UNITS);
    assert_ok(tt_structure_init(&wired->structure, wired->system, TUTTI_PHASE_INITIAL));
    for (uint32_t c = 0; c < wired->system->component_count; c++) {
        const struct tt_component *component = &wired->system->components[c];
        struct tt_unit_options options = {.name = component->name, .interface = TUTTI_INTERFACE_CS};
        assert_ok(tt_unit_new(&wired->units[c], component->fmu, &options));
        assert_ok(tt_unit_apply(wired->units[c], component->settings, component->setting_count));
        assert_ok(tt_unit_apply_inputs(wired->units[c], component->settings, component->setting_count));
    }
}

static void load(struct wired *wired, const char *const *files, const char *const *connect, const char *const *set)
{
    load_joined(wired, files, connect, set, NULL);
}

static void start(struct wired *wired, const char *const *files, const char *const *connect, const char *const *set)
{
    load(wired, files, connect, set);
    assert_ok(tt_wire_layout_init(&wired->wires, &wired->structure, wired->units));
    for (uint32_t c = 0; c < wired->system->component_count; c++) {
        struct tt_experiment_setup setup = {.stop = 1, .has_stop = true};
        assert_ok(wired->units[c]->kind->set_up(wired->units[c], &setup));
        assert_ok(wired->units[c]->kind->enter_init(wired->units[c]));
    }
}

static void finish(struct wired *wired)
{
    tt_wires_fini(&wired->wires);
    for (int c = 0; c < MOST_UNITS; c++)
        tt_unit_free(wired->units[c]);
    tt_structure_fini(&wired->structure);
    tt_system_free(wired->system);
}

#define LIST(...)                                                                                                      \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

/* Sets a variable of a unit, from an array of its type. */
static void put(struct wired *wired, uint32_t component, const char *name, const void *values)
{
    struct tt_signals signals;
    uint32_t variable = tt_description_find(wired->system->components[component].fmu->desc, name);
    assert_int_not_equal(variable, TUTTI_NONE);
    assert_ok(tt_unit_signals(wired->units[component], &variable, 1, &signals));
    if (signals.extents[0] > 0)
        memcpy(signals.slots[0], values, signals.extents[0] * signals.sizes[0]);
    assert_ok(tt_unit_set(wired->units[component], &signals));
    tt_signals_fini(&signals);
}

static const struct tt_slot *slot_of(const struct wired *wired, uint32_t component, const char *name, bool output)
{
    uint32_t variable = tt_description_find(wired->system->components[component].fmu->desc, name);
    uint32_t node = tt_structure_find(&wired->structure, component, variable, output);
    if (node == TUTTI_NONE)
        fail_msg("%s of component %u is no node", name, component);
    return &wired->wires.slots[node];
}

static const void *staged(const struct wired *wired, const char *name)
{
    return slot_of(wired, 1, name, false)->values;
}

/* What component 0 has reaches the inputs of component 1, staged. */
static enum tutti_err move_all(struct wired *wired)
{
    for (uint32_t c = 0; c < wired->system->component_count; c++)
        TRY(tt_wires_get_outputs(&wired->wires.units[c], wired->units[c]));
    TRY(tt_wires_gather_all(&wired->wires));
    for (uint32_t c = 0; c < wired->system->component_count; c++)
        TRY(tt_wires_gather_held(&wired->wires, wired->wires.signals, &wired->wires.units[c]));
    return TUTTI_OK;
}

/* ---- types ---- */

/* X(variable, C type, value) */
#define SCALARS(X)                                                                                                     \
    X(float64, double, 0.1)                                                                                            \
    X(float64_discrete, double, -2.5)                                                                                  \
    X(float32, float, 1.5f)                                                                                            \
    X(int8, int8_t, INT8_MIN)                                                                                          \
    X(uint8, uint8_t, UINT8_MAX)                                                                                       \
    X(int16, int16_t, INT16_MIN)                                                                                       \
    X(uint16, uint16_t, UINT16_MAX)                                                                                    \
    X(int32, int32_t, -1000000000)                                                                                     \
    X(uint32, uint32_t, UINT32_MAX)                                                                                    \
    X(int64, int64_t, INT64_MIN)                                                                                       \
    X(uint64, uint64_t, UINT64_MAX)                                                                                    \
    X(boolean, bool, true)                                                                                             \
    X(color, int64_t, 3)

#define CONNECT(name) "a." name "_out=b." name "_in"

static const char *const of_all_types[] = {
#define X(name, ctype, value) CONNECT(#name),
    SCALARS(X)
#undef X
        CONNECT("string"),
    CONNECT("binary"),
    CONNECT("matrix"),
    CONNECT("vector"),
    CONNECT("strings"),
    NULL,
};

static void put_all(struct wired *wired)
{
#define X(name, ctype, value)                                                                                          \
    {                                                                                                                  \
        ctype one = value;                                                                                             \
        put(wired, 0, #name "_in", &one);                                                                              \
    }
    SCALARS(X)
#undef X
    put(wired, 0, "string_in", (const char *[]){"gr\xc3\xbc\xc3\x9f dich"});
    put(wired, 0, "binary_in", &(struct tt_bytes){5, (const uint8_t *)"\0\1\2\0\xff"});
    put(wired, 0, "matrix_in", (const double[]){1, 2, 3, 4, 5, 6.5});
    put(wired, 0, "vector_in", (const int32_t[]){-7, 8, 9});
    put(wired, 0, "strings_in", (const char *[]){"", "two"});
}

/* W5. */
#define STAGED(ctype) _Generic((ctype)0, float : (double)0, default : (ctype)0)

static void check_all(const struct wired *wired)
{
#define X(name, ctype, value)                                                                                          \
    assert_true(*(const __typeof__(STAGED(ctype)) *)staged(wired, #name "_in") == (ctype)(value));
    SCALARS(X)
#undef X
    assert_string_equal(*(const char *const *)staged(wired, "string_in"), "gr\xc3\xbc\xc3\x9f dich");
    const struct tt_bytes *bytes = staged(wired, "binary_in");
    assert_int_equal(bytes->size, 5);
    assert_memory_equal(bytes->data, "\0\1\2\0\xff", 5);
    assert_memory_equal(staged(wired, "matrix_in"), ((double[]){1, 2, 3, 4, 5, 6.5}), 6 * sizeof(double));
    assert_memory_equal(staged(wired, "vector_in"), ((int32_t[]){-7, 8, 9}), 3 * sizeof(int32_t));
    assert_string_equal(((const char *const *)staged(wired, "strings_in"))[0], "");
    assert_string_equal(((const char *const *)staged(wired, "strings_in"))[1], "two");
}

static void every_type_arrives(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, B3), of_all_types, NULL);
    put_all(&wired);
    assert_ok(move_all(&wired));
    check_all(&wired);
    finish(&wired);
}

/* W1: a block per type; reading them costs a call each. */
static void a_type_is_a_block(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, B3), of_all_types, NULL);
    const struct tt_unit_wires *a = &wired.wires.units[0], *b = &wired.wires.units[1];
    assert_int_equal(a->output_blocks, 14); /* all but Clock */
    assert_int_equal(a->moving_blocks + a->held_blocks, 0);
    assert_int_equal(b->output_blocks, 0);
    assert_int_equal(b->moving_blocks, 2); /* Float64: scalar and matrix; Float32 */
    assert_int_equal(b->held_blocks, 13);  /* the discrete Float64 with the others */
    assert_int_equal(b->gather_count, 8);
    for (unsigned i = 0; i < a->output_blocks; i++)
        for (unsigned k = 0; k < i; k++)
            assert_true(a->outputs[i].type != a->outputs[k].type || (i == 1 && k == 0)); /* W5: Float64, Float32 */
    unsigned long before = wired.units[0]->counts.gets;
    assert_ok(tt_wires_get_outputs(a, wired.units[0]));
    assert_int_equal(wired.units[0]->counts.gets - before, a->output_blocks);
    finish(&wired);
}

/* W3: sources are identified by their offset in `signals`. */
static void sources_lie_in_the_signals(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, B3), of_all_types, NULL);
    const struct tt_wires *wires = &wired.wires;
    assert_int_equal(wires->wire_count, wired.system->connection_count);
    for (uint32_t w = 0; w < wires->wire_count; w++) {
        const struct tt_wire *wire = &wires->wires[w];
        size_t from = tt_type_size(wire->conversion->from), to = tt_type_size(wire->conversion->to);
        assert_true(wire->from + wire->count * from <= wires->signal_size);
        assert_int_equal(wire->from % (from < 8 ? from : 8), 0);
        assert_int_equal((uintptr_t)wire->to % (to < 8 ? to : 8), 0);
    }
    for (uint32_t n = 0; n < wires->gather_count; n++)
        assert_true((wires->gather[n] + 1) * sizeof(double) <= wires->signal_size);
    finish(&wired);
}

/* W2. */
static void moving_values_allocates_nothing(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, B3), of_all_types, NULL);
    put_all(&wired);
    assert_ok(move_all(&wired)); /* texts grow here */
    unsigned long before = allocations;
    for (int i = 0; i < 1000; i++) {
        assert_ok(tt_wires_gather_all(&wired.wires));
        assert_ok(tt_wires_gather(&wired.wires, wired.wires.signals, &wired.wires.units[1]));
        assert_ok(tt_wires_gather_held(&wired.wires, wired.wires.signals, &wired.wires.units[1]));
    }
    assert_int_equal(allocations, before);
    check_all(&wired);
    finish(&wired);
}

/* ---- conversions ---- */

static void numbers_change_their_type(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, B3),
          LIST("a.int8_out=b.int64_in", "a.uint8_out=b.int16_in", "a.int32_out=b.float64_in",
               "a.float64_out=b.float32_in", "a.color_out=b.uint8_in", "a.uint32_out=b.color_in",
               "a.int64_out=b.float64_discrete_in", "a.vector_out=b.vector_in"),
          NULL);
    put(&wired, 0, "int8_in", &(int8_t){-128});
    put(&wired, 0, "uint8_in", &(uint8_t){255});
    put(&wired, 0, "int32_in", &(int32_t){-123456789});
    put(&wired, 0, "float64_in", &(double){0.1});
    put(&wired, 0, "color_in", &(int64_t){2});
    put(&wired, 0, "uint32_in", &(uint32_t){3});
    put(&wired, 0, "int64_in", &(int64_t){INT64_C(1) << 53});
    assert_ok(move_all(&wired));
    assert_int_equal(*(const int64_t *)staged(&wired, "int64_in"), -128);
    assert_int_equal(*(const int16_t *)staged(&wired, "int16_in"), 255);
    assert_same_double(*(const double *)staged(&wired, "float64_in"), -123456789);
    assert_same_double(*(const double *)staged(&wired, "float32_in"), 0.1); /* W5: rounded where the unit takes it */
    assert_int_equal(*(const uint8_t *)staged(&wired, "uint8_in"), 2);
    assert_int_equal(*(const int64_t *)staged(&wired, "color_in"), 3);
    assert_same_double(*(const double *)staged(&wired, "float64_discrete_in"), 9007199254740992.0);
    finish(&wired);
}

static void a_number_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, B3), LIST("a.int64_out=b.uint8_in"), NULL);
    assert_ok(move_all(&wired));
    put(&wired, 0, "int64_in", &(int64_t){256});
    assert_fails(move_all(&wired), TUTTI_ERR_LIMIT, "256");
    assert_non_null(strstr(tutti_err_message(), "a.int64_out"));
    assert_non_null(strstr(tutti_err_message(), "b.uint8_in"));
    put(&wired, 0, "int64_in", &(int64_t){-1});
    assert_fails(move_all(&wired), TUTTI_ERR_LIMIT, "-1");
    put(&wired, 0, "int64_in", &(int64_t){255});
    assert_ok(move_all(&wired));
    assert_int_equal(*(const uint8_t *)staged(&wired, "uint8_in"), 255);
    finish(&wired);
}

/* ---- arrays ---- */

/* Elements find each other, also next to each other; the rest keep their start values. */
static void elements_are_connected_one_by_one(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, "b=" TUTTI_FMUS "/StateSpace_fmi3.fmu"), LIST("a.matrix_out[2,1]=b.u[1]"), NULL);
    put(&wired, 0, "matrix_in", (const double[]){1, 2, 3, 4, 5, 6});
    assert_ok(move_all(&wired));
    assert_memory_equal(staged(&wired, "u"), ((double[]){4, 2}), 2 * sizeof(double));
    finish(&wired);

    start(&wired, LIST(A3, B3),
          LIST("a.matrix_out[1,3]=b.matrix_in[2,1]", "a.float64_out=b.matrix_in[1,1]", "a.vector_out[3]=b.vector_in[1]",
               "a.strings_out[2]=b.strings_in[1]", "a.int32_out=b.vector_in[3]", "a.vector_out[1]=b.matrix_in[2,3]"),
          NULL);
    put_all(&wired);
    assert_ok(move_all(&wired));
    assert_memory_equal(staged(&wired, "matrix_in"), ((double[]){0.1, 0, 0, 3, 0, -7}), 6 * sizeof(double));
    assert_memory_equal(staged(&wired, "vector_in"), ((int32_t[]){9, 2, -1000000000}), 3 * sizeof(int32_t));
    assert_string_equal(((const char *const *)staged(&wired, "strings_in"))[0], "two");
    assert_string_equal(((const char *const *)staged(&wired, "strings_in"))[1], "second");
    finish(&wired);
}

/* Start values that an option asked for are those that are kept. */
static void elements_that_are_set_are_kept(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, "b=" TUTTI_FMUS "/StateSpace_fmi3.fmu"), LIST("a.float64_out=b.u[1]"), LIST("b.u[2]=5"));
    assert_ok(move_all(&wired));
    assert_memory_equal(staged(&wired, "u"), ((double[]){0, 5}), 2 * sizeof(double));
    finish(&wired);
    start(&wired, LIST(A3, B3), LIST("a.int32_out=b.vector_in[2]", "a.string_out=b.strings_in[1]"),
          LIST("b.vector_in[3]=33", "b.strings_in[2]=set"));
    assert_ok(move_all(&wired));
    assert_memory_equal(staged(&wired, "vector_in"), ((int32_t[]){1, 0, 33}), 3 * sizeof(int32_t));
    assert_string_equal(((const char *const *)staged(&wired, "strings_in"))[1], "set");
    finish(&wired);
}

static void sizes_must_agree(void **state)
{
    (void)state;
    struct wired wired;
    static const struct {
        const char *connect, *set, *words[4];
    } cases[] = {
        /* what structural parameters make of it; all else is seen when the system is loaded */
        {"b.y=c.u", "b.r=3", {"b.y", "3 values", "c.u", "2"}},
        {"b.y=c.u", "b.r=1", {"b.y", "1 value ", "c.u", "2"}},
        {"b.y=c.u", "c.m=0", {"b.y", "2 values", "c.u", "0"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load(&wired, LIST(A3, "b=" TUTTI_FMUS "/StateSpace_fmi3.fmu", "c=" TUTTI_FMUS "/StateSpace_fmi3.fmu"),
             LIST(cases[i].connect), LIST(cases[i].set));
        assert_fails(tt_wire_layout_init(&wired.wires, &wired.structure, wired.units), TUTTI_ERR_ARGUMENT,
                     cases[i].words[0]);
        for (int k = 1; k < 4; k++)
            assert_non_null(strstr(tutti_err_message(), cases[i].words[k]));
        finish(&wired);
    }
}

/* Extents follow structural parameters, also down to nothing. */
static void extents_are_those_of_now(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST("a=" TUTTI_FMUS "/StateSpace_fmi3.fmu", "b=" TUTTI_FMUS "/StateSpace_fmi3.fmu"), LIST("a.y=b.u"),
          LIST("a.r=4", "b.m=4"));
    assert_int_equal(slot_of(&wired, 1, "u", false)->count, 4);
    assert_ok(move_all(&wired));
    finish(&wired);
    start(&wired, LIST("a=" TUTTI_FMUS "/StateSpace_fmi3.fmu", "b=" TUTTI_FMUS "/StateSpace_fmi3.fmu"), LIST("a.y=b.u"),
          LIST("a.r=0", "b.m=0"));
    assert_int_equal(slot_of(&wired, 1, "u", false)->count, 0);
    assert_ok(move_all(&wired));
    finish(&wired);
}

/* ---- texts ---- */

static void texts_may_grow_and_shrink(void **state)
{
    (void)state;
    struct wired wired;
    enum { LONG = 100000 };
    start(&wired, LIST(A3, B3), LIST(CONNECT("string"), CONNECT("binary"), CONNECT("strings")), NULL);
    char *text = malloc(LONG + 1);
    assert_non_null(text);
    for (size_t length = 0; length <= LONG; length = length ? 10 * length : 1) {
        memset(text, 'x', length);
        text[length] = '\0';
        put(&wired, 0, "string_in", (const char *[]){text});
        put(&wired, 0, "binary_in", &(struct tt_bytes){length, (const uint8_t *)text});
        put(&wired, 0, "strings_in", (const char *[]){text, "same"});
        assert_ok(move_all(&wired));
        assert_string_equal(*(const char *const *)staged(&wired, "string_in"), text);
        assert_int_equal(((const struct tt_bytes *)staged(&wired, "binary_in"))->size, length);
        assert_string_equal(((const char *const *)staged(&wired, "strings_in"))[0], text);
        assert_string_equal(((const char *const *)staged(&wired, "strings_in"))[1], "same");
    }
    put(&wired, 0, "string_in", (const char *[]){"short"});
    assert_ok(move_all(&wired));
    assert_string_equal(*(const char *const *)staged(&wired, "string_in"), "short");
    free(text);
    finish(&wired);
}

/* ---- discrete inputs ---- */

/* News are news once, for every type. */
static void news_are_noticed(void **state)
{
    (void)state;
    struct wired wired;
    const struct {
        const char *name;
        const void *value;
    } news[] = {
        {"float64_discrete", &(const double){1}},
        {"int8", &(const int8_t){1}},
        {"int64", &(const int64_t){1}},
        {"boolean", &(const bool){true}},
        {"color", &(const int64_t){2}},
        {"string", (const char *const[]){"new"}},
        {"binary", &(const struct tt_bytes){3, (const uint8_t *)"fop"}},
        {"vector", (const int32_t[]){1, 2, 4}},
        {"strings", (const char *const[]){"first", "other"}},
    };
    start(&wired, LIST(A3, B3), of_all_types, NULL);
    struct tt_unit_wires *b = &wired.wires.units[1];
    assert_ok(move_all(&wired));
    for (size_t i = 0; i < sizeof news / sizeof *news; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_in", news[i].name);
        b->held_changed = false;
        assert_ok(move_all(&wired));
        assert_false(b->held_changed);
        put(&wired, 0, name, news[i].value);
        assert_ok(move_all(&wired));
        if (!b->held_changed)
            fail_msg("%s went by unnoticed", name);
    }
    b->held_changed = false;
    put(&wired, 0, "float64_in", &(double){3}); /* not new: it moves */
    assert_ok(move_all(&wired));
    assert_false(b->held_changed);
    finish(&wired);
}

/* A single node, as the initialisation gathers it. */
static void a_single_input_can_be_staged(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, B3), of_all_types, NULL);
    put_all(&wired);
    assert_ok(tt_wires_get_outputs(&wired.wires.units[0], wired.units[0]));
    for (uint32_t n = wired.structure.component_first[1]; n < wired.structure.component_first[2]; n++)
        assert_ok(tt_wires_gather_node(&wired.wires, n));
    check_all(&wired);
    finish(&wired);
}

/* Values fed by the master have a separate place after the signals of units; a line's connection adds to them, but not
 * at the start. */
static void the_master_feeds_inputs(void **state)
{
    (void)state;
    const char *const files[] = {"a=" TUTTI_FMUS "/ChainMass_fmi2.fmu", "b=" TUTTI_FMUS "/ChainMass_fmi3.fmu", NULL};
    struct wired wired;
    load_joined(&wired, files, (const char *const[]){NULL}, NULL,
                "a.F_right,a.v=-2*b.F_right,b.v; delay=0.1; impedance=3");
    assert_ok(tt_wire_layout_init(&wired.wires, &wired.structure, wired.units));
    struct tt_wires *wires = &wired.wires;
    double *signals = (double *)(void *)wires->signals;
    assert_int_equal(wired.system->fed_count, 2);
    assert_int_equal(wires->signal_size - wires->unit_size, 2 * sizeof(double));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(wires->fed[i] * sizeof(double) >= wires->unit_size);
        signals[wires->fed[i]] = 10 * (i + 1);
    }
    *(double *)tt_wires_read_output(wires, 0) = 1; /* the velocities */
    *(double *)tt_wires_read_output(wires, 1) = 4;
    assert_ok(tt_wires_gather_all(wires));
    assert_near(wires->gathered[0], 10 - 3 * 1, 0);
    assert_near(wires->gathered[1], 20 + 2 * 3 * 4, 0);
    for (uint32_t n = 0; n < wired.structure.node_count; n++)
        if (!wired.structure.nodes[n].output)
            assert_ok(tt_wires_gather_node(wires, n));
    assert_near(wires->gathered[0], 10, 0);
    assert_near(wires->gathered[1], 20, 0);
    finish(&wired);
}

static void nothing_connected_is_nothing_to_do(void **state)
{
    (void)state;
    struct wired wired;
    start(&wired, LIST(A3, B3), (const char *const[]){NULL}, NULL);
    assert_ok(move_all(&wired));
    assert_int_equal(wired.units[0]->counts.gets, 0);
    assert_int_equal(wired.wires.wire_count, 0);
    finish(&wired);
    wired.wires = (struct tt_wires){0};
    tt_wires_fini(&wired.wires);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_arrives),
        cmocka_unit_test(a_type_is_a_block),
        cmocka_unit_test(sources_lie_in_the_signals),
        cmocka_unit_test(moving_values_allocates_nothing),
        cmocka_unit_test(numbers_change_their_type),
        cmocka_unit_test(a_number_that_does_not_fit_is_an_error),
        cmocka_unit_test(elements_are_connected_one_by_one),
        cmocka_unit_test(elements_that_are_set_are_kept),
        cmocka_unit_test(sizes_must_agree),
        cmocka_unit_test(extents_are_those_of_now),
        cmocka_unit_test(texts_may_grow_and_shrink),
        cmocka_unit_test(news_are_noticed),
        cmocka_unit_test(a_single_input_can_be_staged),
        cmocka_unit_test(the_master_feeds_inputs),
        cmocka_unit_test(nothing_connected_is_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
