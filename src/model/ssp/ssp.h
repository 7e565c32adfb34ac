/* SPDX-License-Identifier: MIT */
/* ssp.h - the content of the files of SSP 1.0 and 2.0: system structure (.ssd), parameter values (.ssv), parameter
 * mappings (.ssm), signal dictionaries (.ssb). Unresolved: no lookup across files.
 *
 * A document owns its tree and everything below it; texts point into the tree. Attributes that are absent are NULL. */
#ifndef TT_MODEL_SSP_SSP_H
#define TT_MODEL_SSP_SSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fmu/description/description.h"
#include "base/findings.h"
#include "fmu/description/type.h"
#include "model/ssp/tree.h"

/* Units and enumerations are scoped to their file; both are sorted by name. */
struct tt_ssp_enumeration {
    const char *name;
    const struct tt_enum_item *items;
    size_t item_count;
};

struct tt_ssp_scope {
    const char *file;
    const struct tt_unit_def *units;
    size_t unit_count;
    const struct tt_ssp_enumeration *enumerations;
    size_t enumeration_count;
};

/* The type of a connector, a dictionary entry or a value. Real is Float64, Integer is Int32. */
struct tt_ssp_type {
    bool given;
    bool loose; /* Real or Integer: the widths of FMI 3.0 are not distinguished */
    enum tt_type type;
    const char *unit, *enumeration, *mime_type;
};

struct tt_ssp_dimension {
    bool has_size;
    uint64_t size;
    const char *size_connector;
};

enum tt_ssp_kind {
    TUTTI_SSP_INPUT,
    TUTTI_SSP_OUTPUT,
    TUTTI_SSP_INOUT,
    TUTTI_SSP_PARAMETER,
    TUTTI_SSP_CALCULATED_PARAMETER,
    TUTTI_SSP_STRUCTURAL_PARAMETER,
    TUTTI_SSP_CONSTANT,
    TUTTI_SSP_LOCAL,
    TUTTI_SSP_UNSPECIFIED,
};

struct tt_ssp_connector {
    const char *name;
    enum tt_ssp_kind kind;
    struct tt_ssp_type type;
    const struct tt_ssp_dimension *dimensions;
    size_t dimension_count;
    unsigned line;
};

enum tt_ssp_transformation_kind {
    TUTTI_SSP_IDENTITY,
    TUTTI_SSP_LINEAR,
    TUTTI_SSP_BOOLEAN_MAP,
    TUTTI_SSP_INTEGER_MAP,
    TUTTI_SSP_ENUMERATION_MAP,
};

struct tt_ssp_map_entry {
    const char *source_name, *target_name; /* ENUMERATION_MAP */
    tt_wide source, target;                /* of all other maps; false and true are 0 and 1 */
};

struct tt_ssp_transformation {
    enum tt_ssp_transformation_kind kind;
    double factor, offset; /* LINEAR */
    const struct tt_ssp_map_entry *entries;
    size_t entry_count;
    unsigned line;
};

/* ---- parameter values (.ssv) ---- */

struct tt_ssp_parameter {
    const char *name;
    struct tt_ssp_type type;
    const char *const *values; /* one text per value, row-major */
    size_t value_count;
    const struct tt_ssp_dimension *dimensions; /* 0: a scalar */
    size_t dimension_count;
    unsigned line;
};

struct tt_ssv {
    struct tt_ssp_scope scope;
    const char *name;
    const struct tt_ssp_parameter *parameters;
    size_t count;
    struct tt_tree *tree; /* NULL if it is inline in a different document */
    struct tt_arena arena;
};

/* ---- parameter mapping (.ssm) ---- */

struct tt_ssp_mapping {
    const char *source, *target;
    bool suppress_unit_conversion;
    struct tt_ssp_transformation transformation;
    unsigned line;
};

struct tt_ssm {
    const char *file;
    const struct tt_ssp_mapping *mappings;
    size_t count;
    struct tt_tree *tree;
    struct tt_arena arena;
};

/* ---- signal dictionary (.ssb) ---- */

struct tt_ssp_entry {
    const char *name;
    struct tt_ssp_type type;
    const struct tt_ssp_dimension *dimensions;
    size_t dimension_count;
    unsigned line;
};

struct tt_ssb {
    struct tt_ssp_scope scope;
    const struct tt_ssp_entry *entries;
    size_t count;
    struct tt_tree *tree;
    struct tt_arena arena;
};

/* ---- system structure (.ssd) ---- */

