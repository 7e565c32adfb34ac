/* SPDX-License-Identifier: MIT */
#include "hla/fom/fom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"

static uint32_t fom_find_handle(const struct tt_map *names, const char *name)
{
    int64_t index = tt_map_find(names, name);
    return index == TUTTI_MAP_NONE ? 0 : (uint32_t)index + 1;
}

const struct tt_fom_class *tt_fom_class(const struct tt_fom_tree *tree, uint32_t handle)
{
    return handle >= 1 && handle <= tree->class_count ? &tree->classes[handle - 1] : NULL;
}

const struct tt_fom_member *tt_fom_member(const struct tt_fom_tree *tree, uint32_t handle)
{
    return handle >= 1 && handle <= tree->member_count ? &tree->members[handle - 1] : NULL;
}

uint32_t tt_fom_find_class(const struct tt_fom_tree *tree, const char *name)
{
    uint32_t handle = fom_find_handle(&tree->names, name);
    if (handle)
        return handle;
    char full[TUTTI_FOM_NAME_MAX];
    int length = snprintf(full, sizeof full, "%s.%s", tree->classes[0].name, name);
    if (length < 0 || (size_t)length >= sizeof full)
        return 0;
    return fom_find_handle(&tree->names, full);
}

uint32_t tt_fom_find_member(const struct tt_fom_tree *tree, uint32_t class, const char *name)
{
    for (; class; class = tree->classes[class - 1].parent)
        for (uint32_t m = tree->classes[class - 1].members; m; m = tree->members[m - 1].next)
            if (strcmp(tree->members[m - 1].name, name) == 0)
                return m;
    return 0;
}

bool tt_fom_is_within(const struct tt_fom_tree *tree, uint32_t class, uint32_t ancestor)
{
    while (class > ancestor) /* a class is declared after its parent */
        class = tree->classes[class - 1].parent;
    return class == ancestor;
}

bool tt_fom_has_member(const struct tt_fom_tree *tree, uint32_t class, uint32_t member)
{
    const struct tt_fom_member *m = tt_fom_member(tree, member);
    return m && tt_fom_class(tree, class) && tt_fom_is_within(tree, class, m->owner);
}

uint32_t tt_fom_find_entry(const struct tt_fom_table *table, const char *name)
{
    return fom_find_handle(&table->names, name);
}

const struct tt_fom_entry *tt_fom_entry(const struct tt_fom_table *table, uint32_t handle)
{
    return handle >= 1 && handle <= table->count ? &table->entries[handle - 1] : NULL;
}

static void fini_tree(struct tt_fom_tree *tree)
{
    free(tree->classes);
    free(tree->members);
    tt_map_fini(&tree->names);
}

static void fini_table(struct tt_fom_table *table)
{
    free(table->entries);
    tt_map_fini(&table->names);
}

void tt_fom_free(struct tt_fom *fom)
{
    if (!fom)
        return;
    fini_tree(&fom->objects);
    fini_tree(&fom->interactions);
    fini_table(&fom->data_types);
    fini_table(&fom->dimensions);
    fini_table(&fom->transportations);
    fini_table(&fom->update_rates);
    tt_arena_fini(&fom->arena);
    free(fom);
}

/* Of classes or members, and of entries in a table; dimensions of one class; bytes of a data type that is added to. The
 * largest models of others have some hundreds of classes. */
enum { MOST = 20000, MOST_ENTRIES = 200000, LONGEST_LIST = 256, LONGEST_TYPE = 256 * 1024 };

/* The state of the merge. */
struct fom_merge {
    struct tt_fom *fom;
    const struct tt_fom_module *module;
    const char *file;     /* of the module; in the model's arena */
    const char *standard; /* that of the standard's module */
    struct tt_findings *findings;
};

/* The words of object classes or of interaction classes. */
struct class_kind {
    const char *class, *member;
    const char *root;
};
static const struct class_kind object_kind = {"objectClass", "attribute", "HLAobjectRoot"};
static const struct class_kind interaction_kind = {"interactionClass", "parameter", "HLAinteractionRoot"};

