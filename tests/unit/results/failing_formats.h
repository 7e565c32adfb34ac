/* SPDX-License-Identifier: MIT */
/* failing_formats.h - a result is written, resumed, read and compared while each allocation and each file operation
 * fails once. */
#ifndef TUTTI_TEST_FAILING_FORMATS_H
#define TUTTI_TEST_FAILING_FORMATS_H

#include "failing.h"

#include "results/compare.h"
#include "results/output.h"
#include "scratch.h"

static struct scratch scratch;
static double x;
static const char *text;
static const struct tt_column columns[] = {
    {.name = "x", .unit = "m", .description = "a position", .type = TUTTI_TYPE_FLOAT64, .source = 0, .value = &x},
    {.name = "minus x", .unit = "m", .negated = true, .type = TUTTI_TYPE_FLOAT64, .source = 0, .value = &x},
    {.name = "k", .type = TUTTI_TYPE_FLOAT64, .source = 2, .fixed = true, .value = &(const double){7}},
    {.name = "s", .type = TUTTI_TYPE_STRING, .source = 3, .value = &text},
};
enum { COLUMNS = sizeof columns / sizeof *columns, ROWS = 6, MARK = 4 };

static int set_up(void **state)
{
    (void)state;
    (void)failing_pause(); /* after a test that failed */
    scratch_init(&scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

/* ---- writing ---- */

struct writing {
    const char *name, *path;
    char *expected; /* the whole file; NULL: not known yet */
    size_t size;
    struct tt_byte_writer mark; /* after MARK rows */
    enum likeness {
        ROWS_ALIKE,
        BYTES_ALIKE,
        CONTENT_ALIKE
    } likeness; /* of a file in part: whole rows; of a whole one: each byte, or what is read */
};

static enum tutti_err read_result(void *context);

static enum tutti_err put_rows(struct tt_output *output, int from, int to)
{
    static const char *const texts[] = {"", "one", "a \"text\", long"};
    for (int i = from; i < to; i++) {
        x = i * 0.1;
        text = texts[i % 3];
        TRY(tt_output_row(output, i));
    }
    return TUTTI_OK;
}

/* After a run that went well the file is whole; otherwise it is the beginning of it. */
static void check_file(const struct writing *w, enum tutti_err err)
{
    enum failing_kind kind = failing_pause();
    size_t n = 0;
    char *found = access(w->path, F_OK) == 0 ? slurp_file(w->path, &n) : NULL;
    if (w->likeness == CONTENT_ALIKE) {
        assert_true(err || read_result((void *)w) == TUTTI_OK);
    } else if (!err && w->expected) {
        assert_int_equal(n, w->size);
        assert_memory_equal(found, w->expected, n);
    } else if (w->expected && w->likeness == ROWS_ALIKE && found) {
        assert_true(n <= w->size);
        assert_memory_equal(found, w->expected, n);
    }
    free(found);
    failing.kind = kind;
}

static enum tutti_err write_rows(struct tt_output *output, struct tt_byte_writer *mark)
{
    TRY(put_rows(output, 0, MARK));
    TRY(tt_output_mark(output, mark));
    TRY(tt_output_sync(output));
    TRY(tt_output_flush(output));
    return put_rows(output, MARK, ROWS);
}

static enum tutti_err write_file(void *context)
{
    struct writing *w = context;
    struct tt_output output;
    struct tt_byte_writer mark = {0};
    enum failing_kind kind = failing_pause();
    (void)remove(w->path);
    failing.kind = kind;
    enum tutti_err err = tt_output_open(&output, &(struct tt_output_target){.path = w->path}, columns, COLUMNS);
    if (!err)
        err = write_rows(&output, &mark);
    enum tutti_err closing = tt_output_close(&output);
    err = err ? err : closing;
    check_file(w, err);
    if (!w->expected)
        w->mark = mark;
    else
        tt_bytes_fini(&mark);
    return err;
}

/* A second run resumes at the mark, with a file that has more. */
static enum tutti_err go_on(void *context)
{
    struct writing *w = context;
    struct tt_output output;
    enum failing_kind kind = failing_pause();
    scratch_write(&scratch, w->name, w->expected, w->size);
    failing.kind = kind;
    const struct tt_output_target target = {.path = w->path, .resume = tt_bytes_written(&w->mark)};
    enum tutti_err err = tt_output_open(&output, &target, columns, COLUMNS);
    if (!err)
        err = put_rows(&output, MARK, ROWS);
    enum tutti_err closing = tt_output_close(&output);
    err = err ? err : closing;
    check_file(w, err);
    return err;
}

/* ---- reading ---- */

static enum tutti_err read_result(void *context)
{
    const struct writing *w = context;
    struct tutti_result *result = NULL;
    double values[2][ROWS], *places[] = {values[0], values[1]};
    enum tutti_err err = tutti_result_open(&result, w->path, NULL);
    assert_int_equal(err == TUTTI_OK, result != NULL);
    if (!err)
        err = tutti_result_read(result, (const size_t[]){0, 1}, 2, places);
    if (!err) {
        assert_int_equal(tutti_result_rows(result), ROWS);
        for (int i = 0; i < ROWS; i++)
            assert_true(values[0][i] == i * 0.1 && values[1][i] == -(i * 0.1) && tutti_result_times(result)[i] == i);
    }
    tutti_result_free(result);
    return err;
}

static enum tutti_err compare_results(void *context)
{
    const struct writing *w = context;
    const struct tt_compare_options options = {
        .rtol = 1e-6, .atol = NAN, .ttol = NAN, .start = NAN, .stop = NAN, .memory = 100};
    struct tutti_result *result = NULL, *reference = NULL;
    struct tt_comparison comparison = {0};
    enum tutti_err err = tutti_result_open(&result, w->path, NULL);
    if (!err)
        err = tutti_result_open(&reference, w->path, NULL);
    if (!err)
        err = tt_compare(&comparison, result, reference, &options);
    assert_true(err || (comparison.agree && comparison.count >= 3));
    tt_compare_fini(&comparison);
    tutti_result_free(result);
    tutti_result_free(reference);
    return err;
}

static inline void try_format(const char *name, enum likeness likeness)
{
    char path[200];
    copy_text(path, sizeof path, scratch_path(&scratch, name));
    struct writing w = {.name = name, .path = path, .likeness = likeness};
    assert_ok(write_file(&w));
    w.expected = slurp_file(path, &w.size);
    fail_each(write_file, &w);
    fail_each(go_on, &w);
    scratch_write(&scratch, name, w.expected, w.size);
    fail_each(read_result, &w);
    fail_each(compare_results, &w);
    free(w.expected);
    tt_bytes_fini(&w.mark);
}

#endif
