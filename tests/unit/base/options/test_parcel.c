/* SPDX-License-Identifier: MIT */
/* Options that travel come back as they were; others are as if they had not been set. */
#include "base/options/options.h"

#include "filled.h"

static void quiet(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin, (void)text;
}

static void check_round_trip(const struct tutti_run_options *options, int log_level)
{
    struct tutti_run_options back;
    struct tt_options_extras extras;
    struct tt_byte_writer parcel = {0};
    struct tt_arena arena = {0};
    assert_ok(tt_options_pack(options, &parcel));
    struct tt_byte_reader in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_ok(tt_options_unpack(&back, &extras, &in, &arena));
    assert_ptr_equal(in.at, in.end);
    for (const struct tt_option *option = tt_options; option->name; option++) {
        if (option->travels && strcmp(option->name, "live") == 0)
            assert_true(!options->live == !back.live && (!back.live || strcmp(back.live, TUTTI_LIVE_ALL_ROWS) == 0));
        else if (option->travels)
            assert_same_option(options, &back, option);
        else
            assert_false(tt_options_is_given(&back, option));
    }
    assert_int_equal(extras.log_level, log_level);
    assert_false(extras.has_progress);
    assert_null(back.log);
    tt_bytes_fini(&parcel);
    tt_arena_fini(&arena);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct tutti_log log = {.level = TUTTI_LOG_DEBUG, .write = quiet};
    struct tutti_run_options *options = fill_options();
    tutti_options_set_log(options, &log);
    check_round_trip(options, TUTTI_LOG_DEBUG);
    tutti_options_free(options);
    check_round_trip(&(struct tutti_run_options){0}, -1);
    assert_false(tt_options_find("key")->travels); /* a secret */
}

/* Ranks need no address, but which rows are wanted. */
static void test_live(void **state)
{
    (void)state;
    static const char *const none[] = {"none"};
    const char *const outputs[] = {"result.csv", NULL};
    for (int nothing = 0; nothing < 2; nothing++)
        for (int i = 0; i < 2; i++) {
            struct tutti_run_options options = {
                .live = "127.0.0.1:0", .output = outputs[i], .records = none, .record_count = (size_t)nothing};
            bool all = outputs[i] && !nothing;
            for (int twice = 0; twice < 2; twice++) {
                tt_options_resolve_live(&options);
                assert_string_equal(options.live, all ? TUTTI_LIVE_ALL_ROWS : TUTTI_LIVE_WANTED_ROWS);
                assert_int_equal(options.record_count, 0);
                assert_int_equal(options.output != NULL, all);
            }
        }
}

static void test_what_cannot_travel(void **state)
{
    (void)state;
    struct tutti_extra extra = {0};
    struct tutti_run_options options = {.extra = &extra};
    struct tt_byte_writer parcel = {0};
    assert_fails(tt_options_pack(&options, &parcel), TUTTI_ERR_ARGUMENT, "cannot be sent");
    tt_bytes_fini(&parcel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_what_cannot_travel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
