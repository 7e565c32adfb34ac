/* SPDX-License-Identifier: MIT */
/* Terminals, icons and layered standards of an FMU, as JSON. */
#include "tell/info.h"
#include "tell/json.h"

static json_t *extent_json(const struct tutti_extent *extent)
{
    const double values[] = {extent->x1, extent->y1, extent->x2, extent->y2};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        tutti_json_append(&list, tutti_number_json(values[i]));
    return list;
}

static json_t *members_json(const struct tutti_desc *desc, const struct tutti_terminals *terminals,
                            const struct tutti_terminal *terminal)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < terminal->member_count; i++) {
        const struct tutti_terminal_member *member = &terminals->members[terminal->first_member + i];
        json_t *json = json_object();
        tutti_info_add_text(&json, "name", member->name);
        tutti_info_add_text(&json, "variable", desc->vars[member->variable].name);
        tutti_info_add_text(&json, "kind", member->kind_name);
        tutti_json_append(&list, json);
    }
    return list;
}

json_t *tutti_info_terminal(const struct tutti_desc *desc, const struct tutti_terminals *terminals, uint32_t index)
{
    const struct tutti_terminal *terminal = &terminals->items[index];
    json_t *json = json_object();
    tutti_info_add_text(&json, "name", terminal->path);
    tutti_info_add_text(&json, "matchingRule", terminal->rule);
    tutti_info_add_text(&json, "terminalKind", terminal->kind);
    tutti_info_add_text(&json, "description", terminal->description);
    tutti_json_set(&json, "members", members_json(desc, terminals, terminal));
    if (terminal->extent.given)
        tutti_json_set(&json, "extent", extent_json(&terminal->extent));
    tutti_info_add_text(&json, "icon", terminal->icon);
    return json;
}

json_t *tutti_info_icon(const struct tutti_fmu *fmu)
{
    const struct tutti_terminals *terminals = fmu->terminals;
    json_t *json = json_object();
    tutti_json_set(&json, "coordinates", extent_json(&terminals->coordinates));
    tutti_json_set(&json, "millimetres", tutti_number_json(terminals->millimetres));
    if (terminals->icon.given)
        tutti_json_set(&json, "extent", extent_json(&terminals->icon));
    if (tutti_archive_has(fmu->archive, "terminalsAndIcons/icon.png"))
        tutti_info_add_text(&json, "png", "terminalsAndIcons/icon.png");
    if (tutti_archive_has(fmu->archive, "terminalsAndIcons/icon.svg"))
        tutti_info_add_text(&json, "svg", "terminalsAndIcons/icon.svg");
    return json;
}

static json_t *layer_json(const struct tutti_layer *layer)
{
    json_t *json = json_object();
    tutti_info_add_text(&json, "name", layer->name);
    tutti_info_add_text(&json, "version", layer->version);
    tutti_info_add_text(&json, "description", layer->description);
    tutti_info_add_text(&json, "meaning", layer->meaning);
    if (layer->bus_simulation)
        tutti_json_set(&json, "isBusSimulationFMU", json_true());
    return json;
}

json_t *tutti_info_layers(struct tutti_fmu *fmu)
{
    struct tutti_arena arena = {0};
    struct tutti_layer layer;
    bool found = true;
    json_t *list = json_array();
    for (size_t at = 0; found && list;) {
        if (tutti_fmu_next_layer(fmu, &at, &layer, &arena, NULL, &found) != TUTTI_OK)
            tutti_json_append(&list, NULL); /* out of memory */
        else if (found)
            tutti_json_append(&list, layer_json(&layer));
    }
    tutti_arena_fini(&arena);
    return list;
}
