/* SPDX-License-Identifier: MIT */
/* What goes from rank to rank as bytes: messages of a channel, the frames of a report; and what all fabrics reduce by. */
#include "test.h"

#include <stdlib.h>

#include "sim/ranks/fabric.h"

#define LENGTH(list) (sizeof(list) / sizeof *(list))

/* ---- messages ---- */

enum { STRINGS = 3, BINARIES = 2, MESSAGE = 512 };

/* An array of signals, and where the copies of its texts live. */
struct signals {
    double reals[4];
    int32_t integers[3];
    const char *strings[STRINGS];
    struct tt_bytes binaries[BINARIES];
};

struct rank {
    struct signals signals;
    struct tt_arena arena;
    struct tt_cargo_piece pieces[2];
    struct tt_cargo_text texts[2];
    struct tt_cargo cargo;
};

/* Reals 1 and 2, integer 2, all Strings, all Binaries. */
static void rank_init(struct rank *rank)
{
    *rank = (struct rank){0};
    struct tt_owned *strings = tt_signals_owned_array(&rank->arena, STRINGS),
                    *binaries = tt_signals_owned_array(&rank->arena, BINARIES);
    assert_true(strings && binaries);
    rank->pieces[0] = (struct tt_cargo_piece){offsetof(struct signals, reals) + sizeof(double), 2 * sizeof(double)};
    rank->pieces[1] =
        (struct tt_cargo_piece){offsetof(struct signals, integers) + 2 * sizeof(int32_t), sizeof(int32_t)};
    rank->texts[0] = (struct tt_cargo_text){offsetof(struct signals, strings), TUTTI_TYPE_STRING, STRINGS, strings};
    rank->texts[1] = (struct tt_cargo_text){offsetof(struct signals, binaries), TUTTI_TYPE_BINARY, BINARIES, binaries};
    rank->cargo = (struct tt_cargo){rank->pieces, 2, rank->texts, 2, 2 * sizeof(double) + sizeof(int32_t)};
}

static void rank_fini(struct rank *rank)
{
    tt_signals_owned_fini(rank->texts[0].owned, STRINGS);
    tt_signals_owned_fini(rank->texts[1].owned, BINARIES);
    tt_arena_fini(&rank->arena);
}

static char *base_of(struct rank *rank)
{
    return (char *)&rank->signals;
}

static const uint8_t bytes_with_zeros[] = {0, 'a', 0, 0, 255, 0};

static void fill(struct signals *signals)
{
    *signals = (struct signals){
        .reals = {1, -0.0, NAN, 4},
        .integers = {5, 6, INT32_MIN},
        .strings = {"", NULL, "two \xc3\xa4"},
        .binaries = {{sizeof bytes_with_zeros, bytes_with_zeros}, {0, NULL}},
    };
}

/* The message of `from`, exactly as long as it says; the caller's. */
static char *pack(struct rank *from, size_t *size)
{
    *size = tt_fabric_cargo_size(&from->cargo, base_of(from));
    char *message = malloc(*size + 1); /* a sanitizer sees what is beyond, and malloc(0) may be NULL */
    assert_non_null(message);
    message[*size] = '#';
    tt_fabric_cargo_pack(&from->cargo, base_of(from), message);
    assert_int_equal(message[*size], '#');
    return message;
}

