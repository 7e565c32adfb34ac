/* SPDX-License-Identifier: MIT */
/* module.h - one module of an object model, IEEE 1516.2-2010 or -2025, as written: a tree of XML. */
#ifndef TUTTI_RTI_FOM_MODULE_H
#define TUTTI_RTI_FOM_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/reader.h"
#include "ssp/tree.h"

enum { TUTTI_FOM_DIGEST = 32 };

struct tutti_fom_module {
    struct tutti_tree *tree;
    unsigned char digest[TUTTI_FOM_DIGEST]; /* of its bytes: two with the same are the same */
    bool may_extend; /* 2025: a module may add attributes and parameters to classes of earlier ones */
};

/* FORMAT or LIMIT with file and line: no XML, or no object model of these editions. `*module` is the caller's. */
TUTTI_CHECKED enum tutti_err tutti_fom_module_read(struct tutti_fom_module **module, const char *file,
                                                   struct tutti_reader *reader);
TUTTI_CHECKED enum tutti_err tutti_fom_module_read_bytes(struct tutti_fom_module **module, const char *file,
                                                         const void *bytes, size_t size);
/* The module that every federation begins with: roots, kinds of transport, basic data types. */
TUTTI_CHECKED enum tutti_err tutti_fom_module_read_standard(struct tutti_fom_module **module);
void tutti_fom_module_free(struct tutti_fom_module *module);

/* The first child of this name, or the next sibling of this name; NULL: none. */
const struct tutti_node *tutti_fom_child(const struct tutti_node *node, const char *local);
const struct tutti_node *tutti_fom_next(const struct tutti_node *node, const char *local);
/* What an element says: its text without white space around it. *length is 0, and the text "", where it says nothing or is missing. */
const char *tutti_fom_words(const struct tutti_node *node, size_t *length);

#endif
