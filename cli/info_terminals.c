/* SPDX-License-Identifier: MIT */
/* Terminals and layered standards of an FMU, for people. */
#include <stdio.h>

#include "info.h"

static void print_member(const struct tt_description *desc, const struct tt_terminal_member *member)
{
    const struct tt_var *var = &desc->vars[member->variable];
    printf("    %-12s %-11s ", member->kind_name, tt_description_causality_name(var->causality));
    if (member->name) {
        info_put(member->name);
        fputs(" = ", stdout);
    }
    info_put(var->name);
    putchar('\n');
}

void info_print_terminals(struct tt_fmu *fmu, bool members)
{
    const struct tt_terminals *terminals;
    if (tt_fmu_terminals(fmu, NULL, &terminals) != TUTTI_OK) {
        info_line("terminals", tutti_err_message());
        return;
    }
    if (!terminals || terminals->count == 0)
        return;
    puts("\nTerminals");
    for (uint32_t i = 0; i < terminals->count; i++) {
        const struct tt_terminal *terminal = &terminals->items[i];
        fputs("  ", stdout);
        info_put(terminal->path);
        fputs(": ", stdout);
        info_put(terminal->rule);
        if (terminal->kind) {
            fputs(", ", stdout);
            info_put(terminal->kind);
        }
        printf(", %u member%s", terminal->member_count, terminal->member_count == 1 ? "" : "s");
        if (terminal->description) {
            fputs("  ", stdout);
            info_put(terminal->description);
        }
        putchar('\n');
        for (uint32_t m = 0; members && m < terminal->member_count; m++)
            print_member(fmu->desc, &terminals->members[terminal->first_member + m]);
    }
}

/* Each bus once, with what becomes of it. */
static void print_buses(const struct tt_description *desc)
{
    const struct tt_bus *last = NULL;
    for (const struct tt_bus *bus; (bus = tt_layer_next_bus(desc, last)); last = bus) {
        struct tt_text text = {0};
        tt_text_printf(&text, "%s: %s", bus->name, bus->note);
        info_line("bus", text.text);
        info_release(&text);
    }
}

void info_print_layers(struct tt_fmu *fmu)
{
    print_buses(fmu->desc);
    struct tt_arena arena = {0};
    struct tt_layer layer;
    bool found = true;
    for (size_t at = 0; found;) {
        if (tt_fmu_next_layer(fmu, &at, &layer, &arena, NULL, &found) != TUTTI_OK)
            break;
        if (!found)
            continue;
        struct tt_text text = {0};
        tt_text_printf(&text, "%s %s", layer.name, layer.version ? layer.version : "");
        if (layer.meaning || layer.bus_simulation)
            tt_text_printf(&text, "%s%s%s", layer.meaning ? ": " : "", layer.meaning ? layer.meaning : "",
                           layer.bus_simulation ? "; it simulates the bus" : "");
        info_line("follows", text.text);
        info_release(&text);
    }
    tt_arena_fini(&arena);
}
