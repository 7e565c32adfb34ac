/* SPDX-License-Identifier: MIT */
/* What ranks bring becomes one checkpoint, in whatever order it comes. */
#include "sim/checkpoint/collector.h"

#include "sim/checkpoint/composed.h"
#include "own_scratch.h"
#include "test.h"

enum { UNITS = 3 };

/* A frame with the pieces of some components; the caller's. `payload` is what each of them holds, with its number. */
static struct tt_byte_writer frame(uint64_t number, double t, const char *payload, const uint32_t *components,
                                   uint32_t count)
{
    struct tt_byte_writer parcel = {0};
    tt_bytes_put_u64(&parcel, number);
    tt_bytes_put_double(&parcel, t);
    tt_bytes_put_u32(&parcel, count);
    for (uint32_t i = 0; i < count; i++) {
        char text[40];
        snprintf(text, sizeof text, "%s %d", payload, (int)components[i]);
        tt_bytes_put_u32(&parcel, components[i]);
        tt_bytes_put_block(&parcel, text, strlen(text));
    }
    return parcel;
}

static enum tutti_err take(struct tt_collector *collector, const struct tt_byte_writer *parcel, bool *complete)
{
    char *copy = malloc(parcel->size + 1); /* of the exact size, and freed afterwards */
    memcpy(copy, parcel->bytes, parcel->size);
    struct tt_byte_reader in = {.at = copy, .end = copy + parcel->size};
    enum tutti_err err = tt_collector_add_frame(collector, &in, complete);
    free(copy);
    return err;
}

/* One frame; is all there? */
static bool bring(struct tt_collector *collector, uint64_t number, const char *payload, const uint32_t *components,
                  uint32_t count)
{
    bool complete;
    struct tt_byte_writer parcel = frame(number, (double)number / 10, payload, components, count);
    assert_false(tt_collector_must_wait(collector, tt_bytes_get_begin(tt_bytes_written(&parcel))));
    assert_ok(take(collector, &parcel, &complete));
    tt_bytes_fini(&parcel);
    return complete;
}

static struct tt_collector *collector_in_memory(void)
{
    struct tt_collector *collector;
    const struct tt_collector_target target = {.identity = bytes_of("who"), .unit_count = UNITS, .keeps = true};
    assert_ok(tt_collector_new(&collector, &target));
    assert_int_equal(tt_collector_last_file(collector).size, 0);
    return collector;
}

static void assert_collected(struct tt_collector *collector, uint64_t number, const char *payload)
{
    struct tt_checkpoint *checkpoint;
    struct tt_bytes last = tt_collector_last_file(collector);
    char expected[40];
    assert_ok(tt_checkpoint_parse(&checkpoint, last.data, last.size, "it"));
    assert_same_double(checkpoint->t, (double)number / 10);
    assert_same_double(tt_collector_time(collector), (double)number / 10);
    assert_bytes(checkpoint->identity, "who");
    assert_bytes(checkpoint->result, "row");
    assert_bytes(checkpoint->step_log, "");
    snprintf(expected, sizeof expected, "%s -1", payload);
    assert_bytes(checkpoint->common, expected);
    assert_int_equal(checkpoint->unit_count, UNITS);
    for (int i = 0; i < UNITS; i++) {
        snprintf(expected, sizeof expected, "%s %d", payload, i);
        assert_bytes(checkpoint->units[i], expected);
    }
    tt_checkpoint_free(checkpoint);
}

/* Three ranks: the first with what all know and a unit, one without units, one with two. */
static void any_order(void **state)
{
    (void)state;
    static const uint32_t first[] = {TUTTI_PIECE_OF_ALL, 1}, third[] = {2, 0};
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const struct {
        const uint32_t *components;
        uint32_t count;
    } ranks[] = {{first, 2}, {NULL, 0}, {third, 2}};
    struct tt_collector *collector = collector_in_memory();
    for (int o = 0; o < 6; o++) {
        char payload[20]; /* of other lengths each time */
        int brought = 0;
        snprintf(payload, sizeof payload, "%.*s", 1 + o * 7 % 11, "abcdefghijklm");
        for (int i = 0; i < 3; i++) {
            int rank = orders[o][i];
            brought += rank != 1;
            assert_int_equal(bring(collector, (uint64_t)o * 10, payload, ranks[rank].components, ranks[rank].count),
                             brought == 2);
        }
        assert_ok(tt_collector_write(collector, bytes_of("row"), bytes_of("")));
        assert_collected(collector, (uint64_t)o * 10, payload);
    }
    tt_collector_free(collector);
    tt_collector_free(NULL);
    tt_collector_wait(NULL);
}

/* The frame of a later checkpoint waits until the one before is complete, and the last one is kept until then. */
static void a_rank_that_is_ahead(void **state)
{
    (void)state;
    static const uint32_t all[] = {TUTTI_PIECE_OF_ALL, 0, 1, 2};
    struct tt_collector *collector = collector_in_memory();
    struct tt_byte_writer later = frame(20, 2, "later", all, 2), empty = {0};
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&later));
    assert_false(tt_collector_must_wait(collector, in)); /* nothing has come yet */
    assert_false(bring(collector, 10, "now", all, 2));
    assert_true(tt_collector_must_wait(collector, in));
    assert_false(tt_collector_must_wait(collector, tt_bytes_get_begin(tt_bytes_written(&empty))));
    assert_true(bring(collector, 10, "now", all + 2, 2));
    assert_true(tt_collector_must_wait(collector, in));
    assert_ok(tt_collector_write(collector, bytes_of("row"), bytes_of("")));
    assert_false(tt_collector_must_wait(collector, in));
    assert_false(bring(collector, 20, "later", all, 2));
    assert_collected(collector, 10, "now");
    tt_bytes_fini(&later);
    tt_collector_free(collector);
}

