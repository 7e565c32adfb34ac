/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "count_allocations.h"
#include "look.h"
#include "own_scratch.h"
#include "results/dying.h"
#include "results/full_disk.h"

static const struct tt_record_format *const mat = &tt_mat_format;

static struct tt_recorder *open_mat(const char *path, const struct tt_column *columns, size_t n)
{
    struct tt_recorder *recorder = NULL;
    if (mat->open(&recorder, path, columns, n) != TUTTI_OK)
        fail_msg("%s", tutti_err_message());
    return recorder;
}

#define COLUMN(type_, name_, value_, source_)                                                                          \
    {                                                                                                                  \
        .name = name_, .type = TUTTI_TYPE_##type_, .value = value_, .source = source_                                  \
    }

/* --- a file, read by hand */

enum { ACLASS, NAME, DESCRIPTION, INFO, DATA_1, DATA_2, MATRICES };

struct matrix {
    int32_t head[5]; /* type, rows, columns, 0, length of the name */
    const char *name, *values;
};

struct file {
    char *bytes;
    size_t size;
    struct matrix matrices[MATRICES];
    size_t behind; /* bytes after the last matrix */
};

static struct file read_mat(const char *path)
{
    static const char *const names[] = {"Aclass", "name", "description", "dataInfo", "data_1", "data_2"};
    static const int32_t types[] = {51, 51, 51, 20, 0, 0};
    struct file file = {0};
    file.bytes = slurp_file(path, &file.size);
    size_t at = 0;
    for (int i = 0; i < MATRICES; i++) {
        struct matrix *m = &file.matrices[i];
        assert_true(file.size - at > sizeof m->head);
        memcpy(m->head, file.bytes + at, sizeof m->head);
        m->name = file.bytes + at + sizeof m->head;
        assert_int_equal(m->head[0], types[i]);
        assert_int_equal(m->head[3], 0);
        assert_int_equal(m->head[4], strlen(names[i]) + 1);
        assert_string_equal(m->name, names[i]);
        m->values = m->name + m->head[4];
        at = (size_t)(m->values - file.bytes) + (size_t)m->head[1] * (size_t)m->head[2] *
                                                    (types[i] == 51   ? 1
                                                     : types[i] == 20 ? 4
                                                                      : 8);
        assert_true(at <= file.size);
    }
    file.behind = file.size - at;
    return file;
}

static void file_fini(struct file *file)
{
    free(file->bytes);
}

static double number(const struct file *file, int matrix, int row, int column)
{
    const struct matrix *m = &file->matrices[matrix];
    assert_true(row < m->head[1] && column < m->head[2]);
    double value;
    memcpy(&value, m->values + ((size_t)column * (size_t)m->head[1] + (size_t)row) * sizeof value, sizeof value);
    return value;
}

static void assert_text(const struct file *file, int matrix, int column, const char *expected)
{
    const struct matrix *m = &file->matrices[matrix];
    char text[1024];
    assert_true(column < m->head[2] && m->head[1] < (int)sizeof text);
    memset(text, ' ', sizeof text);
    memcpy(text, expected, strlen(expected));
    assert_memory_equal(m->values + (size_t)column * (size_t)m->head[1], text, (size_t)m->head[1]);
}

static void assert_info(const struct file *file, int column, int32_t matrix, int32_t row)
{
    int32_t info[4];
    assert_true(column < file->matrices[INFO].head[2]);
    memcpy(info, file->matrices[INFO].values + (size_t)column * sizeof info, sizeof info);
    assert_int_equal(info[0], matrix);
    assert_int_equal(info[1], row);
    assert_int_equal(info[2], 0);
    assert_int_equal(info[3], matrix == 1 ? 0 : -1);
}

static int points(const struct file *file)
{
    return file->matrices[DATA_2].head[2];
}

/* --- what is in a file */

