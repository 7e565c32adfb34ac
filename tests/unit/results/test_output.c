/* SPDX-License-Identifier: MIT */
/* Warnings in the log about values that a file cannot represent, and resumed runs. */
#include "results/output.h"

#include "scratch.h"
#include "test.h"

static struct scratch scratch;
static char said[1000];

static int set_up(void **state)
{
    (void)state;
    said[0] = 0;
    scratch_init(&scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)origin;
    assert_int_equal(level, TUTTI_LOG_WARNING);
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

/* Two rows, between which g goes from 9.81 to `g` and h from 1 to 2. */
static void record(const char *name, double g)
{
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = note};
    double values[] = {1, 9.81};
    const struct tt_column columns[] = {
        {.name = "h", .type = TUTTI_TYPE_FLOAT64, .value = &values[0], .source = 0},
        {.name = "g", .type = TUTTI_TYPE_FLOAT64, .value = &values[1], .source = 1, .fixed = true},
    };
    struct tt_output output;
    const struct tt_output_target target = {.path = scratch_path(&scratch, name), .log = &log, .origin = "ball"};
    assert_ok(tt_output_open(&output, &target, columns, 2));
    assert_ok(tt_output_row(&output, 0));
    values[0] = 2;
    values[1] = g;
    assert_ok(tt_output_row(&output, 1));
    assert_ok(tt_output_close(&output));
}

static void fixed_parameters_that_change(void **state)
{
    (void)state;
    record("ball.mat", 9.81);
    record("ball.csv", 0);
    assert_string_equal(said, "");
    record("ball.mat", 0);
    assert_non_null(strstr(said, "'g' is a fixed parameter, but the FMU has changed it from 9.81 to 0: a .mat file"));
}

static const double *seen;

static enum tutti_err see(void *context, double t, const double *values)
{
    struct tt_row_room *room = context;
    assert_true(values[0] == t && values[1] == -t);
    seen = values;
    room->values = room->values == NULL ? NULL : (double *)values + 2;
    return TUTTI_OK;
}

/* Values are written where the watcher wants them; not where another one does, or where it has no room. */
static void rows_in_place(void **state)
{
    (void)state;
    double values[2], kept[6] = {0};
    const struct tt_column columns[] = {
        {.name = "a", .type = TUTTI_TYPE_FLOAT64, .value = &values[0], .source = 0},
        {.name = "b", .type = TUTTI_TYPE_FLOAT64, .value = &values[1], .source = 1},
    };
    struct tt_row_room room = {.values = kept};
    const struct tutti_watcher watcher = {.context = &room, .row = see}, other = {0};
    for (int i = 0; i < 3; i++) {
        struct tt_output output;
        room = (struct tt_row_room){i == 1 ? &other : &watcher, i == 2 ? NULL : kept};
        assert_ok(tt_output_open(&output, &(struct tt_output_target){.watcher = &watcher, .room = &room}, columns, 2));
        for (int row = 0; row < 3; row++) {
            values[0] = row;
            values[1] = -row;
            assert_ok(tt_output_row(&output, row));
            assert_int_equal(seen == kept + 2 * (size_t)row, i == 0);
        }
        assert_ok(tt_output_close(&output));
    }
    assert_true(kept[2] == 1 && kept[3] == -1 && kept[4] == 2 && kept[5] == -2);
}

/* No rows were recorded: no warnings, and the rows of an earlier run stay. */
static void no_rows(void **state)
{
    (void)state;
    record("none.mat", 9.81);
    size_t before, after;
    char *earlier = slurp_file(scratch_path(&scratch, "none.mat"), &before);
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = note};
    const double g = 9.81;
    const struct tt_column column = {.name = "g", .type = TUTTI_TYPE_FLOAT64, .value = &g, .fixed = true};
    struct tt_output output;
    const struct tt_output_target target = {.path = scratch_path(&scratch, "none.mat"), .log = &log};
    assert_ok(tt_output_open(&output, &target, &column, 1));
    assert_ok(tt_output_close(&output));
    assert_string_equal(said, "");
    char *now = slurp_file(target.path, &after);
    assert_int_equal(after, before);
    assert_memory_equal(now, earlier, after);
    free(now);
    free(earlier);
}

/* --- runs that are interrupted */

enum { ROWS = 60 };

/* The data of a run, and the expected warnings. */
struct piece {
    const char *name; /* of the file; NULL: a watcher only */
    int first, end;
    struct tt_bytes resume;
    int mark_at; /* before this row; -1: never */
    struct tt_byte_writer mark;
    size_t said; /* ... until then */
    bool by_thread;
    int watched; /* rows that the watcher has seen */
};

static enum tutti_err count_row(void *context, double t, const double *values)
{
    struct piece *piece = context;
    assert_same_double(values[1], -values[0]);
    assert_same_double(t, piece->first + piece->watched);
    piece->watched++;
    return TUTTI_OK;
}

