/* SPDX-License-Identifier: MIT */
#include "web/system/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { DEEPEST = 50 };

void tutti_web_origins_fini(struct tutti_web_origins *origins)
{
    for (size_t i = 0; i < origins->count; i++)
        free(origins->all[i].id);
    free(origins->all);
}

const struct tutti_web_origin *tutti_web_origins_of(const struct tutti_web_origins *origins, const json_t *json)
{
    for (size_t i = 0; i < origins->count; i++)
        if (origins->all[i].json == json)
            return &origins->all[i];
    return NULL;
}

bool tutti_web_origins_has(const struct tutti_web_origins *origins, const struct tutti_node *node)
{
    for (size_t i = 0; i < origins->count; i++)
        if (origins->all[i].node == node)
            return true;
    return false;
}

/* ---- in the file ---- */

/* A system, or a unit, of the file. */
struct place {
    struct tutti_node *node; /* NULL: there is none */
    json_t *before;
    struct tutti_text id;
};

static const char *text_at(json_t *list, size_t i)
{
    return json_string_value(json_array_get(list, i));
}

static json_t *named(json_t *list, const char *name)
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

static struct tutti_node *named_node(const struct tutti_node *parent, const char *list_name, const char *name)
{
    const struct tutti_node *list = parent ? tutti_node_child(parent, TUTTI_SPACE_SSD, list_name) : NULL;
    for (struct tutti_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *given = node->text ? NULL : tutti_node_attribute(node, "name");
        if (given && name && strcmp(given, name) == 0)
            return node;
    }
    return NULL;
}

/* Into the unit of this name. */
static void go_into(struct place *place, const char *name)
{
    place->node = named_node(place->node, "Elements", name);
    place->before = place->node ? named(json_object_get(place->before, "elements"), name) : NULL;
    tutti_text_printf(&place->id, "%s%s", place->id.length > 0 ? "." : "", name ? name : "");
}

/* The system that the origin of a part is in; `own` names, at the end of the list, are its own. */
static void find_system(const struct tutti_web_origins *origins, json_t *origin, size_t own, const struct place *here,
                        struct place *place)
{
    *place = (struct place){.node = origins->root, .before = origins->before};
    if (!json_is_array(origin)) {
        place->node = here->node;
        place->before = here->before;
        tutti_text_append_n(&place->id, here->id.text ? here->id.text : "", here->id.length);
        return;
    }
    for (size_t i = 0; i + own < json_array_size(origin); i++)
        go_into(place, text_at(origin, i));
}

static const char *own_name(json_t *origin)
{
    return json_is_array(origin) ? text_at(origin, json_array_size(origin) - 1) : json_string_value(origin);
}

/* Connections of the file and of its JSON are in the same order. */
static void find_connection(const struct place *system, const char *from, const char *to,
                            struct tutti_web_origin *found)
{
    struct tutti_node *list = system->node ? tutti_node_child(system->node, TUTTI_SPACE_SSD, "Connections") : NULL;
    struct tutti_node *node = list ? tutti_node_child(list, TUTTI_SPACE_SSD, "Connection") : NULL;
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
        node = node ? tutti_node_next(node, TUTTI_SPACE_SSD, "Connection") : NULL;
    }
}

/* ---- in the document ---- */

/* Takes the id. */
static enum tutti_err add(struct tutti_web_origins *origins, const struct tutti_web_origin *found, const char *what)
{
    struct tutti_web_origin *more = NULL;
    enum tutti_err err = TUTTI_OK;
    if (found->node && tutti_web_origins_has(origins, found->node))
        err = tutti_fail(TUTTI_ERR_ARGUMENT, "two %s come from the same one of the file", what);
    else if (found->node && found->before) {
        more = reallocarray(origins->all, origins->count + 1, sizeof *more);
        err = more ? TUTTI_OK : tutti_fail_memory();
    }
    if (!more) {
        free(found->id);
        return err;
    }
    origins->all = more;
    more[origins->count++] = *found;
    return TUTTI_OK;
}

static enum tutti_err add_connectors(struct tutti_web_origins *origins, const struct place *here, json_t *system)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(system, "connectors"), i, item)
    {
        json_t *origin = json_object_get(item, "origin");
        struct place at;
        if (!origin)
            continue;
        find_system(origins, origin, 1, here, &at);
        const char *name = own_name(origin);
        struct tutti_web_origin found = {item, named_node(at.node, "Connectors", name),
                                         named(json_object_get(at.before, "connectors"), name), NULL};
        tutti_text_fini(&at.id);
        TRY(add(origins, &found, "connectors"));
    }
    return TUTTI_OK;
}

static enum tutti_err add_connections(struct tutti_web_origins *origins, const struct place *here, json_t *system)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(system, "connections"), i, item)
    {
        json_t *origin = json_object_get(item, "origin");
        size_t count = json_array_size(origin);
        const char *from = count > 1 ? text_at(origin, count - 2) : NULL, *to = count > 1 ? own_name(origin) : NULL;
        struct tutti_web_origin found = {.json = item};
        struct place at;
        if (!from || !to)
            continue;
        find_system(origins, origin, 2, here, &at);
        find_connection(&at, from, to, &found);
        tutti_text_fini(&at.id);
        TRY(add(origins, &found, "connections"));
    }
    return TUTTI_OK;
}

static enum tutti_err add_system(struct tutti_web_origins *origins, const struct place *here, json_t *system,
                                 unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than DEEPEST */
static enum tutti_err add_element(struct tutti_web_origins *origins, const struct place *here, json_t *item,
                                  unsigned depth)
{
    json_t *origin = json_object_get(item, "origin");
    struct place at;
    find_system(origins, origin, 1, here, &at);
    go_into(&at, own_name(origin));
    struct tutti_web_origin found = {item, at.node, at.before,
                                     at.id.failed ? NULL : tutti_str_copy(at.id.text ? at.id.text : "")};
    enum tutti_err err = found.id ? TUTTI_OK : tutti_fail_memory();
    if (!err)
        err = add(origins, &found, "units");
    if (!err)
        err = add_system(origins, &at, item, depth + 1);
    tutti_text_fini(&at.id);
    return err;
}

/* Its connectors are those of an FMU if it has no elements. NOLINTNEXTLINE(misc-no-recursion): no deeper than DEEPEST */
static enum tutti_err add_system(struct tutti_web_origins *origins, const struct place *here, json_t *system,
                                 unsigned depth)
{
    size_t i;
    json_t *item, *elements = json_object_get(system, "elements");
    if (depth > DEEPEST)
        return tutti_fail(TUTTI_ERR_LIMIT, "systems in systems are nested too deeply");
    if (!json_is_array(elements))
        return TUTTI_OK;
    TRY(add_connectors(origins, here, system));
    TRY(add_connections(origins, here, system));
    json_array_foreach(elements, i, item)
    {
        TRY(add_element(origins, here, item, depth));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_web_origins_find(struct tutti_web_origins *origins, struct tutti_node *root, json_t *before,
                                      json_t *document)
{
    struct place here = {.node = root, .before = before};
    origins->root = root;
    origins->before = before;
    return root ? add_system(origins, &here, document, 0) : TUTTI_OK;
}
