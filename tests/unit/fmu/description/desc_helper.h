/* SPDX-License-Identifier: MIT */
/* desc_helper.h - reads descriptions from texts and keeps what was found in them. */
#ifndef TUTTI_TEST_DESC_HELPER_H
#define TUTTI_TEST_DESC_HELPER_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "fmu/description/description.h"

#define ERROR TUTTI_FINDING_ERROR
#define WARNING TUTTI_FINDING_WARNING

struct memory {
    const char *text;
    size_t size, at, piece; /* piece: the most that one read gives */
};

static inline enum tutti_err memory_read(void *context, void *buffer, size_t size, size_t *got)
{
    struct memory *memory = context;
    size_t n = memory->size - memory->at;
    n = n < size ? n : size;
    n = n < memory->piece ? n : memory->piece;
    memcpy(buffer, memory->text + memory->at, n);
    memory->at += n;
    *got = n;
    return TUTTI_OK;
}

struct found {
    enum tt_severity severity;
    unsigned line;
    char text[512];
};

enum { FOUND_MAX = 512 };
static struct found found[FOUND_MAX];
static unsigned found_count;
static struct tt_findings findings;

static inline void keep(void *context, enum tt_severity severity, const char *file, unsigned line, const char *text)
{
    (void)context;
    assert_string_equal(file, "test.xml");
    if (found_count == FOUND_MAX)
        return;
    found[found_count].severity = severity;
    found[found_count].line = line;
    snprintf(found[found_count].text, sizeof found[found_count].text, "%s", text);
    found_count++;
}

static inline void print_found(void)
{
    for (unsigned i = 0; i < found_count; i++)
        print_message("  %s %u: %s\n", found[i].severity == ERROR ? "error" : "warning", found[i].line, found[i].text);
}

/* Reads a text in pieces; NULL and *err on failure. */
static inline struct tt_description *read_pieces(const char *text, size_t size, size_t piece, enum tutti_err *err)
{
    struct memory memory = {text, size, 0, piece};
    struct tt_byte_source reader = {memory_read, &memory};
    struct tt_description *desc;
    found_count = 0;
    findings = (struct tt_findings){.report = keep};
    *err = tt_description_read(&desc, "test.xml", &reader, &findings);
    return desc;
}

/* Reads a text that can be read. */
static inline struct tt_description *read_text(const char *text)
{
    enum tutti_err err;
    struct tt_description *desc = read_pieces(text, strlen(text), SIZE_MAX, &err);
    if (err != TUTTI_OK)
        print_message("%s\n", tutti_err_message());
    assert_int_equal(err, TUTTI_OK);
    assert_non_null(desc);
    return desc;
}

/* Reads and checks; what both found stays in `found`. */
static inline void check_text(const char *text)
{
    struct tt_description *desc = read_text(text);
    assert_int_equal(tt_description_check(desc, "test.xml", &findings), TUTTI_OK);
    tt_description_free(desc);
}

/* Fails to read, with `err` and `words` in the message. */
static inline void refuse_text(const char *text, enum tutti_err wanted, const char *words)
{
    enum tutti_err err;
    struct tt_description *desc = read_pieces(text, strlen(text), SIZE_MAX, &err);
    assert_null(desc);
    assert_int_equal(err, wanted);
    if (!strstr(tutti_err_message(), words))
        fail_msg("\"%s\" is not in \"%s\"", words, tutti_err_message());
}

static inline bool was_found(enum tt_severity severity, unsigned line, const char *words)
{
    for (unsigned i = 0; i < found_count; i++)
        if (found[i].severity == severity && found[i].line == line && strstr(found[i].text, words))
            return true;
    return false;
}

static inline void expect_found(enum tt_severity severity, unsigned line, const char *words)
{
    if (!was_found(severity, line, words)) {
        print_found();
        fail_msg("no %s in line %u with \"%s\"", severity == ERROR ? "error" : "warning", line, words);
    }
}

/* Exactly this, and nothing else. */
static inline void expect_only(enum tt_severity severity, unsigned line, const char *words)
{
    expect_found(severity, line, words);
    if (found_count != 1) {
        print_found();
        fail_msg("%u findings, expected one", found_count);
    }
}

static inline void expect_clean(void)
{
    if (found_count)
        print_found();
    assert_int_equal(found_count, 0);
    assert_int_equal(findings.errors + findings.warnings, 0);
}

static inline const struct tt_var *var_named(struct tt_description *desc, const char *name)
{
    uint32_t index = tt_description_find(desc, name);
    if (index == TUTTI_NONE)
        fail_msg("no variable %s", name);
    return &desc->vars[index];
}

static inline void assert_same(double a, double b)
{
    if (!(a == b))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Descriptions around some lines; the first line of VARIABLES is line 4. */
#define FMI1(variables, rest)                                                                                          \
    "<fmiModelDescription fmiVersion=\"1.0\" modelName=\"M\" modelIdentifier=\"M\" guid=\"g\"\n"                       \
    " numberOfContinuousStates=\"0\" numberOfEventIndicators=\"0\">\n"                                                 \
    "<ModelVariables>\n" variables "</ModelVariables>\n" rest "</fmiModelDescription>\n"
#define FMI2(variables, structure)                                                                                     \
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">\n"                                            \
    "<CoSimulation modelIdentifier=\"M\"/>\n"                                                                          \
    "<ModelVariables>\n" variables "</ModelVariables>\n<ModelStructure>\n" structure "</ModelStructure>\n"             \
    "</fmiModelDescription>\n"
#define FMI3(variables, structure)                                                                                     \
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" instantiationToken=\"t\">\n"                              \
    "<CoSimulation modelIdentifier=\"M\"/>\n"                                                                          \
    "<ModelVariables>\n" variables "<Float64 name=\"time\" valueReference=\"999\" causality=\"independent\"/>\n"       \
    "</ModelVariables>\n<ModelStructure>\n" structure "</ModelStructure>\n</fmiModelDescription>\n"

#endif
