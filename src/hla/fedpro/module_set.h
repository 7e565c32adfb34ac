/* SPDX-License-Identifier: MIT */
/* module_set.h - FOM modules as federates bring them: the file itself, zipped, or the name of one that the RTI has. */
#ifndef TT_HLA_FEDPRO_MODULE_SET_H
#define TT_HLA_FEDPRO_MODULE_SET_H

#include "hla/fedpro/shapes.pb-c.h"
#include "hla/rti/exception.h"
#include "hla/fom/fom_module.h"

/* Modules that were read; zeroed is empty. */
struct tt_module_set {
    struct tt_fom_module **items;
    size_t count, room;
};
void tt_module_set_fini(struct tt_module_set *modules);

/* Files that the RTI was given: the only ones that a URL can name, by "file://" and their path, by the path, or by the name alone. */
struct tt_module_files {
    const char *const *paths;
    size_t count;
};

enum { TUTTI_FEDPRO_MODULE_MOST = 16 << 20 }; /* bytes of a module, unpacked */

/* Adds a module, or all of a set (NULL: none). CouldNotOpenFOM, ErrorReadingFOM. */
TUTTI_CHECKED enum tt_hla tt_module_set_add(struct tt_module_set *modules, const Fedpro__Module *module,
                                            const struct tt_module_files *shelf);
TUTTI_CHECKED enum tt_hla tt_module_set_add_all(struct tt_module_set *modules, const Fedpro__Modules *set,
                                                const struct tt_module_files *shelf);

#endif