/* A frame with all pieces, whose memory changes hands; what is in front of it is not looked at. */
static void one_frame_with_all(void **state)
{
    (void)state;
    static const uint32_t all[] = {TUTTI_PIECE_OF_ALL, 0, 1, 2};
    struct tt_collector *collector = collector_in_memory();
    for (uint64_t number = 0; number < 3; number++) {
        struct tt_byte_writer whole = frame(number, (double)number / 10, "x", all, 4), parcel = {0};
        tt_bytes_put_u32(&parcel, 7);
        tt_bytes_put_bytes(&parcel, whole.bytes, whole.size);
        const char *memory = parcel.bytes;
        assert_ok(tt_collector_adopt_frame(collector, &parcel, sizeof(uint32_t)));
        assert_ptr_not_equal(parcel.bytes, memory);
        assert_ok(tt_collector_write(collector, bytes_of("row"), bytes_of("")));
        assert_collected(collector, number, "x");
        tt_bytes_fini(&whole);
        tt_bytes_fini(&parcel);
    }
    struct tt_byte_writer part = frame(9, 0.9, "x", all, 3);
    assert_fails(tt_collector_adopt_frame(collector, &part, 0), TUTTI_ERR_FORMAT, "malformed");
    tt_bytes_fini(&part);
    tt_collector_free(collector);
}

/* ---- malformed frames ---- */

static void refuse(struct tt_collector *collector, const struct tt_byte_writer *parcel)
{
    bool complete = true;
    assert_fails(take(collector, parcel, &complete), TUTTI_ERR_FORMAT, "malformed");
    assert_false(complete);
}

static void frames_that_are_cut(void **state)
{
    (void)state;
    static const uint32_t all[] = {TUTTI_PIECE_OF_ALL, 0, 1, 2};
    struct tt_byte_writer whole = frame(1, 0.1, "x", all, 4);
    for (size_t size = 0; size < whole.size; size++) {
        struct tt_collector *collector = collector_in_memory();
        refuse(collector, &(struct tt_byte_writer){.bytes = whole.bytes, .size = size});
        tt_collector_free(collector);
    }
    struct tt_collector *collector = collector_in_memory();
    tt_bytes_put_u8(&whole, 0);
    refuse(collector, &whole);
    tt_collector_free(collector);
    tt_bytes_fini(&whole);
}

static void frames_that_do_not_fit(void **state)
{
    (void)state;
    static const uint32_t twice[] = {1, 1}, unknown[] = {UNITS}, first[] = {0}, again[] = {TUTTI_PIECE_OF_ALL};
    const struct {
        uint64_t number;
        double t;
        const uint32_t *components;
        uint32_t count;
    } bad[] = {
        {1, 0.1, twice, 2}, {1, 0.1, unknown, 1}, {1, 0.1, again, 1},
        {1, 0.2, first, 1}, {0, 0.1, first, 1},   {2, 0.1, first, 1}, /* the caller asks whether it must wait */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tt_collector *collector = collector_in_memory();
        struct tt_byte_writer parcel = frame(bad[i].number, bad[i].t, "x", bad[i].components, bad[i].count);
        assert_false(bring(collector, 1, "x", again, 1));
        refuse(collector, &parcel);
        tt_bytes_fini(&parcel);
        tt_collector_free(collector);
    }
}

/* ---- files ---- */

static char said[1000];

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)origin;
    assert_int_equal(level, TUTTI_LOG_WARNING);
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

/* Writes two; what is wrong with them is a warning. */
static void write_two(const char *name)
{
    static const uint32_t all[] = {TUTTI_PIECE_OF_ALL, 0, 1, 2};
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = note};
    struct tt_collector *collector;
    const struct tt_collector_target target = {
        .path = scratch_path(&scratch, name), .identity = bytes_of("who"), .unit_count = UNITS, .log = &log};
    said[0] = 0;
    assert_ok(tt_collector_new(&collector, &target));
    for (uint64_t number = 1; number < 3; number++) {
        assert_true(bring(collector, number, "x", all, 4));
        assert_ok(tt_collector_write(collector, bytes_of("row"), bytes_of("line")));
        tt_collector_wait(collector);
    }
    tt_collector_free(collector);
}

static void with_a_file(void **state)
{
    (void)state;
    write_two("point");
    assert_string_equal(said, "");
    assert_same_double(time_in(scratch_path(&scratch, "point")), 0.2);
    assert_same_double(time_in(scratch_path(&scratch, "point.previous")), 0.1);
}

static void without_a_folder(void **state)
{
    (void)state;
    write_two("nowhere/point");
    const char *words =
        "cannot be written: No such file or directory; the run goes on, and the one before it is kept\n";
    assert_contains(said, words);
    assert_contains(strstr(said, words) + 1, words); /* each time */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order),
        cmocka_unit_test(a_rank_that_is_ahead),
        cmocka_unit_test(one_frame_with_all),
        cmocka_unit_test(frames_that_are_cut),
        cmocka_unit_test(frames_that_do_not_fit),
        cmocka_unit_test_setup_teardown(with_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_folder, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
