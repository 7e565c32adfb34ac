/* SPDX-License-Identifier: MIT */
#include "hla/fom/fom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
