/* SPDX-License-Identifier: MIT */
/* fom_merge.h - modules become one object model.
 *
 * By the rules of IEEE 1516.2: a class that an earlier module declared may be named again, to hang subclasses below it; what is said twice
 * must be the same, except for remarks. A module of 2010 may not add attributes or parameters to a class that has some of another module; one of
 * 2025 may, and may add enumerators to an enumeration and alternatives to a variant record.
 * A module may repeat fewer attributes than the class has: that contradicts nothing. The first module that sets a switch decides. */
#ifndef TT_HLA_FOM_FOM_MERGE_H
#define TT_HLA_FOM_FOM_MERGE_H

#include <stddef.h>

#include "base/findings.h"
#include "hla/rti/exception.h"
#include "hla/fom/fom.h"
#include "hla/fom/fom_module.h"

/* The standard's own module and then these, merged. InvalidFOM: a module that cannot be; InconsistentFOM: two that contradict each other.
 * The message names both places. What is odd and harmless goes to `findings` (may be NULL). The modules are borrowed during the call;
 * `*fom` is the caller's. */
TUTTI_CHECKED enum tt_hla tt_fom_merge_modules(struct tt_fom **fom, struct tt_fom_module *const *modules, size_t count,
                                               struct tt_findings *findings);

#endif
