/* SPDX-License-Identifier: MIT */
/* flat.h - private to src/system: the way from nested systems to a flat one.
 *
 * Items are the elements of all systems, as often as they are instantiated: FMUs, systems, dictionary references.
 * Nodes are the places that values pass: variables of FMUs, and wires, which are connectors of systems and entries of
 * dictionaries. Edges are connections from node to node, with a direction. From the edges follows for each variable of
 * an FMU, and each output of the root system, where its values come from: feeds. Values that bindings and options give
 * to nodes travel along the edges, too, and end as settings of variables.
 *
 * Everything here is gone once the system is made; what stays is in system->arena. */
#ifndef TT_MODEL_SYSTEM_FLAT_H
#define TT_MODEL_SYSTEM_FLAT_H

#include "base/vector.h"
#include "model/import/import.h"
#include "model/ssp/package.h"
#include "model/ssp/ssp.h"
#include "model/system/system.h"

enum {
    TUTTI_MOST_ITEMS = 1000000,    /* a few nested files could make far more */
    TUTTI_MOST_LEVELS = 100,       /* of nesting */
    TUTTI_MOST_LOOKUPS = 50000000, /* of names: one file of values can be bound to very many components */
};
#define TUTTI_MOST_BYTES ((size_t)2 << 30) /* for all that follows from the documents */

/* The properties of a place for values that pass it. */
struct tt_signal_spec {
    bool typed, loose; /* as in struct tt_ssp_type */
    uint8_t type;      /* enum tt_type */
    uint8_t dimensions;
    bool relative;                  /* a difference: units convert without their offsets (FMI: relativeQuantity) */
    const struct tt_unit_def *unit; /* NULL: none, or that of the incoming value */
    const struct tt_enum_item *items;
    size_t item_count;
};

/* Which value of several counts: options, then constants of FMUs, then bindings (level and order). */
#define TUTTI_RANK_SET ((uint64_t)1 << 63)
#define TUTTI_RANK_CONSTANT ((uint64_t)1 << 62)
#define TUTTI_RANK_CONNECTED ((uint64_t)1 << 31) /* among those of one level: a parameter's connection wins */

enum tt_flat_document { DOCUMENT_SSD, DOCUMENT_SSV, DOCUMENT_SSM, DOCUMENT_SSB };

/* A file that was opened: on the disk, under its real path, or an entry of an FMU. */
struct tt_flat_file {
    struct tt_package_place place;
    const char *shown; /* as place.shown; permanent with the system */
    char *built;       /* an FMU: where it is with a library that was missing; NULL: it is as it is */
    uint32_t index;
    struct tt_archive *archive; /* NULL: on the disk */
    const char *entry;
    struct tt_package *package; /* that a document's sources are looked for in */
    struct tt_package *opened;  /* that this file is */
    struct tt_ssd *ssd;
    struct tt_ssv *ssv;
    struct tt_ssm *ssm;
    struct tt_ssb *ssb;
    struct tt_import *assembly;
    uint32_t fmu;                           /* in flat.fmus, or TUTTI_NONE */
    bool beside;                            /* a document that is not part of a package */
    struct tt_map sources, ids, parameters; /* sources of FMUs -> file; ids -> systems; names of an SSV */
    struct tt_vector systems;               /* that have an id: const struct tt_ssp_element * */
    bool ids_known;
};

struct tt_flat_file_name {
    const char *name; /* in the system's arena */
    uint32_t file;
};

struct tt_flat_item {
    const char *name, *own_name;           /* the path from the root: "car.front"; the root's is "" */
    const struct tt_ssp_element *element;  /* as it stands in its system; NULL: of the command line */
    const struct tt_ssp_element *body;     /* the system that it is, its own or a referenced one; NULL: no system */
    struct tt_flat_file *file, *body_file; /* the documents of both; NULL: the command line */
    struct tt_flat_file *target;           /* the target of a component's source */
    uint32_t parent, component;            /* component: TUTTI_NONE unless it is an FMU */
    uint32_t table;                        /* in flat.tables; TUTTI_NONE unless it is one */
    uint32_t first_child, child_count;
    uint32_t longest_child;    /* bytes of the longest of their names */
    uint32_t first_dictionary; /* of body->dictionaries */
    unsigned depth;
    const struct tt_ssp_connector *connectors; /* by which connections name its nodes */
    uint32_t connector_count;
    uint32_t *nodes;                    /* of each connector; TUTTI_NONE: it is broken, and that was reported */
    const struct tt_signal_spec *looks; /* NULL, or of each connector, where a node has more than one */
    struct tt_map children;             /* by name; empty while they are few */
    struct tt_map connectors_by_name, dictionaries_by_name;
};