static enum tt_hla fom_merge_start_module(struct fom_merge *merge, const struct tt_fom_module *module)
{
    merge->module = module;
    merge->file = tt_arena_copy_text(&merge->fom->arena, module->tree->file, strlen(module->tree->file));
    return merge->file ? TUTTI_HLA_OK : tt_exception_raise_memory();
}

static struct tt_fom_place fom_merge_place(const struct fom_merge *merge, const struct tt_tree_node *node)
{
    return (struct tt_fom_place){merge->file, node->line};
}

static enum tt_hla report_fom_conflict(const struct fom_merge *merge, const struct tt_tree_node *node,
                                       const struct tt_fom_place *other, const char *what, const char *name)
{
    return RAISE(InconsistentFOM,
                 "%s:%u: %s '%s' is not the same as in %s:%u; both modules must say the same, or one of them nothing",
                 merge->file, node->line, what, tt_text_excerpt(name).text, other->file, other->line);
}

/* Copies the text of an element to the model; NULL if it has none. */
static enum tt_hla fom_merge_copy_text(struct fom_merge *merge, const struct tt_tree_node *node, const char **copy)
{
    size_t length;
    const char *words = tt_fom_module_text(node, &length);
    *copy = NULL;
    if (length == 0)
        return TUTTI_HLA_OK;
    *copy = tt_arena_copy_text(&merge->fom->arena, words, length);
    return *copy ? TUTTI_HLA_OK : tt_exception_raise_memory();
}

/* <name>, which may not be missing, nor have a dot or a space in it. */
static enum tt_hla fom_merge_read_name(struct fom_merge *merge, const struct tt_tree_node *node, const char **name)
{
    HLA_TRY(fom_merge_copy_text(merge, tt_fom_module_child(node, "name"), name));
    if (!*name)
        return RAISE(InvalidFOM, "%s:%u: <%s> has no <name>", merge->file, node->line,
                     tt_text_excerpt(node->local).text);
    if (strpbrk(*name, ". \t\n\r"))
        return RAISE(InvalidFOM, "%s:%u: the name '%s' has a dot or a space in it", merge->file, node->line,
                     tt_text_excerpt(*name).text);
    return TUTTI_HLA_OK;
}

/* Tables: data types, dimensions, transports, rates */

/* Returns true for the parts of a definition that must agree. Remarks and informal texts may differ. */
static bool fom_merge_is_relevant(const struct tt_tree_node *node)
{
    static const char *const columns[] = {
        "alternative", "cardinality", "dataType", "discriminant",   "encoding", "endian", "enumerator", "field",
        "name",        "rate",        "reliable", "representation", "size",     "units",  "upperBound", "value"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(node->local, columns[i]) == 0)
            return strcmp(columns[i], "encoding") != 0 || strcmp(node->parent->local, "basicData") != 0;
    return false;
}

static void write_columns(struct tt_text *text, const struct tt_tree_node *node);

static void write_column(struct tt_text *text, const struct tt_tree_node *node)
{
    size_t length;
    const char *words = tt_fom_module_text(node, &length);
    if (!fom_merge_is_relevant(node) ||
        (length == 2 && strcmp(node->local, "units") == 0 && strncasecmp(words, "NA", 2) == 0))
        return;
    tt_text_printf(text, "%s{", node->local);
    tt_text_append_n(text, words, length);
    write_columns(text, node);
    tt_text_append(text, "}");
}

static void write_columns(struct tt_text *text, const struct tt_tree_node *node)
{
    for (const struct tt_tree_node *child = node->first; child; child = child->next)
        if (child->local)
            write_column(text, child);
}

static double fom_merge_number(const struct tt_tree_node *node)
{
    static const char *const names[] = {"upperBound", "rate", "reliable"};
    double value = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length;
        const char *words = tt_fom_module_text(tt_fom_module_child(node, names[i]), &length);
        if (length == 3 && strncasecmp(words, "yes", 3) == 0)
            return 1;
        if (tt_number_read_double(words, length, &value))
            return value;
    }
    return 0;
}

/* Data types that a module of 2025 may extend: the table, the extension, and its key. */
static const struct table_extension {
    const char *type, *part, *key;
} extensions[] = {
    {"enumeratedData", "enumerator", "name"},
    {"variantRecordData", "alternative", "enumerator"},
};