static void test_bytes(void **state)
{
    (void)state;
    double x = 1, p = 2;
    struct tt_column columns[] = {COLUMN(FLOAT64, "x", &x, 0), COLUMN(FLOAT64, "par", &p, 1)};
    columns[0].unit = "m";
    columns[0].description = "way";
    columns[1].fixed = true;
    struct tt_recorder *recorder = open_mat(scratch_path(&scratch, "a.mat"), columns, 2);
    assert_ok(mat->row(recorder, 0));
    x = -1;
    assert_ok(mat->row(recorder, 0.5));
    assert_ok(mat->close(recorder));
    static const struct {
        int32_t aclass[5];
        char aclass_text[7 + 44];
    } __attribute__((packed)) first = {{51, 4, 11, 0, 7}, "Aclass\0A1 bt. ir1 na  Tj  re  ac  nt  so   r   y   "};
    static const struct {
        int32_t name[5];
        char name_text[5 + 12];
        int32_t description[5];
        char description_text[12 + 57];
    } __attribute__((packed)) texts = {
        {51, 4, 3, 0, 5},
        "name\0timex   par ",
        {51, 19, 3, 0, 12},
        "description\0Simulation time [s]way [m]                               ",
    };
    static const struct {
        int32_t info[5];
        char info_text[9];
        int32_t infos[12];
        int32_t data_1[5];
        char data_1_text[7];
        double constants[4];
        int32_t data_2[5];
        char data_2_text[7];
        double rows[4];
    } __attribute__((packed)) numbers = {
        {20, 4, 3, 0, 9}, "dataInfo", {0, 1, 0, -1, 2, 2, 0, -1, 1, 2, 0, 0},
        {0, 2, 2, 0, 7},  "data_1",   {0, 2, 0.5, 2},
        {0, 2, 2, 0, 7},  "data_2",   {0, 1, 0.5, -1},
    };
    size_t size;
    char *bytes = slurp_file(scratch_path(&scratch, "a.mat"), &size);
    assert_int_equal(size, sizeof first + sizeof texts + sizeof numbers);
    assert_memory_equal(bytes, &first, sizeof first);
    assert_memory_equal(bytes + sizeof first, &texts, sizeof texts);
    assert_memory_equal(bytes + sizeof first + sizeof texts, &numbers, sizeof numbers);
    free(bytes);
}

static void test_types(void **state)
{
    (void)state;
    double f64 = NAN;
    float f32 = 0.1f;
    int8_t i8 = INT8_MIN;
    uint8_t u8 = UINT8_MAX;
    int16_t i16 = INT16_MIN;
    uint16_t u16 = UINT16_MAX;
    int32_t i32 = INT32_MIN;
    uint32_t u32 = UINT32_MAX;
    int64_t i64 = INT64_MIN, enumeration = 3;
    uint64_t u64 = UINT64_MAX;
    bool boolean = true, clock = false;
    const char *string = "text";
    struct tt_bytes binary = {1, (const uint8_t *)"x"};
    const struct tt_column columns[] = {
        COLUMN(FLOAT64, "f64", &f64, 0),    COLUMN(STRING, "s", &string, 1),
        COLUMN(FLOAT32, "f32", &f32, 2),    COLUMN(INT8, "i8", &i8, 3),
        COLUMN(UINT8, "u8", &u8, 4),        COLUMN(INT16, "i16", &i16, 5),
        COLUMN(UINT16, "u16", &u16, 6),     COLUMN(INT32, "i32", &i32, 7),
        COLUMN(UINT32, "u32", &u32, 8),     COLUMN(BINARY, "bin", &binary, 9),
        COLUMN(INT64, "i64", &i64, 10),     COLUMN(UINT64, "u64", &u64, 11),
        COLUMN(BOOLEAN, "b", &boolean, 12), COLUMN(ENUMERATION, "e", &enumeration, 13),
        COLUMN(CLOCK, "c", &clock, 14),
    };
    static const char *const names[] = {"time", "f64", "f32", "i8",  "u8", "i16", "u16",
                                        "i32",  "u32", "i64", "u64", "b",  "e",   "c"};
    const double expected[] = {7, NAN, 0.1f, -128, 255, -32768, 65535, INT32_MIN, UINT32_MAX, -0x1p63, 0x1p64, 1, 3, 0};
    enum { WRITTEN = sizeof names / sizeof *names };
    assert_false(mat->holds_texts);
    struct tt_recorder *recorder = open_mat(scratch_path(&scratch, "a.mat"), columns, TUTTI_TYPE_COUNT);
    assert_ok(mat->row(recorder, 7));
    assert_ok(mat->close(recorder));
    struct file file = read_mat(scratch_path(&scratch, "a.mat"));
    assert_int_equal(file.matrices[NAME].head[2], WRITTEN);
    assert_int_equal(file.matrices[DATA_2].head[1], WRITTEN);
    assert_info(&file, 0, 0, 1);
    for (int i = 0; i < WRITTEN; i++) {
        assert_text(&file, NAME, i, names[i]);
        assert_same_double(number(&file, DATA_2, i, 0), expected[i]);
        if (i > 0)
            assert_info(&file, i, 2, i + 1);
    }
    file_fini(&file);
}