struct tt_flat_dictionary {
    uint32_t item;
    const struct tt_ssp_dictionary *declaration;
    const struct tt_ssb *entries; /* NULL: nothing refers to it yet */
    struct tt_map names;          /* of entries */
    uint32_t first_node;
};

/* A value on its way. Numbers in `type`; as texts while the type, or an enumeration's items, are unknown. */
struct tt_flat_value {
    uint64_t rank;      /* the higher wins */
    const char *origin; /* the parameter's name, or the text after --set */
    const char *file;   /* NULL: the command line */
    unsigned line;
    bool texts;
    bool passed;        /* a connection */
    bool alone;         /* a --set that means one variable, which reads its text */
    uint8_t dimensions; /* that it was given with */
    const struct tt_ssp_dimension *shape;
    struct tt_signal_spec look;
    size_t count;
    const void *data; /* count values, or count texts */
};

struct tt_flat_node {
    const char *name;
    uint32_t item;
    uint32_t component, variable; /* TUTTI_NONE: a wire */
    uint8_t kind;                 /* enum tt_ssp_kind, as it is written, or as the FMU has it */
    uint8_t state;                /* while feeds are made */
    bool entry;                   /* of a dictionary */
    uint32_t column;              /* of a table, for one of its connectors; otherwise TUTTI_NONE */
    struct tt_signal_spec look;
    uint32_t first_edge, edge_count; /* that lead to it, once they are sorted */
    uint32_t cursor;
    size_t first_feed, feed_count;
    const struct tt_flat_value *value;
    const char *file;
    unsigned line;
};

struct tt_flat_edge_end {
    uint32_t node;
    uint32_t index_count; /* 0: all of it */
    const uint64_t *indices;
    const struct tt_signal_spec *look; /* NULL: the node's own */
    bool inner;                        /* seen from inside: a connector of the system that contains the connection */
    uint8_t kind;                      /* enum tt_ssp_kind of the connector that is named */
};

struct tt_flat_edge {
    struct tt_flat_edge_end from, to;
    const struct tt_ssp_transformation *transformation; /* NULL: none */
    bool suppress, reported, warned, ambiguous;         /* reported: it is left out */
    bool adds;                                          /* its values are added to those of similar edges */
    uint32_t order;
    const char *file; /* NULL: the command line, and `text` has the option */
    const char *text;
    unsigned line;
};

/* Describes the conversion of values from their source to a place. */
struct tt_flow {
    struct tt_signal_spec look; /* now */
    bool wired;                 /* through connections, not of a value */
    bool lossy;                 /* numbers may be rounded */
    bool rounded;               /* and were */
    bool linear;
    double factor, offset;
    const struct tt_flow_map *maps; /* the newest first */
};

struct tt_flow_map {
    struct tt_value_map map;
    const struct tt_flow_map *previous;
};

struct tt_flat_feed {
    uint32_t node, edge;                /* the source, and the connection next to here */
    const struct tt_indices *from, *to; /* NULL: all of it */
    struct tt_flow flow;
};

/* A value for an FMU's variable, before it is known which wins. */
struct tt_flat_candidate {
    uint64_t rank;
    uint32_t component, order;
    bool passed;        /* it came by a connection */
    const char *option; /* the --set for this variable alone; NULL: a different source */
    size_t name_length; /* of that, with the '=' */
    struct tt_setting setting;
};

