/* SPDX-License-Identifier: MIT */
#include "apps/web/system/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { DEEPEST = 50 };

void tt_origins_fini(struct tt_origins *origins)
{
    for (size_t i = 0; i < origins->count; i++)
        free(origins->all[i].id);
    free(origins->all);
}

const struct tt_origin *tt_origins_find_node(const struct tt_origins *origins, const json_t *json)
{
    for (size_t i = 0; i < origins->count; i++)
        if (origins->all[i].json == json)
            return &origins->all[i];
    return NULL;
}

bool tt_origins_has(const struct tt_origins *origins, const struct tt_tree_node *node)
{
    for (size_t i = 0; i < origins->count; i++)
        if (origins->all[i].node == node)
            return true;
    return false;
}

/* ---- in the file ---- */

/* A system, or a unit, of the file. */
struct origin_place {
    struct tt_tree_node *node; /* NULL: none */
    json_t *before;
    struct tt_text id;
};

static const char *origins_text_at(json_t *list, size_t i)
{
    return json_string_value(json_array_get(list, i));
}

static json_t *origins_find_named(json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *given = json_string_value(json_object_get(item, "name"));
        if (given && name && strcmp(given, name) == 0)
            return item;
    }
    return NULL;
}

static struct tt_tree_node *named_node(const struct tt_tree_node *parent, const char *list_name, const char *name)
{
    const struct tt_tree_node *list = parent ? tt_tree_find_child(parent, TUTTI_SPACE_SSD, list_name) : NULL;
    for (struct tt_tree_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *given = node->text ? NULL : tt_tree_find_attribute(node, "name");
        if (given && name && strcmp(given, name) == 0)
            return node;
    }
    return NULL;
}

/* Into the unit of this name. */
static void enter_element(struct origin_place *place, const char *name)
{
    place->node = named_node(place->node, "Elements", name);
    place->before = place->node ? origins_find_named(json_object_get(place->before, "elements"), name) : NULL;
    tt_text_printf(&place->id, "%s%s", place->id.length > 0 ? "." : "", name ? name : "");
}

/* The system that the origin of a part is in; `own` names, at the end of the list, are its own. */
static void find_system(const struct tt_origins *origins, json_t *origin, size_t own, const struct origin_place *here,
                        struct origin_place *place)
{
    *place = (struct origin_place){.node = origins->root, .before = origins->before};
    if (!json_is_array(origin)) {
        place->node = here->node;
        place->before = here->before;
        tt_text_append_n(&place->id, here->id.text ? here->id.text : "", here->id.length);
        return;
    }
    for (size_t i = 0; i + own < json_array_size(origin); i++)
        enter_element(place, origins_text_at(origin, i));
}

static const char *own_origin_name(json_t *origin)
{
    return json_is_array(origin) ? origins_text_at(origin, json_array_size(origin) - 1) : json_string_value(origin);
}

/* Connections of the file and of its JSON are in the same order. */
static void origins_find_connection(const struct origin_place *system, const char *from, const char *to,
                                    struct tt_origin *found)
{
    struct tt_tree_node *list = system->node ? tt_tree_find_child(system->node, TUTTI_SPACE_SSD, "Connections") : NULL;
    struct tt_tree_node *node = list ? tt_tree_find_child(list, TUTTI_SPACE_SSD, "Connection") : NULL;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(system->before, "connections"), i, item)
    {
        const char *a = json_string_value(json_object_get(item, "from")),
                   *b = json_string_value(json_object_get(item, "to"));
        if (node && a && b && strcmp(a, from) == 0 && strcmp(b, to) == 0) {
            found->node = node;
            found->before = item;
            return;
        }
        node = node ? tt_tree_find_next(node, TUTTI_SPACE_SSD, "Connection") : NULL;
    }
}

/* ---- in the document ---- */