static const struct table_extension *find_table_extension(const struct fom_merge *merge,
                                                          const struct tt_tree_node *node)
{
    for (size_t i = 0; merge->module->may_extend && i < sizeof extensions / sizeof *extensions; i++)
        if (strcmp(extensions[i].type, node->local) == 0)
            return &extensions[i];
    return NULL;
}

/* Returns true if the text has a part with this key. */
static bool columns_have_key(const char *columns, const struct table_extension *extension,
                             const struct tt_tree_node *part)
{
    size_t length;
    const char *key = tt_fom_module_text(tt_fom_module_child(part, extension->key), &length);
    struct tt_text text = {0};
    tt_text_printf(&text, "%s{%s{", extension->part, extension->key);
    tt_text_append_n(&text, key, length);
    tt_text_append(&text, "}");
    bool found = text.failed || strstr(columns, text.text);
    tt_text_fini(&text);
    return found;
}

static enum tt_hla fom_merge_extend_entry(struct fom_merge *merge, const struct table_extension *extension,
                                          struct tt_fom_entry *entry, const char *more, const struct tt_tree_node *node)
{
    struct tt_text grown = {0};
    bool same = true;
    if (strlen(entry->columns) > LONGEST_TYPE || strlen(more) > LONGEST_TYPE)
        return RAISE(InvalidFOM, "%s:%u: '%s' is too long to be added to", merge->file, node->line,
                     tt_text_excerpt(entry->name).text);
    tt_text_append(&grown, entry->columns);
    for (const struct tt_tree_node *child = node->first; same && child && !grown.failed; child = child->next) {
        struct tt_text column = {0};
        if (child->local)
            write_column(&column, child);
        if (column.text && !strstr(grown.text, column.text)) {
            same = strcmp(child->local, extension->part) == 0 && !columns_have_key(grown.text, extension, child);
            tt_text_append(&grown, column.text);
        }
        tt_text_fini(&column);
    }
    const char *columns = grown.failed ? NULL : tt_arena_copy_text(&merge->fom->arena, grown.text, grown.length);
    tt_text_fini(&grown);
    if (!same)
        return report_fom_conflict(merge, node, &entry->place, node->local, entry->name);
    if (!columns)
        return tt_exception_raise_memory();
    entry->columns = columns;
    return TUTTI_HLA_OK;
}

static enum tt_hla merge_entry(struct fom_merge *merge, struct tt_fom_table *table, const struct tt_tree_node *node)
{
    struct tt_fom_entry entry = {.number = fom_merge_number(node), .place = fom_merge_place(merge, node)};
    HLA_TRY(fom_merge_read_name(merge, node, &entry.name));

    struct tt_text text = {0};
    tt_text_append(&text, node->local);
    write_columns(&text, node);
    entry.columns = text.failed ? NULL : tt_arena_copy_text(&merge->fom->arena, text.text, text.length);
    tt_text_fini(&text);
    if (!entry.columns)
        return tt_exception_raise_memory();

    uint32_t found = tt_fom_find_entry(table, entry.name);
    if (found) {
        struct tt_fom_entry *other = &table->entries[found - 1];
        if (strcmp(other->columns, entry.columns) == 0)
            return TUTTI_HLA_OK;
        const struct table_extension *extension = find_table_extension(merge, node);
        return extension ? fom_merge_extend_entry(merge, extension, other, entry.columns, node)
                         : report_fom_conflict(merge, node, &other->place, node->local, entry.name);
    }
    if (table->count >= MOST_ENTRIES)
        return RAISE(InvalidFOM, "%s:%u: more than %d entries in one table", merge->file, node->line, MOST_ENTRIES);
    if (!tt_vector_reserve(&table->entries, &table->room, table->count + 1, sizeof *table->entries) ||
        tt_map_add(&table->names, entry.name, (int64_t)table->count, NULL) != TUTTI_OK)
        return tt_exception_raise_memory();
    table->entries[table->count++] = entry;
    return TUTTI_HLA_OK;
}

