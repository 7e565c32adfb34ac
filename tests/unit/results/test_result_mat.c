/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "results/recorder.h"
#include "results/result.h"
#include "scratch.h"

static struct scratch scratch;
static char warnings[2000];

static void keep_warning(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)origin;
    assert_int_equal(level, TUTTI_LOG_WARNING);
    size_t n = strlen(warnings);
    snprintf(warnings + n, sizeof warnings - n, "%s\n", text);
}

static const struct tutti_log keeper = {.level = TUTTI_LOG_WARNING, .write = keep_warning};

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    warnings[0] = '\0';
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

/* --- files by hand */

enum { DOUBLE, FLOAT, INT32, INT16, UINT16, UINT8, TYPES };

struct bytes {
    unsigned char *data;
    size_t size, room;
};

static void bytes_add(struct bytes *bytes, const void *more, size_t n, bool big)
{
    if (bytes->size + n > bytes->room) {
        bytes->room = 2 * (bytes->size + n);
        bytes->data = realloc(bytes->data, bytes->room);
        assert_non_null(bytes->data);
    }
    for (size_t i = 0; i < n; i++)
        bytes->data[bytes->size + i] = ((const unsigned char *)more)[big ? n - 1 - i : i];
    bytes->size += n;
}

static void bytes_add_number(struct bytes *bytes, int type, double value, bool big)
{
    const float single = (float)value;
    const int32_t integer = type == INT32 ? (int32_t)value : 0;
    const int16_t half = type == INT16 ? (int16_t)value : 0;
    const uint16_t positive = type == UINT16 ? (uint16_t)value : 0;
    const uint8_t byte = type == UINT8 ? (uint8_t)value : 0;
    const struct {
        const void *at;
        size_t n;
    } forms[TYPES] = {{&value, 8}, {&single, 4}, {&integer, 4}, {&half, 2}, {&positive, 2}, {&byte, 1}};
    bytes_add(bytes, forms[type].at, forms[type].n, big);
}

/* How a file is written. */
struct form {
    int type, text_type;
    bool big, normal;
    char filler;
};

static void add_head(struct bytes *bytes, const char *name, int32_t type, size_t rows, size_t columns,
                     const struct form *form)
{
    const int32_t numbers[] = {type + (form->big ? 1000 : 0), (int32_t)rows, (int32_t)columns, 0,
                               (int32_t)strlen(name) + 1};
    for (size_t i = 0; i < 5; i++)
        bytes_add(bytes, &numbers[i], 4, form->big);
    bytes_add(bytes, name, strlen(name) + 1, false);
}

/* `values` as in a file that is binTrans: rows x columns, column by column. */
static void add_matrix(struct bytes *bytes, const char *name, int type, size_t rows, size_t columns,
                       const double *values, const struct form *form, bool text)
{
    add_head(bytes, name, 10 * type + text, form->normal ? columns : rows, form->normal ? rows : columns, form);
    for (size_t i = 0; i < rows * columns; i++)
        bytes_add_number(bytes, type, values[form->normal ? i % columns * rows + i / columns : i], form->big);
}

static void add_text(struct bytes *bytes, const char *name, const char *const *lines, size_t count,
                     const struct form *form)
{
    size_t width = 1;
    for (size_t i = 0; i < count; i++)
        width = strlen(lines[i]) > width ? strlen(lines[i]) : width;
    double *letters = malloc(count * width * sizeof *letters);
    assert_non_null(letters);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++)
            letters[i * width + k] = k < strlen(lines[i]) ? (unsigned char)lines[i][k] : (unsigned char)form->filler;
    add_matrix(bytes, name, form->text_type, width, count, letters, form, true);
    free(letters);
}

static void add_class(struct bytes *bytes, const char *class, const struct form *form)
{
    const char *const lines[] = {class, "1.1", "", form->normal ? "binNormal" : "binTrans"};
    struct form upright = *form;
    upright.normal = true; /* in either form */
    add_text(bytes, "Aclass", lines, 4, &upright);
}