/* Aliases share a row; one that is negated, the first of them too, has a minus in dataInfo. */
static void test_aliases(void **state)
{
    (void)state;
    double x = 3, y = 4;
    struct tt_column columns[] = {COLUMN(FLOAT64, "minus", &x, 0), COLUMN(FLOAT64, "y", &y, 1),
                                  COLUMN(FLOAT64, "x", &x, 0), COLUMN(FLOAT64, "minus y", &y, 1),
                                  COLUMN(FLOAT64, "x again", &x, 0)};
    columns[0].negated = columns[3].negated = true;
    struct tt_recorder *recorder = open_mat(scratch_path(&scratch, "a.mat"), columns, 5);
    assert_ok(mat->row(recorder, 0));
    assert_ok(mat->close(recorder));
    struct file file = read_mat(scratch_path(&scratch, "a.mat"));
    assert_int_equal(file.matrices[DATA_2].head[1], 3);
    const int32_t rows[] = {-2, 3, 2, -3, 2};
    for (int i = 0; i < 5; i++)
        assert_info(&file, 1 + i, 2, rows[i]);
    assert_same_double(number(&file, DATA_2, 1, 0), 3);
    assert_same_double(number(&file, DATA_2, 2, 0), 4);
    file_fini(&file);
}

/* Constants are stored once, with their values at the first row; one with a varying alias is not. */
static void test_constants(void **state)
{
    (void)state;
    double p = -1, q = -1, half = 1;
    int32_t k = -1;
    struct tt_column columns[] = {COLUMN(FLOAT64, "p", &p, 0),       COLUMN(FLOAT64, "half", &half, 1),
                                  COLUMN(FLOAT64, "minus p", &p, 0), COLUMN(FLOAT64, "half too", &half, 1),
                                  COLUMN(INT32, "k", &k, 4),         COLUMN(FLOAT64, "q", &q, 5)};
    columns[0].fixed = columns[1].fixed = columns[2].fixed = columns[4].fixed = true;
    columns[2].negated = true;
    struct tt_recorder *recorder = open_mat(scratch_path(&scratch, "a.mat"), columns, 6);
    struct file file = read_mat(scratch_path(&scratch, "a.mat"));
    assert_int_equal(file.matrices[DATA_1].head[1], 3);
    assert_int_equal(file.matrices[DATA_1].head[2], 2);
    for (int i = 0; i < 6; i++)
        assert_true(isnan(number(&file, DATA_1, i % 3, i / 3))); /* not known yet */
    file_fini(&file);
    p = 1.5;
    k = 7;
    assert_ok(mat->row(recorder, -2));
    p = 99; /* a mistake of the FMU: a constant has one value */
    half = 2;
    assert_ok(mat->row(recorder, 8));
    assert_ok(mat->close(recorder));
    file = read_mat(scratch_path(&scratch, "a.mat"));
    const double expected[2][3] = {{-2, 1.5, 7}, {8, 1.5, 7}};
    for (int i = 0; i < 6; i++)
        assert_same_double(number(&file, DATA_1, i % 3, i / 3), expected[i / 3][i % 3]);
    const int32_t places[][2] = {{1, 2}, {2, 2}, {1, -2}, {2, 2}, {1, 3}, {2, 3}};
    for (int i = 0; i < 6; i++)
        assert_info(&file, 1 + i, places[i][0], places[i][1]);
    assert_int_equal(file.matrices[DATA_2].head[1], 3);
    assert_same_double(number(&file, DATA_2, 1, 0), 1);
    assert_same_double(number(&file, DATA_2, 1, 1), 2);
    file_fini(&file);
}