static void every_value_arrives_and_no_other(void **state)
{
    (void)state;
    struct rank from, to;
    size_t size;
    rank_init(&from);
    rank_init(&to);
    fill(&from.signals);
    char *message = pack(&from, &size);
    assert_int_equal(size, from.cargo.size + 5 * sizeof(uint64_t) + strlen("two \xc3\xa4") + sizeof bytes_with_zeros);
    to.signals.reals[0] = to.signals.reals[3] = 77;
    to.signals.integers[0] = to.signals.integers[1] = 78;
    assert_ok(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), message, size));
    memset(message, 'x', size); /* texts are copies */
    assert_memory_equal(&to.signals.reals[1], &from.signals.reals[1], 2 * sizeof(double));
    assert_int_equal(to.signals.integers[2], INT32_MIN);
    assert_same_double(to.signals.reals[0], 77);
    assert_same_double(to.signals.reals[3], 77);
    assert_int_equal(to.signals.integers[0], 78);
    assert_int_equal(to.signals.integers[1], 78);
    assert_string_equal(to.signals.strings[0], "");
    assert_string_equal(to.signals.strings[1], ""); /* previously missing */
    assert_string_equal(to.signals.strings[2], "two \xc3\xa4");
    assert_int_equal(to.signals.binaries[0].size, sizeof bytes_with_zeros);
    assert_memory_equal(to.signals.binaries[0].data, bytes_with_zeros, sizeof bytes_with_zeros);
    assert_int_equal(to.signals.binaries[1].size, 0);
    free(message);
    rank_fini(&from);
    rank_fini(&to);
}

/* A text of another length than before, in the same place; what is sent again is the same. */
static void texts_may_grow_and_shrink(void **state)
{
    (void)state;
    static const char *const texts[] = {"short", "a text that is much longer than the one before it", "", "x"};
    struct rank from, to;
    rank_init(&from);
    rank_init(&to);
    fill(&from.signals);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        size_t size, again;
        from.signals.strings[2] = texts[i];
        from.signals.binaries[1] = (struct tt_bytes){strlen(texts[i]), (const uint8_t *)texts[i]};
        char *message = pack(&from, &size);
        assert_ok(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), message, size));
        assert_string_equal(to.signals.strings[2], texts[i]);
        assert_int_equal(to.signals.binaries[1].size, strlen(texts[i]));
        char *echo = pack(&to, &again);
        assert_int_equal(again, size);
        assert_memory_equal(echo, message, size);
        free(message);
        free(echo);
    }
    rank_fini(&from);
    rank_fini(&to);
}

static void without_texts_the_length_is_known(void **state)
{
    (void)state;
    struct rank from, to;
    size_t size;
    rank_init(&from);
    rank_init(&to);
    fill(&from.signals);
    from.cargo.text_count = to.cargo.text_count = 0;
    char *message = pack(&from, &size);
    assert_int_equal(size, from.cargo.size);
    assert_ok(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), message, size));
    assert_int_equal(to.signals.integers[2], INT32_MIN);
    to.signals = (struct signals){0};
    for (size_t wrong = 0; wrong <= size + 1; wrong++)
        if (wrong != size)
            assert_fails(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), message, wrong), TUTTI_ERR_FORMAT, "length");
    assert_same_double(to.signals.reals[1], 0); /* nothing was written */
    assert_int_equal(to.signals.integers[2], 0);
    free(message);
    rank_fini(&from);
    rank_fini(&to);
}

static void nothing_to_send_is_no_message(void **state)
{
    (void)state;
    struct tt_cargo none = {0}, texts = {.text_count = 1}, values = {.size = 8};
    char signals[8] = {0};
    assert_true(tt_fabric_cargo_is_empty(&none));
    assert_false(tt_fabric_cargo_is_empty(&texts));
    assert_false(tt_fabric_cargo_is_empty(&values));
    assert_int_equal(tt_fabric_cargo_size(&none, signals), 0);
    assert_ok(tt_fabric_cargo_unpack(&none, signals, signals, 0));
    assert_fails(tt_fabric_cargo_unpack(&none, signals, signals, 1), TUTTI_ERR_FORMAT, "length");
}

/* Cut anywhere, in memory that ends there, or with something after it. */
static void a_message_of_another_length_is_refused(void **state)
{
    (void)state;
    struct rank from, to;
    size_t size;
    rank_init(&from);
    rank_init(&to);
    fill(&from.signals);
    char *message = pack(&from, &size);
    for (size_t cut = 0; cut < size; cut++) {
        char *part = malloc(cut > 0 ? cut : 1);
        assert_non_null(part);
        memcpy(part, message, cut);
        assert_fails(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), part, cut), TUTTI_ERR_FORMAT, "length");
        free(part);
    }
    assert_fails(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), message, size + 1), TUTTI_ERR_FORMAT, "length");
    assert_ok(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), message, size)); /* still able to take a good one */
    assert_string_equal(to.signals.strings[2], "two \xc3\xa4");
    free(message);
    rank_fini(&from);
    rank_fini(&to);
}

