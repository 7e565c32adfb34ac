/* SPDX-License-Identifier: MIT */
#include "rti/fom/module.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "rti/fom/standard.h"

struct block {
    const char *bytes;
    size_t size;
};

static enum tutti_err read_block(void *context, void *buffer, size_t size, size_t *got)
{
    struct block *block = context;
    *got = block->size < size ? block->size : size;
    if (*got)
        memcpy(buffer, block->bytes, *got);
    block->bytes += *got;
    block->size -= *got;
    return TUTTI_OK;
}

static bool is(const struct tutti_node *node, const char *local)
{
    return node->local && strcmp(node->local, local) == 0;
}

const struct tutti_node *tutti_fom_child(const struct tutti_node *node, const char *local)
{
    const struct tutti_node *child = node ? node->first : NULL;
    while (child && !is(child, local))
        child = child->next;
    return child;
}

const struct tutti_node *tutti_fom_next(const struct tutti_node *node, const char *local)
{
    do
        node = node->next;
    while (node && !is(node, local));
    return node;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *tutti_fom_words(const struct tutti_node *node, size_t *length)
{
    const char *text = node && node->first && node->first->text ? node->first->text : "";
    while (is_space(*text))
        text++;
    size_t n = strlen(text);
    while (n && is_space(text[n - 1]))
        n--;
    *length = n;
    return text;
}

/* The edition is in the namespace. */
static enum tutti_err check_root(struct tutti_fom_module *module)
{
    const struct tutti_node *root = module->tree->root;
    const char *file = module->tree->file;
    if (!is(root, "objectModel"))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: <%s> found, expected <objectModel>: this is no module of a FOM",
                          file, root->line, tutti_str_show(root->local).text);
    for (unsigned i = 0; i < root->attribute_count; i++) {
        const struct tutti_attribute *a = &root->attributes[i];
        if (strncmp(a->name, "xmlns", 5) != 0 || !strstr(a->value, "IEEE1516"))
            continue;
        module->may_extend = strstr(a->value, "IEEE1516-2025") != NULL;
        if (module->may_extend || strstr(a->value, "IEEE1516-2010"))
            return TUTTI_OK;
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "%s:%u: the namespace %s is not known; modules of IEEE 1516-2010 and -2025 are read", file,
                          root->line, tutti_str_show(a->value).text);
    }
    return TUTTI_OK; /* as 2010: tools that leave the namespace out are of that time */
}

/* Bytes on their way to the XML reader. */
struct digested {
    struct tutti_reader *reader;
    crypto_generichash_state state;
};

static enum tutti_err read_digested(void *context, void *buffer, size_t size, size_t *got)
{
    struct digested *digested = context;
    TRY(digested->reader->read(digested->reader->context, buffer, size, got));
    crypto_generichash_update(&digested->state, buffer, *got);
    return TUTTI_OK;
}

enum tutti_err tutti_fom_module_read(struct tutti_fom_module **out, const char *file, struct tutti_reader *reader)
{
    *out = NULL;
    struct tutti_fom_module *module = calloc(1, sizeof *module);
    if (!module)
        return tutti_fail_memory();
    struct digested digested = {.reader = reader};
    struct tutti_reader through = {read_digested, &digested};
    crypto_generichash_init(&digested.state, NULL, 0, TUTTI_FOM_DIGEST);
    enum tutti_err err = tutti_tree_read(&module->tree, file, &through);
    crypto_generichash_final(&digested.state, module->digest, TUTTI_FOM_DIGEST);
    if (!err)
        err = check_root(module);
    if (err) {
        tutti_fom_module_free(module);
        return err;
    }
    *out = module;
    return TUTTI_OK;
}

enum tutti_err tutti_fom_module_read_bytes(struct tutti_fom_module **module, const char *file, const void *bytes,
                                           size_t size)
{
    struct block block = {bytes, size};
    struct tutti_reader reader = {read_block, &block};
    return tutti_fom_module_read(module, file, &reader);
}

enum tutti_err tutti_fom_module_read_standard(struct tutti_fom_module **module)
{
    return tutti_fom_module_read_bytes(module, "HLAstandardMIM", tutti_fom_standard, strlen(tutti_fom_standard));
}

void tutti_fom_module_free(struct tutti_fom_module *module)
{
    if (!module)
        return;
    tutti_tree_free(module->tree);
    free(module);
}
