/* SPDX-License-Identifier: MIT */
/* The bindings alone, with libraries that lack functions, step in a separate thread, or run without memory; and
 * messages of FMUs. */
#include "failing.h"

#include <stdlib.h>

#include "fmu/api1.h"
#include "fmu/api2.h"
#include "fmu/fmi_call_instance.h"
#include "fmu/binary/library.h"

#define X(name, ret, params, group) ret(*name) params;
struct functions1 {
    FMI1_FUNCTIONS(X)
};
struct functions2 {
    FMI2_FUNCTIONS(X)
};
#undef X

static const struct tt_binding *const bindings[] = {&tt_fmi1_cs_binding, &tt_fmi1_me_binding, &tt_fmi2_binding,
                                                    &tt_fmi3_binding};
enum { BINDINGS = sizeof bindings / sizeof *bindings };

static char said[8192];

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static const struct tutti_log log_of_all = {TUTTI_LOG_DEBUG, note, NULL};

static struct tt_var variables[] = {
    {.name = "real", .reference = 1, .type = TUTTI_TYPE_FLOAT64},
    {.name = "int", .reference = 1, .type = TUTTI_TYPE_INT32},
    {.name = "choice", .reference = 2, .type = TUTTI_TYPE_ENUMERATION},
    {.name = "bool", .reference = 1, .type = TUTTI_TYPE_BOOLEAN},
    {.name = "text", .reference = 1, .type = TUTTI_TYPE_STRING},
};

/* An instance of a library with these functions. */
struct one {
    struct tt_description desc;
    struct tt_library library;
    struct tt_instance in;
};

static void init(struct one *one, const struct tt_binding *binding, void *functions)
{
    said[0] = '\0';
    *one = (struct one){
        .desc = {.fmi = binding->fmi, .vars = variables, .var_count = sizeof variables / sizeof *variables}};
    one->library.binding = binding;
    one->library.desc = &one->desc;
    one->library.functions = functions;
    one->in.library = &one->library;
    one->in.binding = binding;
    one->in.functions = functions;
    one->in.options = (struct tt_instance_options){.name = "it", .log = &log_of_all};
}

static void fini(struct one *one)
{
    free(one->in.messages.texts);
    free(one->in.scratch);
}

/* ---- functions that are not there ---- */