static enum tt_hla merge_table(struct fom_merge *merge, struct tt_fom_table *table, const struct tt_tree_node *list)
{
    for (const struct tt_tree_node *node = list ? list->first : NULL; node; node = node->next)
        if (node->local && tt_fom_module_child(node, "name"))
            HLA_TRY(merge_entry(merge, table, node));
    return TUTTI_HLA_OK;
}

static enum tt_hla merge_tables(struct fom_merge *merge)
{
    const struct tt_tree_node *root = merge->module->tree->root;
    struct tt_fom *fom = merge->fom;
    HLA_TRY(merge_table(merge, &fom->transportations, tt_fom_module_child(root, "transportations")));
    HLA_TRY(merge_table(merge, &fom->dimensions, tt_fom_module_child(root, "dimensions")));
    HLA_TRY(merge_table(merge, &fom->update_rates, tt_fom_module_child(root, "updateRates")));
    const struct tt_tree_node *types = tt_fom_module_child(root, "dataTypes");
    for (const struct tt_tree_node *list = types ? types->first : NULL; list; list = list->next)
        if (list->local)
            HLA_TRY(merge_table(merge, &fom->data_types, list));
    return TUTTI_HLA_OK;
}

static enum tt_hla read_transportation(struct fom_merge *merge, const struct tt_tree_node *node, uint32_t *handle)
{
    const char *name;
    *handle = 0;
    HLA_TRY(fom_merge_copy_text(merge, tt_fom_module_child(node, "transportation"), &name));
    if (!name || strcmp(name, "NA") == 0)
        return TUTTI_HLA_OK;
    *handle = tt_fom_find_entry(&merge->fom->transportations, name);
    return *handle ? TUTTI_HLA_OK
                   : RAISE(InvalidFOM, "%s:%u: the transportation '%s' is not in any module's table", merge->file,
                           node->line, tt_text_excerpt(name).text);
}

static enum tt_hla read_order(struct fom_merge *merge, const struct tt_tree_node *node, enum tt_message_order *order,
                              bool *said)
{
    size_t length;
    const char *words = tt_fom_module_text(tt_fom_module_child(node, "order"), &length);
    *order = TUTTI_ORDER_RECEIVE;
    *said = length > 0 && !(length == 2 && strncmp(words, "NA", 2) == 0);
    if (!*said || (length == 7 && strncasecmp(words, "Receive", length) == 0))
        return TUTTI_HLA_OK;
    *order = TUTTI_ORDER_TIMESTAMP;
    if (length == 9 && strncasecmp(words, "TimeStamp", length) == 0)
        return TUTTI_HLA_OK;
    return RAISE(InvalidFOM, "%s:%u: an order is Receive or TimeStamp", merge->file, node->line);
}

static int fom_merge_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in <dimensions>, sorted, with a space after each. */
static enum tt_hla fom_merge_read_dimensions(struct fom_merge *merge, const struct tt_tree_node *node,
                                             const char **dimensions)
{
    const char *names[LONGEST_LIST];
    size_t count = 0;
    const struct tt_tree_node *list = tt_fom_module_child(node, "dimensions");
    for (const struct tt_tree_node *d = tt_fom_module_child(list, "dimension"); d;
         d = tt_fom_module_next(d, "dimension")) {
        const char *name;
        HLA_TRY(fom_merge_copy_text(merge, d, &name));
        if (!name || strcmp(name, "NA") == 0)
            continue;
        if (count == LONGEST_LIST)
            return RAISE(InvalidFOM, "%s:%u: more than %d dimensions", merge->file, d->line, LONGEST_LIST);
        if (!tt_fom_find_entry(&merge->fom->dimensions, name))
            tt_findings_add(merge->findings, TUTTI_FINDING_WARNING, merge->file, d->line,
                            "the dimension '%s' is not in any module's table", tt_text_excerpt(name).text);
        names[count++] = name;
    }
    qsort(names, count, sizeof *names, fom_merge_compare_names);
    struct tt_text text = {0};
    tt_text_append(&text, "");
    for (size_t i = 0; i < count; i++)
        tt_text_printf(&text, "%s ", names[i]);
    *dimensions = text.failed ? NULL : tt_arena_copy_text(&merge->fom->arena, text.text ? text.text : "", text.length);
    tt_text_fini(&text);
    return *dimensions ? TUTTI_HLA_OK : tt_exception_raise_memory();
}