/* Takes the id. */
static enum tutti_err origins_add(struct tt_origins *origins, const struct tt_origin *found, const char *what)
{
    struct tt_origin *more = NULL;
    enum tutti_err err = TUTTI_OK;
    if (found->node && tt_origins_has(origins, found->node))
        err = tt_fail(TUTTI_ERR_ARGUMENT, "two %s come from the same one of the file", what);
    else if (found->node && found->before) {
        more = reallocarray(origins->all, origins->count + 1, sizeof *more);
        err = more ? TUTTI_OK : tt_fail_memory();
    }
    if (!more) {
        free(found->id);
        return err;
    }
    origins->all = more;
    more[origins->count++] = *found;
    return TUTTI_OK;
}

static enum tutti_err add_connectors(struct tt_origins *origins, const struct origin_place *here, json_t *system)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(system, "connectors"), i, item)
    {
        json_t *origin = json_object_get(item, "origin");
        struct origin_place at;
        if (!origin)
            continue;
        find_system(origins, origin, 1, here, &at);
        const char *name = own_origin_name(origin);
        struct tt_origin found = {item, named_node(at.node, "Connectors", name),
                                  origins_find_named(json_object_get(at.before, "connectors"), name), NULL};
        tt_text_fini(&at.id);
        TRY(origins_add(origins, &found, "connectors"));
    }
    return TUTTI_OK;
}

static enum tutti_err origins_add_connections(struct tt_origins *origins, const struct origin_place *here,
                                              json_t *system)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(system, "connections"), i, item)
    {
        json_t *origin = json_object_get(item, "origin");
        size_t count = json_array_size(origin);
        const char *from = count > 1 ? origins_text_at(origin, count - 2) : NULL,
                   *to = count > 1 ? own_origin_name(origin) : NULL;
        struct tt_origin found = {.json = item};
        struct origin_place at;
        if (!from || !to)
            continue;
        find_system(origins, origin, 2, here, &at);
        origins_find_connection(&at, from, to, &found);
        tt_text_fini(&at.id);
        TRY(origins_add(origins, &found, "connections"));
    }
    return TUTTI_OK;
}

static enum tutti_err origins_add_system(struct tt_origins *origins, const struct origin_place *here, json_t *system,
                                         unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEEPEST */
static enum tutti_err add_element(struct tt_origins *origins, const struct origin_place *here, json_t *item,
                                  unsigned depth)
{
    json_t *origin = json_object_get(item, "origin");
    struct origin_place at;
    find_system(origins, origin, 1, here, &at);
    enter_element(&at, own_origin_name(origin));
    struct tt_origin found = {item, at.node, at.before,
                              at.id.failed ? NULL : tt_text_copy(at.id.text ? at.id.text : "")};
    enum tutti_err err = found.id ? TUTTI_OK : tt_fail_memory();
    if (!err)
        err = origins_add(origins, &found, "units");
    if (!err)
        err = origins_add_system(origins, &at, item, depth + 1);
    tt_text_fini(&at.id);
    return err;
}

/* Its connectors are those of an FMU if it has no elements. NOLINTNEXTLINE(misc-no-recursion): no deeper than DEEPEST */
static enum tutti_err origins_add_system(struct tt_origins *origins, const struct origin_place *here, json_t *system,
                                         unsigned depth)
{
    size_t i;
    json_t *item, *elements = json_object_get(system, "elements");
    if (depth > DEEPEST)
        return tt_fail(TUTTI_ERR_LIMIT, "systems in systems are nested too deeply");
    if (!json_is_array(elements))
        return TUTTI_OK;
    TRY(add_connectors(origins, here, system));
    TRY(origins_add_connections(origins, here, system));
    json_array_foreach(elements, i, item)
    {
        TRY(add_element(origins, here, item, depth));
    }
    return TUTTI_OK;
}

enum tutti_err tt_origins_collect(struct tt_origins *origins, struct tt_tree_node *root, json_t *before,
                                  json_t *document)
{
    struct origin_place here = {.node = root, .before = before};
    origins->root = root;
    origins->before = before;
    return root ? origins_add_system(origins, &here, document, 0) : TUTTI_OK;
}
