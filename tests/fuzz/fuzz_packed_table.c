/* SPDX-License-Identifier: MIT */
/* tutti.json, the table of variables of a packed system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/pack/packed_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches all that the table points at, for the sanitizers. */
static size_t walk(const struct tt_packed_table *table)
{
    size_t sum = strlen(table->token);
    for (size_t i = 0; i < table->count; i++) {
        const struct tt_packed_row *row = &table->rows[i];
        sum += strlen(row->name) + (row->target ? strlen(row->target) : 0) +
               strlen(tt_packed_table_role_name(row->role)) + tt_type_size(row->type);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct tt_packed_table table = {0};
    int file = memfd_create("table", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (tt_packed_table_read(&table, path) == TUTTI_OK) {
        size_t sum = walk(&table);
        __asm__ volatile("" : : "r"(sum)); /* the compiler must not drop the walk */
    } else if (!*tutti_err_message()) {
        abort();
    }
    tt_packed_table_fini(&table);
    close(file);
    return 0;
}
