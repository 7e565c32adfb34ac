/* SPDX-License-Identifier: MIT */
/* ssp_reader.h - what the readers of the four kinds of documents share; only for src/ssp/. */
#ifndef TT_MODEL_SSP_SSP_READER_H
#define TT_MODEL_SSP_SSP_READER_H

#include <stdbool.h>

#include "base/findings.h"
#include "base/map.h"
#include "fmu/description/type.h"
#include "model/ssp/ssp.h"

/* A document that is being read. */
struct tt_ssp_reader {
    const char *file;
    struct tt_arena *arena;
    struct tt_limited_findings report;
    struct tt_map ids; /* of the whole file -> line */
    struct tt_ssp_reader_names {
        struct tt_map units, enumerations;
        bool version_1; /* the document has version 1.0 */
    } names;            /* the present one: an inline document has its own */
};

void tt_ssp_reader_init(struct tt_ssp_reader *parts, const char *file, struct tt_arena *arena,
                        struct tt_findings *findings);
void tt_ssp_reader_fini(struct tt_ssp_reader *parts);

/* Into an inline document, with a new scope and the old one kept in `outer`; and out of it. */
void tt_ssp_reader_enter_inline(struct tt_ssp_reader *parts, struct tt_ssp_reader_names *outer);
void tt_ssp_reader_leave_inline(struct tt_ssp_reader *parts, const struct tt_ssp_reader_names *outer);

/* FORMAT, with file, line, the element and the value of its `name` before the words. */
enum tutti_err tt_ssp_reader_fail(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                  const char *format, ...) TUTTI_PRINTF(3, 4);
/* A finding, likewise. `format` must be a literal (base/findings.h). */
void tt_ssp_reader_warn(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *format, ...)
    TUTTI_PRINTF(3, 4);

/* ---- what the schemas allow ---- */

struct tt_shape_word {
    const char *text;
    bool since_2; /* SSP 2.0 has it, 1.0 has not */
};

enum tt_shape_count {
    TUTTI_SHAPE_ONE,    /* at most once */
    TUTTI_SHAPE_MANY,   /* any number */
    TUTTI_SHAPE_CHOICE, /* at most one of all that are marked so */
};

struct tt_shape_child {
    const char *local;
    enum tt_tree_space space;
    enum tt_shape_count count;
    bool since_2;
};

/* Both lists end with a NULL text. */
struct tt_shape {
    const struct tt_shape_word *attributes;
    const struct tt_shape_child *children;
};

/* Warns of content that the shape does not have, and stores the element's id. FORMAT for repeated elements that must be
 * single, and for a duplicate id. Called once per element. Elements in the wrong namespace of SSP get a warning and are
 * otherwise accepted. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_check(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                 const struct tt_shape *shape);

/* Rows of shapes. */
#define SHAPE_BASE_ATTRIBUTES                                                                                          \
    {"id", false},                                                                                                     \
    {                                                                                                                  \
        "description", false                                                                                           \
    }
#define SHAPE_TOP_ATTRIBUTES                                                                                           \
    SHAPE_BASE_ATTRIBUTES, {"version", false}, {"author", false}, {"fileversion", false}, {"copyright", false},        \
        {"license", false}, {"generationTool", false},                                                                 \
    {                                                                                                                  \
        "generationDateAndTime", false                                                                                 \
    }
#define SHAPE_META                                                                                                     \
    {"MetaData", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, true},                                                             \
    {                                                                                                                  \
        "Signature", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, true                                                           \
    }
#define SHAPE_SCOPE(space)                                                                                             \
    {"Enumerations", space, TUTTI_SHAPE_ONE, false},                                                                   \
    {                                                                                                                  \
        "Units", space, TUTTI_SHAPE_ONE, false                                                                         \
    }
#define SHAPE_ANNOTATIONS(space)                                                                                       \
    {                                                                                                                  \
        "Annotations", space, TUTTI_SHAPE_ONE, false                                                                   \
    }
#define SHAPE_TYPES(space)                                                                                             \
    {"Real", space, TUTTI_SHAPE_CHOICE, false}, {"Integer", space, TUTTI_SHAPE_CHOICE, false},                         \
        {"Boolean", space, TUTTI_SHAPE_CHOICE, false}, {"String", space, TUTTI_SHAPE_CHOICE, false},                   \
        {"Enumeration", space, TUTTI_SHAPE_CHOICE, false}, {"Binary", space, TUTTI_SHAPE_CHOICE, false},               \
        {"Float64", space, TUTTI_SHAPE_CHOICE, true}, {"Float32", space, TUTTI_SHAPE_CHOICE, true},                    \
        {"Int8", space, TUTTI_SHAPE_CHOICE, true}, {"UInt8", space, TUTTI_SHAPE_CHOICE, true},                         \
        {"Int16", space, TUTTI_SHAPE_CHOICE, true}, {"UInt16", space, TUTTI_SHAPE_CHOICE, true},                       \
        {"Int32", space, TUTTI_SHAPE_CHOICE, true}, {"UInt32", space, TUTTI_SHAPE_CHOICE, true},                       \
        {"Int64", space, TUTTI_SHAPE_CHOICE, true},                                                                    \
    {                                                                                                                  \
        "UInt64", space, TUTTI_SHAPE_CHOICE, true                                                                      \
    }
#define SHAPE_DIMENSION                                                                                                \
    {                                                                                                                  \
        "Dimension", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, true                                                           \
    }
