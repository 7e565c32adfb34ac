/* SPDX-License-Identifier: MIT */
/* write_parts.h - what the writers of documents share: write*.c, and the documents of the page (web/). */
#ifndef TUTTI_SYSTEM_WRITE_PARTS_H
#define TUTTI_SYSTEM_WRITE_PARTS_H

#include "ssp/make.h"
#include "system/write.h"

/* Units and enumerations of a new document. FMUs each have their own, whose names may clash. */
struct tutti_write_scope {
    struct tutti_maker *maker;
    struct tutti_map units, enumerations; /* name -> index */
    const struct tutti_unit_def **unit_defs;
    const struct tutti_type_def **enumeration_defs;
    const char **enumeration_names; /* in the tree's arena */
    size_t unit_room, enumeration_room;
};
void tutti_write_scope_fini(struct tutti_write_scope *scope);
/* The name that the document has for the unit of a variable, NULL if it cannot have it: then the FMU's own counts. */
const char *tutti_write_scope_unit(struct tutti_write_scope *scope, const struct tutti_desc *desc,
                                   const struct tutti_var *var);
/* The same for an enumeration. */
const char *tutti_write_scope_enumeration(struct tutti_write_scope *scope, const struct tutti_desc *desc,
                                          const struct tutti_var *var);
/* Writes all that were asked for. */
void tutti_write_scope_end(struct tutti_write_scope *scope, struct tutti_node *root);

/* Does SSP 1.0 lack the words for the value of this variable; for a connector of it? */
bool tutti_write_value_needs_2(const struct tutti_var *var);
bool tutti_write_connector_needs_2(const struct tutti_var *var);
/* "Real", "Float64", ...: the element for a type. */
const char *tutti_write_type(const struct tutti_desc *desc, const struct tutti_var *var, bool version_2);
/* "input", "structuralParameter", ... */
const char *tutti_write_kind(const struct tutti_var *var);

/* A connector of a component for a variable, without geometry. */
struct tutti_node *tutti_write_connector(struct tutti_maker *maker, struct tutti_node *connectors,
                                         const struct tutti_desc *desc, const struct tutti_var *var, bool version_2,
                                         struct tutti_write_scope *scope);

/* The transformation of a connection; none for 1 and 0. */
void tutti_write_scale(struct tutti_maker *maker, struct tutti_node *connection, double factor, double offset);

/* The value that the system has for a variable, as a parameter of this name. ARGUMENT where elements of an array are given
 * and the others are not known. */
TUTTI_CHECKED enum tutti_err tutti_write_parameter(struct tutti_maker *maker, struct tutti_node *parameters,
                                                   const char *name, const struct tutti_component *component,
                                                   uint32_t variable, bool version_2);
/* A binding with an empty inline parameter set at the end of `bindings`; returns the set's list of parameters. */
struct tutti_node *tutti_write_binding(struct tutti_maker *maker, struct tutti_node *bindings, const char *version);
extern const char tutti_write_set_name[]; /* of that parameter set */

/* Where components are drawn. */
struct tutti_write_box {
    double x1, y1, x2, y2;
};
/* Columns from sources to sinks, tables on the left. `boxes` has one for each component, one for each table, and one for all together. */
TUTTI_CHECKED enum tutti_err tutti_write_layout(const struct tutti_system *system, struct tutti_write_box *boxes);

/* ARGUMENT if XML cannot say the text. `what` names it. */
TUTTI_CHECKED enum tutti_err tutti_write_check(const char *text, const char *what);
/* The experiment and the annotation of the document. */
void tutti_write_experiment(struct tutti_maker *maker, struct tutti_node *root, const struct tutti_write *write);

#endif