struct tt_flat {
    struct tt_system *system;
    const struct tt_system_source *source;
    struct tt_findings *findings;
    struct tt_vector items, nodes, edges, feeds, components, candidates, dictionaries, fmus, packages;
    struct tt_vector tables; /* struct tt_system_table */
    struct tt_vector files;  /* struct tt_flat_file * */
    struct tt_map files_by_path;
    struct tt_vector names; /* struct tt_flat_file_name: all that files were asked for by */
    struct tt_map names_known;
    struct tt_map aliases;            /* of the source, by name; made when it is first asked */
    struct tt_map earlier;            /* its earlier files, by name; likewise */
    const struct tt_import *assembly; /* the root in another tool's format; NULL: it is not */
    struct tt_flat_file *assembled;   /* and its file */
    struct tt_map signals;            /* of its functions -> node */
    struct tt_arena arena;
    bool convert; /* connections may round */
    uint32_t values_given, guesses;
    size_t lookups;     /* of names so far */
    enum tutti_err err; /* the command line is wrong: found where no error can be returned */
};

/* ---- flat.c ---- */

/* LIMIT where a small file grows beyond any use: systems that are used very often, names that are repeated, elements
 * that multiply on their way. To be called after whatever a file can repeat. */
TUTTI_CHECKED enum tutti_err tt_flat_check_size(const struct tt_flat *flat);

static inline struct tt_flat_item *tt_flat_item(const struct tt_flat *flat, uint32_t index)
{
    return (struct tt_flat_item *)flat->items.items + index;
}
static inline struct tt_flat_node *tt_flat_node(const struct tt_flat *flat, uint32_t index)
{
    return (struct tt_flat_node *)flat->nodes.items + index;
}
static inline struct tt_flat_edge *tt_flat_edge(const struct tt_flat *flat, uint32_t index)
{
    return (struct tt_flat_edge *)flat->edges.items + index;
}
static inline struct tt_component *tt_flat_component(const struct tt_flat *flat, uint32_t index)
{
    return (struct tt_component *)flat->components.items + index;
}

/* "car.front.x" or "x[2]" of a node, an edge's end, an item's name of a connector. In the flat's arena, never NULL. */
const char *tt_flat_path(struct tt_flat *flat, uint32_t item, const char *name);
const char *tt_flat_node_name(struct tt_flat *flat, uint32_t node);
const char *tt_flat_end_name(struct tt_flat *flat, const struct tt_flat_edge_end *end);

/* A node for a variable of an FMU, for a connector of a system. TUTTI_NONE when memory is out. */
uint32_t tt_flat_add_variable(struct tt_flat *flat, uint32_t item, uint32_t variable);
/* Returns the node of an FMU's variable, by its connector if it has one, otherwise a new one. TUTTI_NONE: no memory. */
uint32_t tt_flat_variable_node(struct tt_flat *flat, uint32_t item, uint32_t variable);
/* A clock by time is an input, since the importer makes it tick; yet it makes triggered clocks tick, as an output would (fmi-ls-bus 4.4.1). */
bool tt_flat_clock_triggers(const struct tt_flat *flat, const struct tt_flat_node *from, const struct tt_flat_node *to);
/* Returns the properties of an FMU's variable. */
struct tt_signal_spec tt_flat_variable_spec(const struct tt_description *desc, const struct tt_var *var);
/* The kind of connector that a variable is. */
enum tt_ssp_kind tt_flat_variable_kind(const struct tt_var *var);

/* Returns true if the element can exist. Variable extents are not checked. */
bool tt_flat_has_element(const struct tt_flat *flat, const struct tt_flat_node *node, const uint64_t *indices,
                         size_t count);

/* Finds an item's child, or connector, by name; TUTTI_NONE if it does not exist. */
uint32_t tt_flat_find_child(struct tt_flat *flat, uint32_t owner, const char *name);
uint32_t tt_flat_find_connector(struct tt_flat *flat, uint32_t owner, const char *name);