static bool same_unless_empty(const char *a, const char *b)
{
    return !a || !b || !*a || !*b || strcmp(a, b) == 0;
}

static enum tt_hla compare_members(struct fom_merge *merge, const struct tt_tree_node *node,
                                   const struct tt_fom_member *old, const struct tt_fom_member *new,
                                   const struct class_kind *kind)
{
    size_t length;
    bool same = same_unless_empty(old->data_type, new->data_type) &&
                same_unless_empty(old->dimensions, new->dimensions);
    (void)tt_fom_module_text(tt_fom_module_child(node, "transportation"), &length);
    same = same && (length == 0 || old->transportation == new->transportation);
    (void)tt_fom_module_text(tt_fom_module_child(node, "order"), &length);
    same = same && (length == 0 || old->order == new->order);
    return same ? TUTTI_HLA_OK : report_fom_conflict(merge, node, &old->place, kind->member, old->name);
}

static enum tt_hla read_member(struct fom_merge *merge, const struct tt_tree_node *node, struct tt_fom_member *member)
{
    bool said;
    member->place = fom_merge_place(merge, node);
    HLA_TRY(fom_merge_read_name(merge, node, &member->name));
    HLA_TRY(fom_merge_copy_text(merge, tt_fom_module_child(node, "dataType"), &member->data_type));
    HLA_TRY(read_transportation(merge, node, &member->transportation));
    HLA_TRY(read_order(merge, node, &member->order, &said));
    HLA_TRY(fom_merge_read_dimensions(merge, node, &member->dimensions));
    if (!member->transportation)
        member->transportation = TUTTI_FOM_RELIABLE;
    return TUTTI_HLA_OK;
}

/* `complete`: the class has members of an earlier module, to which this module must not add. */
static enum tt_hla merge_member(struct fom_merge *merge, struct tt_fom_tree *tree, const struct class_kind *kind,
                                uint32_t class, const struct tt_tree_node *node, bool complete)
{
    struct tt_fom_member member = {.owner = class};
    HLA_TRY(read_member(merge, node, &member));
    uint32_t found = tt_fom_find_member(tree, class, member.name);
    const struct tt_fom_class *c = tt_fom_class(tree, class);
    if (found && tt_fom_member(tree, found)->owner == class)
        return compare_members(merge, node, tt_fom_member(tree, found), &member, kind);
    if (found)
        return RAISE(InvalidFOM, "%s:%u: %s '%s' of %s is declared by a class above it, too", merge->file, node->line,
                     kind->member, tt_text_excerpt(member.name).text, c->name);
    if (complete)
        return RAISE(
            InconsistentFOM,
            "%s:%u: %s '%s' is not in the declaration of %s in %s:%u; a module of IEEE 1516-2010 cannot add to a class",
            merge->file, node->line, kind->member, tt_text_excerpt(member.name).text, c->name, c->place.file,
            c->place.line);
    if (tree->member_count >= MOST)
        return RAISE(InvalidFOM, "%s:%u: more than %d of <%s>", merge->file, node->line, MOST, kind->member);
    if (!tt_vector_reserve(&tree->members, &tree->member_room, tree->member_count + 1, sizeof *tree->members))
        return tt_exception_raise_memory();
    tree->members[tree->member_count++] = member;
    uint32_t *link = &tree->classes[class - 1].members;
    while (*link)
        link = &tree->members[*link - 1].next;
    *link = (uint32_t)tree->member_count;
    return TUTTI_HLA_OK;
}