struct tt_ssp_binding {
    const char *type, *source, *prefix;
    bool source_in_component;    /* sourceBase="component" */
    const struct tt_ssv *values; /* inline; NULL: `source` has them */
    bool mapped;
    const char *mapping_type, *mapping_source;
    bool mapping_in_component;
    const struct tt_ssm *mapping; /* inline; NULL: `mapping_source` has it, if `mapped` */
    unsigned line;
};

struct tt_ssp_end {
    const char *element; /* NULL: the system itself */
    const char *connector;
    const uint64_t *indices; /* from 1 */
    size_t index_count;      /* 0: the whole connector */
};

struct tt_ssp_connection {
    struct tt_ssp_end start, end; /* neither is source or destination by its name */
    bool suppress_unit_conversion;
    struct tt_ssp_transformation transformation;
    unsigned line;
};

struct tt_ssp_dictionary {
    const char *name, *type, *source;
    const struct tt_ssb *inline_entries; /* NULL: `source` has them */
    unsigned line;
};

enum tt_ssp_element_kind { TUTTI_SSP_COMPONENT, TUTTI_SSP_SYSTEM, TUTTI_SSP_DICTIONARY_REFERENCE };

/* Step settings from the annotation of another tool. */
struct tt_ssp_foreign {
    const char *tool;       /* static; NULL: no such annotation */
    double step, tolerance; /* 0: none */
    bool varies;            /* the tool varies the step */
    unsigned line;
};

struct tt_ssp_element {
    enum tt_ssp_element_kind kind;
    const char *name, *id;
    const struct tt_ssp_connector *connectors;
    size_t connector_count;
    const struct tt_ssp_binding *bindings;
    size_t binding_count;
    const char *type, *source, *implementation; /* COMPONENT */
    const char *dictionary;                     /* DICTIONARY_REFERENCE */
    const struct tt_ssp_element *elements;      /* SYSTEM */
    size_t element_count;
    const struct tt_ssp_connection *connections;
    size_t connection_count;
    const struct tt_ssp_dictionary *dictionaries;
    size_t dictionary_count;
    const struct tt_tree_node *settings; /* the element inside the annotation org.tutti, or NULL */
    struct tt_ssp_foreign foreign;
    struct tt_tree_node *node; /* of this element, for writers */
    unsigned line;
};

struct tt_ssd {
    struct tt_ssp_scope scope;
    const char *name, *version;
    struct tt_ssp_element system; /* the root */
    bool has_start, has_stop;
    double start, stop;
    const struct tt_tree_node
        *settings;                 /* of the document (its root element's or its default experiment's annotation) */
    struct tt_ssp_foreign foreign; /* likewise, or its root system's */
    struct tt_tree *tree;
    struct tt_arena arena;
};

/* The type of the annotation that holds Tutti's settings. */
#define TUTTI_ANNOTATION "org.tutti"

/* Each function reads one document. Anomalies that do not prevent reading go to `findings` (may be NULL), including
 * unknown elements and attributes. FORMAT with file and line for unusable content: wrong root, missing required
 * attributes, invalid values, two elements or connectors with one name in an element. `file` is used in messages. */
TUTTI_CHECKED enum tutti_err tt_ssd_read(struct tt_ssd **out, const char *file, struct tt_byte_source *reader,
                                         struct tt_findings *findings);
TUTTI_CHECKED enum tutti_err tt_ssv_read(struct tt_ssv **out, const char *file, struct tt_byte_source *reader,
                                         struct tt_findings *findings);
TUTTI_CHECKED enum tutti_err tt_ssm_read(struct tt_ssm **out, const char *file, struct tt_byte_source *reader,
                                         struct tt_findings *findings);
TUTTI_CHECKED enum tutti_err tt_ssb_read(struct tt_ssb **out, const char *file, struct tt_byte_source *reader,
                                         struct tt_findings *findings);
void tt_ssd_free(struct tt_ssd *ssd);
void tt_ssv_free(struct tt_ssv *ssv);
void tt_ssm_free(struct tt_ssm *ssm);
void tt_ssb_free(struct tt_ssb *ssb);

/* Returns "input", "calculatedParameter", ... Static. */
const char *tt_ssd_kind_name(enum tt_ssp_kind kind);
/* The unit or enumeration of a file by its name, or NULL. */
const struct tt_unit_def *tt_ssp_reader_find_unit(const struct tt_ssp_scope *scope, const char *name);
const struct tt_ssp_enumeration *tt_ssp_reader_find_enum(const struct tt_ssp_scope *scope, const char *name);

#endif
