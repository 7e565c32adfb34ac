/* SPDX-License-Identifier: MIT */
/* Terminals and layered standards of an FMU, for people. */
#include <stdio.h>

#include "info.h"

static void print_member(const struct tutti_desc *desc, const struct tutti_terminal_member *member)
{
    const struct tutti_var *var = &desc->vars[member->variable];
    printf("    %-12s %-11s ", member->kind_name, tutti_causality_name(var->causality));
    if (member->name) {
        info_put(member->name);
        fputs(" = ", stdout);
    }
    info_put(var->name);
    putchar('\n');
}

void info_print_terminals(struct tutti_fmu *fmu, bool members)
{
    const struct tutti_terminals *terminals;
    if (tutti_fmu_terminals(fmu, NULL, &terminals) != TUTTI_OK) {
        info_line("terminals", tutti_err_message());
        return;
    }
    if (!terminals || terminals->count == 0)
        return;
    puts("\nTerminals");
    for (uint32_t i = 0; i < terminals->count; i++) {
        const struct tutti_terminal *terminal = &terminals->items[i];
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
static void print_buses(const struct tutti_desc *desc)
{
    const struct tutti_bus *last = NULL;
    for (const struct tutti_bus *bus; (bus = tutti_desc_next_bus(desc, last)); last = bus) {
        struct tutti_text text = {0};
        tutti_text_printf(&text, "%s: %s", bus->name, bus->note);
        info_line("bus", text.text);
        info_release(&text);
    }
}

void info_print_layers(struct tutti_fmu *fmu)
{
    print_buses(fmu->desc);
    struct tutti_arena arena = {0};
    struct tutti_layer layer;
    bool found = true;
    for (size_t at = 0; found;) {
        if (tutti_fmu_next_layer(fmu, &at, &layer, &arena, NULL, &found) != TUTTI_OK)
            break;
        if (!found)
            continue;
        struct tutti_text text = {0};
        tutti_text_printf(&text, "%s %s", layer.name, layer.version ? layer.version : "");
        if (layer.meaning || layer.bus_simulation)
            tutti_text_printf(&text, "%s%s%s", layer.meaning ? ": " : "", layer.meaning ? layer.meaning : "",
                              layer.bus_simulation ? "; it simulates the bus" : "");
        info_line("follows", text.text);
        info_release(&text);
    }
    tutti_arena_fini(&arena);
}