static void test_descriptions(void **state)
{
    (void)state;
    double x = 0;
    char longest[900];
    struct tt_column columns[] = {COLUMN(FLOAT64, "a", &x, 0), COLUMN(FLOAT64, "b", &x, 1), COLUMN(FLOAT64, "c", &x, 2),
                                  COLUMN(FLOAT64, "d", &x, 3), COLUMN(FLOAT64, "e", &x, 4)};
    columns[0].unit = "rad/s";
    columns[0].description = "speed";
    columns[1].unit = "K";
    columns[2].description = "no unit";
    columns[2].unit = "";
    memset(longest, 'x', 399);
    snprintf(longest + 399, sizeof longest - 399, "\xc3\xa4 and so on"); /* its 400th byte is half a letter */
    columns[4].description = longest;
    columns[4].unit = "m";
    assert_ok(mat->close(open_mat(scratch_path(&scratch, "a.mat"), columns, 5)));
    struct file file = read_mat(scratch_path(&scratch, "a.mat"));
    assert_text(&file, DESCRIPTION, 0, "Simulation time [s]");
    assert_text(&file, DESCRIPTION, 1, "speed [rad/s]");
    assert_text(&file, DESCRIPTION, 2, "[K]");
    assert_text(&file, DESCRIPTION, 3, "no unit");
    assert_text(&file, DESCRIPTION, 4, "");
    strcpy(longest + 399, " [m]");
    assert_text(&file, DESCRIPTION, 5, longest);
    assert_int_equal(file.matrices[DESCRIPTION].head[1], 403);
    assert_int_equal(points(&file), 0);
    assert_int_equal(file.behind, 0);
    file_fini(&file);
}

/* Rows are appended; what says how many there are is changed whenever they go to the file. */
static void test_flush(void **state)
{
    (void)state;
    double x = 1;
    const struct tt_column column = COLUMN(FLOAT64, "x", &x, 0);
    struct tt_recorder *recorder = open_mat(scratch_path(&scratch, "a.mat"), &column, 1);
    for (int i = 0; i < 5; i++) {
        struct file file = read_mat(scratch_path(&scratch, "a.mat"));
        assert_int_equal(points(&file), i);
        assert_int_equal(file.behind, 0);
        if (i > 0) {
            assert_same_double(number(&file, DATA_1, 0, 0), 10);
            assert_same_double(number(&file, DATA_1, 0, 1), i + 9);
            assert_same_double(number(&file, DATA_2, 0, i - 1), i + 9);
        }
        assert_ok(mat->row(recorder, i + 10));
        struct file same = read_mat(scratch_path(&scratch, "a.mat"));
        assert_int_equal(same.size, file.size);
        assert_memory_equal(same.bytes, file.bytes, file.size);
        file_fini(&same);
        file_fini(&file);
        assert_ok(mat->flush(recorder));
        assert_ok(mat->flush(recorder));
    }
    assert_ok(mat->row(recorder, 15));
    mat->emergency(recorder);
    mat->emergency(recorder); /* once is enough */
    assert_ok(mat->close(recorder));
    struct file file = read_mat(scratch_path(&scratch, "a.mat"));
    assert_int_equal(points(&file), 6);
    assert_int_equal(file.behind, 0);
    file_fini(&file);
}

