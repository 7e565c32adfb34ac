/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "console.h"
#include "fmu/fmi_state.h"
#include "info.h"
#include "options.h"
#include "apps/describe/info.h"

static const char *attribute(const struct tt_named_system *file, const char *name)
{
    return tt_tree_find_attribute(file->ssd->tree->root, name);
}

static void print_words(const char *name, const struct tt_run_setting *words, size_t count)
{
    struct tt_text text = {0};
    for (size_t i = 0; i < count; i++)
        tt_text_printf(&text, "%s%s %s", i ? ", " : "", words[i].name, words[i].value);
    info_line(name, text.text);
    info_release(&text);
}

static void print_variants(const struct tt_named_system *file)
{
    struct tt_text text = {0};
    size_t count = tt_package_variant_count(file->package);
    for (size_t i = 0; i < count && count > 1; i++)
        tt_text_printf(&text, "%s%s", i ? ", " : "", tt_package_variant(file->package, i));
    info_line("variants", text.text);
    info_release(&text);
}

static void print_head(const struct tt_named_system *file)
{
    const struct tt_system *system = file->system;
    size_t values = 0;
    for (uint32_t i = 0; i < system->component_count; i++)
        values += system->components[i].setting_count;
    info_put(file->ssd->name ? file->ssd->name : file->path);
    printf(", SSP %s\n", file->ssd->version ? file->ssd->version : "of no version");
    info_line("description", attribute(file, "description"));
    info_line("made by", attribute(file, "generationTool"));
    info_line("author", attribute(file, "author"));
    info_line("version", attribute(file, "fileversion"));
    info_line("license", attribute(file, "license"));
    info_line("date", attribute(file, "generationDateAndTime"));
    print_variants(file);
    info_print_experiment(&system->experiment);
    print_words("settings", system->words, system->word_count);
    printf("%-13s%u, of %u FMU%s\n", "components", system->component_count, system->fmu_count,
           system->fmu_count == 1 ? "" : "s");
    printf("%-13s%u\n%-13s%zu\n", "connections", system->connection_count, "values set", values);
    if (file->errors > 0)
        printf("%-13s%u; `tutti check` lists them\n", "errors", file->errors);
}

/* ---- the tree ---- */

static void print_component(const struct tt_component *component, int indent, const char *name)
{
    const struct tt_description *desc = component->fmu->desc;
    printf("  %*s", indent, "");
    info_put(name);
    fputs(": ", stdout);
    info_put(strrchr(component->fmu->path, '/') ? strrchr(component->fmu->path, '/') + 1 : component->fmu->path);
    printf(", FMI %s", desc->fmi_version);
    const char *separator = ", ";
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++) {
        const char *word = tt_fmi_state_interface_name((enum tt_interface_kind)kind);
        if (!desc->interfaces[kind].present)
            continue;
        printf("%s%s", separator, word);
        separator = " or ";
    }
    if (component->implementation)
        printf(", used as %s", component->implementation);
    for (size_t i = 0; i < component->word_count; i++) {
        fputs(", ", stdout);
        info_put(component->words[i].name);
        putchar(' ');
        info_put(component->words[i].value);
    }
    putchar('\n');
}

/* Prints the content of a component that is a system in a separate file: the following FMUs whose paths begin with its
 * own. */
static void print_inner(const struct tt_system *system, const char *path, uint32_t *next, int indent)
{
    size_t n = strlen(path);
    for (; *next < system->component_count; ++*next) {
        const struct tt_component *component = &system->components[*next];
        if (strncmp(component->name, path, n) != 0 || component->name[n] != '.')
            return;
        print_component(component, indent, component->name + n + 1);
    }
}

