/* SPDX-License-Identifier: MIT */
/* parts.h - what the readers of the four kinds of documents share; only for src/ssp/. */
#ifndef TUTTI_SSP_PARTS_H
#define TUTTI_SSP_PARTS_H

#include <stdbool.h>

#include "base/map.h"
#include "description/wide.h"
#include "description/desc_report.h"
#include "ssp/ssp.h"

/* A document that is being read. */
struct tutti_parts {
    const char *file;
    struct tutti_arena *arena;
    struct tutti_desc_report report;
    struct tutti_map ids; /* of the whole file -> line */
    struct tutti_parts_names {
        struct tutti_map units, enumerations;
        bool version_1; /* the document says 1.0 */
    } names;            /* the present one: an inline document has its own */
};

void tutti_parts_init(struct tutti_parts *parts, const char *file, struct tutti_arena *arena,
                      struct tutti_findings *findings);
void tutti_parts_fini(struct tutti_parts *parts);

/* Into an inline document, with a new scope and the old one kept in `outer`; and out of it. */
void tutti_parts_enter(struct tutti_parts *parts, struct tutti_parts_names *outer);
void tutti_parts_leave(struct tutti_parts *parts, const struct tutti_parts_names *outer);

/* FORMAT, with file, line, the element and the value of its `name` before the words. */
enum tutti_err tutti_parts_fail(const struct tutti_parts *parts, const struct tutti_node *node, const char *format, ...)
    TUTTI_PRINTF(3, 4);
/* A finding, likewise. `format` must be a literal (desc_report.h). */
void tutti_parts_warn(struct tutti_parts *parts, const struct tutti_node *node, const char *format, ...)
    TUTTI_PRINTF(3, 4);

/* ---- what the schemas allow ---- */

struct tutti_shape_word {
    const char *text;
    bool since_2; /* SSP 2.0 has it, 1.0 has not */
};

enum tutti_shape_count {
    TUTTI_SHAPE_ONE,    /* at most once */
    TUTTI_SHAPE_MANY,   /* any number */
    TUTTI_SHAPE_CHOICE, /* at most one of all that are marked so */
};

struct tutti_shape_child {
    const char *local;
    enum tutti_space space;
    enum tutti_shape_count count;
    bool since_2;
};

/* Both lists end with a NULL text. */
struct tutti_shape {
    const struct tutti_shape_word *attributes;
    const struct tutti_shape_child *children;
};

/* Warns of what the shape does not know, and keeps the element's id. FORMAT for what there may be only one of, and for
 * an id that another element has. To be called once per element. Elements in the wrong namespace of SSP are warned of
 * and else taken as if they were in the right one. */
TUTTI_CHECKED enum tutti_err tutti_parts_check(struct tutti_parts *parts, const struct tutti_node *node,
                                               const struct tutti_shape *shape);

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

/* Is it an element of SSP with this name? */
bool tutti_parts_is(const struct tutti_node *node, const char *local);
/* The first child, or the next sibling, of which this is true; NULL: none. */
struct tutti_node *tutti_parts_child(const struct tutti_node *node, const char *local);
struct tutti_node *tutti_parts_next(const struct tutti_node *node, const char *local);
size_t tutti_parts_count(const struct tutti_node *node, const char *local);
/* A zeroed array for as many in the arena; *count says how many. *out is NULL if there are none. */
TUTTI_CHECKED enum tutti_err tutti_parts_array(struct tutti_parts *parts, const struct tutti_node *node,
                                               const char *local, size_t size, void *out, size_t *count);

/* Attributes. The first is FORMAT if it is absent; the others leave *out alone then, and are FORMAT for a text that is
 * none of the kind. */
TUTTI_CHECKED enum tutti_err tutti_parts_required(const struct tutti_parts *parts, const struct tutti_node *node,
                                                  const char *name, const char **out);
TUTTI_CHECKED enum tutti_err tutti_parts_bool(const struct tutti_parts *parts, const struct tutti_node *node,
                                              const char *name, bool *out);
TUTTI_CHECKED enum tutti_err tutti_parts_double(const struct tutti_parts *parts, const struct tutti_node *node,
                                                const char *name, double *out, bool *given);
TUTTI_CHECKED enum tutti_err tutti_parts_int(const struct tutti_parts *parts, const struct tutti_node *node,
                                             const char *name, int64_t *out);