#define SHAPE_TRANSFORMATIONS                                                                                          \
    {"LinearTransformation", TUTTI_SPACE_SSC, TUTTI_SHAPE_CHOICE, false},                                              \
        {"BooleanMappingTransformation", TUTTI_SPACE_SSC, TUTTI_SHAPE_CHOICE, false},                                  \
        {"IntegerMappingTransformation", TUTTI_SPACE_SSC, TUTTI_SHAPE_CHOICE, false},                                  \
    {                                                                                                                  \
        "EnumerationMappingTransformation", TUTTI_SPACE_SSC, TUTTI_SHAPE_CHOICE, false                                 \
    }

/* ---- looking into elements ---- */

/* Returns true if it is an element of SSP with this name. */
bool tt_ssp_reader_has_name(const struct tt_tree_node *node, const char *local);
/* Returns the first child, or the next sibling, that is an element of SSP with this name; NULL if there is none. */
struct tt_tree_node *tt_ssp_reader_find_child(const struct tt_tree_node *node, const char *local);
struct tt_tree_node *tt_ssp_reader_find_next(const struct tt_tree_node *node, const char *local);
size_t tt_ssp_reader_count_children(const struct tt_tree_node *node, const char *local);
/* Allocates a zeroed array in the arena with one item per such child; *count of them. *out is NULL if there are none. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_new_array(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                     const char *local, size_t size, void *out, size_t *count);

/* Read attributes. tt_ssp_reader_require fails with FORMAT if the attribute is missing; the other functions leave *out
 * unchanged then. All fail with FORMAT for a text of the wrong kind. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_require(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                   const char *name, const char **out);
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_bool(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                     const char *name, bool *out);
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_double(const struct tt_ssp_reader *parts,
                                                       const struct tt_tree_node *node, const char *name, double *out,
                                                       bool *given);
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_int(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                    const char *name, int64_t *out);
/* Any Int64 or UInt64. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_wide(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                     const char *name, tt_wide *out);
/* The index of the word in a list that ends with a NULL text. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_word(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                     const char *name, const struct tt_shape_word *words, size_t *out);
/* xs:boolean: true, false, 1, 0. */
bool tt_ssp_reader_parse_bool(const char *text, size_t n, bool *out);
/* The next word of a list: moves *text to its beginning and returns its length, 0 at the end. */
size_t tt_ssp_reader_next_word(const char **text);

/* Adds the name of `node` to a map; FORMAT if it is a duplicate. `what` is plural: "connectors of this element". */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_check_unique(const struct tt_ssp_reader *parts, struct tt_map *map,
                                                        const struct tt_tree_node *node, const char *name,
                                                        const char *what);

/* ---- common content ---- */

/* Checks the version of a document's or inline document's top element. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_version(struct tt_ssp_reader *parts, const struct tt_tree_node *top);
/* Units and enumerations, which are children of `top`. Fills the maps of `parts`, which must be empty. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_scope(struct tt_ssp_reader *parts, const struct tt_tree_node *top,
                                                      struct tt_ssp_scope *scope);
/* Returns the child that defines the type, or NULL. An ssd:Clock does not define one: it names a clock. */
const struct tt_tree_node *tt_ssp_reader_find_type_node(const struct tt_tree_node *node);
/* Reads the type that this child defines. */
void tt_ssp_reader_read_type(struct tt_ssp_reader *parts, const struct tt_tree_node *node, struct tt_ssp_type *type);
/* The type of a connector or dictionary entry from its child, if it has one. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_signal_type(struct tt_ssp_reader *parts,
                                                            const struct tt_tree_node *node, struct tt_ssp_type *type);
/* fixed: sizes must be numbers that are given. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_read_dimensions(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                           bool fixed, const struct tt_ssp_dimension **dimensions,
                                                           size_t *count);
TUTTI_CHECKED enum tutti_err tt_ssm_read_transformation(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                        struct tt_ssp_transformation *transformation);
/* Reads step settings from other tools' annotations in node's Annotations, unless there are some already. */
void tt_ssd_read_foreign(struct tt_ssp_reader *parts, const struct tt_tree_node *node, struct tt_ssp_foreign *foreign);
/* Returns the element inside the annotation org.tutti in node's Annotations, or NULL. */
const struct tt_tree_node *tt_ssp_reader_read_settings(struct tt_ssp_reader *parts, const struct tt_tree_node *node);

/* ---- documents, also inline ones ---- */

/* Reads the tree of a document and checks the name of its top element. */
TUTTI_CHECKED enum tutti_err tt_ssp_reader_open(struct tt_tree **tree, const char *file, struct tt_byte_source *reader,
                                                enum tt_tree_space space, const char *local);
TUTTI_CHECKED enum tutti_err tt_ssv_parse(struct tt_ssp_reader *parts, const struct tt_tree_node *top,
                                          struct tt_ssv *ssv);
TUTTI_CHECKED enum tutti_err tt_ssm_parse(struct tt_ssp_reader *parts, const struct tt_tree_node *top,
                                          struct tt_ssm *ssm);
TUTTI_CHECKED enum tutti_err tt_ssb_parse(struct tt_ssp_reader *parts, const struct tt_tree_node *top,
                                          struct tt_ssb *ssb);

/* Of ssd.c: a system with everything in it; and of ssd.c. */
TUTTI_CHECKED enum tutti_err tt_ssd_read_system(struct tt_ssp_reader *parts, struct tt_tree_node *node,
                                                struct tt_ssp_element *system);
TUTTI_CHECKED enum tutti_err tt_ssd_read_bindings(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                  struct tt_ssp_element *element);
TUTTI_CHECKED enum tutti_err tt_ssd_read_dictionaries(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                                      struct tt_ssp_element *system);

#endif
