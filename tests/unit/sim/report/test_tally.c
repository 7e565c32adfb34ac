/* SPDX-License-Identifier: MIT */
/* The counts of a rank, packed and unpacked. */
#include "sim/report/reporter.h"

#include <stdlib.h>

#include "sim/counted.h"

static void test_every_field(void **state)
{
    (void)state;
    struct tt_unit_stats units[2] = {make_unit(1000), make_unit(2000)};
    struct tutti_run_stats stats = make_stats(units, 2), back;
    struct tt_byte_writer parcel = {0};
    tt_reporter_pack_tally(&parcel, &stats);
    assert_false(parcel.failed);
    struct tt_byte_reader in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_ok(tt_reporter_unpack_tally(&in, &back));
    assert_same_stats(&back, &stats);
    tt_stats_fini(&back);
    tt_bytes_fini(&parcel);
}

/* Units of other ranks, and Co-Simulation without a solver. */
static void test_holes(void **state)
{
    (void)state;
    struct tt_unit_stats units[4] = {{0}, make_unit(0), {0}, make_unit(50)};
    struct tutti_run_stats stats = make_stats(units, 4), back;
    struct tt_byte_writer parcel = {0};
    units[3].solver = NULL;
    tt_reporter_pack_tally(&parcel, &stats);
    struct tt_byte_reader in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_ok(tt_reporter_unpack_tally(&in, &back));
    assert_int_equal(back.unit_count, 4);
    assert_null(back.units[0].name);
    assert_null(back.units[2].name);
    assert_same_stats(&back, &stats);
    tt_stats_fini(&back);
    tt_bytes_fini(&parcel);
}

static void test_malformed(void **state)
{
    (void)state;
    struct tt_unit_stats units[2] = {make_unit(0), make_unit(50)};
    struct tutti_run_stats stats = make_stats(units, 2), back;
    struct tt_byte_writer parcel = {0};
    tt_reporter_pack_tally(&parcel, &stats);
    for (size_t n = 0; n < parcel.size; n++) {
        char *part = malloc(n + 1);
        assert_non_null(part);
        memcpy(part, parcel.bytes, n);
        struct tt_byte_reader in = {.at = part, .end = part + n};
        assert_fails(tt_reporter_unpack_tally(&in, &back), TUTTI_ERR_FORMAT, "malformed");
        tt_stats_fini(&back);
        free(part);
    }
    tt_bytes_put_u8(&parcel, 0); /* one byte more than there is to say */
    struct tt_byte_reader in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_fails(tt_reporter_unpack_tally(&in, &back), TUTTI_ERR_FORMAT, "malformed");
    tt_stats_fini(&back);
    tt_bytes_fini(&parcel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