/* Any Int64 or UInt64. */
TUTTI_CHECKED enum tutti_err tutti_parts_wide(const struct tutti_parts *parts, const struct tutti_node *node,
                                              const char *name, tutti_wide *out);
/* The index of the word in a list that ends with a NULL text. */
TUTTI_CHECKED enum tutti_err tutti_parts_word(struct tutti_parts *parts, const struct tutti_node *node,
                                              const char *name, const struct tutti_shape_word *words, size_t *out);
/* xs:boolean: true, false, 1, 0. */
bool tutti_parts_read_bool(const char *text, size_t n, bool *out);
/* The next word of a list: moves *text to its beginning and returns its length, 0 at the end. */
size_t tutti_parts_next_word(const char **text);

/* Adds the name of `node` to a map; FORMAT if it is there. `what` is plural: "connectors of this element". */
TUTTI_CHECKED enum tutti_err tutti_parts_unique(const struct tutti_parts *parts, struct tutti_map *map,
                                                const struct tutti_node *node, const char *name, const char *what);

/* ---- common content ---- */

/* Checks the version of a document's or inline document's top element. */
TUTTI_CHECKED enum tutti_err tutti_parts_version(struct tutti_parts *parts, const struct tutti_node *top);
/* Units and enumerations, which are children of `top`. Fills the maps of `parts`, which must be empty. */
TUTTI_CHECKED enum tutti_err tutti_parts_scope(struct tutti_parts *parts, const struct tutti_node *top,
                                               struct tutti_ssp_scope *scope);
/* The child that says the type, or NULL. An ssd:Clock does not: it names a clock. */
const struct tutti_node *tutti_parts_type_node(const struct tutti_node *node);
/* The type that this child says. */
void tutti_parts_type(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_ssp_type *type);
/* The type of a connector or dictionary entry from its child, if it has one. */
TUTTI_CHECKED enum tutti_err tutti_parts_signal_type(struct tutti_parts *parts, const struct tutti_node *node,
                                                     struct tutti_ssp_type *type);
/* fixed: sizes must be numbers that are given. */
TUTTI_CHECKED enum tutti_err tutti_parts_dimensions(struct tutti_parts *parts, const struct tutti_node *node,
                                                    bool fixed, const struct tutti_ssp_dimension **dimensions,
                                                    size_t *count);
TUTTI_CHECKED enum tutti_err tutti_parts_transformation(struct tutti_parts *parts, const struct tutti_node *node,
                                                        struct tutti_ssp_transformation *transformation);
/* What other tools' annotations in node's Annotations say about steps, unless something was said before. */
void tutti_parts_foreign(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_ssp_foreign *foreign);
/* The element inside of the annotation org.tutti in node's Annotations, or NULL. */
const struct tutti_node *tutti_parts_settings(struct tutti_parts *parts, const struct tutti_node *node);

/* ---- documents, also inline ones ---- */

/* Reads the tree of a document and checks that its top element is this one. */
TUTTI_CHECKED enum tutti_err tutti_parts_open(struct tutti_tree **tree, const char *file, struct tutti_reader *reader,
                                              enum tutti_space space, const char *local);
TUTTI_CHECKED enum tutti_err tutti_parts_ssv(struct tutti_parts *parts, const struct tutti_node *top,
                                             struct tutti_ssv *ssv);
TUTTI_CHECKED enum tutti_err tutti_parts_ssm(struct tutti_parts *parts, const struct tutti_node *top,
                                             struct tutti_ssm *ssm);
TUTTI_CHECKED enum tutti_err tutti_parts_ssb(struct tutti_parts *parts, const struct tutti_node *top,
                                             struct tutti_ssb *ssb);

/* Of ssd_system.c: a system with everything in it; and of ssd_binding.c. */
TUTTI_CHECKED enum tutti_err tutti_parts_system(struct tutti_parts *parts, struct tutti_node *node,
                                                struct tutti_ssp_element *system);
TUTTI_CHECKED enum tutti_err tutti_parts_bindings(struct tutti_parts *parts, const struct tutti_node *node,
                                                  struct tutti_ssp_element *element);
TUTTI_CHECKED enum tutti_err tutti_parts_dictionaries(struct tutti_parts *parts, const struct tutti_node *node,
                                                      struct tutti_ssp_element *system);

#endif
