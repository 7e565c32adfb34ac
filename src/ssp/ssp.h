/* SPDX-License-Identifier: MIT */
/* ssp.h - what the files of SSP 1.0 and 2.0 say: system structure (.ssd), parameter values (.ssv), parameter mappings
 * (.ssm), signal dictionaries (.ssb). As written: nothing is looked up across files, nothing is resolved.
 *
 * A document owns its tree and everything below it; texts point into the tree. Attributes that are absent are NULL. */
#ifndef TUTTI_SSP_SSP_H
#define TUTTI_SSP_SSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "description/desc.h"
#include "base/findings.h"
#include "description/wide.h"
#include "ssp/tree.h"

/* Units and enumerations are scoped to their file; both are sorted by name. */
struct tutti_ssp_enumeration {
    const char *name;
    const struct tutti_enum_item *items;
    size_t item_count;
};

struct tutti_ssp_scope {
    const char *file;
    const struct tutti_unit_def *units;
    size_t unit_count;
    const struct tutti_ssp_enumeration *enumerations;
    size_t enumeration_count;
};

/* The type of a connector, a dictionary entry or a value. Real is Float64, Integer is Int32. */
struct tutti_ssp_type {
    bool given;
    bool loose; /* Real or Integer: FMI 3.0's widths are not meant to be told apart */
    enum tutti_type type;
    const char *unit, *enumeration, *mime_type;
};

struct tutti_ssp_dimension {
    bool has_size;
    uint64_t size;
    const char *size_connector;
};