/* The lengths in a message are another process's numbers. */
static void lengths_that_lie_are_refused(void **state)
{
    (void)state;
    struct rank from, to;
    size_t size;
    rank_init(&from);
    rank_init(&to);
    fill(&from.signals);
    char *message = pack(&from, &size);
    const uint64_t lies[] = {1,          sizeof(uint64_t), size,           UINT32_MAX,     (uint64_t)1 << 32, INT64_MAX,
                             UINT64_MAX, UINT64_MAX - 1,   UINT64_MAX - 7, UINT64_MAX - 8, UINT64_MAX - size};
    size_t at[5] = {from.cargo.size};
    for (int i = 1; i < 5; i++) { /* where the lengths are */
        uint64_t before;
        memcpy(&before, message + at[i - 1], sizeof before);
        at[i] = at[i - 1] + sizeof before + before;
    }
    for (size_t i = 0; i < LENGTH(at); i++)
        for (size_t n = 0; n < LENGTH(lies); n++) {
            uint64_t good;
            memcpy(&good, message + at[i], sizeof good);
            uint64_t lie = lies[n] == good ? lies[n] + 1 : lies[n];
            memcpy(message + at[i], &lie, sizeof lie);
            assert_fails(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), message, size), TUTTI_ERR_FORMAT, "length");
            memcpy(message + at[i], &good, sizeof good);
        }
    assert_ok(tt_fabric_cargo_unpack(&to.cargo, base_of(&to), message, size));
    free(message);
    rank_fini(&from);
    rank_fini(&to);
}

/* ---- min, max, stop ---- */

static void min_and_max_do_not_depend_on_the_order(void **state)
{
    (void)state;
    const double values[] = {-INFINITY, -1e308, -1, -5e-324, -0.0, 0.0, 5e-324, 1, 1e308, INFINITY};
    for (size_t i = 0; i < LENGTH(values); i++)
        for (size_t j = 0; j < LENGTH(values); j++) {
            double least = values[i], most = values[i];
            tt_fabric_combine(TUTTI_REDUCE_MIN, &least, &values[j], 1);
            tt_fabric_combine(TUTTI_REDUCE_MAX, &most, &values[j], 1);
            assert_same_double(least, values[i < j ? i : j]);
            assert_same_double(most, values[i > j ? i : j]);
        }
}

/* Whatever its sign and payload, the result has the same bits. */
static void a_nan_wins(void **state)
{
    (void)state;
    const uint64_t patterns[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000000123, 0xffffffffffffffff};
    const double others[] = {-INFINITY, -0.0, 1, INFINITY};
    double expected = NAN;
    for (size_t i = 0; i < LENGTH(patterns); i++) {
        double nan;
        memcpy(&nan, &patterns[i], sizeof nan);
        for (size_t j = 0; j < LENGTH(others); j++)
            for (int reduction = TUTTI_REDUCE_MIN; reduction <= TUTTI_REDUCE_MAX; reduction++) {
                double into[] = {nan, others[j], nan}, from[] = {others[j], nan, nan};
                tt_fabric_combine((enum tt_fabric_reduction)reduction, into, from, 3);
                for (int k = 0; k < 3; k++)
                    assert_same_double(into[k], expected);
            }
    }
}

static void vectors_are_combined_element_by_element(void **state)
{
    (void)state;
    const double from[] = {1, 5, -3};
    double least[] = {2, 4, -3, 9}, most[] = {2, 4, -3, 9};
    tt_fabric_combine(TUTTI_REDUCE_MIN, least, from, 3);
    tt_fabric_combine(TUTTI_REDUCE_MAX, most, from, 3);
    assert_memory_equal(least, ((double[]){1, 4, -3, 9}), sizeof least);
    assert_memory_equal(most, ((double[]){2, 5, -3, 9}), sizeof most);
}

