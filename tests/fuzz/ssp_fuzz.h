/* SPDX-License-Identifier: MIT */
/* ssp_fuzz.h - what the fuzzers of SSP's documents share. */
#ifndef TUTTI_SSP_FUZZ_H
#define TUTTI_SSP_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "model/ssp/ssp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct block {
    const uint8_t *data;
    size_t size, at;
};

/* The pieces are small, so that tags straddle them. */
static inline enum tutti_err read_block(void *context, void *buffer, size_t size, size_t *got)
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

static inline void ignore(void *context, enum tt_severity severity, const char *file, unsigned line, const char *text)
{
    (void)severity, (void)file, (void)line;
    *(size_t *)context += strlen(text);
}

static inline size_t text_length(const char *text)
{
    return text ? strlen(text) : 0;
}

/* Touch all that a document points at, for the sanitizers. */
static inline size_t walk_type(const struct tt_ssp_type *type)
{
    return text_length(type->unit) + text_length(type->enumeration) + text_length(type->mime_type) +
           text_length(tt_type_name(type->type));
}

static inline size_t walk_dimensions(const struct tt_ssp_dimension *dimensions, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (size_t)dimensions[i].size + text_length(dimensions[i].size_connector);
    return sum;
}

static inline size_t walk_transformation(const struct tt_ssp_transformation *transformation)
{
    size_t sum = 0;
    for (size_t i = 0; i < transformation->entry_count; i++) {
        const struct tt_ssp_map_entry *entry = &transformation->entries[i];
        sum += text_length(entry->source_name) + text_length(entry->target_name);
        sum += (size_t)entry->source + (size_t)entry->target;
    }
    return sum;
}

static inline size_t walk_scope(const struct tt_ssp_scope *scope)
{
    size_t sum = strlen(scope->file);
    for (size_t i = 0; i < scope->unit_count; i++)
        if (!tt_ssp_reader_find_unit(scope, scope->units[i].name))
            abort();
    for (size_t i = 0; i < scope->enumeration_count; i++) {
        if (tt_ssp_reader_find_enum(scope, scope->enumerations[i].name) != &scope->enumerations[i])
            abort();
        for (size_t k = 0; k < scope->enumerations[i].item_count; k++)
            sum += strlen(scope->enumerations[i].items[k].name);
    }
    return sum;
}

static inline size_t walk_ssv(const struct tt_ssv *ssv)
{
    size_t sum = walk_scope(&ssv->scope) + strlen(ssv->name);
    for (size_t i = 0; i < ssv->count; i++) {
        const struct tt_ssp_parameter *parameter = &ssv->parameters[i];
        sum += strlen(parameter->name) + walk_type(&parameter->type);
        sum += walk_dimensions(parameter->dimensions, parameter->dimension_count);
        for (size_t k = 0; k < parameter->value_count; k++)
            sum += strlen(parameter->values[k]);
    }
    return sum;
}

static inline size_t walk_ssm(const struct tt_ssm *ssm)
{
    size_t sum = strlen(ssm->file);
    for (size_t i = 0; i < ssm->count; i++)
        sum += strlen(ssm->mappings[i].source) + strlen(ssm->mappings[i].target) +
               walk_transformation(&ssm->mappings[i].transformation);
    return sum;
}

static inline size_t walk_ssb(const struct tt_ssb *ssb)
{
    size_t sum = walk_scope(&ssb->scope);
    for (size_t i = 0; i < ssb->count; i++)
        sum += strlen(ssb->entries[i].name) + walk_type(&ssb->entries[i].type) +
               walk_dimensions(ssb->entries[i].dimensions, ssb->entries[i].dimension_count);
    return sum;
}

static inline bool same_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline bool same_nodes(const struct tt_tree_node *a, const struct tt_tree_node *b)
{
    if (!same_texts(a->text, b->text) || !same_texts(a->name, b->name) || !same_texts(a->local, b->local) ||
        a->space != b->space || a->attribute_count != b->attribute_count)
        return false;
    for (unsigned i = 0; i < a->attribute_count; i++)
        if (!same_texts(a->attributes[i].name, b->attributes[i].name) ||
            !same_texts(a->attributes[i].value, b->attributes[i].value))
            return false;
    const struct tt_tree_node *left = a->first, *right = b->first;
    for (; left && right; left = left->next, right = right->next)
        if (left->parent != a || !same_nodes(left, right))
            return false;
    return !left && !right;
}

/* A written tree is read back unchanged. */
static inline void check_round_trip(const struct tt_tree *tree)
{
    struct tt_text text = {0};
    tt_tree_write(tree, &text);
    if (text.failed)
        abort();
    struct block block = {(const uint8_t *)text.text, text.length, 0};
    struct tt_byte_source reader = {read_block, &block};
    struct tt_tree *again;
    if (tt_tree_read(&again, "fuzz.xml", &reader) != TUTTI_OK || !same_nodes(tree->root, again->root))
        abort();
    tt_tree_free(again);
    tt_text_fini(&text);
}

/* Any document as a tree, whatever it is. */
static inline void check_tree(const uint8_t *data, size_t size)
{
    struct block block = {data, size, 0};
    struct tt_byte_source reader = {read_block, &block};
    struct tt_tree *tree;
    if (tt_tree_read(&tree, "fuzz.xml", &reader) == TUTTI_OK)
        check_round_trip(tree);
    tt_tree_free(tree);
}

/* Reads, checks what is promised, walks, frees. */
#define SSP_FUZZ(kind, walk)                                                                                           \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                                       \
    {                                                                                                                  \
        struct block block = {data, size, 0};                                                                          \
        struct tt_byte_source reader = {read_block, &block};                                                           \
        size_t said = 0;                                                                                               \
        struct tt_findings findings = {.report = ignore, .context = &said};                                            \
        struct tt_##kind *document;                                                                                    \
        check_tree(data, size);                                                                                        \
        enum tutti_err err = tt_##kind##_read(&document, "fuzz.xml", &reader, &findings);                              \
        if (err != TUTTI_OK) {                                                                                         \
            if (document || !*tutti_err_message())                                                                     \
                abort();                                                                                               \
            return 0;                                                                                                  \
        }                                                                                                              \
        size_t sum = walk(document) + said;                                                                            \
        __asm__ volatile("" : : "r"(sum)); /* the compiler must not drop the walk */                                   \
        tt_##kind##_free(document);                                                                                    \
        return 0;                                                                                                      \
    }

#endif