/* Much more than the buffer holds, in a row and in all, and not one allocation for it. */
static void test_much(void **state)
{
    (void)state;
    enum { WIDE = 20000, ROWS = 300 };
    static double values[WIDE];
    static char names[WIDE][16];
    static struct tt_column columns[WIDE];
    for (size_t i = 0; i < WIDE; i++) {
        snprintf(names[i], sizeof names[i], "x[%zu]", i);
        columns[i] = (struct tt_column)COLUMN(FLOAT64, names[i], &values[i], i);
    }
    for (int wide = WIDE; wide >= 2; wide /= 100) {
        struct tt_recorder *recorder = open_mat(scratch_path(&scratch, "a.mat"), columns, (size_t)wide);
        const int rows = ROWS * (WIDE / wide);
        const unsigned long before = allocations;
        for (int i = 0; i < (rows < 40000 ? rows : 40000); i++) {
            for (int j = 0; j < wide; j += 97)
                values[j] = i + j * 0.5;
            assert_ok(mat->row(recorder, i));
        }
        assert_int_equal(allocations, before);
        assert_ok(mat->close(recorder));
        struct file file = read_mat(scratch_path(&scratch, "a.mat"));
        assert_int_equal(points(&file), rows < 40000 ? rows : 40000);
        assert_int_equal(file.behind, 0);
        for (int i = 0; i < points(&file); i++) {
            assert_true(number(&file, DATA_2, 0, i) == i);
            for (int j = 0; j < wide; j += 97)
                assert_true(number(&file, DATA_2, 1 + j, i) == i + j * 0.5);
        }
        file_fini(&file);
    }
}

/* --- a dying process: whatever counts is there and right */

static void assert_counted_rows(const char *name, bool nothing_behind)
{
    struct file file = read_mat(scratch_path(&scratch, name));
    if (nothing_behind)
        assert_int_equal(file.behind, 0);
    for (int i = 0; i < points(&file); i++) {
        assert_true(number(&file, DATA_2, 0, i) == i);
        assert_true(number(&file, DATA_2, 1, i) == i * 0.1);
    }
    if (points(&file) > 0) {
        assert_true(number(&file, DATA_1, 0, 0) == 0);
        assert_true(number(&file, DATA_1, 1, 0) == 42);
        assert_true(number(&file, DATA_1, 1, 1) == 42);
        assert_true(number(&file, DATA_1, 0, 1) >= points(&file) - 1);
    }
    file_fini(&file);
}

static void record_until_killed(unsigned microseconds)
{
    double x = 0, p = 42;
    struct tt_column columns[] = {COLUMN(FLOAT64, "x", &x, 0), COLUMN(FLOAT64, "p", &p, 1)};
    columns[1].fixed = true;
    record_until_ended(mat, scratch.joined, columns, 2, &x, microseconds);
}

static void test_emergency_at_any_moment(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        scratch_path(&scratch, "a.mat");
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            record_until_killed(4000 + round * 137);
        assert_child_is_well(child);
        assert_counted_rows("a.mat", true);
    }
}

static void test_killed_at_any_moment(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        scratch_path(&scratch, "a.mat");
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            record_until_killed(0);
        struct stat st = {0};
        while (stat(scratch.joined, &st) != 0 || st.st_size < 1000) /* it is at it */
            look_again();
        usleep(round * 137);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        assert_counted_rows("a.mat", false);
        assert_int_equal(unlink(scratch.joined), 0);
    }
}

/* --- what can go wrong */

