/* SPDX-License-Identifier: MIT */
/* description.h - a model description from a string, for tests. Include test.h first. */
#ifndef TUTTI_TEST_DESCRIPTION_H
#define TUTTI_TEST_DESCRIPTION_H

#include "fmu/description/description.h"

struct description_source {
    const char *text;
    size_t left;
};

static inline enum tutti_err description_read_some(void *context, void *buffer, size_t size, size_t *got)
{
    struct description_source *source = context;
    *got = source->left < size ? source->left : size;
    memcpy(buffer, source->text, *got);
    source->text += *got;
    source->left -= *got;
    return TUTTI_OK;
}

static inline struct tt_description *description(const char *text)
{
    struct description_source source = {text, strlen(text)};
    struct tt_byte_source reader = {description_read_some, &source};
    struct tt_description *desc = NULL;
    assert_ok(tt_description_read(&desc, "test.xml", &reader, NULL));
    return desc;
}

#endif