static void the_least_stop_counts(void **state)
{
    (void)state;
    _Atomic uint64_t stop_after = UINT64_MAX;
    struct tt_fabric fabric = {.stop_after = &stop_after, .step = 5};
    assert_false(tt_fabric_is_stopped(&fabric));
    tt_fabric_lower_stop(&stop_after, 7);
    assert_int_equal(stop_after, 7);
    assert_false(tt_fabric_is_stopped(&fabric));
    tt_fabric_lower_stop(&stop_after, 8);
    assert_int_equal(stop_after, 7);
    tt_fabric_lower_stop(&stop_after, 6);
    assert_false(tt_fabric_is_stopped(&fabric)); /* one more step is allowed */
    tt_fabric_lower_stop(&stop_after, 5);
    assert_true(tt_fabric_is_stopped(&fabric));
    tt_fabric_lower_stop(&stop_after, 0);
    tt_fabric_lower_stop(&stop_after, 3);
    assert_int_equal(stop_after, 0);
    assert_fails(tt_fabric_fail_stopped(), TUTTI_ERR_STOPPED, "another rank");
}

/* ---- frames ---- */

struct listener {
    struct tt_fabric fabric;
    char bytes[MESSAGE];
    size_t size;
    enum tutti_err answer;
};

static enum tutti_err listen(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    struct listener *listener = (struct listener *)fabric;
    assert_true(listener->size + size <= sizeof listener->bytes);
    memcpy(listener->bytes + listener->size, bytes, size);
    listener->size += size;
    return listener->answer;
}

static const struct tt_fabric_kind listening = {.name = "listening", .report = listen};

static void frames_follow_each_other(void **state)
{
    (void)state;
    struct listener listener = {.fabric = {.kind = &listening, .ranks = 1}};
    struct tt_byte_writer parcel = {0};
    for (int kind = TUTTI_REPORT_COLUMNS; kind < TUTTI_REPORT_KINDS; kind++) {
        tt_fabric_begin_report(&parcel);
        for (int i = 0; i < kind - 1; i++) /* the first one has nothing in it */
            tt_bytes_put_u8(&parcel, (uint8_t)(10 * kind + i));
        assert_ok(tt_fabric_send_report(&listener.fabric, (enum tt_report_kind)kind, &parcel));
    }
    const char *at = listener.bytes, *end = at + listener.size;
    for (int expected = TUTTI_REPORT_COLUMNS; expected < TUTTI_REPORT_KINDS; expected++) {
        enum tt_report_kind kind;
        size_t size;
        bool whole;
        assert_ok(tt_fabric_find_report(at, (size_t)(end - at), &kind, &size, &whole));
        assert_true(whole);
        assert_int_equal(kind, expected);
        assert_int_equal(size, expected - 1);
        for (int i = 0; i < expected - 1; i++)
            assert_int_equal((uint8_t)at[TUTTI_REPORT_HEADER + i], 10 * expected + i);
        at += TUTTI_REPORT_HEADER + size;
    }
    assert_ptr_equal(at, end);
    tt_bytes_fini(&parcel);
}

static void a_frame_is_whole_when_its_last_byte_is_there(void **state)
{
    (void)state;
    struct listener listener = {.fabric = {.kind = &listening, .ranks = 1}};
    struct tt_byte_writer parcel = {0};
    enum tt_report_kind kind;
    size_t size;
    bool whole;
    tt_fabric_begin_report(&parcel);
    tt_bytes_put_text(&parcel, "some text");
    assert_ok(tt_fabric_send_report(&listener.fabric, TUTTI_REPORT_STEP, &parcel));
    for (size_t count = 0; count <= listener.size; count++) {
        char *part = malloc(count > 0 ? count : 1);
        assert_non_null(part);
        memcpy(part, listener.bytes, count);
        assert_ok(tt_fabric_find_report(part, count, &kind, &size, &whole));
        assert_int_equal(whole, count == listener.size);
        free(part);
    }
    assert_int_equal(kind, TUTTI_REPORT_STEP);
    assert_int_equal(size, listener.size - TUTTI_REPORT_HEADER);
    tt_bytes_fini(&parcel);
}

