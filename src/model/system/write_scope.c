/* SPDX-License-Identifier: MIT */
/* Units and enumerations of many FMUs in one document. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "model/system/ssp_elements.h"

void tt_ssp_elements_scope_fini(struct tt_ssp_elements_scope *scope)
{
    tt_map_fini(&scope->units);
    tt_map_fini(&scope->enumerations);
    free(scope->unit_defs);
    free(scope->enumeration_defs);
    free(scope->enumeration_names);
}

/* Makes room for one more in an array of pointers. */
static bool ssp_elements_grow(void *array, size_t count, size_t *room)
{
    void **items = array;
    if (count < *room)
        return true;
    size_t larger = *room ? 2 * *room : 16;
    void *grown = reallocarray(*items, larger, sizeof(void *));
    if (!grown)
        return false;
    *items = grown;
    *room = larger;
    return true;
}

/* ---- units ---- */

static bool ssp_elements_same_unit(const struct tt_unit_def *a, const struct tt_unit_def *b)
{
    return memcmp(a->exponents, b->exponents, sizeof a->exponents) == 0 && !(a->factor < b->factor) &&
           !(a->factor > b->factor) && !(a->offset < b->offset) && !(a->offset > b->offset);
}

const char *tt_ssp_elements_scope_unit(struct tt_ssp_elements_scope *scope, const struct tt_description *desc,
                                       const struct tt_var *var)
{
    const struct tt_unit_def *def = var->unit == TUTTI_NONE ? NULL : &desc->units[var->unit];
    if (!def || !def->has_base)
        return NULL;
    int64_t known = tt_map_find(&scope->units, def->name);
    if (known != TUTTI_MAP_NONE)
        return ssp_elements_same_unit(scope->unit_defs[known], def) ? def->name : NULL;
    size_t count = scope->units.count;
    if (!ssp_elements_grow(&scope->unit_defs, count, &scope->unit_room) ||
        tt_map_add(&scope->units, def->name, (int64_t)count, NULL) != TUTTI_OK) {
        scope->maker->failed = true;
        return NULL;
    }
    scope->unit_defs[count] = def;
    return def->name;
}

static void ssp_elements_write_unit(struct tt_editor *maker, struct tt_tree_node *units, const struct tt_unit_def *def)
{
    static const char *const names[] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    struct tt_tree_node *unit = tt_edit_add(maker, units, TUTTI_SPACE_SSC, "Unit");
    tt_edit_set(maker, unit, "name", def->name);
    struct tt_tree_node *base = tt_edit_add(maker, unit, TUTTI_SPACE_SSC, "BaseUnit");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (def->exponents[i] != 0)
            tt_edit_set_number(maker, base, names[i], def->exponents[i]);
    if (def->factor < 1 || def->factor > 1)
        tt_edit_set_number(maker, base, "factor", def->factor);
    if (def->offset < 0 || def->offset > 0)
        tt_edit_set_number(maker, base, "offset", def->offset);
}

/* ---- enumerations ---- */

/* SSP wants 32 bits and different names; FMI does not. */
static bool enumeration_is_writable(struct tt_editor *maker, const struct tt_type_def *def)
{
    struct tt_map names = {0};
    bool good = def->item_count > 0;
    for (uint32_t i = 0; i < def->item_count && good && !maker->failed; i++) {
        int64_t earlier = TUTTI_MAP_NONE;
        maker->failed = tt_map_add(&names, def->items[i].name, i, &earlier) != TUTTI_OK;
        good = def->items[i].value >= INT32_MIN && def->items[i].value <= INT32_MAX && earlier == TUTTI_MAP_NONE;
    }
    tt_map_fini(&names);
    return good;
}

static bool ssp_elements_same_items(const struct tt_type_def *a, const struct tt_type_def *b)
{
    bool same = a->item_count == b->item_count;
    for (uint32_t i = 0; i < a->item_count && same && a != b; i++)
        same = a->items[i].value == b->items[i].value && strcmp(a->items[i].name, b->items[i].name) == 0;
    return same;
}

static const char *ssp_elements_add_enum(struct tt_ssp_elements_scope *scope, const char *name,
                                         const struct tt_type_def *def)
{
    size_t count = scope->enumerations.count, room = scope->enumeration_room;
    const char *copy = tt_arena_copy_text(&scope->maker->tree->arena, name, strlen(name));
    if (!copy || !ssp_elements_grow(&scope->enumeration_names, count, &room) ||
        !ssp_elements_grow(&scope->enumeration_defs, count, &scope->enumeration_room) ||
        tt_map_add(&scope->enumerations, copy, (int64_t)count, NULL) != TUTTI_OK) {
        scope->maker->failed = true;
        return NULL;
    }
    scope->enumeration_names[count] = copy;
    scope->enumeration_defs[count] = def;
    return copy;
}

const char *tt_ssp_elements_scope_enum(struct tt_ssp_elements_scope *scope, const struct tt_description *desc,
                                       const struct tt_var *var)
{
    const struct tt_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    if (!def || !enumeration_is_writable(scope->maker, def))
        return NULL;
    struct tt_text name = {0};
    const char *found = NULL;
    tt_text_append(&name, def->name);
    for (unsigned number = 2; !found && !name.failed && !scope->maker->failed; number++) {
        int64_t known = tt_map_find(&scope->enumerations, name.text);
        if (known == TUTTI_MAP_NONE)
            found = ssp_elements_add_enum(scope, name.text, def);
        else if (ssp_elements_same_items(scope->enumeration_defs[known], def))
            found = scope->enumeration_names[known];
        name.length = 0;
        tt_text_printf(&name, "%s_%u", def->name, number);
    }
    scope->maker->failed |= name.failed;
    tt_text_fini(&name);
    return found;
}

static void ssp_elements_write_enum(struct tt_editor *maker, struct tt_tree_node *list, const char *name,
                                    const struct tt_type_def *def)
{
    struct tt_tree_node *enumeration = tt_edit_add(maker, list, TUTTI_SPACE_SSC, "Enumeration");
    tt_edit_set(maker, enumeration, "name", name);
    for (uint32_t i = 0; i < def->item_count; i++) {
        struct tt_tree_node *item = tt_edit_add(maker, enumeration, TUTTI_SPACE_SSC, "Item");
        tt_edit_set(maker, item, "name", def->items[i].name);
        tt_edit_set_number(maker, item, "value", (double)def->items[i].value);
    }
}

void tt_ssp_elements_write_scope(struct tt_ssp_elements_scope *scope, struct tt_tree_node *root)
{
    struct tt_editor *maker = scope->maker;
    if (scope->enumerations.count > 0) {
        struct tt_tree_node *list = tt_edit_add(maker, root, TUTTI_SPACE_SSD, "Enumerations");
        for (size_t i = 0; i < scope->enumerations.count; i++)
            ssp_elements_write_enum(maker, list, scope->enumeration_names[i], scope->enumeration_defs[i]);
    }
    if (scope->units.count > 0) {
        struct tt_tree_node *list = tt_edit_add(maker, root, TUTTI_SPACE_SSD, "Units");
        for (size_t i = 0; i < scope->units.count; i++)
            ssp_elements_write_unit(maker, list, scope->unit_defs[i]);
    }
}
