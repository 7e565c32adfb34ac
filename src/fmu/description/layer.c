/* SPDX-License-Identifier: MIT */
#include "fmu/description/layer.h"

#include <string.h>

#include "base/text.h"
#include "base/xml.h"

enum { MOST_TEXT = 4096 }; /* of an attribute */

struct layer_reading {
    struct tt_layer *layer;
    struct tt_arena *arena;
    struct tt_findings *findings;
    const char *file;
    unsigned elements;
};

bool tt_layer_is_manifest(const char *entry)
{
    static const char folder[] = "extra/", file[] = "/fmi-ls-manifest.xml";
    size_t n = strlen(entry);
    if (n < sizeof folder + sizeof file - 1 || strncmp(entry, folder, sizeof folder - 1) != 0)
        return false;
    const char *name = entry + sizeof folder - 1, *slash = strchr(name, '/');
    return slash && slash > name && strcmp(slash, file) == 0;
}

/* "fmi-ls:fmi-ls-name", whatever the prefix of the namespace is. */
static const char *layer_find_attribute(const char **attributes, const char *local)
{
    for (; attributes[0]; attributes += 2) {
        const char *colon = strchr(attributes[0], ':');
        if (strcmp(colon ? colon + 1 : attributes[0], local) == 0)
            return attributes[1];
    }
    return NULL;
}

static enum tutti_err layer_copy_attribute(struct layer_reading *reading, struct tt_xml *xml, const char **attributes,
                                           const char *local, const char **out)
{
    const char *text = layer_find_attribute(attributes, local);
    if (!text) {
        tt_findings_add(reading->findings, TUTTI_FINDING_WARNING, reading->file, tt_xml_line(xml),
                        "a manifest of a layered standard has no %s", local);
        return TUTTI_OK;
    }
    if (strlen(text) > MOST_TEXT)
        return tt_xml_fail(xml, TUTTI_ERR_LIMIT, "%s has more than %d bytes", local, MOST_TEXT);
    *out = tt_arena_copy_text(reading->arena, text, strlen(text));
    return *out ? TUTTI_OK : tt_fail_memory();
}

static const char TRAVELS[] = "its operations travel between units as they are; Tutti has no simulation of this bus";
static const struct tt_bus buses[] = {
    {"can", "CAN", true, "the kit's CanBus simulates CAN and CAN FD; frames of CAN XL travel, and are not simulated"},
    {"lin", "LIN", false, TRAVELS},
    {"flexray", "FlexRay", false, TRAVELS},
    {"ethernet", "Ethernet", false, TRAVELS},
};
static const size_t bus_count = sizeof buses / sizeof *buses;

const struct tt_bus *tt_layer_find_bus(const char *mime_type)
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

static bool uses_bus(const struct tt_description *desc, const struct tt_bus *bus)
{
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].more && tt_layer_find_bus(desc->vars[v].more->mime_type) == bus)
            return true;
    return false;
}

const struct tt_bus *tt_layer_next_bus(const struct tt_description *desc, const struct tt_bus *last)
{
    const struct tt_bus *bus = last ? last + 1 : buses;
    while (bus < buses + bus_count && !uses_bus(desc, bus))
        bus++;
    return bus < buses + bus_count ? bus : NULL;
}

static const char *layer_meaning_of(const char *name)
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
static enum tutti_err layer_start_element(void *context, struct tt_xml *xml, const char *name, const char **attributes)
{
    struct layer_reading *reading = context;
    if (reading->elements++ > 0)
        return TUTTI_OK;
    if (!layer_find_attribute(attributes, "fmi-ls-name"))
        return tt_xml_fail(xml, TUTTI_ERR_FORMAT, "<%s> has no fmi-ls-name: this is no manifest of a layered standard",
                           tt_text_excerpt(name).text);
    TRY(layer_copy_attribute(reading, xml, attributes, "fmi-ls-name", &reading->layer->name));
    TRY(layer_copy_attribute(reading, xml, attributes, "fmi-ls-version", &reading->layer->version));
    TRY(layer_copy_attribute(reading, xml, attributes, "fmi-ls-description", &reading->layer->description));
    const char *bus = layer_find_attribute(attributes, "isBusSimulationFMU");
    reading->layer->bus_simulation = bus && (strcmp(bus, "true") == 0 || strcmp(bus, "1") == 0);
    reading->layer->meaning = layer_meaning_of(reading->layer->name);
    return TUTTI_OK;
}

static enum tutti_err layer_end_element(void *context, struct tt_xml *xml)
{
    (void)context, (void)xml;
    return TUTTI_OK;
}

enum tutti_err tt_layer_read(struct tt_layer *layer, const char *file, struct tt_byte_source *reader,
                             struct tt_arena *arena, struct tt_findings *findings)
{
    static const struct tt_xml_handlers handlers = {.start = layer_start_element, .end = layer_end_element};
    struct layer_reading reading = {.layer = layer, .arena = arena, .findings = findings, .file = file};
    *layer = (struct tt_layer){0};
    return tt_xml_read(file, reader, &handlers, &reading);
}
