/* SPDX-License-Identifier: MIT */
#include "rti/fom/fom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t handle_of(const struct tutti_map *names, const char *name)
{
    int64_t index = tutti_map_find(names, name);
    return index == TUTTI_MAP_NONE ? 0 : (uint32_t)index + 1;
}

const struct tutti_fom_class *tutti_fom_class(const struct tutti_fom_tree *tree, uint32_t handle)
{
    return handle >= 1 && handle <= tree->class_count ? &tree->classes[handle - 1] : NULL;
}

const struct tutti_fom_member *tutti_fom_member(const struct tutti_fom_tree *tree, uint32_t handle)
{
    return handle >= 1 && handle <= tree->member_count ? &tree->members[handle - 1] : NULL;
}

uint32_t tutti_fom_find_class(const struct tutti_fom_tree *tree, const char *name)
{
    uint32_t handle = handle_of(&tree->names, name);
    if (handle)
        return handle;
    char full[TUTTI_FOM_NAME_MAX];
    int length = snprintf(full, sizeof full, "%s.%s", tree->classes[0].name, name);
    if (length < 0 || (size_t)length >= sizeof full)
        return 0;
    return handle_of(&tree->names, full);
}

uint32_t tutti_fom_find_member(const struct tutti_fom_tree *tree, uint32_t class, const char *name)
{
    for (; class; class = tree->classes[class - 1].parent)
        for (uint32_t m = tree->classes[class - 1].members; m; m = tree->members[m - 1].next)
            if (strcmp(tree->members[m - 1].name, name) == 0)
                return m;
    return 0;
}

bool tutti_fom_is_within(const struct tutti_fom_tree *tree, uint32_t class, uint32_t ancestor)
{
    while (class > ancestor) /* a class is declared after its parent */
        class = tree->classes[class - 1].parent;
    return class == ancestor;
}

bool tutti_fom_has_member(const struct tutti_fom_tree *tree, uint32_t class, uint32_t member)
{
    const struct tutti_fom_member *m = tutti_fom_member(tree, member);
    return m && tutti_fom_class(tree, class) && tutti_fom_is_within(tree, class, m->owner);
}

uint32_t tutti_fom_find_entry(const struct tutti_fom_table *table, const char *name)
{
    return handle_of(&table->names, name);
}

const struct tutti_fom_entry *tutti_fom_entry(const struct tutti_fom_table *table, uint32_t handle)
{
    return handle >= 1 && handle <= table->count ? &table->entries[handle - 1] : NULL;
}

static void fini_tree(struct tutti_fom_tree *tree)
{
    free(tree->classes);
    free(tree->members);
    tutti_map_fini(&tree->names);
}

static void fini_table(struct tutti_fom_table *table)
{
    free(table->entries);
    tutti_map_fini(&table->names);
}

void tutti_fom_free(struct tutti_fom *fom)
{
    if (!fom)
        return;
    fini_tree(&fom->objects);
    fini_tree(&fom->interactions);
    fini_table(&fom->data_types);
    fini_table(&fom->dimensions);
    fini_table(&fom->transportations);
    fini_table(&fom->update_rates);
    tutti_arena_fini(&fom->arena);
    free(fom);
}
