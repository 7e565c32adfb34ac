/* SPDX-License-Identifier: MIT */
/* The stack of values that a rank shares with an FMU's process, which can have written anything to its top. */
#include "test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fmu/process/shared_area.h"

static const size_t ROOM = TUTTI_AREA_SIZE - sizeof(struct tt_shared_area);

static int setup(void **state)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)TUTTI_AREA_SIZE) == 0);
    *state = tt_shared_area_map(fd);
    assert_non_null(*state);
    return close(fd);
}

static int teardown(void **state)
{
    tt_shared_area_unmap(*state);
    return 0;
}

static void what_is_put_is_taken(void **state)
{
    struct tt_shared_area *area = *state;
    uint64_t number = 42;
    area->frame = area->top = 0;
    assert_non_null(tt_shared_area_put(area, &number, sizeof number));
    assert_true(tt_shared_area_put_text(area, "a text"));
    struct tt_shared_area_cursor cursor = tt_shared_area_start_read(area);
    assert_int_equal(TUTTI_AREA_TAKE(&cursor, uint64_t, 0), 42);
    assert_string_equal(tt_shared_area_get_text(&cursor), "a text");
    assert_null(tt_shared_area_get(&cursor, 1));
    assert_true(cursor.bad);
}

/* Whatever the top says, what is put is in the area, or is not put. */
static void a_bad_top_leads_nowhere(void **state)
{
    struct tt_shared_area *area = *state;
    static const size_t sizes[] = {0, 1, 8, 16, 17, 4096, (size_t)1 << 30, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t back = 0; back <= 64; back++) {
            const uint64_t tops[] = {ROOM - 32 + back, UINT64_MAX - back, (UINT64_C(1) << 63) + back};
            for (size_t t = 0; t < sizeof tops / sizeof *tops; t++) {
                area->top = tops[t];
                const unsigned char *place = tt_shared_area_put(area, NULL, sizes[i]);
                assert_true(!place || (place >= area->bytes && (size_t)(place - area->bytes) + sizes[i] <= ROOM));
                assert_true(!place || area->top <= ROOM);
            }
        }
}

static void a_bad_frame_leads_nowhere(void **state)
{
    struct tt_shared_area *area = *state;
    static const uint64_t worst[] = {ROOM + 1, UINT64_MAX, UINT64_MAX - 15, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof worst / sizeof *worst; i++) {
        area->top = 64;
        area->frame = worst[i];
        struct tt_shared_area_cursor cursor = tt_shared_area_start_read(area);
        assert_null(tt_shared_area_get(&cursor, 8));
        area->frame = 0;
        area->top = worst[i];
        cursor = tt_shared_area_start_read(area);
        assert_null(tt_shared_area_get(&cursor, 8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_put_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bad_top_leads_nowhere, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bad_frame_leads_nowhere, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