/* The parts of a file; the default is complete. */
struct parts {
    const char *class, *const *names, *const *descriptions;
    const double (*info)[4];
    const double *data_1, *data_2;
    size_t count, rows_1, rows_2, points;
};

static const char *const names[] = {"Time", "x", "minus x", "p", "minus p", "flag"};
static const char *const descriptions[] = {"Time in [s]", "way [m]", "[m|mm]",
                                           "size",        "",        "= true, if so [:#(type=Boolean)]"};
static const double info[][4] = {{0, 1, 0, -1}, {2, 2, 0, -1}, {2, -2, 0, -1},
                                 {1, 2, 0, 0},  {1, -2, 0, 0}, {2, 3, 0, -1}};
static const double data_1[] = {10, 7, 14, 7};
static const double data_2[] = {10, 0, 1, 11, 20, 0, 11, 21, 1, 14, 5, 1};
static const struct form plain = {.type = DOUBLE, .text_type = UINT8, .filler = ' '};
static const struct parts whole = {.class = "Atrajectory",
                                   .names = names,
                                   .descriptions = descriptions,
                                   .info = info,
                                   .data_1 = data_1,
                                   .data_2 = data_2,
                                   .count = 6,
                                   .rows_1 = 2,
                                   .rows_2 = 3,
                                   .points = 4};

static struct bytes build(const struct parts *parts, const struct form *form)
{
    struct bytes bytes = {0};
    if (parts->class)
        add_class(&bytes, parts->class, form);
    if (parts->names)
        add_text(&bytes, "name", parts->names, parts->count, form);
    if (parts->descriptions)
        add_text(&bytes, "description", parts->descriptions, parts->count, form);
    if (parts->info)
        add_matrix(&bytes, "dataInfo", form->type == UINT8 || form->type == UINT16 ? INT16 : form->type, 4,
                   parts->count, &parts->info[0][0], form, false);
    if (parts->data_1)
        add_matrix(&bytes, "data_1", form->type, parts->rows_1, 2, parts->data_1, form, false);
    if (parts->data_2)
        add_matrix(&bytes, "data_2", form->type, parts->rows_2, parts->points, parts->data_2, form, false);
    return bytes;
}

static const char *write_file(const struct bytes *bytes)
{
    unlink(scratch_path(&scratch, "r.mat")); /* a new file is faster than a truncated one */
    return scratch_write(&scratch, "r.mat", (const char *)bytes->data, bytes->size);
}

static struct tutti_result *open_result(const char *path)
{
    struct tutti_result *result = NULL;
    if (tutti_result_open(&result, path, &keeper) != TUTTI_OK)
        fail_msg("%s", tutti_err_message());
    assert_string_equal(result->format->name, "mat");
    return result;
}

static struct tutti_result *open_bytes(struct bytes *bytes)
{
    struct tutti_result *result = open_result(write_file(bytes));
    free(bytes->data);
    return result;
}

static void assert_refused(struct bytes *bytes, enum tutti_err kind, const char *words)
{
    struct tutti_result *result = NULL;
    assert_fails(tutti_result_open(&result, write_file(bytes), &keeper), kind, words);
    assert_null(result);
    assert_contains(tutti_err_message(), scratch.joined);
    free(bytes->data);
}

static void assert_refused_parts(const struct parts *parts, const char *words)
{
    struct bytes bytes = build(parts, &plain);
    assert_refused(&bytes, TUTTI_ERR_FORMAT, words);
}

/* --- what is read */

