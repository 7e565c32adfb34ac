/* SPDX-License-Identifier: MIT */
/* A description from beginning to end: the root element, which names the version, and what is left to do at its end. */
#include <stdlib.h>
#include <string.h>

#include "description/desc_build.h"

/* 1.0 and 2.0 write exactly that. 3.0 has minor versions, which add only what older readers may ignore, and the drafts
 * before it, which differ from it. */
static enum tutti_err read_version(struct tutti_build *build, const char *text)
{
    struct tutti_desc *desc = build->desc;
    bool dotted = text[0] >= '1' && text[0] <= '3' && (text[1] == '.' || text[1] == '\0');
    if (!dotted)
        return tutti_xml_fail(build->xml, TUTTI_ERR_FORMAT, "fmiVersion is \"%.40s\", expected 1.0, 2.0 or 3.0", text);
    desc->fmi = text[0] - '0';
    if (desc->fmi < 3 && strcmp(text + 1, ".0") != 0)
        tutti_build_error(build, "fmiVersion is \"%.40s\", expected \"%d.0\"", text, desc->fmi);
    else if (desc->fmi == 3 && (text[1] == '\0' || text[2] < '0' || text[2] > '9'))
        tutti_build_error(build, "fmiVersion is \"%.40s\", expected \"3.0\"", text);
    else if (strchr(text, '-'))
        tutti_build_warning(build, "fmiVersion is \"%.40s\", a draft of the standard; it is read as 3.0", text);
    return tutti_build_text(build, &desc->fmi_version, text);
}

static enum tutti_err read_token(struct tutti_build *build)
{
    struct tutti_desc *desc = build->desc;
    enum tutti_attribute right = desc->fmi == 3 ? ATTR_instantiationToken : ATTR_guid;
    enum tutti_attribute wrong = desc->fmi == 3 ? ATTR_guid : ATTR_instantiationToken;
    const char *token = tutti_build_take(build, right);
    if (!token && build->values[wrong]) {
        tutti_build_error(build, "found %s, expected %s; it is taken for that", tutti_attribute_name(wrong),
                          tutti_attribute_name(right));
        token = tutti_build_take(build, wrong);
    }
    return tutti_build_text(build, &desc->token, token);
}

static enum tutti_err read_fmi1_root(struct tutti_build *build)
{
    struct tutti_interface *me = &build->desc->interfaces[TUTTI_ME], *cs = &build->desc->interfaces[TUTTI_CS];
    TRY(tutti_build_text(build, &me->model_identifier, tutti_build_take(build, ATTR_modelIdentifier)));
    cs->model_identifier = me->model_identifier;
    me->line = cs->line = build->line;
    if (!build->values[ATTR_numberOfContinuousStates])
        tutti_build_error(build, "found no numberOfContinuousStates, expected one; 0 is used");
    if (!build->values[ATTR_numberOfEventIndicators])
        tutti_build_error(build, "found no numberOfEventIndicators, expected one; 0 is used");
    tutti_build_uint32(build, ATTR_numberOfContinuousStates, &build->desc->state_count);
    return TUTTI_OK;
}

static enum tutti_err root(struct tutti_build *build, int tag)
{
    static const struct tutti_element *const versions[] = {NULL, tutti_fmi1_elements, tutti_fmi2_elements,
                                                           tutti_fmi3_elements};
    static const char *const conventions[] = {"flat", "structured", NULL};
    (void)tag;
    struct tutti_desc *desc = build->desc;
    uint8_t convention = 0;
    tutti_build_subject(build, NULL, NULL);
    desc->line = build->line;
    const char *version = tutti_build_take(build, ATTR_fmiVersion);
    if (!version)
        return tutti_xml_fail(build->xml, TUTTI_ERR_FORMAT, "found no fmiVersion, expected 1.0, 2.0 or 3.0");
    TRY(read_version(build, version));
    build->root[0].children = versions[desc->fmi];
    TRY(tutti_build_text(build, &desc->model_name, tutti_build_take(build, ATTR_modelName)));
    TRY(tutti_build_text(build, &desc->description, tutti_build_take(build, ATTR_description)));
    TRY(tutti_build_text(build, &desc->author, tutti_build_take(build, ATTR_author)));
    TRY(tutti_build_text(build, &desc->version, tutti_build_take(build, ATTR_version)));
    TRY(tutti_build_text(build, &desc->tool, tutti_build_take(build, ATTR_generationTool)));
    TRY(tutti_build_text(build, &desc->date, tutti_build_take(build, ATTR_generationDateAndTime)));
    TRY(read_token(build));
    tutti_build_word(build, ATTR_variableNamingConvention, conventions, &convention);
    desc->naming = conventions[convention];
    if (desc->fmi > 1) {
        TRY(tutti_build_text(build, &desc->copyright, tutti_build_take(build, ATTR_copyright)));
        TRY(tutti_build_text(build, &desc->license, tutti_build_take(build, ATTR_license)));
    } else {
        TRY(read_fmi1_root(build));
    }
    if (desc->fmi < 3)
        tutti_build_uint32(build, ATTR_numberOfEventIndicators, &desc->event_indicator_count);
    return TUTTI_OK;
}

static enum tutti_err root_end(struct tutti_build *build)
{
    struct tutti_interface *interfaces = build->desc->interfaces;
    if (build->desc->fmi == 1 && !interfaces[TUTTI_CS].present) {
        interfaces[TUTTI_ME].present = true;
        interfaces[TUTTI_ME].flags = TUTTI_NEEDS_COMPLETED_STEP;
    }
    return tutti_build_resolve(build);
}

enum tutti_err tutti_desc_read(struct tutti_desc **out, const char *file, struct tutti_reader *reader,
                               struct tutti_findings *findings)
{
    struct tutti_build build;
    *out = NULL;
    TRY(tutti_build_init(&build, file, findings));
    build.root[0] = (struct tutti_element){.name = "fmiModelDescription", .start = root, .end = root_end};
    enum tutti_err err = tutti_xml_read(file, reader, &tutti_build_handlers, &build);
    tutti_desc_report_end(&build.report);
    tutti_build_fini(&build);
    if (err == TUTTI_OK)
        *out = build.desc;
    else
        tutti_desc_free(build.desc);
    return err;
}

void tutti_desc_free(struct tutti_desc *desc)
{
    if (!desc)
        return;
    struct tutti_desc_whole *whole = (struct tutti_desc_whole *)desc;
    tutti_map_fini(&desc->names);
    tutti_arena_fini(&desc->arena);
    free(whole->vars.items);
    free(whole->aliases.items);
    free(whole->units.items);
    free(whole->displays.items);
    free(whole->types.items);
    free(whole->categories.items);
    free(whole->annotations.items);
    for (int i = 0; i < 5; i++)
        free(whole->unknowns[i].items);
    free(whole);
}
