/* SPDX-License-Identifier: MIT */
/* Records of runs: as bytes, including malformed ones, and the journal that they are added to, cut and damaged. */
#include "scratch.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/study/sweep_journal.h"
#include "apps/study/sweep_worker.h"

static struct scratch scratch;
static const char *path;

static void put(struct tt_byte_writer *parcel, uint64_t run)
{
    static const double values[] = {1.5, -2}, rows[] = {0, 1, 2, 0.5, 3, 4};
    tt_bytes_reset(parcel);
    tt_sweep_worker_write_record(parcel, &(struct tt_run_record){.run = run,
                                                                 .status = TUTTI_RUN_FAILED,
                                                                 .message = "why",
                                                                 .values = values,
                                                                 .value_count = 2,
                                                                 .columns = "a\nb\n",
                                                                 .column_count = 2,
                                                                 .rows = rows,
                                                                 .row_count = 2});
}

static void test_records(void **state)
{
    (void)state;
    struct tt_byte_writer parcel = {0};
    struct tt_run_record record;
    double number;
    put(&parcel, 7);
    assert_true(tt_sweep_worker_read_record(&record, tt_bytes_written(&parcel)));
    assert_int_equal(record.run, 7);
    assert_int_equal(record.status, TUTTI_RUN_FAILED);
    assert_string_equal(record.message, "why");
    assert_int_equal(record.value_count, 2);
    memcpy(&number, record.values + 1, sizeof number);
    assert_near(number, -2, 0);
    assert_int_equal(record.row_count, 2);
    memcpy(&number, (const char *)record.rows + 5 * sizeof number, sizeof number);
    assert_near(number, 4, 0);
    for (size_t size = 0; size < parcel.size;
         size++) { /* cut anywhere: in memory of the exact size, so that an overread is detected */
        uint8_t *cut = malloc(size + 1);
        assert_non_null(cut);
        memcpy(cut, parcel.bytes, size);
        assert_false(tt_sweep_worker_read_record(&record, (struct tt_bytes){size, cut}));
        free(cut);
    }
    parcel.bytes[8] = 100; /* no such status */
    assert_false(tt_sweep_worker_read_record(&record, tt_bytes_written(&parcel)));
    tt_bytes_fini(&parcel);
}

struct seen {
    unsigned count;
    uint64_t runs[8];
};

static bool find(void *context, struct tt_bytes bytes, size_t offset)
{
    struct seen *seen = context;
    struct tt_run_record record;
    assert_true(offset > 0);
    if (!tt_sweep_worker_read_record(&record, bytes) || seen->count == 8)
        return false;
    seen->runs[seen->count++] = record.run;
    return true;
}

static void add(uint64_t from, uint64_t to)
{
    struct tt_sweep_journal *journal;
    struct tt_byte_writer parcel = {0};
    struct seen seen = {0};
    size_t offset, last = 0;
    assert_ok(tt_sweep_journal_open(&journal, path, 42, &seen, find));
    assert_int_equal(seen.count, from);
    for (uint64_t run = from; run < to; run++) {
        put(&parcel, run);
        assert_ok(tt_sweep_journal_add(journal, tt_bytes_written(&parcel), &offset));
        assert_true(offset > last);
        last = offset;
    }
    struct tt_byte_writer back = {0};
    assert_ok(tt_sweep_journal_read(journal, last, &back));
    assert_int_equal(back.size, parcel.size);
    assert_memory_equal(back.bytes, parcel.bytes, back.size);
    tt_bytes_fini(&back);
    tt_bytes_fini(&parcel);
    tt_sweep_journal_close(journal, false);
}

/* Wherever it was cut, the complete records are kept, and it continues from them. */
static void test_cut_journals(void **state)
{
    (void)state;
    struct stat status;
    add(0, 3);
    assert_int_equal(stat(path, &status), 0);
    off_t whole = status.st_size, one = (whole - 24) / 3;
    for (off_t size = 24; size <= whole; size += 7) { /* 24: what it is of */
        struct seen seen = {0};
        struct tt_sweep_journal *journal;
        unlink(path);
        add(0, 3);
        assert_int_equal(truncate(path, size), 0);
        enum tutti_err err = tt_sweep_journal_open(&journal, path, 42, &seen, find);
        assert_ok(err);
        assert_true(seen.count <= 3 && (off_t)seen.count >= (size - 24) / one - 1);
        tt_sweep_journal_close(journal, false);
    }
    unlink(path);
}

static void test_other_journals(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct tt_sweep_journal *journal = NULL;
    add(0, 2);
    assert_fails(tt_sweep_journal_open(&journal, path, 43, &seen, find), TUTTI_ERR_ARGUMENT, "of another sweep");
    seen.count = 8; /* it takes no more: what is there is not of this sweep */
    assert_fails(tt_sweep_journal_open(&journal, path, 42, &seen, find), TUTTI_ERR_FORMAT, "damaged");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("something that is no journal, and long enough to be one", file);
    fclose(file);
    assert_fails(tt_sweep_journal_open(&journal, path, 42, &seen, find), TUTTI_ERR_FORMAT, "no journal of a sweep");
    assert_null(journal);
    unlink(path);
    seen.count = 0;
    assert_ok(tt_sweep_journal_open(&journal, path, 42, &seen, find));
    tt_sweep_journal_close(journal, true);
    assert_int_equal(access(path, F_OK), -1); /* it is done with */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_records), cmocka_unit_test(test_cut_journals),
                                       cmocka_unit_test(test_other_journals)};
    scratch_init(&scratch);
    path = scratch_path(&scratch, "t.csv.journal");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_fini(&scratch);
    return failed;
}
