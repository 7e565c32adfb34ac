/* SPDX-License-Identifier: MIT */
/* Systems in formats of other tools: the first byte says which. */
#include "model/import/import.h"
#include "ssp_fuzz.h"

static size_t walk(const struct tt_import *a)
{
    size_t sum = strlen(a->file);
    for (size_t i = 0; i < a->unit_count; i++)
        sum += strlen(a->units[i].name) + strlen(a->units[i].source);
    for (size_t i = 0; i < a->function_count; i++)
        sum += strlen(a->functions[i].name) + a->functions[i].terms;
    for (size_t i = 0; i < a->link_count; i++)
        for (int e = 0; e < 2; e++)
            sum += strlen(a->links[i].ends[e].owner) + strlen(a->links[i].ends[e].name);
    for (size_t i = 0; i < a->value_count; i++)
        sum += strlen(a->values[i].unit) + strlen(a->values[i].variable) + strlen(a->values[i].value);
    for (size_t i = 0; i < a->setting_count; i++)
        sum += strlen(a->settings[i].name) + strlen(a->settings[i].value);
    return sum;
}

static size_t read_groups(const uint8_t *data, size_t size)
{
    struct block block = {data, size, 0};
    struct tt_byte_source reader = {read_block, &block};
    struct tt_arena arena = {0};
    struct tt_import_group group;
    bool found = false;
    size_t sum = 0;
    if (tt_osp_read_group("fuzz.xml", &reader, "g", &arena, &group, &found) == TUTTI_OK && found)
        for (size_t i = 0; i < group.count; i++)
            sum += strlen(group.variables[i]);
    tt_arena_fini(&arena);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    static const char *const files[] = {"OspSystemStructure.xml", "project.msim"};
    struct block block = {data + 1, size - 1, 0};
    struct tt_byte_source reader = {read_block, &block};
    size_t said = 0;
    struct tt_findings findings = {.report = ignore, .context = &said};
    struct tt_import *assembly;
    said += read_groups(data + 1, size - 1);
    enum tutti_err err = tt_import_read(&assembly, files[data[0] & 1], &reader, &findings);
    if (err != TUTTI_OK && (assembly || !*tutti_err_message()))
        abort();
    size_t sum = said + (assembly ? walk(assembly) : 0);
    __asm__ volatile("" : : "r"(sum)); /* the compiler must not drop the walk */
    tt_import_free(assembly);
    return 0;
}
