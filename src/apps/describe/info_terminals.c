/* SPDX-License-Identifier: MIT */
/* Terminals, icons and layered standards of an FMU, as JSON. */
#include "apps/describe/info.h"
#include "apps/describe/json.h"

static json_t *extent_json(const struct tt_extent *extent)
{
    const double values[] = {extent->x1, extent->y1, extent->x2, extent->y2};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        tt_json_append(&list, tt_json_number(values[i]));
    return list;
}

static json_t *members_json(const struct tt_description *desc, const struct tt_terminals *terminals,
                            const struct tt_terminal *terminal)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < terminal->member_count; i++) {
        const struct tt_terminal_member *member = &terminals->members[terminal->first_member + i];
        json_t *json = json_object();
        tt_info_add_text(&json, "name", member->name);
        tt_info_add_text(&json, "variable", desc->vars[member->variable].name);
        tt_info_add_text(&json, "kind", member->kind_name);
        tt_json_append(&list, json);
    }
    return list;
}

json_t *tt_info_terminal_json(const struct tt_description *desc, const struct tt_terminals *terminals, uint32_t index)
{
    const struct tt_terminal *terminal = &terminals->items[index];
    json_t *json = json_object();
    tt_info_add_text(&json, "name", terminal->path);
    tt_info_add_text(&json, "matchingRule", terminal->rule);
    tt_info_add_text(&json, "terminalKind", terminal->kind);
    tt_info_add_text(&json, "description", terminal->description);
    tt_json_set(&json, "members", members_json(desc, terminals, terminal));
    if (terminal->extent.given)
        tt_json_set(&json, "extent", extent_json(&terminal->extent));
    tt_info_add_text(&json, "icon", terminal->icon);
    return json;
}

json_t *tt_info_icon_json(const struct tt_fmu *fmu)
{
    const struct tt_terminals *terminals = fmu->terminals;
    json_t *json = json_object();
    tt_json_set(&json, "coordinates", extent_json(&terminals->coordinates));
    tt_json_set(&json, "millimetres", tt_json_number(terminals->millimetres));
    if (terminals->icon.given)
        tt_json_set(&json, "extent", extent_json(&terminals->icon));
    if (tt_archive_has(fmu->archive, "terminalsAndIcons/icon.png"))
        tt_info_add_text(&json, "png", "terminalsAndIcons/icon.png");
    if (tt_archive_has(fmu->archive, "terminalsAndIcons/icon.svg"))
        tt_info_add_text(&json, "svg", "terminalsAndIcons/icon.svg");
    return json;
}

static json_t *layer_json(const struct tt_layer *layer)
{
    json_t *json = json_object();
    tt_info_add_text(&json, "name", layer->name);
    tt_info_add_text(&json, "version", layer->version);
    tt_info_add_text(&json, "description", layer->description);
    tt_info_add_text(&json, "meaning", layer->meaning);
    if (layer->bus_simulation)
        tt_json_set(&json, "isBusSimulationFMU", json_true());
    return json;
}

json_t *tt_info_layers_json(struct tt_fmu *fmu)
{
    struct tt_arena arena = {0};
    struct tt_layer layer;
    bool found = true;
    json_t *list = json_array();
    for (size_t at = 0; found && list;) {
        if (tt_fmu_next_layer(fmu, &at, &layer, &arena, NULL, &found) != TUTTI_OK)
            tt_json_append(&list, NULL); /* out of memory */
        else if (found)
            tt_json_append(&list, layer_json(&layer));
    }
    tt_arena_fini(&arena);
    return list;
}
