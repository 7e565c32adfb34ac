/* SPDX-License-Identifier: MIT */
/* Model descriptions of any version: read, look up names, check. */
#include <stdlib.h>
#include <string.h>

#include "fmu/description/description.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct block {
    const uint8_t *data;
    size_t size, at;
};

/* The pieces are small, so that tags straddle them. */
static enum tutti_err read_block(void *context, void *buffer, size_t size, size_t *got)
{
    struct block *block = context;
    size_t n = block->size - block->at;
    n = n < size ? n : size;
    n = n < 997 ? n : 997;
    if (n)
        memcpy(buffer, block->data + block->at, n);
    block->at += n;
    *got = n;
    return TUTTI_OK;
}

static void ignore(void *context, enum tt_severity severity, const char *file, unsigned line, const char *text)
{
    (void)severity, (void)file, (void)line;
    *(size_t *)context += strlen(text);
}

/* Touches all that a description points at, for the sanitizers. */
static size_t walk(const struct tt_description *desc)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        sum += strlen(var->name) + (var->description ? strlen(var->description) : 0) +
               (size_t)tt_description_var_size(var);
        sum += var->unit == TUTTI_NONE ? 0 : strlen(desc->units[var->unit].name);
        sum += var->display_unit == TUTTI_NONE ? 0 : strlen(desc->displays[var->display_unit].name);
        sum += var->type_def == TUTTI_NONE ? 0 : strlen(desc->types[var->type_def].name);
        sum += var->derivative_of == TUTTI_NONE ? 0 : desc->vars[var->derivative_of].line;
        sum += var->previous == TUTTI_NONE ? 0 : desc->vars[var->previous].line;
        for (uint32_t k = 0; k < var->clock_count; k++)
            sum += desc->vars[var->more->clocks[k]].line;
        for (uint32_t k = 0; k < var->start_count; k++) {
            const char *value = (const char *)var->start + k * tt_type_size(var->type);
            sum += (unsigned char)value[tt_type_size(var->type) - 1];
            if (var->type == TUTTI_TYPE_STRING)
                sum += strlen(((const char *const *)var->start)[k]);
        }
    }
    const struct tt_unknowns *lists[] = {&desc->outputs, &desc->derivatives, &desc->initial_unknowns,
                                         &desc->clocked_states, &desc->event_indicators};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (uint32_t i = 0; i < lists[l]->count; i++) {
            const struct tt_unknown *unknown = &lists[l]->items[i];
            sum += desc->vars[unknown->variable].line;
            for (uint32_t k = 0; k < unknown->dependency_count; k++)
                sum += desc->vars[unknown->dependencies[k]].line + (unknown->kinds ? unknown->kinds[k] : 0);
        }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct block block = {data, size, 0};
    struct tt_byte_source reader = {read_block, &block};
    size_t said = 0;
    struct tt_findings findings = {.report = ignore, .context = &said};
    struct tt_description *desc;
    enum tutti_err err = tt_description_read(&desc, "fuzz.xml", &reader, &findings);
    if (err != TUTTI_OK) {
        if (desc || !*tutti_err_message())
            abort();
        return 0;
    }
    size_t sum = walk(desc) + said;
    __asm__ volatile("" : : "r"(sum)); /* the compiler must not drop the walk */
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (tt_description_find(desc, desc->vars[i].name) == TUTTI_NONE)
            abort();
    tt_description_nearest(desc, "tiem");
    if (tt_description_check(desc, "fuzz.xml", &findings) != TUTTI_OK)
        abort();
    tt_description_free(desc);
    return 0;
}