/* The full name, within bounds. */
static enum tt_hla fom_merge_full_name(struct fom_merge *merge, const struct tt_fom_tree *tree, uint32_t parent,
                                       const struct tt_tree_node *node, const char **full)
{
    const char *name;
    HLA_TRY(fom_merge_read_name(merge, node, &name));
    *full = name;
    if (!parent)
        return TUTTI_HLA_OK;
    struct tt_text text = {0};
    tt_text_printf(&text, "%s.%s", tree->classes[parent - 1].name, name);
    bool fits = text.length < TUTTI_FOM_NAME_MAX;
    *full = text.failed || !fits ? NULL : tt_arena_copy_text(&merge->fom->arena, text.text, text.length);
    tt_text_fini(&text);
    if (!fits)
        return RAISE(InvalidFOM, "%s:%u: the full name of '%s' is longer than %d bytes", merge->file, node->line,
                     tt_text_excerpt(name).text, TUTTI_FOM_NAME_MAX - 1);
    return *full ? TUTTI_HLA_OK : tt_exception_raise_memory();
}

static enum tt_hla fom_merge_add_class(struct fom_merge *merge, struct tt_fom_tree *tree, uint32_t parent,
                                       const char *full, const struct tt_tree_node *node, uint32_t *handle)
{
    if (tree->class_count >= MOST)
        return RAISE(InvalidFOM, "%s:%u: more than %d classes", merge->file, node->line, MOST);
    if (!tt_vector_reserve(&tree->classes, &tree->class_room, tree->class_count + 1, sizeof *tree->classes) ||
        tt_map_add(&tree->names, full, (int64_t)tree->class_count, NULL) != TUTTI_OK)
        return tt_exception_raise_memory();
    tree->classes[tree->class_count++] =
        (struct tt_fom_class){.name = full, .parent = parent, .dimensions = "", .place = fom_merge_place(merge, node)};
    *handle = (uint32_t)tree->class_count;
    if (parent) {
        uint32_t *link = &tree->classes[parent - 1].child;
        while (*link)
            link = &tree->classes[*link - 1].sibling;
        *link = *handle;
    }
    return TUTTI_HLA_OK;
}

/* Reads how an interaction class is sent. */
static enum tt_hla merge_interaction_properties(struct fom_merge *merge, struct tt_fom_tree *tree, uint32_t handle,
                                                const struct tt_tree_node *node)
{
    struct tt_fom_class *class = &tree->classes[handle - 1];
    uint32_t transportation;
    enum tt_message_order order;
    bool said;
    const char *dimensions;
    HLA_TRY(read_transportation(merge, node, &transportation));
    HLA_TRY(read_order(merge, node, &order, &said));
    HLA_TRY(fom_merge_read_dimensions(merge, node, &dimensions));
    if ((transportation && class->transportation && transportation != class->transportation) ||
        (said && class->has_order && order != class->order) || !same_unless_empty(dimensions, class->dimensions))
        return report_fom_conflict(merge, node, &class->place, "interactionClass", class->name);
    if (transportation)
        class->transportation = transportation;
    if (said) {
        class->order = order;
        class->has_order = true;
    }
    if (*dimensions)
        class->dimensions = dimensions;
    return TUTTI_HLA_OK;
}

static enum tt_hla merge_class(struct fom_merge *merge, struct tt_fom_tree *tree, const struct class_kind *kind,
                               uint32_t parent, const struct tt_tree_node *node)
{
    const char *full;
    HLA_TRY(fom_merge_full_name(merge, tree, parent, node, &full));
    if (!parent && strcmp(full, kind->root) != 0)
        return RAISE(InvalidFOM, "%s:%u: the uppermost %s is '%s', not %s", merge->file, node->line, kind->class,
                     tt_text_excerpt(full).text, kind->root);
    int64_t found = tt_map_find(&tree->names, full);
    uint32_t handle = found == TUTTI_MAP_NONE ? 0 : (uint32_t)found + 1;
    bool complete = handle && tree->classes[handle - 1].members && !merge->module->may_extend &&
                    tree->classes[handle - 1].place.file != merge->standard;
    if (!handle)
        HLA_TRY(fom_merge_add_class(merge, tree, parent, full, node, &handle));
    if (kind == &interaction_kind)
        HLA_TRY(merge_interaction_properties(merge, tree, handle, node));
    for (const struct tt_tree_node *child = node->first; child; child = child->next) {
        if (child->local && strcmp(child->local, kind->member) == 0)
            HLA_TRY(merge_member(merge, tree, kind, handle, child, complete));
        else if (child->local && strcmp(child->local, kind->class) == 0)
            HLA_TRY(merge_class(merge, tree, kind, handle, child));
    }
    return TUTTI_HLA_OK;
}

