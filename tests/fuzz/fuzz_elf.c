/* SPDX-License-Identifier: MIT */
/* Any bytes as a shared library that is looked at without loading it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fmu/binary/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Texts must be in the file, with their ends. */
struct file {
    const char *bytes;
    size_t size;
};

static void check_text(const struct file *file, const char *text)
{
    if (text < file->bytes || text >= file->bytes + file->size ||
        !memchr(text, '\0', (size_t)(file->bytes + file->size - text)) || !*text)
        abort();
}

static void name(void *context, const char *text, bool is_defined)
{
    (void)is_defined;
    check_text(context, text);
}

static void entry(void *context, enum tt_elf_entry kind, const char *text)
{
    (void)kind;
    check_text(context, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file file = {malloc(size > 0 ? size : 1), size}; /* of the exact size, so that an overread is detected */
    if (!file.bytes)
        abort();
    if (size > 0)
        memcpy((char *)file.bytes, data, size);
    tt_elf_read(file.bytes, size, name, entry, &file);
    free((char *)file.bytes);
    return 0;
}
