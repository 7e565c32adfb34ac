/* SPDX-License-Identifier: MIT */
/* Options that travel: no field of the header is forgotten, and all come back as they were. */
#include <ctype.h>
#include <stdlib.h>
#include <tutti/extra.h>

#include "conduct/node/job.h"
#include "scratch.h"
#include "test.h"

static const struct tutti_options_field *find(const char *name, size_t length)
{
    for (const struct tutti_options_field *field = tutti_options_fields; field->name; field++)
        if (strlen(field->name) == length && strncmp(field->name, name, length) == 0)
            return field;
    return NULL;
}

/* The text of struct tutti_run_options in the header, without comments; the caller's. */
static char *read_struct(void)
{
    FILE *file = fopen(TUTTI_SOURCE_DIR "/include/tutti/run.h", "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 17);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 17) - 1, file) > 0);
    fclose(file);
    for (char *comment; (comment = strstr(text, "/*"));) {
        char *end = strstr(comment, "*/");
        assert_non_null(end);
        memmove(comment, end + 2, strlen(end + 2) + 1);
    }
    char *begin = strstr(text, "struct tutti_run_options {"), *end = begin ? strstr(begin, "\n};") : NULL;
    assert_non_null(end);
    *end = '\0';
    memmove(text, strchr(begin, '{') + 1, strlen(strchr(begin, '{') + 1) + 1);
    return text;
}

/* The name that a declarator ends in: "const char *const *files", "(*progress)(void *context, ...)", " has_stop". */
static void check_declarator(const char *text, size_t length, size_t *count)
{
    const char *pointer = memmem(text, length, "(*", 2);
    const char *begin = pointer ? pointer + 2 : text + length, *end;
    if (pointer) {
        end = memchr(begin, ')', (size_t)(text + length - begin));
    } else {
        while (begin > text && isspace((unsigned char)begin[-1]))
            begin--;
        end = begin;
        while (begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
            begin--;
    }
    if (!find(begin, (size_t)(end - begin)))
        fail_msg("options_parcel.c does not know the option '%.*s'", (int)(end - begin), begin);
    ++*count;
}

static void test_no_field_is_forgotten(void **state)
{
    (void)state;
    char *text = read_struct();
    size_t found = 0, known = 0;
    for (char *next, *line = strtok_r(text, ";", &next); line; line = strtok_r(NULL, ";", &next)) {
        if (strspn(line, " \t\n") == strlen(line))
            continue;
        if (strstr(line, "(*")) { /* commas are between its parameters */
            check_declarator(line, strlen(line), &found);
            continue;
        }
        for (char *part = line; part;) {
            size_t length = strcspn(part, ",");
            check_declarator(part, length, &found);
            part = part[length] ? part + length + 1 : NULL;
        }
    }
    for (const struct tutti_options_field *field = tutti_options_fields; field->name; field++)
        known++;
    assert_int_equal(found, known);
    assert_true(found > 70);
    free(text);
}

static void quiet(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin, (void)text;
}

/* Every field that travels with a value of its own. */
static void fill(struct tutti_run_options *options, char (*texts)[32], const char *const *list)
{
    size_t i = 1;
    for (const struct tutti_options_field *field = tutti_options_fields; field->name; field++, i++) {
        char *at = (char *)options + field->offset;
        snprintf(texts[i], sizeof texts[i], "text %zu", i);
        if (field->kind == TUTTI_OPTIONS_FLAG)
            *(bool *)at = true;
        else if (field->kind == TUTTI_OPTIONS_COUNT)
            *(unsigned *)at = (unsigned)i;
        else if (field->kind == TUTTI_OPTIONS_NUMBER)
            *(double *)at = 0.1 * (double)i;
        else if (field->kind == TUTTI_OPTIONS_TEXT)
            *(const char **)at = texts[i];
        else if (field->kind == TUTTI_OPTIONS_TEXTS) {
            *(const char *const **)at = list;
            *(size_t *)((char *)options + field->length) = 1 + i % 3;
        }
    }
}

static void assert_same(const struct tutti_run_options *a, const struct tutti_run_options *b)
{
    for (const struct tutti_options_field *field = tutti_options_fields; field->name; field++) {
        const char *left = (const char *)a + field->offset, *right = (const char *)b + field->offset;
        if (field->kind == TUTTI_OPTIONS_FLAG)
            assert_int_equal(*(const bool *)left, *(const bool *)right);
        else if (field->kind == TUTTI_OPTIONS_COUNT)
            assert_int_equal(*(const unsigned *)left, *(const unsigned *)right);
        else if (field->kind == TUTTI_OPTIONS_NUMBER)
            assert_same_double(*(const double *)left, *(const double *)right);
        else if (field->kind == TUTTI_OPTIONS_TEXT && *(const char *const *)left)
            assert_string_equal(*(const char *const *)left, *(const char *const *)right);
        else if (field->kind == TUTTI_OPTIONS_TEXT)
            assert_null(*(const char *const *)right);
        else if (field->kind == TUTTI_OPTIONS_TEXTS) {
            size_t count = *(const size_t *)((const char *)a + field->length);
            assert_int_equal(count, *(const size_t *)((const char *)b + field->length));
            for (size_t i = 0; i < count; i++)
                assert_string_equal((*(const char *const *const *)left)[i], (*(const char *const *const *)right)[i]);
        }
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    static char texts[200][32];
    static const char *const list[] = {"one", "", "three = 3"};
    struct tutti_log log = {.level = TUTTI_LOG_DEBUG, .write = quiet};
    for (int full = 0; full < 2; full++) {
        struct tutti_run_options options = {0}, back;
        struct tutti_options_extras extras;
        struct tutti_parcel parcel = {0};
        struct tutti_arena arena = {0};
        if (full) {
            fill(&options, texts, list);
            options.log = &log;
        }
        assert_ok(tutti_options_pack(&options, &parcel));
        struct tutti_unparcel in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
        assert_ok(tutti_options_unpack(&back, &extras, &in, &arena));
        assert_ptr_equal(in.at, in.end);
        assert_same(&options, &back);
        assert_int_equal(extras.log_level, full ? TUTTI_LOG_DEBUG : -1);
        assert_false(extras.has_progress);
        assert_null(back.log);
        assert_null(back.key);
        tutti_parcel_fini(&parcel);
        tutti_arena_fini(&arena);
    }
}

static void test_what_cannot_travel(void **state)
{
    (void)state;
    struct tutti_extra extra = {0};
    struct tutti_run_options options = {.extra = &extra};
    struct tutti_parcel parcel = {0};
    assert_fails(tutti_options_pack(&options, &parcel), TUTTI_ERR_ARGUMENT, "cannot be sent");
    tutti_parcel_fini(&parcel);
}

/* A job, cut off anywhere, or with any byte changed, is refused or read; nothing else happens. */
static void test_damaged_jobs(void **state)
{
    (void)state;
    static char texts[200][32];
    static const char *const list[] = {"one", "two", "three"};
    const struct tutti_node_name names[] = {{"a.fmu", 0, false}, {"dir/b.ssp", 1, true}};
    const int32_t place[] = {0, 1, 1};
    struct tutti_run_options options = {0};
    struct tutti_parcel parcel = {0};
    struct tutti_node_job job;
    fill(&options, texts, list);
    assert_ok(tutti_node_job_pack(&options, names, 2, place, 3, &parcel));
    assert_ok(tutti_node_job_unpack(&job, parcel.bytes, parcel.size, "/folder", 2));
    assert_int_equal(job.options.alias_count, 2);
    assert_string_equal(job.options.aliases[1].name, "dir/b.ssp");
    assert_string_equal(job.options.aliases[1].path, "/folder/1");
    assert_true(job.options.aliases[1].system);
    assert_int_equal(job.place_count, 3);
    assert_int_equal(job.place[2], 1);
    tutti_node_job_fini(&job);
    assert_fails(tutti_node_job_unpack(&job, parcel.bytes, parcel.size, "/folder", 1), TUTTI_ERR_FORMAT, "damaged");
    tutti_node_job_fini(&job);
    for (size_t size = 0; size < parcel.size; size++) {
        char *cut = malloc(size + 1); /* of its own, so that reading beyond it is seen */
        assert_non_null(cut);
        memcpy(cut, parcel.bytes, size);
        assert_fails(tutti_node_job_unpack(&job, cut, size, "/folder", 2), TUTTI_ERR_FORMAT, "damaged");
        tutti_node_job_fini(&job);
        free(cut);
    }
    for (size_t i = 0; i < parcel.size; i++) {
        char old = parcel.bytes[i];
        parcel.bytes[i] = (char)(old ^ (1 << i % 8));
        enum tutti_err err = tutti_node_job_unpack(&job, parcel.bytes, parcel.size, "/folder", 2);
        assert_true(err == TUTTI_OK || err == TUTTI_ERR_FORMAT);
        tutti_node_job_fini(&job);
        parcel.bytes[i] = old;
    }
    tutti_parcel_fini(&parcel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_field_is_forgotten),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_what_cannot_travel),
        cmocka_unit_test(test_damaged_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
