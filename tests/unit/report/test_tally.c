/* SPDX-License-Identifier: MIT */
/* What a rank counted, as bytes and back. */
#include "report/tally.h"

#include <stdlib.h>

#include "rank/counted.h"

static void test_every_field(void **state)
{
    (void)state;
    struct tutti_unit_stats units[2] = {make_unit(1000), make_unit(2000)};
    struct tutti_run_stats stats = make_stats(units, 2), back;
    struct tutti_parcel parcel = {0};
    tutti_tally_pack(&parcel, &stats);
    assert_false(parcel.failed);
    struct tutti_unparcel in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_ok(tutti_tally_unpack(&in, &back));
    assert_same_stats(&back, &stats);
    tutti_run_stats_fini(&back);
    tutti_parcel_fini(&parcel);
}

/* Units of other ranks, and Co-Simulation without a solver. */
static void test_holes(void **state)
{
    (void)state;
    struct tutti_unit_stats units[4] = {{0}, make_unit(0), {0}, make_unit(50)};
    struct tutti_run_stats stats = make_stats(units, 4), back;
    struct tutti_parcel parcel = {0};
    units[3].solver = NULL;
    tutti_tally_pack(&parcel, &stats);
    struct tutti_unparcel in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_ok(tutti_tally_unpack(&in, &back));
    assert_int_equal(back.unit_count, 4);
    assert_null(back.units[0].name);
    assert_null(back.units[2].name);
    assert_same_stats(&back, &stats);
    tutti_run_stats_fini(&back);
    tutti_parcel_fini(&parcel);
}

static void test_malformed(void **state)
{
    (void)state;
    struct tutti_unit_stats units[2] = {make_unit(0), make_unit(50)};
    struct tutti_run_stats stats = make_stats(units, 2), back;
    struct tutti_parcel parcel = {0};
    tutti_tally_pack(&parcel, &stats);
    for (size_t n = 0; n < parcel.size; n++) {
        char *part = malloc(n + 1);
        assert_non_null(part);
        memcpy(part, parcel.bytes, n);
        struct tutti_unparcel in = {.at = part, .end = part + n};
        assert_fails(tutti_tally_unpack(&in, &back), TUTTI_ERR_FORMAT, "malformed");
        tutti_run_stats_fini(&back);
        free(part);
    }
    tutti_parcel_put_u8(&parcel, 0); /* one byte more than there is to say */
    struct tutti_unparcel in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_fails(tutti_tally_unpack(&in, &back), TUTTI_ERR_FORMAT, "malformed");
    tutti_run_stats_fini(&back);
    tutti_parcel_fini(&parcel);
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