static void assert_whole(struct tutti_result *result)
{
    static const double expected[][4] = {
        {0, 20, 21, 5}, {0, -20, -21, -5}, {7, 7, 7, 7}, {-7, -7, -7, -7}, {1, 0, 1, 1}};
    static const bool held[] = {false, false, true, true, true};
    double values[5][4];
    assert_int_equal(result->count, 5);
    assert_int_equal(result->rows, 4);
    assert_string_equal(result->time_unit, "s");
    assert_memory_equal(result->times, ((const double[]){10, 11, 11, 14}), 4 * sizeof(double));
    assert_ok(tutti_result_read(result, (const size_t[]){0, 1, 2, 3, 4}, 5,
                                (double *const[]){values[0], values[1], values[2], values[3], values[4]}));
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(result->variables[i].name, names[i + 1]);
        assert_true(result->variables[i].numeric);
        assert_int_equal(result->variables[i].held, held[i]);
        for (size_t k = 0; k < 4; k++)
            assert_same_double(values[i][k], expected[i][k]); /* and -0 is 0 */
    }
    assert_string_equal(result->variables[0].unit, "m");
    assert_string_equal(result->variables[0].description, "way");
    assert_string_equal(result->variables[1].unit, "m");
    assert_null(result->variables[1].description);
    assert_null(result->variables[2].unit);
    assert_string_equal(result->variables[2].description, "size");
    assert_null(result->variables[3].description);
    assert_null(result->variables[4].unit);
    assert_int_equal(tutti_result_find(result, "minus p"), 3);
}

static void test_every_form(void **state)
{
    (void)state;
    for (int type = 0; type < TYPES; type++)
        for (int way = 0; way < 16; way++) {
            const struct form form = {.type = type,
                                      .text_type = way & 1 ? DOUBLE : UINT8,
                                      .big = way & 2,
                                      .normal = way & 4,
                                      .filler = way & 8 ? '\0' : ' '};
            struct bytes bytes = build(&whole, &form);
            struct tutti_result *result = open_bytes(&bytes);
            assert_whole(result);
            tutti_result_free(result);
        }
    assert_string_equal(warnings, "");
}

static void test_numbers(void **state)
{
    (void)state;
    const double data[] = {-1, NAN, INFINITY, 0, 1e300, -INFINITY, 0.5, 0x1p-1074, -0.0};
    struct parts parts = whole;
    parts.data_2 = data;
    parts.points = 3;
    struct bytes bytes = build(&parts, &plain);
    struct tutti_result *result = open_bytes(&bytes);
    double x[3], flag[3];
    assert_ok(tutti_result_read(result, (const size_t[]){0, 4}, 2, (double *const[]){x, flag}));
    for (size_t i = 0; i < 3; i++) {
        assert_same_double(x[i], data[3 * i + 1]);
        assert_same_double(flag[i], data[3 * i + 2]);
    }
    tutti_result_free(result);
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *unit, *description;
        bool held;
    } cases[] = {
        {"speed [rad/s]", "rad/s", "speed", false},
        {"[K]", "K", NULL, false},
        {"temperature [K|degC]", "K", "temperature", false},
        {"[degC;]", "degC", NULL, false},
        {"see x[1]", NULL, "see x[1]", false},
        {"number [:#(type=Integer)]", NULL, "number", true},
        {"number [m:#(type=Real)]", "m", "number", false},
        {"open [", NULL, "open [", false},
        {"]", NULL, "]", false},
        {"[]", NULL, NULL, false},
        {"a [b] c [d]", "d", "a [b] c", false},
        {"two\nlines [s]", "s", "two lines", false},
        {"W\xe4rme [W]", "W", "W\xc3\xa4rme", false},                     /* Latin-1 */
        {"W\xc3\xa4rme [\xc2\xb5W]", "\xc2\xb5W", "W\xc3\xa4rme", false}, /* UTF-8 */
    };
    enum { CASES = sizeof cases / sizeof *cases };
    const char *lines[CASES + 1] = {"Time"}, *called[CASES + 1] = {"time"};
    double places[CASES + 1][4] = {{0, 1}};
    char letters[CASES][2];
    for (size_t i = 0; i < CASES; i++) {
        snprintf(letters[i], sizeof letters[i], "%c", (char)('a' + i));
        called[i + 1] = letters[i];
        lines[i + 1] = cases[i].text;
        places[i + 1][0] = places[i + 1][1] = 2;
    }
    struct parts parts = whole;
    parts.names = called;
    parts.descriptions = lines;
    parts.info = (const double(*)[4])places;
    parts.count = CASES + 1;
    struct bytes bytes = build(&parts, &plain);
    struct tutti_result *result = open_bytes(&bytes);
    assert_null(result->time_unit);
    for (size_t i = 0; i < CASES; i++) {
        const struct tutti_result_variable *variable = &result->variables[i];
        if (!cases[i].unit != !variable->unit || (variable->unit && strcmp(variable->unit, cases[i].unit) != 0))
            fail_msg("unit of '%s': '%s'", cases[i].text, variable->unit);
        if (!cases[i].description != !variable->description ||
            (variable->description && strcmp(variable->description, cases[i].description) != 0))
            fail_msg("description of '%s': '%s'", cases[i].text, variable->description);
        assert_int_equal(variable->held, cases[i].held);
    }
    tutti_result_free(result);
}