static void what_is_no_frame_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t kind, size;
        bool good;
    } cases[] = {
        {0, 0, false},
        {TUTTI_REPORT_COLUMNS, 0, true},
        {TUTTI_REPORT_END, 0, true},
        {TUTTI_REPORT_KINDS, 0, false},
        {(uint64_t)TUTTI_REPORT_ROW << 32, 0, false},
        {((uint64_t)1 << 32) + TUTTI_REPORT_ROW, 0, false},
        {UINT64_MAX, 0, false},
        {TUTTI_REPORT_ROW, (uint64_t)1 << 32, true},
        {TUTTI_REPORT_ROW, ((uint64_t)1 << 32) + 1, false},
        {TUTTI_REPORT_ROW, UINT64_MAX, false},
        {TUTTI_REPORT_ROW, UINT64_MAX - TUTTI_REPORT_HEADER + 1, false},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tt_byte_writer parcel = {0};
        enum tt_report_kind kind;
        size_t size;
        bool whole;
        tt_bytes_put_u64(&parcel, cases[i].kind);
        tt_bytes_put_u64(&parcel, cases[i].size);
        enum tutti_err err = tt_fabric_find_report(parcel.bytes, parcel.size, &kind, &size, &whole);
        assert_int_equal(err, cases[i].good ? TUTTI_OK : TUTTI_ERR_FORMAT);
        if (cases[i].good) {
            assert_int_equal(whole, cases[i].size == 0);
            assert_int_equal(kind, cases[i].kind);
            assert_int_equal(size, cases[i].size);
        }
        tt_bytes_fini(&parcel);
    }
}

static void a_report_fails_as_its_fabric_or_its_parcel_does(void **state)
{
    (void)state;
    struct listener listener = {.fabric = {.kind = &listening, .ranks = 1}, .answer = TUTTI_ERR_STOPPED};
    struct tt_byte_writer parcel = {0};
    tt_fabric_begin_report(&parcel);
    assert_int_equal(tt_fabric_send_report(&listener.fabric, TUTTI_REPORT_LOG, &parcel), TUTTI_ERR_STOPPED);
    listener.size = 0;
    parcel.failed = true;
    assert_int_equal(tt_fabric_send_report(&listener.fabric, TUTTI_REPORT_LOG, &parcel), TUTTI_ERR_MEMORY);
    assert_int_equal(listener.size, 0);
    tt_fabric_begin_report(&parcel); /* restarts */
    assert_false(parcel.failed);
    assert_int_equal(parcel.size, TUTTI_REPORT_HEADER);
    tt_bytes_fini(&parcel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_arrives_and_no_other),
        cmocka_unit_test(texts_may_grow_and_shrink),
        cmocka_unit_test(without_texts_the_length_is_known),
        cmocka_unit_test(nothing_to_send_is_no_message),
        cmocka_unit_test(a_message_of_another_length_is_refused),
        cmocka_unit_test(lengths_that_lie_are_refused),
        cmocka_unit_test(min_and_max_do_not_depend_on_the_order),
        cmocka_unit_test(a_nan_wins),
        cmocka_unit_test(vectors_are_combined_element_by_element),
        cmocka_unit_test(the_least_stop_counts),
        cmocka_unit_test(frames_follow_each_other),
        cmocka_unit_test(a_frame_is_whole_when_its_last_byte_is_there),
        cmocka_unit_test(what_is_no_frame_is_refused),
        cmocka_unit_test(a_report_fails_as_its_fabric_or_its_parcel_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