/* `next` is the next component of the flat system, which has them in the order of the documents. */
static void print_elements(const struct tt_system *flat, const struct tt_ssp_element *system, struct tt_text *path,
                           uint32_t *next, int indent)
{
    size_t length = path->length;
    for (size_t i = 0; i < system->element_count; i++) {
        const struct tt_ssp_element *element = &system->elements[i];
        tt_text_printf(path, "%s%s", length ? "." : "", element->name);
        if (path->failed)
            return;
        const struct tt_component *component = *next < flat->component_count ? &flat->components[*next] : NULL;
        if (element->kind == TUTTI_SSP_COMPONENT && component && strcmp(component->name, path->text) == 0) {
            print_component(component, indent, element->name);
            ++*next;
        } else {
            printf("  %*s", indent, "");
            info_put(element->name);
            fputs(element->kind == TUTTI_SSP_SYSTEM                 ? ": system"
                  : element->kind == TUTTI_SSP_DICTIONARY_REFERENCE ? ": dictionary "
                                                                    : ": ",
                  stdout);
            info_put(element->kind == TUTTI_SSP_DICTIONARY_REFERENCE ? element->dictionary
                     : element->source                               ? element->source
                                                                     : "");
            putchar('\n');
            if (element->kind == TUTTI_SSP_COMPONENT)
                print_inner(flat, path->text, next, indent + 2);
            else
                print_elements(flat, element, path, next, indent + 2);
        }
        path->length = length;
        path->text[length] = '\0';
    }
}

/* ---- connectors ---- */

static void print_connectors(const struct tt_ssp_element *system)
{
    if (system->connector_count > 0)
        puts("\nConnectors");
    for (size_t i = 0; i < system->connector_count; i++) {
        const struct tt_ssp_connector *connector = &system->connectors[i];
        printf("  %-19s %-11s ", tt_ssd_kind_name(connector->kind),
               connector->type.given ? tt_type_name(connector->type.type) : "");
        info_put(connector->name);
        if (connector->type.unit) {
            fputs(" [", stdout);
            info_put(connector->type.unit);
            fputs("]", stdout);
        }
        putchar('\n');
    }
}

static void print_connections(const struct tt_system *system)
{
    char name[1024];
    if (system->connection_count > 0)
        puts("\nConnections");
    for (uint32_t i = 0; i < system->connection_count; i++) {
        fputs("  ", stdout);
        info_put(tt_system_name(system, &system->connections[i].from, name, sizeof name));
        fputs(" -> ", stdout);
        info_put(tt_system_name(system, &system->connections[i].to, name, sizeof name));
        puts(system->connections[i].conversion ? ", converted" : "");
    }
}

/* As JSON writes it. */
static void print_value(enum tt_type type, const void *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_t *json = tt_info_value(type, values, i);
        char *text = json_dumps(json, JSON_ENCODE_ANY);
        fputs(i ? ", " : " = ", stdout);
        info_put(text ? text : "?");
        free(text);
        json_decref(json);
    }
    putchar('\n');
}

static void print_values(const struct tt_system *system)
{
    char name[1024];
    bool any = false;
    for (uint32_t c = 0; c < system->component_count; c++)
        for (size_t i = 0; i < system->components[c].setting_count; i++) {
            const struct tt_setting *setting = &system->components[c].settings[i];
            struct tt_end end = {c, setting->variable, setting->element};
            fputs(any ? "  " : "\nValues\n  ", stdout);
            any = true;
            info_put(tt_system_name(system, &end, name, sizeof name));
            print_value(system->components[c].fmu->desc->vars[setting->variable].type, setting->values, setting->count);
        }
}

int info_print_system(const char *path, bool variables)
{
    struct tt_named_system file;
    struct tt_text names = {0};
    uint32_t next = 0;
    if (tt_info_open_system(&file, path) != TUTTI_OK) {
        console_error(tutti_err_message());
        tt_info_close_system(&file);
        return EXIT_FAILED;
    }
    print_head(&file);
    print_connectors(&file.ssd->system);
    puts("\nSystem");
    print_elements(file.system, &file.ssd->system, &names, &next, 0);
    info_release(&names);
    if (variables) {
        print_connections(file.system);
        print_values(file.system);
    }
    tt_info_close_system(&file);
    return EXIT_DONE;
}