static enum tt_hla merge_classes(struct fom_merge *merge)
{
    const struct tt_tree_node *root = merge->module->tree->root;
    const struct tt_tree_node *list = tt_fom_module_child(root, "objects");
    for (const struct tt_tree_node *n = tt_fom_module_child(list, "objectClass"); n;
         n = tt_fom_module_next(n, "objectClass"))
        HLA_TRY(merge_class(merge, &merge->fom->objects, &object_kind, 0, n));
    list = tt_fom_module_child(root, "interactions");
    for (const struct tt_tree_node *n = tt_fom_module_child(list, "interactionClass"); n;
         n = tt_fom_module_next(n, "interactionClass"))
        HLA_TRY(merge_class(merge, &merge->fom->interactions, &interaction_kind, 0, n));
    const struct tt_tree_node *time = tt_fom_module_child(root, "time");
    const struct tt_tree_node *stamp = tt_fom_module_child(time, "timeStamp");
    stamp = stamp ? stamp : tt_fom_module_child(time, "logicalTime");
    if (!merge->fom->time)
        HLA_TRY(fom_merge_copy_text(merge, tt_fom_module_child(stamp, "dataType"), &merge->fom->time));
    return TUTTI_HLA_OK;
}

static const struct {
    const char *name;
    size_t offset;
} switches[] = {
    {"autoProvide", offsetof(struct tt_fom_switches, auto_provide)},
    {"conveyRegionDesignatorSets", offsetof(struct tt_fom_switches, convey_region_designator_sets)},
    {"attributeScopeAdvisory", offsetof(struct tt_fom_switches, attribute_scope_advisory)},
    {"attributeRelevanceAdvisory", offsetof(struct tt_fom_switches, attribute_relevance_advisory)},
    {"objectClassRelevanceAdvisory", offsetof(struct tt_fom_switches, object_class_relevance_advisory)},
    {"interactionRelevanceAdvisory", offsetof(struct tt_fom_switches, interaction_relevance_advisory)},
    {"serviceReporting", offsetof(struct tt_fom_switches, service_reporting)},
    {"exceptionReporting", offsetof(struct tt_fom_switches, exception_reporting)},
    {"delaySubscriptionEvaluation", offsetof(struct tt_fom_switches, delay_subscription_evaluation)},
    {"advisoriesUseKnownClass", offsetof(struct tt_fom_switches, advisories_use_known_class)},
    {"allowRelaxedDDM", offsetof(struct tt_fom_switches, allow_relaxed_ddm)},
    {"nonRegulatedGrant", offsetof(struct tt_fom_switches, non_regulated_grant)},
    {"sendServiceReportsToFile", offsetof(struct tt_fom_switches, send_service_reports_to_file)},
};
enum { SWITCHES = sizeof switches / sizeof *switches };

static bool read_resign(const char *text, enum tt_resign *action)
{
    static const char *const names[TUTTI_RESIGNS] = {"UnconditionallyDivestAttributes",    "DeleteObjects",
                                                     "CancelPendingOwnershipAcquisitions", "DeleteObjectsThenDivest",
                                                     "CancelThenDeleteThenDivest",         "NoAction"};
    for (int i = 0; i < TUTTI_RESIGNS; i++)
        if (strcasecmp(names[i], text) == 0) {
            *action = (enum tt_resign)i;
            return true;
        }
    return false;
}