/* One meaning of a hierarchical name; there may be several. */
struct tt_flat_match {
    /* a connector of a system, or a variable of an FMU; the unused field is TUTTI_NONE */
    uint32_t item, connector, variable;
    struct tt_indices element;
};
/* Adds all meanings of `name` inside `item` to `matches`. */
TUTTI_CHECKED enum tutti_err tt_flat_find_matches(struct tt_flat *flat, uint32_t item, const char *name,
                                                  struct tt_vector *matches);
/* Counts the lookup of a name of `length` bytes; LIMIT if there are too many. */
TUTTI_CHECKED enum tutti_err tt_flat_count_lookup(struct tt_flat *flat, size_t bytes);
/* Returns true if searching for the nearest name is worthwhile: not after some dozens of wrong names. */
bool tt_flat_may_suggest(struct tt_flat *flat);
/* The nearest name that means something there, for messages; NULL: none is near. */
const char *tt_flat_nearest(struct tt_flat *flat, uint32_t index, const char *name);

/* ---- model_files.c ---- */

/* The FMU, or the SSD of the package, at `path`; messages say `shown`. */
TUTTI_CHECKED enum tutti_err tt_model_files_open_fmu(struct tt_flat *flat, const char *path, const char *shown,
                                                     struct tt_flat_file **out);
TUTTI_CHECKED enum tutti_err tt_model_files_open_package(struct tt_flat *flat, const char *path, const char *shown,
                                                         const char *variant, struct tt_flat_file **out);
/* Opens a system in another tool's format. */
TUTTI_CHECKED enum tutti_err tt_model_files_open_import(struct tt_flat *flat, const char *path, const char *shown,
                                                        struct tt_flat_file **out);
/* The FMU that such a document names; or a table (.csv, .tsv), which is then the last of flat->tables. */
TUTTI_CHECKED enum tutti_err tt_model_files_open_sibling(struct tt_flat *flat, const struct tt_flat_file *document,
                                                         const char *source, struct tt_flat_file **out);
/* The group `name` of a model, from the description of it that lies beside the FMU or the document. */
TUTTI_CHECKED enum tutti_err tt_model_files_read_group(struct tt_flat *flat, const struct tt_flat_file *document,
                                                       const struct tt_flat_file *fmu, const char *model,
                                                       const char *name, struct tt_import_group *group, bool *found);
/* Opens the source of a component in `base`: file->fmu or file->ssd. */
TUTTI_CHECKED enum tutti_err tt_model_files_open_component(struct tt_flat *flat, struct tt_flat_file *base,
                                                           const struct tt_ssp_element *element,
                                                           struct tt_flat_file **out);
/* Opens a document that a second one, or an FMU, has as `source`. */
TUTTI_CHECKED enum tutti_err tt_model_files_open_document(struct tt_flat *flat, struct tt_flat_file *base,
                                                          const char *source, enum tt_flat_document kind,
                                                          struct tt_flat_file **out);
/* Finds the system with that id in a document; *out is NULL if it does not exist. */
TUTTI_CHECKED enum tutti_err tt_model_files_find_system(struct tt_flat_file *file, const char *id,
                                                        const struct tt_ssp_element **out);
/* The file of that name that the source's earlier system has, or NULL: also if memory is out, and it is looked for on the disk. */
const struct tt_system_file *tt_model_files_find_earlier(struct tt_flat *flat, const char *name);
/* The file of that name that lies elsewhere, or NULL. */
const struct tt_file_alias *tt_model_files_find_alias(struct tt_flat *flat, const char *name);
/* Returns true for a system, false for an FMU. */
bool tt_model_files_is_system(struct tt_flat *flat, const char *path, const char *shown);
/* Makes the list of files that stays. */
TUTTI_CHECKED enum tutti_err tt_model_files_list(struct tt_flat *flat);
/* Returns true if components can have that MIME type. */
bool tt_model_files_supports_type(const char *type);
void tt_model_files_fini(struct tt_flat *flat);

/* ---- hierarchy.c ---- */