/* Wide enough that few are picked and many are read; and one more than a block has room for. */
static void test_wide(void **state)
{
    (void)state;
    static const size_t widths[] = {5000, 128 * 1024, 128 * 1024 + 1};
    for (size_t w = 0; w < 3; w++) {
        const size_t wide = widths[w], points = 4;
        double *data = malloc(wide * points * sizeof *data), values[3][4];
        assert_non_null(data);
        for (size_t i = 0; i < wide * points; i++)
            data[i] = floor((double)i / (double)wide) + 0.001 * (double)(i % wide);
        const char *const called[] = {"time", "a", "b", "c"};
        const double places[][4] = {{0, 1}, {2, (double)wide}, {2, -2}, {2, 1500}};
        const struct parts parts = {.class = "Atrajectory",
                                    .names = called,
                                    .info = places,
                                    .data_2 = data,
                                    .count = 4,
                                    .rows_2 = wide,
                                    .points = points};
        struct bytes bytes = build(&parts, &plain);
        struct tutti_result *result = open_bytes(&bytes);
        assert_ok(tutti_result_read(result, (const size_t[]){0, 1, 2}, 3,
                                    (double *const[]){values[0], values[1], values[2]}));
        for (size_t k = 0; k < points; k++) {
            assert_same_double(result->times[k], data[k * wide]);
            assert_same_double(values[0][k], data[k * wide + wide - 1]);
            assert_same_double(values[1][k], -data[k * wide + 1]);
            assert_same_double(values[2][k], data[k * wide + 1499]);
        }
        tutti_result_free(result);
        free(data);
    }
}

static void test_long(void **state)
{
    (void)state;
    enum { POINTS = 200000 };
    double *data = malloc(3 * POINTS * sizeof *data), *x = malloc(POINTS * sizeof *x);
    assert_true(data && x);
    for (size_t i = 0; i < POINTS; i++) {
        data[3 * i] = (double)i;
        data[3 * i + 1] = (double)i * 0.5;
        data[3 * i + 2] = 0;
    }
    struct parts parts = whole;
    parts.data_2 = data;
    parts.points = POINTS;
    for (int normal = 0; normal < 2; normal++) {
        struct form form = plain;
        form.normal = normal;
        struct bytes bytes = {0}; /* build() is too slow for this */
        struct parts head = parts;
        head.data_2 = NULL;
        bytes = build(&head, &form);
        add_head(&bytes, "data_2", 0, normal ? POINTS : 3, normal ? 3 : POINTS, &form);
        if (normal) {
            for (size_t row = 0; row < 3; row++) {
                for (size_t i = 0; i < POINTS; i++)
                    x[i] = data[3 * i + row];
                bytes_add(&bytes, x, POINTS * sizeof *x, false);
            }
        } else {
            bytes_add(&bytes, data, 3 * POINTS * sizeof *data, false);
        }
        struct tutti_result *result = open_bytes(&bytes);
        assert_int_equal(result->rows, POINTS);
        assert_ok(tutti_result_read(result, (const size_t[]){1}, 1, &x));
        for (size_t i = 0; i < POINTS; i++)
            assert_true(result->times[i] == (double)i && x[i] == -(double)i * 0.5);
        tutti_result_free(result);
    }
    free(data);
    free(x);
}

