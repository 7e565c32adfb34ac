/* SPDX-License-Identifier: MIT */
/* ssp_helper.h - reads documents of SSP from texts and keeps what was found in them. */
#ifndef TUTTI_TEST_SSP_HELPER_H
#define TUTTI_TEST_SSP_HELPER_H

#include "fmu/description/desc_helper.h"
#include "model/ssp/ssp.h"

#define SPACES                                                                                                         \
    " xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\""                                           \
    " xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\""                                                \
    " xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\""                                       \
    " xmlns:ssm=\"http://ssp-standard.org/SSP1/SystemStructureParameterMapping\""                                      \
    " xmlns:ssb=\"http://ssp-standard.org/SSP1/SystemStructureSignalDictionary\""

/* Defines read_KIND, which reads a text that can be read, and refuse_KIND, which fails with FORMAT at this line, with
 * these words. */
#define SSP_READER(kind)                                                                                               \
    __attribute__((unused)) static inline enum tutti_err try_##kind(struct tt_##kind **out, const char *text,          \
                                                                    size_t size, size_t piece)                         \
    {                                                                                                                  \
        struct memory memory = {text, size, 0, piece};                                                                 \
        struct tt_byte_source reader = {memory_read, &memory};                                                         \
        found_count = 0;                                                                                               \
        findings = (struct tt_findings){.report = keep};                                                               \
        return tt_##kind##_read(out, "test.xml", &reader, &findings);                                                  \
    }                                                                                                                  \
    __attribute__((unused)) static inline struct tt_##kind *read_##kind(const char *text)                              \
    {                                                                                                                  \
        struct tt_##kind *document;                                                                                    \
        if (try_##kind(&document, text, strlen(text), 61) != TUTTI_OK)                                                 \
            fail_msg("%s", tutti_err_message());                                                                       \
        assert_non_null(document);                                                                                     \
        return document;                                                                                               \
    }                                                                                                                  \
    __attribute__((unused)) static inline void refuse_##kind(const char *text, unsigned line, const char *words)       \
    {                                                                                                                  \
        struct tt_##kind *document;                                                                                    \
        enum tutti_err err = try_##kind(&document, text, strlen(text), SIZE_MAX);                                      \
        char place[40];                                                                                                \
        snprintf(place, sizeof place, "test.xml:%u: ", line);                                                          \
        assert_null(document);                                                                                         \
        if (err != TUTTI_ERR_FORMAT || strncmp(tutti_err_message(), place, strlen(place)) != 0 ||                      \
            !strstr(tutti_err_message(), words))                                                                       \
            fail_msg("'%s' (%s), expected '%s...%s'", err ? tutti_err_message() : "", tutti_err_name(err), place,      \
                     words);                                                                                           \
    }

/* A case of a table: a part of a document, and what is said about it. Line 0: nothing is. */
struct odd {
    const char *part;
    unsigned line;
    const char *words;
};

static inline void assert_text(const char *a, const char *b)
{
    if (!a || !b) {
        if (a != b)
            fail_msg("%s, expected %s", a ? a : "NULL", b ? b : "NULL");
        return;
    }
    assert_string_equal(a, b);
}

#endif