/* An item more. TUTTI_NONE when memory is out. */
uint32_t tt_hierarchy_add(struct tt_flat *flat, uint32_t parent, const char *name);
/* Makes an item an FMU: a component of the system. */
TUTTI_CHECKED enum tutti_err tt_hierarchy_add_fmu(struct tt_flat *flat, uint32_t item, uint32_t fmu);
/* Makes an item a table: number so much of flat->tables, which was just read. */
TUTTI_CHECKED enum tutti_err tt_hierarchy_add_table(struct tt_flat *flat, uint32_t item, uint32_t number);
/* Opens the source of the item's element, and all items below it. */
TUTTI_CHECKED enum tutti_err tt_hierarchy_open(struct tt_flat *flat, uint32_t item);
/* Experiment and annotation of the root document. */
TUTTI_CHECKED enum tutti_err tt_hierarchy_read_settings(struct tt_flat *flat, const struct tt_flat_file *file);

/* ---- imported.c ---- */

/* The root is a system in another tool's format; otherwise the other two functions do nothing. */
TUTTI_CHECKED enum tutti_err tt_imported_open(struct tt_flat *flat, const char *path);
TUTTI_CHECKED enum tutti_err tt_imported_connect(struct tt_flat *flat);
TUTTI_CHECKED enum tutti_err tt_imported_set(struct tt_flat *flat);

/* ---- connectors.c, connectors.c, connectors.c ---- */

/* Nodes for the connectors of an item. */
TUTTI_CHECKED enum tutti_err tt_connectors_build(struct tt_flat *flat, uint32_t item);
struct tt_signal_spec tt_connectors_signal_spec(struct tt_flat *flat, const struct tt_ssp_scope *scope,
                                                const struct tt_ssp_type *type, size_t dimensions);
/* The dictionaries of a system; the nodes of a reference to one. */
TUTTI_CHECKED enum tutti_err tt_connectors_add_dictionaries(struct tt_flat *flat, uint32_t item);
TUTTI_CHECKED enum tutti_err tt_connectors_bind_dictionary(struct tt_flat *flat, uint32_t item);
/* Edges for the connections of all systems. */
TUTTI_CHECKED enum tutti_err tt_connectors_add_connections(struct tt_flat *flat);

/* ---- flow.c ---- */

/* The items of an enumeration, for repeated lookups. Borrows the list. */
struct tt_flow_items {
    const struct tt_signal_spec *look;
    struct tt_map names; /* -> index */
    int64_t *values;     /* sorted */
};
TUTTI_CHECKED enum tutti_err tt_flow_init_items(struct tt_flow_items *items, const struct tt_signal_spec *look);
void tt_flow_fini_items(struct tt_flow_items *items);
/* Finds the value of the item of that name; false if it does not exist. */
bool tt_flow_find_item(const struct tt_flow_items *items, const char *name, int64_t *value);
/* Returns true if it is the value of an item. */
bool tt_flow_has_item(const struct tt_flow_items *items, int64_t value);

/* ---- flow.c ---- */

/* Applies a connection (or a mapping) to a flow: types, units, transformation. `via` (may be NULL) has the properties
 * of the source's end, `view` those of the destination's end, `target` those of the place after it. ARGUMENT, with a
 * text that fits after "'a.y' to 'b.u': ", if it is impossible. *unknown_units is set to true if units differ and are
 * undefined. */
TUTTI_CHECKED enum tutti_err tt_flow_apply(struct tt_flow *flow, const struct tt_signal_spec *via,
                                           const struct tt_signal_spec *view, const struct tt_signal_spec *target,
                                           bool suppress, const struct tt_ssp_transformation *transformation,
                                           struct tt_arena *arena, bool *unknown_units);
/* The conversion that a flow amounts to, from its source's type to `to`; *out is NULL if it changes nothing. */
TUTTI_CHECKED enum tutti_err tt_flow_make_conversion(const struct tt_flow *flow, enum tt_type from, enum tt_type to,
                                                     struct tt_arena *arena, const struct tt_conversion **out);

/* ---- edges.c ---- */

