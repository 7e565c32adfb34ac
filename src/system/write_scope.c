/* SPDX-License-Identifier: MIT */
/* Units and enumerations of many FMUs in one document. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "system/write_parts.h"

void tutti_write_scope_fini(struct tutti_write_scope *scope)
{
    tutti_map_fini(&scope->units);
    tutti_map_fini(&scope->enumerations);
    free(scope->unit_defs);
    free(scope->enumeration_defs);
    free(scope->enumeration_names);
}

/* Makes room for one more in an array of pointers. */
static bool grow(void *array, size_t count, size_t *room)
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

static bool same_unit(const struct tutti_unit_def *a, const struct tutti_unit_def *b)
{
    return memcmp(a->exponents, b->exponents, sizeof a->exponents) == 0 && !(a->factor < b->factor) &&
           !(a->factor > b->factor) && !(a->offset < b->offset) && !(a->offset > b->offset);
}

const char *tutti_write_scope_unit(struct tutti_write_scope *scope, const struct tutti_desc *desc,
                                   const struct tutti_var *var)
{
    const struct tutti_unit_def *def = var->unit == TUTTI_NONE ? NULL : &desc->units[var->unit];
    if (!def || !def->has_base)
        return NULL;
    int64_t known = tutti_map_find(&scope->units, def->name);
    if (known != TUTTI_MAP_NONE)
        return same_unit(scope->unit_defs[known], def) ? def->name : NULL;
    size_t count = scope->units.count;
    if (!grow(&scope->unit_defs, count, &scope->unit_room) ||
        tutti_map_add(&scope->units, def->name, (int64_t)count, NULL) != TUTTI_OK) {
        scope->maker->failed = true;
        return NULL;
    }
    scope->unit_defs[count] = def;
    return def->name;
}

static void write_unit(struct tutti_maker *maker, struct tutti_node *units, const struct tutti_unit_def *def)
{
    static const char *const names[] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    struct tutti_node *unit = tutti_make(maker, units, TUTTI_SPACE_SSC, "Unit");
    tutti_make_set(maker, unit, "name", def->name);
    struct tutti_node *base = tutti_make(maker, unit, TUTTI_SPACE_SSC, "BaseUnit");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (def->exponents[i] != 0)
            tutti_make_number(maker, base, names[i], def->exponents[i]);
    if (def->factor < 1 || def->factor > 1)
        tutti_make_number(maker, base, "factor", def->factor);
    if (def->offset < 0 || def->offset > 0)
        tutti_make_number(maker, base, "offset", def->offset);
}

/* ---- enumerations ---- */

/* SSP wants 32 bits and different names; FMI does not. */
static bool can_be_written(struct tutti_maker *maker, const struct tutti_type_def *def)
{
    struct tutti_map names = {0};
    bool good = def->item_count > 0;
    for (uint32_t i = 0; i < def->item_count && good && !maker->failed; i++) {
        int64_t earlier = TUTTI_MAP_NONE;
        maker->failed = tutti_map_add(&names, def->items[i].name, i, &earlier) != TUTTI_OK;
        good = def->items[i].value >= INT32_MIN && def->items[i].value <= INT32_MAX && earlier == TUTTI_MAP_NONE;
    }
    tutti_map_fini(&names);
    return good;
}

static bool same_items(const struct tutti_type_def *a, const struct tutti_type_def *b)
{
    bool same = a->item_count == b->item_count;
    for (uint32_t i = 0; i < a->item_count && same && a != b; i++)
        same = a->items[i].value == b->items[i].value && strcmp(a->items[i].name, b->items[i].name) == 0;
    return same;
}

static const char *add_enumeration(struct tutti_write_scope *scope, const char *name, const struct tutti_type_def *def)
{
    size_t count = scope->enumerations.count, room = scope->enumeration_room;
    const char *copy = tutti_arena_text(&scope->maker->tree->arena, name, strlen(name));
    if (!copy || !grow(&scope->enumeration_names, count, &room) ||
        !grow(&scope->enumeration_defs, count, &scope->enumeration_room) ||
        tutti_map_add(&scope->enumerations, copy, (int64_t)count, NULL) != TUTTI_OK) {
        scope->maker->failed = true;
        return NULL;
    }
    scope->enumeration_names[count] = copy;
    scope->enumeration_defs[count] = def;
    return copy;
}

const char *tutti_write_scope_enumeration(struct tutti_write_scope *scope, const struct tutti_desc *desc,
                                          const struct tutti_var *var)
{
    const struct tutti_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    if (!def || !can_be_written(scope->maker, def))
        return NULL;
    struct tutti_text name = {0};
    const char *found = NULL;
    tutti_text_append(&name, def->name);
    for (unsigned number = 2; !found && !name.failed && !scope->maker->failed; number++) {
        int64_t known = tutti_map_find(&scope->enumerations, name.text);
        if (known == TUTTI_MAP_NONE)
            found = add_enumeration(scope, name.text, def);
        else if (same_items(scope->enumeration_defs[known], def))
            found = scope->enumeration_names[known];
        name.length = 0;
        tutti_text_printf(&name, "%s_%u", def->name, number);
    }
    scope->maker->failed |= name.failed;
    tutti_text_fini(&name);
    return found;
}

static void write_enumeration(struct tutti_maker *maker, struct tutti_node *list, const char *name,
                              const struct tutti_type_def *def)
{
    struct tutti_node *enumeration = tutti_make(maker, list, TUTTI_SPACE_SSC, "Enumeration");
    tutti_make_set(maker, enumeration, "name", name);
    for (uint32_t i = 0; i < def->item_count; i++) {
        struct tutti_node *item = tutti_make(maker, enumeration, TUTTI_SPACE_SSC, "Item");
        tutti_make_set(maker, item, "name", def->items[i].name);
        tutti_make_number(maker, item, "value", (double)def->items[i].value);
    }
}

void tutti_write_scope_end(struct tutti_write_scope *scope, struct tutti_node *root)
{
    struct tutti_maker *maker = scope->maker;
    if (scope->enumerations.count > 0) {
        struct tutti_node *list = tutti_make(maker, root, TUTTI_SPACE_SSD, "Enumerations");
        for (size_t i = 0; i < scope->enumerations.count; i++)
            write_enumeration(maker, list, scope->enumeration_names[i], scope->enumeration_defs[i]);
    }
    if (scope->units.count > 0) {
        struct tutti_node *list = tutti_make(maker, root, TUTTI_SPACE_SSD, "Units");
        for (size_t i = 0; i < scope->units.count; i++)
            write_unit(maker, list, scope->unit_defs[i]);
    }
}
