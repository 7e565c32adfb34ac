/* SPDX-License-Identifier: MIT */
#include "description/layers.h"

#include <string.h>

#include "base/str.h"
#include "base/xml.h"

enum { MOST_TEXT = 4096 }; /* of an attribute */

struct reading {
    struct tutti_layer *layer;
    struct tutti_arena *arena;
    struct tutti_findings *findings;
    const char *file;
    unsigned elements;
};

bool tutti_layer_is_manifest(const char *entry)
{
    static const char folder[] = "extra/", file[] = "/fmi-ls-manifest.xml";
    size_t n = strlen(entry);
    if (n < sizeof folder + sizeof file - 1 || strncmp(entry, folder, sizeof folder - 1) != 0)
        return false;
    const char *name = entry + sizeof folder - 1, *slash = strchr(name, '/');
    return slash && slash > name && strcmp(slash, file) == 0;
}

/* "fmi-ls:fmi-ls-name", whatever the prefix of the namespace is. */
static const char *find(const char **attributes, const char *local)
{
    for (; attributes[0]; attributes += 2) {
        const char *colon = strchr(attributes[0], ':');
        if (strcmp(colon ? colon + 1 : attributes[0], local) == 0)
            return attributes[1];
    }
    return NULL;
}

static enum tutti_err keep(struct reading *reading, struct tutti_xml *xml, const char **attributes, const char *local,
                           const char **out)
{
    const char *text = find(attributes, local);
    if (!text) {
        tutti_findings_add(reading->findings, TUTTI_FINDING_WARNING, reading->file, tutti_xml_line(xml),
                           "a manifest of a layered standard has no %s", local);
        return TUTTI_OK;
    }
    if (strlen(text) > MOST_TEXT)
        return tutti_xml_fail(xml, TUTTI_ERR_LIMIT, "%s has more than %d bytes", local, MOST_TEXT);
    *out = tutti_arena_text(reading->arena, text, strlen(text));
    return *out ? TUTTI_OK : tutti_fail_memory();
}

static const char TRAVELS[] = "its operations travel between units as they are; Tutti has no simulation of this bus";
static const struct tutti_bus buses[] = {
    {"can", "CAN", true, "the kit's CanBus simulates CAN and CAN FD; frames of CAN XL travel, and are not simulated"},
    {"lin", "LIN", false, TRAVELS},
    {"flexray", "FlexRay", false, TRAVELS},
    {"ethernet", "Ethernet", false, TRAVELS},
};
static const size_t bus_count = sizeof buses / sizeof *buses;

const struct tutti_bus *tutti_bus_of(const char *mime_type)
{
    static const char start[] = "application/org.fmi-standard.fmi-ls-bus.";
    if (!mime_type || strncmp(mime_type, start, strlen(start)) != 0)
        return NULL;
    const char *word = mime_type + strlen(start);
    size_t length = strcspn(word, "; ");
    for (size_t i = 0; i < bus_count; i++)
        if (strlen(buses[i].word) == length && strncmp(buses[i].word, word, length) == 0)
            return &buses[i];
    return NULL;
}

static bool uses(const struct tutti_desc *desc, const struct tutti_bus *bus)
{
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].more && tutti_bus_of(desc->vars[v].more->mime_type) == bus)
            return true;
    return false;
}

const struct tutti_bus *tutti_desc_next_bus(const struct tutti_desc *desc, const struct tutti_bus *last)
{
    const struct tutti_bus *bus = last ? last + 1 : buses;
    while (bus < buses + bus_count && !uses(desc, bus))
        bus++;
    return bus < buses + bus_count ? bus : NULL;
}

static const char *meaning_of(const char *name)
{
    static const struct {
        const char *name, *meaning;
    } known[] = {
        {"org.fmi-standard.fmi-ls-bus", "frames of network buses between units"},
        {"org.fmi-standard.fmi-ls-xcp", "measurement and calibration over XCP"},
        {"org.fmi-standard.fmi-ls-struct", "maps and other structures of variables"},
        {"org.fmi-standard.fmi-ls-ref", "files that belong to the model, with their roles"},
    };
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].meaning;
    return NULL;
}

/* Any root element will do: layered standards may have their own. */
static enum tutti_err start(void *context, struct tutti_xml *xml, const char *name, const char **attributes)
{
    struct reading *reading = context;
    if (reading->elements++ > 0)
        return TUTTI_OK;
    if (!find(attributes, "fmi-ls-name"))
        return tutti_xml_fail(xml, TUTTI_ERR_FORMAT,
                              "<%s> has no fmi-ls-name: this is no manifest of a layered standard",
                              tutti_str_show(name).text);
    TRY(keep(reading, xml, attributes, "fmi-ls-name", &reading->layer->name));
    TRY(keep(reading, xml, attributes, "fmi-ls-version", &reading->layer->version));
    TRY(keep(reading, xml, attributes, "fmi-ls-description", &reading->layer->description));
    const char *bus = find(attributes, "isBusSimulationFMU");
    reading->layer->bus_simulation = bus && (strcmp(bus, "true") == 0 || strcmp(bus, "1") == 0);
    reading->layer->meaning = meaning_of(reading->layer->name);
    return TUTTI_OK;
}

static enum tutti_err end(void *context, struct tutti_xml *xml)
{
    (void)context, (void)xml;
    return TUTTI_OK;
}

enum tutti_err tutti_layer_read(struct tutti_layer *layer, const char *file, struct tutti_reader *reader,
                                struct tutti_arena *arena, struct tutti_findings *findings)
{
    static const struct tutti_xml_handlers handlers = {.start = start, .end = end};
    struct reading reading = {.layer = layer, .arena = arena, .findings = findings, .file = file};
    *layer = (struct tutti_layer){0};
    return tutti_xml_read(file, reader, &handlers, &reading);
}