/* Adds a connection between two nodes, whose kinds determine its direction. Reports it if no direction is possible. */
TUTTI_CHECKED enum tutti_err tt_edges_add(struct tt_flat *flat, const struct tt_flat_edge *edge);
/* Determines the directions of connections between places that permit both, from the known directions. */
TUTTI_CHECKED enum tutti_err tt_edges_resolve_directions(struct tt_flat *flat);
/* Marks as differences all values that systems and dictionaries pass to or from a difference. */
TUTTI_CHECKED enum tutti_err tt_edges_propagate_relative(const struct tt_flat *flat);
/* Returns true if this flow of values is allowed. `inner`: seen from the system that contains the connection. */
bool tt_edges_is_allowed(bool from_inner, enum tt_ssp_kind from, bool to_inner, enum tt_ssp_kind to);
/* An error of a connection: a finding, or, for one of the command line, the end of the loading. */
void tt_edges_fail(struct tt_flat *flat, struct tt_flat_edge *edge, const char *format, ...) TUTTI_PRINTF(3, 4);
void tt_edges_report_unknown_units(struct tt_flat *flat, struct tt_flat_edge *edge);

/* ---- wiring.c, wiring.c ---- */

/* Builds the feeds of all nodes, and the values that reach them. */
TUTTI_CHECKED enum tutti_err tt_wiring_build_feeds(struct tt_flat *flat);
void tt_wiring_report_duplicate(struct tt_flat *flat, const struct tt_flat_edge *first, struct tt_flat_edge *second);
/* Connections and ports of the system from the feeds. */
TUTTI_CHECKED enum tutti_err tt_wiring_build_connections(struct tt_flat *flat);
/* A copy of a unit that stays; *out is NULL for NULL. */
TUTTI_CHECKED enum tutti_err tt_wiring_copy_unit(struct tt_flat *flat, const struct tt_unit_def *unit,
                                                 const struct tt_unit_def **out);
/* ---- probes.c: connectors that are recorded ---- */
TUTTI_CHECKED enum tutti_err tt_probes_build(struct tt_flat *flat);

/* ---- start_values.c, values.c, start_values.c ---- */

TUTTI_CHECKED enum tutti_err tt_start_values_apply_bindings(struct tt_flat *flat);

/* Reads the texts of a value as a type. */
TUTTI_CHECKED enum tutti_err tt_start_values_parse(struct tt_flat *flat, struct tt_flat_value *value,
                                                   enum tt_type type);
/* Gives a value to a match: a node keeps the best value, a variable gets a candidate. `transformation` and `suppress`
 * are those of a mapping. A mismatch is reported, with ARGUMENT for the command line. */
TUTTI_CHECKED enum tutti_err tt_start_values_apply(struct tt_flat *flat, const struct tt_flat_value *value,
                                                   const struct tt_flat_match *match, bool suppress,
                                                   const struct tt_ssp_transformation *transformation);
/* The value after an edge; *out is NULL if it cannot pass, which is reported. */
TUTTI_CHECKED enum tutti_err tt_start_values_pass(struct tt_flat *flat, const struct tt_flat_value *value,
                                                  struct tt_flat_edge *edge, const struct tt_flat_value **out);
/* A candidate for a variable. */
TUTTI_CHECKED enum tutti_err tt_start_values_add_candidate(struct tt_flat *flat, const struct tt_flat_value *value,
                                                           uint32_t component, uint32_t variable,
                                                           const struct tt_indices *element);
void tt_start_values_report(struct tt_flat *flat, const struct tt_flat_value *value, enum tt_severity severity,
                            const char *format, ...) TUTTI_PRINTF(4, 5);
/* Of each variable and element the best candidate becomes a setting. */
TUTTI_CHECKED enum tutti_err tt_start_values_resolve(struct tt_flat *flat);

/* ---- constraints.c ---- */

/* Lines and constraints; after components and connections are the system's. */
TUTTI_CHECKED enum tutti_err tt_constraints_build(struct tt_flat *flat);

/* ---- command_line.c ---- */

TUTTI_CHECKED enum tutti_err tt_command_line_open(struct tt_flat *flat);
TUTTI_CHECKED enum tutti_err tt_command_line_connect(struct tt_flat *flat);
TUTTI_CHECKED enum tutti_err tt_command_line_set(struct tt_flat *flat);

#endif