static void lacks(const struct one *one, const char *slot, enum tt_fmi_status status)
{
    if (status != TUTTI_STATUS_ERROR || strcmp(said, "the FMU's library lacks this function\n") != 0)
        fail_msg("FMI %s, %s: status %d, '%s'", one->in.binding->version, slot, (int)status, said);
    said[0] = '\0';
}
#define LACKS(slot, ...)                                                                                               \
    if (b->slot)                                                                                                       \
    lacks(&one, #slot, b->slot(&one.in, ##__VA_ARGS__))

static void test_missing(void **state)
{
    (void)state;
    for (int i = 0; i < BINDINGS; i++) {
        const struct tt_binding *b = bindings[i];
        void **none = calloc(b->symbol_count, sizeof *none), *handle = NULL;
        struct one one;
        uint32_t reference = 1;
        int32_t order = 1;
        double value = 0;
        unsigned char byte = 0;
        size_t size;
        bool event, terminate;
        struct tt_discrete_update discrete = {0};
        init(&one, b, none);
        LACKS(enter_configuration);
        LACKS(exit_configuration);
        for (int type = 0; type < (int)TUTTI_TYPE_COUNT; type++) {
            const struct tt_bytes nothing[2] = {{0}}; /* as large as any value */
            struct tt_bytes room[2];
            assert_int_equal(b->type_word((enum tt_type)type) != NULL, b->types >> type & 1);
            if (b->types >> type & 1) {
                LACKS(set, (enum tt_type)type, &reference, 1, nothing, 1);
                LACKS(get, (enum tt_type)type, &reference, 1, room, 1);
            }
        }
        LACKS(set_input_derivatives, &reference, 1, &order, &value);
        LACKS(get_output_derivatives, &reference, 1, &order, &value);
        LACKS(get_directional, &reference, 1, &reference, 1, &value, 1, &value, 1);
        LACKS(setup_experiment);
        if (b->fmi > 1)
            LACKS(enter_initialization);
        LACKS(exit_initialization);
        if (b->fmi > 1)
            LACKS(enter_event);
        LACKS(update_discrete, &discrete);
        LACKS(enter_step);
        LACKS(get_state, &handle);
        LACKS(set_state, handle);
        LACKS(free_state, &handle);
        LACKS(serialized_size, handle, &size);
        LACKS(serialize, handle, &byte, 1);
        LACKS(deserialize, &byte, 1, &handle);
        LACKS(get_states, &value, 1);
        LACKS(get_nominals, &value, 1);
        LACKS(get_state_references, &reference, 1);
        LACKS(completed_step, true, &event, &terminate);
        if (b->fmi > 1)
            LACKS(enter_continuous);
        LACKS(terminate);
        LACKS(reset);
        assert_null(b->get_version(&one.library));
        fini(&one);
        free(none);
    }
}

/* ---- steps on a thread of the FMU's ---- */

static int pending;        /* number of queries answered by pending */
static bool cannot_answer; /* and the query itself fails */
static double last_time;

static fmi2Status get_status(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c;
    assert_int_equal(kind, fmi2DoStepStatus);
    *value = pending-- > 0 ? fmi2Pending : fmi2Discard;
    return cannot_answer ? fmi2Error : fmi2OK;
}

static fmi2Status get_real_status(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    (void)c, (void)kind;
    *value = last_time;
    return cannot_answer ? fmi2Discard : fmi2OK;
}

static fmi2Status get_boolean_status(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    (void)c, (void)kind;
    *value = fmi2True;
    return cannot_answer ? fmi2Error : fmi2OK;
}

static void check_after_step(const struct tt_binding *b, void *functions, enum tt_fmi_status status,
                             enum tt_fmi_status expected, double reached, bool terminate)
{
    struct one one;
    struct tt_fmi_step step = {.reached = -1};
    init(&one, b, functions);
    assert_int_equal(b->after_step(&one.in, 2.0, status, &step), expected);
    assert_same_double(step.reached, reached);
    assert_int_equal(step.terminate, terminate);
    fini(&one);
}

static void test_pending(void **state)
{
    (void)state;
    struct functions1 f1 = {0};
    struct functions2 f2 = {0};
    void *tables[] = {&f1, &f2};
    for (int with = 0; with < 2; with++) {
        cannot_answer = false;
        for (int i = 0; i < 2; i++) {
            const struct tt_binding *b = i == 0 ? &tt_fmi1_cs_binding : &tt_fmi2_binding;
            pending = 3;
            last_time = 2.5;
            cannot_answer = false;
            /* It waits, and the step was a discarded one; or cannot ask. */
            check_after_step(b, tables[i], TUTTI_STATUS_PENDING, with ? TUTTI_STATUS_DISCARD : TUTTI_STATUS_ERROR,
                             with ? 2.5 : -1, with && i == 1);
            assert_int_equal(pending, with ? -1 : 3);
            check_after_step(b, tables[i], TUTTI_STATUS_DISCARD, TUTTI_STATUS_DISCARD, with ? 2.5 : 2, with && i == 1);
            check_after_step(b, tables[i], TUTTI_STATUS_OK, TUTTI_STATUS_OK, -1, false);
            cannot_answer = true;
            check_after_step(b, tables[i], TUTTI_STATUS_PENDING, TUTTI_STATUS_ERROR, -1, false);
            check_after_step(b, tables[i], TUTTI_STATUS_DISCARD, TUTTI_STATUS_DISCARD, 2, false);
        }
        f1.fmiGetStatus = (__typeof__(f1.fmiGetStatus))(void (*)(void))get_status;
        f1.fmiGetRealStatus = (__typeof__(f1.fmiGetRealStatus))(void (*)(void))get_real_status;
        f2.fmi2GetStatus = get_status;
        f2.fmi2GetRealStatus = get_real_status;
        f2.fmi2GetBooleanStatus = get_boolean_status;
    }
}

/* ---- values that need memory to be laid out ---- */

static void test_memory(void **state)
{
    (void)state;
    static const enum tt_type types[] = {TUTTI_TYPE_BOOLEAN, TUTTI_TYPE_ENUMERATION, TUTTI_TYPE_BINARY};
    for (int i = 0; i < BINDINGS; i++)
        for (int t = 0; t < 3; t++) {
            const struct tt_binding *b = bindings[i];
            bool converts = t == 2 ? b->fmi == 3 : b->fmi < 3;
            void **none = calloc(b->symbol_count, sizeof *none);
            struct tt_bytes room[2] = {{0}};
            uint32_t reference = 1;
            struct one one;
            init(&one, b, none);
            for (int get = 0; get < 2 && converts; get++) {
                failing.now = 0;
                failing.at = 1;
                failing.kind = FAILING_MEMORY;
                enum tt_fmi_status status = get ? b->get(&one.in, types[t], &reference, 1, room, 1)
                                                : b->set(&one.in, types[t], &reference, 1, room, 1);
                (void)failing_pause();
                assert_int_equal(status, TUTTI_STATUS_MEMORY);
            }
            assert_string_equal(said, "");
            fini(&one);
            free(none);
        }
}

/* ---- messages ---- */

static void say(struct one *one, enum tt_fmi_status status, const char *category, const char *text,
                const char *expected)
{
    said[0] = '\0';
    tt_fmu_callbacks_message(&one->in, status, category, text);
    assert_string_equal(said, expected);
}

static void test_messages(void **state)
{
    (void)state;
    struct one one;
    init(&one, &tt_fmi2_binding, NULL);
    say(&one, TUTTI_STATUS_WARNING, "a", "#r1# #i1# #i2# #b1# #s1#", "[a] real int choice bool text\n");
    say(&one, TUTTI_STATUS_OK, NULL, "100## of #r1#", "100# of real\n");
    say(&one, TUTTI_STATUS_OK, NULL, "#r7# #x1# #r1 #r# # #1#", "#r7# #x1# #r1 #r# # real\n");
    say(&one, TUTTI_STATUS_DISCARD, NULL, NULL, "(a message without text)\n");
    fini(&one);
    init(&one, &tt_fmi3_binding, NULL); /* which has no letters */
    say(&one, TUTTI_STATUS_OK, NULL, "#1# #r1#", "real #r1#\n");
    fini(&one);
    /* A name that does not fit any more is cut. */
    static char long_text[2 * TUTTI_MESSAGE_SIZE];
    memset(long_text, 'x', TUTTI_MESSAGE_SIZE - 3);
    strcat(long_text, "#1#");
    init(&one, &tt_fmi3_binding, NULL);
    tt_fmu_callbacks_message(&one.in, TUTTI_STATUS_OK, NULL, long_text);
    assert_int_equal(strlen(said), TUTTI_MESSAGE_SIZE); /* with its line's end */
    assert_string_equal(said + TUTTI_MESSAGE_SIZE - 4, "xre\n");
    tt_fmu_callbacks_message(NULL, TUTTI_STATUS_OK, NULL, "of no instance");
    assert_null(strstr(said, "of no instance"));
    fini(&one);
}

/* Without memory for a message it is reported nevertheless. */
static void test_messages_without_memory(void **state)
{
    (void)state;
    struct one one;
    init(&one, &tt_fmi2_binding, NULL);
    failing.now = 0;
    failing.at = 1;
    failing.kind = FAILING_MEMORY;
    tt_fmu_callbacks_message(&one.in, TUTTI_STATUS_ERROR, NULL, "a word");
    (void)failing_pause();
    assert_string_equal(said, "a word\n");
    fini(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_messages_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
