/* SPDX-License-Identifier: MIT */
/* A module of an object model; a line of "----" makes two modules of the input, which are merged. */
#include <stdlib.h>
#include <string.h>

#include "hla/fom/fom.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t walk_tree(const struct tt_fom_tree *tree)
{
    size_t sum = 0;
    for (uint32_t h = 1; h <= tree->class_count; h++) {
        const struct tt_fom_class *class = tt_fom_class(tree, h);
        if (tt_fom_find_class(tree, class->name) != h || class->parent >= h)
            abort();
        sum += strlen(class->dimensions) + strlen(class->place.file);
        for (uint32_t m = class->members; m; m = tt_fom_member(tree, m)->next)
            if (tt_fom_find_member(tree, h, tt_fom_member(tree, m)->name) != m || !tt_fom_has_member(tree, h, m))
                abort();
        if (class->child && tt_fom_class(tree, class->child)->parent != h)
            abort();
    }
    return sum;
}

static size_t walk_table(const struct tt_fom_table *table)
{
    size_t sum = 0;
    for (uint32_t h = 1; h <= table->count; h++) {
        if (tt_fom_find_entry(table, tt_fom_entry(table, h)->name) != h)
            abort();
        sum += strlen(tt_fom_entry(table, h)->columns);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_fom_module *modules[2] = {0};
    const uint8_t *mark = size ? memmem(data, size, "\n----\n", 6) : NULL;
    size_t first = mark ? (size_t)(mark - data) : size, count = 0;
    if (tt_fom_module_read_bytes(&modules[count], "first.xml", data, first) == TUTTI_OK)
        count++;
    if (mark && tt_fom_module_read_bytes(&modules[count], "second.xml", mark + 6, size - first - 6) == TUTTI_OK)
        count++;
    struct tt_fom *fom;
    struct tt_findings findings = {0};
    enum tt_hla exception = tt_fom_merge_modules(&fom, modules, count, &findings);
    if (exception != TUTTI_HLA_OK && (fom || !*tutti_err_message()))
        abort();
    size_t sum = 0;
    if (fom)
        sum = walk_tree(&fom->objects) + walk_tree(&fom->interactions) + walk_table(&fom->data_types) +
              walk_table(&fom->dimensions) + walk_table(&fom->transportations) + walk_table(&fom->update_rates);
    __asm__ volatile("" : : "r"(sum)); /* the compiler must not drop the walk */
    tt_fom_free(fom);
    for (size_t i = 0; i < count; i++)
        tt_fom_module_free(modules[i]);
    return 0;
}