/* What Dymola exports of a plot: names and their columns, nothing else. */
static void test_plotted(void **state)
{
    (void)state;
    struct form form = plain;
    form.normal = true;
    struct bytes bytes = {0};
    add_class(&bytes, "Atrajectory", &form);
    add_text(&bytes, "names", (const char *const[]){"Time", "a", "b"}, 3, &form);
    add_matrix(&bytes, "data", DOUBLE, 3, 4, data_2, &form, false);
    struct tutti_result *result = open_bytes(&bytes);
    double b[4], *values = b;
    assert_int_equal(result->count, 2);
    assert_ok(tutti_result_read(result, (const size_t[]){1}, 1, &values));
    assert_memory_equal(b, ((const double[]){1, 0, 1, 1}), sizeof b);
    tutti_result_free(result);
}

/* What mat.c writes. */
static void test_own(void **state)
{
    (void)state;
    double x = 1.5, p = -3;
    const struct tt_column columns[] = {
        {.name = "x", .type = TUTTI_TYPE_FLOAT64, .value = &x, .source = 0, .unit = "m", .description = "way"},
        {.name = "-x", .type = TUTTI_TYPE_FLOAT64, .value = &x, .source = 0, .negated = true},
        {.name = "p", .type = TUTTI_TYPE_FLOAT64, .value = &p, .source = 2, .fixed = true}};
    struct tt_recorder *recorder = NULL;
    assert_ok(tt_mat_format.open(&recorder, scratch_path(&scratch, "r.mat"), columns, 3));
    struct tutti_result *result = open_result(scratch.joined);
    assert_int_equal(result->rows, 0);
    assert_int_equal(result->count, 3);
    tutti_result_free(result);
    assert_ok(tt_mat_format.row(recorder, 0));
    x = 0;
    assert_ok(tt_mat_format.row(recorder, 1));
    assert_ok(tt_mat_format.close(recorder));
    result = open_result(scratch.joined);
    double values[3][2];
    assert_ok(
        tutti_result_read(result, (const size_t[]){0, 1, 2}, 3, (double *const[]){values[0], values[1], values[2]}));
    assert_memory_equal(values, ((const double[3][2]){{1.5, 0}, {-1.5, 0}, {-3, -3}}), sizeof values);
    assert_string_equal(result->variables[0].unit, "m");
    assert_true(result->variables[2].held);
    assert_string_equal(warnings, "");
    tutti_result_free(result);
}

/* --- aborted runs */

/* Cut at any byte: the whole points that are left, with a warning; or an error. */
static void test_cut(void **state)
{
    (void)state;
    for (int normal = 0; normal < 2; normal++) {
        struct form form = plain;
        form.normal = normal;
        struct bytes bytes = build(&whole, &form);
        const size_t size = bytes.size, data = size - 12 * sizeof(double);
        for (size_t n = 0; n < size; n++) {
            struct tutti_result *result = NULL;
            warnings[0] = '\0';
            write_file(&(struct bytes){.data = bytes.data, .size = n});
            enum tutti_err err = tutti_result_open(&result, scratch.joined, &keeper);
            if (!normal && n >= data) {
                assert_int_equal(err, TUTTI_OK);
                assert_int_equal(result->rows, (n - data) / (3 * sizeof(double)));
                assert_contains(warnings, scratch.joined);
                assert_contains(warnings, "tells of 4 points");
                double x[4] = {-1, -1, -1, -1}, *values = x;
                assert_ok(tutti_result_read(result, (const size_t[]){0}, 1, &values));
                for (size_t i = 0; i < 4; i++)
                    assert_true(x[i] == (i < result->rows ? data_2[3 * i + 1] : -1));
            } else {
                assert_int_equal(err, TUTTI_ERR_FORMAT);
                assert_contains(tutti_err_message(), scratch.joined);
            }
            tutti_result_free(result);
        }
        free(bytes.data);
    }
}