static void assert_open_fails(const char *path, const char *words)
{
    struct tt_recorder *recorder = NULL;
    assert_fails(mat->open(&recorder, path, NULL, 0), TUTTI_ERR_IO, words);
    assert_null(recorder);
    assert_contains(tutti_err_message(), strcmp(path, "-") == 0 ? "standard output" : path);
}

static void test_cannot_open(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    assert_open_fails(scratch_path(&scratch, "no/such/a.mat"), "there is no folder");
    assert_open_fails(scratch.path, "it is a folder");
    scratch_write(&scratch, "file", "x", 1);
    assert_open_fails(scratch_path(&scratch, "file/a.mat"), "Not a directory");
    assert_open_fails("/proc/version", "");
    assert_open_fails("", "name another file");
    assert_open_fails("-", "file on a disk");
    assert_open_fails("/dev/full", "file on a disk");
    assert_int_equal(mkfifo(scratch_path(&scratch, "pipe.mat"), 0600), 0);
    assert_open_fails(scratch.joined, "file on a disk"); /* and it does not wait for a reader */
    const struct tt_record_format *format = NULL;
    assert_ok(tt_recorder_find_format(&format, scratch.joined));
    assert_ptr_equal(format, mat); /* not CSV in a file that is called .mat */
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

/* All names are as long as the longest: what does not fit is refused before the older result is touched. */
static void test_too_much_text(void **state)
{
    (void)state;
    enum { WIDE = 30000, LONG = 100000 };
    static double x;
    static struct tt_column columns[WIDE];
    static char name[LONG + 1];
    memset(name, 'n', LONG);
    for (size_t i = 0; i < WIDE; i++)
        columns[i] = (struct tt_column)COLUMN(FLOAT64, i == 5 ? name : "short", &x, i);
    struct tt_recorder *recorder = NULL;
    scratch_write(&scratch, "a.mat", "older", 5);
    assert_fails(mat->open(&recorder, scratch_path(&scratch, "a.mat"), columns, WIDE), TUTTI_ERR_LIMIT,
                 "30001 like 'nnn");
    assert_contains(tutti_err_message(), scratch.joined);
    char *text = slurp_file(scratch.joined, NULL);
    assert_string_equal(text, "older");
    free(text);
}

static void test_full_disk(void **state)
{
    (void)state;
    double x = 0, p = 42;
    struct tt_column columns[] = {COLUMN(FLOAT64, "x", &x, 0), COLUMN(FLOAT64, "p", &p, 1)};
    columns[1].fixed = true;
    for (off_t limit = 200000; limit < 200020; limit++) { /* every place in a row */
        fill_up(mat, scratch_path(&scratch, "a.mat"), columns, 2, &x, limit);
        assert_counted_rows("a.mat", true);
        struct file file = read_mat(scratch.joined);
        assert_true(file.size <= (size_t)limit && file.size > (size_t)limit - 16); /* all whole rows that fit */
        file_fini(&file);
    }
}

/* No room for the header: reported at once, and nothing of it is left. */
static void test_no_room_for_the_head(void **state)
{
    (void)state;
    scratch_path(&scratch, "a.mat");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        limit_files(100);
        struct tt_recorder *recorder = NULL;
        _exit(mat->open(&recorder, scratch.joined, NULL, 0) != TUTTI_ERR_IO || recorder ||
              !strstr(tutti_err_message(), "too large"));
    }
    assert_child_is_well(child);
    size_t size;
    free(slurp_file(scratch.joined, &size));
    assert_int_equal(size, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_bytes),
        TEST(test_types),
        TEST(test_aliases),
        TEST(test_constants),
        TEST(test_descriptions),
        TEST(test_flush),
        TEST(test_much),
        TEST(test_emergency_at_any_moment),
        TEST(test_killed_at_any_moment),
        TEST(test_cannot_open),
        TEST(test_too_much_text),
        TEST(test_full_disk),
        TEST(test_no_room_for_the_head),
    };
    return cmocka_run_group_tests_name("record/mat", tests, NULL, NULL);
}