/* `set` has a bit for every switch that a module has set. */
static enum tt_hla merge_switch(struct fom_merge *merge, const struct tt_tree_node *node, unsigned *set)
{
    const char *resign = tt_tree_find_attribute(node, "resignAction");
    const char *text = tt_tree_find_attribute(node, "isEnabled");
    struct tt_fom_switches *all = &merge->fom->switches;
    if (resign && strcmp(node->local, "automaticResignAction") == 0) {
        enum tt_resign action;
        if (!read_resign(resign, &action))
            return RAISE(InvalidFOM, "%s:%u: '%s' is no resign action", merge->file, node->line,
                         tt_text_excerpt(resign).text);
        if (!(*set & 1u << SWITCHES))
            all->automatic_resign = action;
        *set |= 1u << SWITCHES;
    }
    for (unsigned i = 0; text && i < SWITCHES; i++) {
        if (strcmp(node->local, switches[i].name) != 0)
            continue;
        bool *place = (bool *)((char *)all + switches[i].offset);
        bool on = strcasecmp(text, "true") == 0 || strcasecmp(text, "enabled") == 0 || strcmp(text, "1") == 0;
        bool off = strcasecmp(text, "false") == 0 || strcasecmp(text, "disabled") == 0 || strcmp(text, "0") == 0;
        if (!on && !off)
            return RAISE(InvalidFOM, "%s:%u: '%s' is neither true nor false", merge->file, node->line,
                         tt_text_excerpt(text).text);
        if (!(*set & 1u << i))
            *place = on;
        else if (*place != on)
            tt_findings_add(merge->findings, TUTTI_FINDING_WARNING, merge->file, node->line,
                            "the switch %s is %s in an earlier module, which counts", switches[i].name,
                            *place ? "on" : "off");
        *set |= 1u << i;
    }
    return TUTTI_HLA_OK;
}

/* A data type that no table has is odd, but values are bytes to the RTI. */
static void fom_merge_check_types(const struct tt_fom *fom, const struct tt_fom_tree *tree,
                                  struct tt_findings *findings)
{
    for (size_t i = 0; i < tree->member_count; i++) {
        const struct tt_fom_member *m = &tree->members[i];
        if (m->data_type && strcmp(m->data_type, "NA") != 0 && !tt_fom_find_entry(&fom->data_types, m->data_type))
            tt_findings_add(findings, TUTTI_FINDING_WARNING, m->place.file, m->place.line,
                            "the data type '%s' of '%s' is not in any module's table",
                            tt_text_excerpt(m->data_type).text, tt_text_excerpt(m->name).text);
    }
}

/* Tables of all modules first: classes refer to those of later modules, too. */
static enum tt_hla merge_all_modules(struct fom_merge *merge, struct tt_fom_module *const *modules, size_t count)
{
    unsigned set = 0;
    for (size_t i = 0; i < count; i++) {
        HLA_TRY(fom_merge_start_module(merge, modules[i]));
        HLA_TRY(merge_tables(merge));
    }
    for (size_t i = 0; i < count; i++) {
        HLA_TRY(fom_merge_start_module(merge, modules[i]));
        merge->standard = i ? merge->standard : merge->file;
        HLA_TRY(merge_classes(merge));
        const struct tt_tree_node *list = tt_fom_module_child(merge->module->tree->root, "switches");
        for (const struct tt_tree_node *node = list ? list->first : NULL; node; node = node->next)
            if (node->local)
                HLA_TRY(merge_switch(merge, node, &set));
    }
    fom_merge_check_types(merge->fom, &merge->fom->objects, merge->findings);
    fom_merge_check_types(merge->fom, &merge->fom->interactions, merge->findings);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fom_merge_modules(struct tt_fom **out, struct tt_fom_module *const *modules, size_t count,
                                 struct tt_findings *findings)
{
    *out = NULL;
    struct tt_fom_module **all = calloc(count + 1, sizeof *all);
    struct fom_merge merge = {.fom = calloc(1, sizeof *merge.fom), .findings = findings};
    enum tt_hla exception = TUTTI_HLA_OK;
    if (!all || !merge.fom || tt_fom_module_read_standard(&all[0]) != TUTTI_OK)
        exception = tt_exception_raise_memory();
    if (!exception) {
        merge.fom->switches.non_regulated_grant = true;
        merge.fom->switches.automatic_resign = TUTTI_RESIGN_CANCEL_DELETE_DIVEST;
        for (size_t i = 0; i < count; i++)
            all[i + 1] = modules[i];
        exception = merge_all_modules(&merge, all, count + 1);
        tt_fom_module_free(all[0]);
    }
    free(all);
    if (exception) {
        tt_fom_free(merge.fom);
        return exception;
    }
    *out = merge.fom;
    return TUTTI_HLA_OK;
}