/* OpenModelica counts the points when the run ends. */
static void test_uncounted(void **state)
{
    (void)state;
    struct parts parts = whole;
    parts.points = 0;
    struct bytes bytes = build(&parts, &plain);
    bytes_add(&bytes, data_2, sizeof data_2, false);
    bytes_add(&bytes, "half", 4, false);
    struct tutti_result *result = open_bytes(&bytes);
    assert_whole(result);
    assert_contains(warnings, "tells of 0 points, and there are 4");
    tutti_result_free(result);
}

/* Killed between writing points and counting them. */
static void test_more_behind(void **state)
{
    (void)state;
    struct bytes bytes = build(&whole, &plain);
    bytes_add(&bytes, data_2 + 9, 3 * sizeof(double), false);
    struct tutti_result *result = open_bytes(&bytes);
    assert_whole(result);
    assert_contains(warnings, "24 bytes after its 4 points");
    tutti_result_free(result);
}

/* Other matrices are not looked at. */
static void test_other_matrices(void **state)
{
    (void)state;
    struct bytes bytes = {0}, rest = build(&whole, &plain);
    add_matrix(&bytes, "a_matrix_whose_name_is_longer_than_any_that_matters", INT16, 2, 2, data_1, &plain, false);
    bytes_add(&bytes, rest.data, rest.size, false);
    add_matrix(&bytes, "data_3", DOUBLE, 2, 2, data_1, &plain, false);
    add_matrix(&bytes, "data_2", DOUBLE, 2, 2, data_1, &plain, false); /* the first counts */
    free(rest.data);
    struct tutti_result *result = open_bytes(&bytes);
    assert_whole(result);
    assert_string_equal(warnings, "");
    tutti_result_free(result);
}

/* --- what cannot be read */

static void test_left_out(void **state)
{
    (void)state;
    const char *const called[] = {"Time", "", "s", "x"};
    const double places[][4] = {{0, 1}, {2, 2}, {3, 9}, {2, 2}};
    struct parts parts = whole;
    parts.names = called;
    parts.descriptions = NULL;
    parts.info = places;
    parts.count = 4;
    struct bytes bytes = build(&parts, &plain);
    struct tutti_result *result = open_bytes(&bytes);
    assert_int_equal(result->count, 1);
    assert_string_equal(result->variables[0].name, "x");
    assert_contains(warnings, "variable 2 has no name and is left out");
    assert_contains(warnings, "variable 3 ('s'), which is neither in data_1 nor in data_2, is left out");
    tutti_result_free(result);
}

static void test_missing(void **state)
{
    (void)state;
    struct parts parts = whole;
    parts.class = NULL;
    assert_refused_parts(&parts, "'Aclass' of a result is missing");
    parts.class = "AlinearSystem";
    assert_refused_parts(&parts, "it holds 'AlinearSystem'");
    parts = whole;
    parts.names = NULL;
    assert_refused_parts(&parts, "'name' of a result is missing");
    parts = whole;
    parts.info = NULL;
    assert_refused_parts(&parts, "'dataInfo' of a result is missing");
    parts = whole;
    parts.data_1 = NULL;
    assert_refused_parts(&parts, "'data_1' of a result is missing");
    parts = whole;
    parts.data_2 = NULL;
    assert_refused_parts(&parts, "'data_2' of a result is missing");
    parts = whole;
    parts.descriptions = NULL; /* one can do without */
    struct bytes bytes = build(&parts, &plain);
    struct tutti_result *result = open_bytes(&bytes);
    assert_int_equal(result->count, 5);
    assert_null(result->variables[0].unit);
    tutti_result_free(result);
}

