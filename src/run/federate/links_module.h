/* SPDX-License-Identifier: MIT */
/* module.h - the module of an object model that links need, written as a file. */
#ifndef TT_RUN_FEDERATE_LINKS_MODULE_H
#define TT_RUN_FEDERATE_LINKS_MODULE_H

#include "run/federate/attribute_links.h"

/* Of IEEE 1516-2025: their classes, one inside the other, with attributes. `name` is the model's. */
TUTTI_CHECKED enum tutti_err tt_attribute_links_write_module(const struct tt_attribute_links *links, const char *name,
                                                             const char *path);

#endif
