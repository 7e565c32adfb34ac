/* SPDX-License-Identifier: MIT */
/* module.h - one module of an object model, IEEE 1516.2-2010 or -2025, as written: a tree of XML. */
#ifndef TT_HLA_FOM_FOM_MODULE_H
#define TT_HLA_FOM_FOM_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "model/ssp/tree.h"

enum { TUTTI_FOM_DIGEST = 32 };

struct tt_fom_module {
    struct tt_tree *tree;
    unsigned char digest[TUTTI_FOM_DIGEST]; /* of its bytes: identifies the module */
    bool may_extend; /* 2025: a module may add attributes and parameters to classes of earlier ones */
};

/* FORMAT or LIMIT with file and line: no XML, or no object model of these editions. `*module` is the caller's. */
TUTTI_CHECKED enum tutti_err tt_fom_module_read(struct tt_fom_module **module, const char *file,
                                                struct tt_byte_source *reader);
TUTTI_CHECKED enum tutti_err tt_fom_module_read_bytes(struct tt_fom_module **module, const char *file,
                                                      const void *bytes, size_t size);
/* The module that every federation begins with: roots, kinds of transport, basic data types. */
TUTTI_CHECKED enum tutti_err tt_fom_module_read_standard(struct tt_fom_module **module);
void tt_fom_module_free(struct tt_fom_module *module);

/* The first child of this name, or the next sibling of this name; NULL: none. */
const struct tt_tree_node *tt_fom_module_child(const struct tt_tree_node *node, const char *local);
const struct tt_tree_node *tt_fom_module_next(const struct tt_tree_node *node, const char *local);
/* Returns the text of an element without white space around it; if that is missing, *length is 0 and the text "". */
const char *tt_fom_module_text(const struct tt_tree_node *node, size_t *length);

/* The common beginning of every object model, as a separate module.
 *
 * Of the standard's MIM: the roots, the two kinds of transport, the basic data types and those made of them that FOMs
 * name; of the management object model (HLAmanager and below) the supported part (hla/rti/mom.h). As this module comes
 * first, its handles are equal in every model. */

extern const char tt_fom_module_standard_mim[];

/* Attributes of HLAmanager.HLAfederate and of HLAmanager.HLAfederation, in the order of their handles: name, data type. */
#define TUTTI_MOM_FEDERATE_ATTRIBUTES(X)                                                                               \
    X(HLAfederateHandle, HLAhandle)                                                                                    \
    X(HLAfederateName, HLAunicodeString)                                                                               \
    X(HLAfederateType, HLAunicodeString)                                                                               \
    X(HLARTIversion, HLAunicodeString)                                                                                 \
    X(HLAtimeConstrained, HLAboolean)                                                                                  \
    X(HLAtimeRegulating, HLAboolean)                                                                                   \
    X(HLAasynchronousDelivery, HLAboolean)                                                                             \
    X(HLAlogicalTime, HLAlogicalTime)                                                                                  \
    X(HLAlookahead, HLAtimeInterval)
#define TUTTI_MOM_FEDERATION_ATTRIBUTES(X)                                                                             \
    X(HLAfederationName, HLAunicodeString)                                                                             \
    X(HLAfederatesInFederation, HLAhandleList)                                                                         \
    X(HLARTIversion, HLAunicodeString)                                                                                 \
    X(HLAMIMdesignator, HLAunicodeString)                                                                              \
    X(HLAFOMmoduleDesignatorList, HLAmoduleDesignatorList)                                                             \
    X(HLAtimeImplementationName, HLAunicodeString)                                                                     \
    X(HLAautoProvide, HLAswitch)

enum { TUTTI_MOM_MANAGER = 2, TUTTI_MOM_FEDERATE, TUTTI_MOM_FEDERATION }; /* object classes */
enum tt_mom_attribute {
    TUTTI_MOM_BEFORE = 1, /* the privilege to delete an object */
#define X(name, type) TUTTI_MOM_FEDERATE_##name,
    TUTTI_MOM_FEDERATE_ATTRIBUTES(X)
#undef X
#define X(name, type) TUTTI_MOM_FEDERATION_##name,
        TUTTI_MOM_FEDERATION_ATTRIBUTES(X)
#undef X
};

/* The interaction HLAmanager.HLAfederate.HLAreport.HLAreportFederateLost, and its parameters. */
enum { TUTTI_MOM_REPORT_FEDERATE_LOST = 5 };
enum tt_mom_parameter {
    TUTTI_MOM_LOST_FEDERATE = 1,
    TUTTI_MOM_LOST_NAME,
    TUTTI_MOM_LOST_TIME,
    TUTTI_MOM_LOST_FAULT,
};

#endif
