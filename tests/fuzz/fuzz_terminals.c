/* SPDX-License-Identifier: MIT */
/* terminalsAndIcons.xml, and manifests of layered standards, of an FMU with two variables. */
#include <stdlib.h>
#include <string.h>

#include "fmu/description/layer.h"
#include "fmu/description/terminals.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
    "<CoSimulation modelIdentifier=\"m\"/><ModelVariables>"
    "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>"
    "<Float64 name=\"u\" valueReference=\"1\" causality=\"input\" start=\"0\"/>"
    "<Float64 name=\"y\" valueReference=\"2\" causality=\"output\"/></ModelVariables>"
    "<ModelStructure><Output valueReference=\"2\"/></ModelStructure></fmiModelDescription>";

struct block {
    const uint8_t *data;
    size_t size, at;
};

static enum tutti_err read_block(void *context, void *buffer, size_t size, size_t *got)
{
    struct block *block = context;
    size_t n = block->size - block->at;
    n = n < size ? n : size;
    if (n)
        memcpy(buffer, block->data + block->at, n);
    block->at += n;
    *got = n;
    return TUTTI_OK;
}

/* Touches all that terminals point at, for the sanitizers. */
static size_t walk(const struct tt_terminals *terminals, const struct tt_description *desc)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < terminals->count; i++) {
        const struct tt_terminal *terminal = &terminals->items[i];
        sum += strlen(terminal->path) + strlen(terminal->name) + strlen(terminal->rule);
        if (terminal->parent != TUTTI_NONE && terminal->parent >= i)
            abort();
        if (tt_terminals_find(terminals, terminal->path) == TUTTI_NONE)
            abort();
        for (uint32_t m = 0; m < terminal->member_count; m++) {
            const struct tt_terminal_member *member = &terminals->members[terminal->first_member + m];
            if (member->terminal != i)
                abort();
            sum += strlen(member->kind_name) + strlen(desc->vars[member->variable].name);
        }
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct block description = {(const uint8_t *)model, sizeof model - 1, 0}, block = {data, size, 0}, again = block;
    struct tt_byte_source reader = {read_block, &description};
    struct tt_findings findings = {0};
    struct tt_description *desc;
    struct tt_terminals *terminals;
    struct tt_layer layer;
    struct tt_arena arena = {0};
    if (tt_description_read(&desc, "model.xml", &reader, NULL) != TUTTI_OK)
        abort();
    reader = (struct tt_byte_source){read_block, &block};
    if (tt_terminals_read(&terminals, "fuzz.xml", &reader, desc, &findings) == TUTTI_OK) {
        size_t sum = walk(terminals, desc);
        __asm__ volatile("" : : "r"(sum)); /* the compiler must not drop the walk */
        tt_terminals_free(terminals);
    } else if (terminals || !*tutti_err_message()) {
        abort();
    }
    reader = (struct tt_byte_source){read_block, &again};
    if (tt_layer_read(&layer, "fuzz.xml", &reader, &arena, &findings) == TUTTI_OK && !layer.name)
        abort();
    tt_arena_fini(&arena);
    tt_description_free(desc);
    return 0;
}
