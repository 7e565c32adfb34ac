/* SPDX-License-Identifier: MIT */
/* fom.h - a federation's object model: classes of objects and interactions with what they carry, by handles.
 *
 * Made of modules (IEEE 1516.2-2010 and -2025) in their order, and immutable: a further module of a federate makes a
 * new model, in which all existing handles are kept. Handles count from 1; 0 is none. */
#ifndef TT_HLA_FOM_FOM_H
#define TT_HLA_FOM_FOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/findings.h"
#include "base/map.h"
#include "hla/fom/fom_module.h"
#include "hla/rti/exception.h"

/* As the protocol numbers them. */
enum tt_message_order { TUTTI_ORDER_RECEIVE, TUTTI_ORDER_TIMESTAMP };

/* The fate of a resigning federate's attributes and objects; numbered as in the protocol. */
enum tt_resign {
    TUTTI_RESIGN_DIVEST,
    TUTTI_RESIGN_DELETE,
    TUTTI_RESIGN_CANCEL,
    TUTTI_RESIGN_DELETE_THEN_DIVEST,
    TUTTI_RESIGN_CANCEL_DELETE_DIVEST,
    TUTTI_RESIGN_NO_ACTION,
    TUTTI_RESIGNS,
};

enum { TUTTI_FOM_NAME_MAX = 4096 }; /* bytes of a class's full name, with the NUL */

/* Where something was declared. */
struct tt_fom_place {
    const char *file;
    unsigned line;
};

/* An attribute of an object class, or a parameter of an interaction class. */
struct tt_fom_member {
    const char *name, *data_type; /* data_type NULL: unspecified */
    uint32_t owner;               /* the class that declares it; its subclasses have it, too */
    uint32_t next;                /* of the same class */
    uint32_t transportation;      /* attributes only */
    enum tt_message_order order;
    const char *dimensions; /* names with a space after each, sorted; "" for none */
    struct tt_fom_place place;
};

struct tt_fom_class {
    const char *name; /* "HLAobjectRoot.Vehicle.Car" */
    uint32_t parent;  /* 0: the root */
    uint32_t child, sibling;
    uint32_t members;        /* the first one */
    uint32_t transportation; /* interactions only; 0: unspecified */
    enum tt_message_order order;
    bool has_order;
    const char *dimensions;
    struct tt_fom_place place;
};

/* Object classes with their attributes, or interaction classes with their parameters. */
struct tt_fom_tree {
    struct tt_fom_class *classes; /* classes[handle - 1] */
    size_t class_count, class_room;
    struct tt_fom_member *members;
    size_t member_count, member_room;
    struct tt_map names; /* of classes, full */
};

/* Something of a flat table: a data type, dimension, kind of transport or update rate. */
struct tt_fom_entry {
    const char *name;
    const char *columns; /* its content except remarks, in one text: two definitions agree if these are equal */
    double number;       /* upper bound of a dimension, rate of an update rate, 1 for a reliable transport */
    struct tt_fom_place place;
};

struct tt_fom_table {
    struct tt_fom_entry *entries; /* entries[handle - 1] */
    size_t count, room;
    struct tt_map names;
};

/* How federates begin; most can be set for each later. */
struct tt_fom_switches {
    bool auto_provide;
    bool convey_region_designator_sets;
    bool attribute_scope_advisory;
    bool attribute_relevance_advisory;
    bool object_class_relevance_advisory;
    bool interaction_relevance_advisory;
    bool service_reporting;
    bool exception_reporting;
    bool delay_subscription_evaluation;
    bool advisories_use_known_class;
    bool allow_relaxed_ddm;
    bool non_regulated_grant; /* whether constrained federates advance while no federate regulates */
    bool send_service_reports_to_file;
    enum tt_resign automatic_resign;
};

struct tt_fom {
    struct tt_fom_tree objects, interactions;
    struct tt_fom_table data_types, dimensions, transportations, update_rates;
    struct tt_fom_switches switches;
    const char *time; /* data type of time stamps, or NULL */
    struct tt_arena arena;
};

/* NULL is fine. Made by tt_fom_merge_modules (hla/fom/fom.h). */
void tt_fom_free(struct tt_fom *fom);

/* A class by its name, with or without the root's; 0: none. */
uint32_t tt_fom_find_class(const struct tt_fom_tree *tree, const char *name);
/* An attribute or parameter that the class has, its own or inherited; 0: none. */
uint32_t tt_fom_find_member(const struct tt_fom_tree *tree, uint32_t class, const char *name);
/* NULL: no such handle. */
const struct tt_fom_class *tt_fom_class(const struct tt_fom_tree *tree, uint32_t handle);
const struct tt_fom_member *tt_fom_member(const struct tt_fom_tree *tree, uint32_t handle);
/* Returns true if `ancestor` is the class itself or above it. */
bool tt_fom_is_within(const struct tt_fom_tree *tree, uint32_t class, uint32_t ancestor);
/* Returns true if the class has this attribute or parameter. Handles may be invalid. */
bool tt_fom_has_member(const struct tt_fom_tree *tree, uint32_t class, uint32_t member);
/* Finds an entry's handle by name, or 0; and a name by handle, or NULL. */
uint32_t tt_fom_find_entry(const struct tt_fom_table *table, const char *name);
const struct tt_fom_entry *tt_fom_entry(const struct tt_fom_table *table, uint32_t handle);

/* The roots, and the members that all objects have, are equal in every model. */
enum { TUTTI_FOM_OBJECT_ROOT = 1, TUTTI_FOM_INTERACTION_ROOT = 1, TUTTI_FOM_PRIVILEGE_TO_DELETE = 1 };
enum { TUTTI_FOM_RELIABLE = 1, TUTTI_FOM_BEST_EFFORT = 2 };

/* Merges modules into one object model.
 *
 * By the rules of IEEE 1516.2: a class that an earlier module declared may be repeated, to add subclasses below it;
 * repeated definitions must be equal, except for remarks. A module of 2010 must not add attributes or parameters to a
 * class that has some from a different module; one of 2025 may, and may add enumerators to an enumeration and
 * alternatives to a variant record. A module may repeat fewer attributes than the class has. The first module that sets
 * a switch decides. */

/* Merges the standard's module and then `modules`. InvalidFOM: a module is invalid; InconsistentFOM: two modules
 * contradict each other, and the message names both places. Harmless anomalies go to `findings` (may be NULL). The
 * modules are borrowed during the call; `*fom` belongs to the caller. */
TUTTI_CHECKED enum tt_hla tt_fom_merge_modules(struct tt_fom **fom, struct tt_fom_module *const *modules, size_t count,
                                               struct tt_findings *findings);

#endif