static void test_wrong_places(void **state)
{
    (void)state;
    static const struct {
        double place[2];
        const char *words;
    } cases[] = {
        {{2, 4}, "'x' is row 4 of data_2, which has 3"},
        {{2, -4}, "'x' is row 4 of data_2"},
        {{2, 0}, "'x' is row 0 of data_2"},
        {{1, 3}, "'x' is row 3 of data_1, which has 2"},
        {{2, 1.5}, "dataInfo of 'x' is not whole numbers"},
        {{NAN, 1}, "dataInfo of 'x' is not whole numbers"},
        {{2, NAN}, "dataInfo of 'x' is not whole numbers"},
        {{2, INFINITY}, "dataInfo of 'x' is not whole numbers"},
        {{1e300, 1e300}, "dataInfo of 'x' is not whole numbers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double places[6][4];
        memcpy(places, info, sizeof places);
        memcpy(places[1], cases[i].place, sizeof cases[i].place);
        struct parts parts = whole;
        parts.info = (const double(*)[4])places;
        assert_refused_parts(&parts, cases[i].words);
    }
    double places[6][4];
    memcpy(places, info, sizeof places);
    places[0][0] = 1; /* the time */
    struct parts parts = whole;
    parts.info = (const double(*)[4])places;
    assert_refused_parts(&parts, "dataInfo of 'Time' says that it does not change");
    const char *const called[] = {"clock", "x", "y", "z", "a", "b"};
    places[0][0] = 2;
    parts.names = called;
    assert_refused_parts(&parts, "none of its 6 names is the time");
    static const char *const twice[] = {"Time", "x", "x", "p", "q", "r"};
    parts = whole;
    parts.names = twice;
    assert_refused_parts(&parts, "same name 'x'");
}

static void test_wrong_times(void **state)
{
    (void)state;
    static const struct {
        double time;
        const char *words;
    } cases[] = {{10.5, "time runs backwards, from 11 to 10.5 at point 3"},
                 {NAN, "the time of point 3 is not a number (nan)"},
                 {INFINITY, "the time of point 3 is not a number (inf)"}};
    for (size_t i = 0; i < 3; i++) {
        double data[12];
        memcpy(data, data_2, sizeof data);
        data[6] = cases[i].time;
        struct parts parts = whole;
        parts.data_2 = data;
        assert_refused_parts(&parts, cases[i].words);
    }
}

static void patch(struct bytes *bytes, const char *matrix, size_t number, int32_t value)
{
    for (size_t i = 20; i + strlen(matrix) < bytes->size; i++)
        if (memcmp(bytes->data + i, matrix, strlen(matrix) + 1) == 0) {
            memcpy(bytes->data + i - 20 + 4 * number, &value, sizeof value);
            return;
        }
    fail_msg("no %s", matrix);
}

static void test_wrong_heads(void **state)
{
    (void)state;
    static const struct {
        const char *matrix;
        size_t number;
        int32_t value;
        const char *words;
    } cases[] = {
        {"name", 0, 52, "'name' of a result is sparse"},
        {"name", 0, 50, "'name' of a result is not text"},
        {"name", 0, 60, "a matrix should begin"},
        {"name", 0, 151, "a matrix should begin"},
        {"name", 0, 2051, "VAX"},
        {"name", 0, 1051, "byte order is not the one it tells"},
        {"name", 0, -51, "a matrix should begin"},
        {"name", 1, -1, "a matrix should begin"},
        {"name", 2, INT32_MAX, "ends within the matrix 'name'"},
        {"name", 3, 7, "a matrix should begin"},
        {"name", 4, 0, "a matrix should begin"},
        {"name", 4, INT32_MAX, "ends within the name of a matrix"},
        {"data_2", 0, 1, "'data_2' of a result is text"},
        {"data_2", 0, 2, "'data_2' of a result is sparse"},
        {"data_2", 3, 1, "'data_2' of a result has imaginary numbers"},
        {"data_2", 1, 0, "no row for the time"},
        {"data_1", 1, 1, "a matrix should begin"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes bytes = build(&whole, &plain);
        patch(&bytes, cases[i].matrix, cases[i].number, cases[i].value);
        assert_refused(&bytes, TUTTI_ERR_FORMAT, cases[i].words);
    }
    struct bytes bytes = build(&whole, &plain);
    patch(&bytes, "dataInfo", 1, INT32_MAX);
    patch(&bytes, "dataInfo", 2, INT32_MAX);
    patch(&bytes, "dataInfo", 3, 1);
    patch(&bytes, "dataInfo", 0, 0);
    assert_refused(&bytes, TUTTI_ERR_FORMAT, "larger than any file");
    bytes = build(&whole, &plain);
    patch(&bytes, "name", 1, 0); /* names without letters take no room, however many there are */
    patch(&bytes, "name", 2, INT32_MAX);
    assert_refused(&bytes, TUTTI_ERR_FORMAT, "a matrix should begin");
}

static void test_no_names(void **state)
{
    (void)state;
    const double none = 0;
    struct bytes bytes = {0};
    add_class(&bytes, "Atrajectory", &plain);
    add_head(&bytes, "name", 51, 0, INT32_MAX, &plain);
    add_head(&bytes, "dataInfo", 20, 0, INT32_MAX, &plain);
    add_matrix(&bytes, "data_2", DOUBLE, 1, 1, &none, &plain, false);
    assert_refused(&bytes, TUTTI_ERR_FORMAT, "'name' of a result has no letters");
}

static void test_other_files(void **state)
{
    (void)state;
    struct tutti_result *result = NULL;
    scratch_write(&scratch, "r.mat", "", 0);
    assert_fails(tutti_result_open(&result, scratch.joined, NULL), TUTTI_ERR_FORMAT, "the file is empty");
    static const char level_5[600] = "MATLAB 5.0 MAT-file, Platform: GLNXA64";
    scratch_write(&scratch, "r.mat", level_5, sizeof level_5);
    assert_fails(tutti_result_open(&result, scratch.joined, NULL), TUTTI_ERR_FORMAT, "level 4");
    scratch_write(&scratch, "r.mat",
                  "\x7f"
                  "ELF\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                  24);
    assert_fails(tutti_result_open(&result, scratch.joined, NULL), TUTTI_ERR_FORMAT, "a matrix should begin");
    scratch_write(&scratch, "r.mat", "time,x\n0,1\n", 11); /* by what is in it */
    assert_ok(tutti_result_open(&result, scratch.joined, NULL));
    assert_string_equal(result->format->name, "csv");
    tutti_result_free(result);
}

/* Every byte wrong in several ways: a result or an error, and nothing else (the sanitizers look on). */
static void test_any_byte(void **state)
{
    (void)state;
    struct bytes bytes = build(&whole, &plain);
    unsigned long good = 0, bad = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        static const unsigned char wrong[] = {0x00, 0xff, 0x80, 0x7f, 0x01};
        for (size_t k = 0; k < sizeof wrong; k++) {
            unsigned char right = bytes.data[i];
            bytes.data[i] = wrong[k];
            struct tutti_result *result = NULL;
            enum tutti_err err = tutti_result_open(&result, write_file(&bytes), NULL);
            if (err == TUTTI_OK && strcmp(result->format->name, "mat") == 0) {
                double *values = malloc((result->rows + 1) * sizeof *values);
                assert_non_null(values);
                for (size_t which = 0; which < result->count; which++)
                    assert_ok(tutti_result_read(result, &which, 1, &values));
                free(values);
                good++;
            } else if (err != TUTTI_OK) {
                assert_contains(tutti_err_message(), scratch.joined);
                bad++;
            }
            tutti_result_free(result);
            bytes.data[i] = right;
        }
    }
    assert_true(good > 100 && bad > 100);
    free(bytes.data);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_every_form),
        TEST(test_numbers),
        TEST(test_texts),
        TEST(test_wide),
        TEST(test_long),
        TEST(test_plotted),
        TEST(test_own),
        TEST(test_cut),
        TEST(test_uncounted),
        TEST(test_more_behind),
        TEST(test_other_matrices),
        TEST(test_left_out),
        TEST(test_missing),
        TEST(test_wrong_places),
        TEST(test_wrong_times),
        TEST(test_wrong_heads),
        TEST(test_no_names),
        TEST(test_other_files),
        TEST(test_any_byte),
    };
    return cmocka_run_group_tests_name("record/result_mat", tests, NULL, NULL);
}