/* h explodes, i becomes infinite at t = 30, and g changes. */
static void record_piece(struct piece *piece)
{
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = note};
    double h = 1, i = 1, g = 9.81;
    const struct tt_column columns[] = {
        {.name = "h", .type = TUTTI_TYPE_FLOAT64, .value = &h, .source = 0},
        {.name = "minus", .type = TUTTI_TYPE_FLOAT64, .value = &h, .source = 0, .negated = true},
        {.name = "i", .type = TUTTI_TYPE_FLOAT64, .value = &i, .source = 2},
        {.name = "g", .type = TUTTI_TYPE_FLOAT64, .value = &g, .source = 3, .fixed = true},
    };
    const struct tutti_watcher watcher = {.context = piece, .row = count_row};
    const struct tt_output_target target = {.path = piece->name ? scratch_path(&scratch, piece->name) : NULL,
                                            .watcher = piece->name ? NULL : &watcher,
                                            .log = &log,
                                            .resume = piece->resume,
                                            .by_thread = piece->by_thread};
    struct tt_output output;
    assert_ok(tt_output_open(&output, &target, columns, 4));
    for (int row = piece->first; row < piece->end; row++) {
        if (row == piece->mark_at) {
            assert_ok(tt_output_mark(&output, &piece->mark));
            piece->said = strlen(said);
        }
        h = exp(row);
        i = row == 30 ? INFINITY : 1;
        g = row < 20 ? 9.81 : 9.82;
        assert_ok(tt_output_row(&output, row));
    }
    assert_ok(tt_output_sync(&output));
    assert_ok(tt_output_close(&output));
}

static void compare_files(const char *a, const char *b)
{
    size_t sizes[2];
    char *first = slurp_file(scratch_path(&scratch, a), &sizes[0]);
    char *second = slurp_file(scratch_path(&scratch, b), &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(first, second, sizes[0]);
    free(first);
    free(second);
}

static struct tt_bytes bytes_of(const struct tt_byte_writer *mark)
{
    return (struct tt_bytes){mark->size, (const uint8_t *)mark->bytes};
}

/* Interrupts a run before row `at`: file and words are as if it had not been. */
static void interrupt(const char *name, const char *whole, int at, bool by_thread)
{
    char expected[sizeof said];
    said[0] = 0;
    record_piece(&(struct piece){.name = whole, .end = ROWS, .mark_at = -1});
    copy_text(expected, sizeof expected, said);

    said[0] = 0;
    struct piece first = {.name = name, .end = at + 5 < ROWS ? at + 5 : ROWS, .mark_at = at, .by_thread = by_thread};
    record_piece(&first);
    assert_true(first.mark.size > 0);

    said[first.said] = 0;
    struct piece rest = {
        .name = name, .first = at, .end = ROWS, .resume = bytes_of(&first.mark), .mark_at = -1, .by_thread = by_thread};
    record_piece(&rest);
    assert_int_equal(rest.watched, name ? 0 : ROWS - at);
    assert_string_equal(said, expected);
    if (name)
        compare_files(name, whole);
    tt_bytes_fini(&first.mark);
}

static void runs_that_go_on(void **state)
{
    (void)state;
    for (int at = 0; at < ROWS; at += 7) {
        interrupt("part.csv", "whole.csv", at, false);
        interrupt("part.units.csv", "whole.units.csv", at, true);
        interrupt("part.jsonl", "whole.jsonl", at, true);
        interrupt("part.mat", "whole.mat", at, at % 2);
        interrupt(NULL, NULL, at, false);
    }
    assert_non_null(strstr(said, "grown without bound"));
    assert_non_null(strstr(said, "is infinite at t = 30"));
}

/* What went to a pipe stays there. */
static void streams_begin_anew(void **state)
{
    (void)state;
    struct piece first = {.name = "stream", .end = 10, .mark_at = 5};
    assert_int_equal(symlink("/dev/null", scratch_path(&scratch, "stream")), 0);
    record_piece(&first);
    record_piece(
        &(struct piece){.name = "stream", .first = 5, .end = 10, .resume = bytes_of(&first.mark), .mark_at = -1});
    assert_non_null(strstr(said, "begins anew, with the rows after the checkpoint: what went to a pipe"));
    said[0] = 0;
    record_piece(
        &(struct piece){.name = "new.mat", .first = 5, .end = 10, .resume = bytes_of(&first.mark), .mark_at = -1});
    assert_non_null(strstr(said, "begins anew, with the rows after the checkpoint: the interrupted run"));
    record_piece(&(struct piece){.name = "rest.mat", .first = 5, .end = 10, .mark_at = -1});
    compare_files("new.mat", "rest.mat");
    tt_bytes_fini(&first.mark);
}

/* A mark comes from a file. */
static void marks_of_any_bytes(void **state)
{
    (void)state;
    struct piece whole = {.name = "a.csv", .end = 10, .mark_at = 5};
    const double x = 1;
    const struct tt_column column = {.name = "x", .type = TUTTI_TYPE_FLOAT64, .value = &x};
    record_piece(&whole);
    struct tt_output output;
    struct tt_output_target target = {.path = scratch_path(&scratch, "a.csv"), .resume = bytes_of(&whole.mark)};
    assert_fails(tt_output_open(&output, &target, &column, 1), TUTTI_ERR_FORMAT, "recorded 4 columns");
    assert_ok(tt_output_close(&output));
    const struct tt_column columns[] = {column, column, column, column};
    for (size_t size = 1; size < whole.mark.size; size++) {
        target.resume.size = size;
        assert_int_equal(tt_output_open(&output, &target, columns, 4), TUTTI_ERR_FORMAT);
        assert_ok(tt_output_close(&output));
    }
    tt_bytes_fini(&whole.mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fixed_parameters_that_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_rows, set_up, tear_down),
        cmocka_unit_test(rows_in_place),
        cmocka_unit_test_setup_teardown(runs_that_go_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(streams_begin_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(marks_of_any_bytes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
