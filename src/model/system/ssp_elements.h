/* SPDX-License-Identifier: MIT */
/* ssp_elements.h - what the writers of documents share: write*.c, and the documents of the page (web/). */
#ifndef TT_MODEL_SYSTEM_SSP_ELEMENTS_H
#define TT_MODEL_SYSTEM_SSP_ELEMENTS_H

#include "model/ssp/edit.h"
#include "model/system/write.h"

/* Units and enumerations of a new document. Each FMU has separate ones, whose names may clash. */
struct tt_ssp_elements_scope {
    struct tt_editor *maker;
    struct tt_map units, enumerations; /* name -> index */
    const struct tt_unit_def **unit_defs;
    const struct tt_type_def **enumeration_defs;
    const char **enumeration_names; /* in the tree's arena */
    size_t unit_room, enumeration_room;
};
void tt_ssp_elements_scope_fini(struct tt_ssp_elements_scope *scope);
/* The name that the document has for the unit of a variable, NULL if it cannot have it: then the FMU's own counts. */
const char *tt_ssp_elements_scope_unit(struct tt_ssp_elements_scope *scope, const struct tt_description *desc,
                                       const struct tt_var *var);
/* As above for an enumeration. */
const char *tt_ssp_elements_scope_enum(struct tt_ssp_elements_scope *scope, const struct tt_description *desc,
                                       const struct tt_var *var);
/* Writes all that were asked for. */
void tt_ssp_elements_write_scope(struct tt_ssp_elements_scope *scope, struct tt_tree_node *root);

/* Return true if SSP 1.0 cannot express the value of this variable, or a connector of it. */
bool tt_ssp_elements_value_needs_2(const struct tt_var *var);
bool tt_ssp_elements_connector_needs_2(const struct tt_var *var);
/* Returns the name of a type's element: "Real", "Float64", ... */
const char *tt_ssp_elements_type_name(const struct tt_description *desc, const struct tt_var *var, bool version_2);
/* Returns "input", "structuralParameter", ... */
const char *tt_ssp_elements_kind(const struct tt_var *var);

/* A connector of a component for a variable, without geometry. */
struct tt_tree_node *tt_ssp_elements_write_connector(struct tt_editor *maker, struct tt_tree_node *connectors,
                                                     const struct tt_description *desc, const struct tt_var *var,
                                                     bool version_2, struct tt_ssp_elements_scope *scope);

/* The transformation of a connection; none for 1 and 0. */
void tt_ssd_writer_scale(struct tt_editor *maker, struct tt_tree_node *connection, double factor, double offset);

/* Writes the system's value for a variable as a parameter of this name. ARGUMENT if only some array elements are known. */
TUTTI_CHECKED enum tutti_err tt_ssp_elements_write_parameter(struct tt_editor *maker, struct tt_tree_node *parameters,
                                                             const char *name, const struct tt_component *component,
                                                             uint32_t variable, bool version_2);
/* A binding with an empty inline parameter set at the end of `bindings`; returns the set's list of parameters. */
struct tt_tree_node *tt_ssp_elements_write_binding(struct tt_editor *maker, struct tt_tree_node *bindings,
                                                   const char *version);
extern const char tt_ssp_elements_set_name[]; /* of that parameter set */

/* Where components are drawn. */
struct tt_ssd_writer_box {
    double x1, y1, x2, y2;
};
/* Columns from sources to sinks, tables on the left. `boxes` has one for each component, one for each table, and one for all together. */
TUTTI_CHECKED enum tutti_err tt_ssd_writer_layout(const struct tt_system *system, struct tt_ssd_writer_box *boxes);

/* ARGUMENT if XML cannot represent the text. `what` names it. */
TUTTI_CHECKED enum tutti_err tt_ssp_elements_check_text(const char *text, const char *what);
/* The experiment and the annotation of the document. */
void tt_ssd_writer_experiment(struct tt_editor *maker, struct tt_tree_node *root,
                              const struct tt_ssd_writer_options *write);

#endif