enum tutti_ssp_kind {
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

struct tutti_ssp_connector {
    const char *name;
    enum tutti_ssp_kind kind;
    struct tutti_ssp_type type;
    const struct tutti_ssp_dimension *dimensions;
    size_t dimension_count;
    unsigned line;
};

enum tutti_ssp_transformation_kind {
    TUTTI_SSP_IDENTITY,
    TUTTI_SSP_LINEAR,
    TUTTI_SSP_BOOLEAN_MAP,
    TUTTI_SSP_INTEGER_MAP,
    TUTTI_SSP_ENUMERATION_MAP,
};

struct tutti_ssp_map_entry {
    const char *source_name, *target_name; /* ENUMERATION_MAP */
    tutti_wide source, target;             /* the others; false and true are 0 and 1 */
};

struct tutti_ssp_transformation {
    enum tutti_ssp_transformation_kind kind;
    double factor, offset; /* LINEAR */
    const struct tutti_ssp_map_entry *entries;
    size_t entry_count;
    unsigned line;
};

/* ---- parameter values (.ssv) ---- */

struct tutti_ssp_parameter {
    const char *name;
    struct tutti_ssp_type type;
    const char *const *values; /* one text per value, row-major */
    size_t value_count;
    const struct tutti_ssp_dimension *dimensions; /* 0: a scalar */
    size_t dimension_count;
    unsigned line;
};

struct tutti_ssv {
    struct tutti_ssp_scope scope;
    const char *name;
    const struct tutti_ssp_parameter *parameters;
    size_t count;
    struct tutti_tree *tree; /* NULL where it is inline in another document */
    struct tutti_arena arena;
};

/* ---- parameter mapping (.ssm) ---- */

struct tutti_ssp_mapping {
    const char *source, *target;
    bool suppress_unit_conversion;
    struct tutti_ssp_transformation transformation;
    unsigned line;
};

struct tutti_ssm {
    const char *file;
    const struct tutti_ssp_mapping *mappings;
    size_t count;
    struct tutti_tree *tree;
    struct tutti_arena arena;
};

/* ---- signal dictionary (.ssb) ---- */

struct tutti_ssp_entry {
    const char *name;
    struct tutti_ssp_type type;
    const struct tutti_ssp_dimension *dimensions;
    size_t dimension_count;
    unsigned line;
};

struct tutti_ssb {
    struct tutti_ssp_scope scope;
    const struct tutti_ssp_entry *entries;
    size_t count;
    struct tutti_tree *tree;
    struct tutti_arena arena;
};

/* ---- system structure (.ssd) ---- */

struct tutti_ssp_binding {
    const char *type, *source, *prefix;
    bool source_in_component;       /* sourceBase="component" */
    const struct tutti_ssv *values; /* inline; NULL: `source` has them */
    bool mapped;
    const char *mapping_type, *mapping_source;
    bool mapping_in_component;
    const struct tutti_ssm *mapping; /* inline; NULL: `mapping_source` has it, if `mapped` */
    unsigned line;
};

struct tutti_ssp_end {
    const char *element; /* NULL: the system itself */
    const char *connector;
    const uint64_t *indices; /* from 1 */
    size_t index_count;      /* 0: the whole connector */
};

struct tutti_ssp_connection {
    struct tutti_ssp_end start, end; /* neither is source or destination by its name */
    bool suppress_unit_conversion;
    struct tutti_ssp_transformation transformation;
    unsigned line;
};

struct tutti_ssp_dictionary {
    const char *name, *type, *source;
    const struct tutti_ssb *inline_entries; /* NULL: `source` has them */
    unsigned line;
};

enum tutti_ssp_element_kind { TUTTI_SSP_COMPONENT, TUTTI_SSP_SYSTEM, TUTTI_SSP_DICTIONARY_REFERENCE };

/* What an annotation of another tool says about steps. */
struct tutti_ssp_foreign {
    const char *tool;       /* static; NULL: nothing is said */
    double step, tolerance; /* 0: none */
    bool varies;            /* the tool varies the step */
    unsigned line;
};

struct tutti_ssp_element {
    enum tutti_ssp_element_kind kind;
    const char *name, *id;
    const struct tutti_ssp_connector *connectors;
    size_t connector_count;
    const struct tutti_ssp_binding *bindings;
    size_t binding_count;
    const char *type, *source, *implementation; /* COMPONENT */
    const char *dictionary;                     /* DICTIONARY_REFERENCE */
    const struct tutti_ssp_element *elements;   /* SYSTEM */
    size_t element_count;
    const struct tutti_ssp_connection *connections;
    size_t connection_count;
    const struct tutti_ssp_dictionary *dictionaries;
    size_t dictionary_count;
    const struct tutti_node *settings; /* the element inside of the annotation org.tutti, or NULL */
    struct tutti_ssp_foreign foreign;
    struct tutti_node *node; /* of this element, for writers */
    unsigned line;
};

struct tutti_ssd {
    struct tutti_ssp_scope scope;
    const char *name, *version;
    struct tutti_ssp_element system; /* the root */
    bool has_start, has_stop;
    double start, stop;
    const struct tutti_node *settings; /* of the document (its root element's or its default experiment's annotation) */
    struct tutti_ssp_foreign foreign;  /* likewise, or its root system's */
    struct tutti_tree *tree;
    struct tutti_arena arena;
};

/* The type of the annotation that holds Tutti's settings. */
#define TUTTI_ANNOTATION "org.tutti"

/* Each reads one document. What is odd but usable goes to `findings` (may be NULL), also elements and attributes that
 * the schema does not know; FORMAT with file and line where there is no sense to be made: wrong root, missing required
 * attributes, values that are none, two elements or connectors of one name in an element. `file` is for messages. */
TUTTI_CHECKED enum tutti_err tutti_ssd_read(struct tutti_ssd **out, const char *file, struct tutti_reader *reader,
                                            struct tutti_findings *findings);
TUTTI_CHECKED enum tutti_err tutti_ssv_read(struct tutti_ssv **out, const char *file, struct tutti_reader *reader,
                                            struct tutti_findings *findings);
TUTTI_CHECKED enum tutti_err tutti_ssm_read(struct tutti_ssm **out, const char *file, struct tutti_reader *reader,
                                            struct tutti_findings *findings);
TUTTI_CHECKED enum tutti_err tutti_ssb_read(struct tutti_ssb **out, const char *file, struct tutti_reader *reader,
                                            struct tutti_findings *findings);
void tutti_ssd_free(struct tutti_ssd *ssd);
void tutti_ssv_free(struct tutti_ssv *ssv);
void tutti_ssm_free(struct tutti_ssm *ssm);
void tutti_ssb_free(struct tutti_ssb *ssb);

/* "input", "calculatedParameter", ... Static. */
const char *tutti_ssp_kind_name(enum tutti_ssp_kind kind);
/* The unit or enumeration of a file by its name, or NULL. */
const struct tutti_unit_def *tutti_ssp_unit(const struct tutti_ssp_scope *scope, const char *name);
const struct tutti_ssp_enumeration *tutti_ssp_enumeration(const struct tutti_ssp_scope *scope, const char *name);

#endif
