/* SPDX-License-Identifier: MIT */
/* A description from beginning to end: the root element, which names the version, and what is left to do at its end. */
#include <stdlib.h>
#include <string.h>

#include "fmu/description/builder.h"

/* 1.0 and 2.0 write exactly that. 3.0 has minor versions, which add only what older readers may ignore, and the drafts
 * before it, which differ from it. */
static enum tutti_err read_version(struct tt_builder *build, const char *text)
{
    struct tt_description *desc = build->desc;
    bool dotted = text[0] >= '1' && text[0] <= '3' && (text[1] == '.' || text[1] == '\0');
    if (!dotted)
        return tt_xml_fail(build->xml, TUTTI_ERR_FORMAT, "fmiVersion is \"%.40s\", expected 1.0, 2.0 or 3.0", text);
    desc->fmi = text[0] - '0';
    if (desc->fmi < 3 && strcmp(text + 1, ".0") != 0)
        tt_builder_report_error(build, "fmiVersion is \"%.40s\", expected \"%d.0\"", text, desc->fmi);
    else if (desc->fmi == 3 && (text[1] == '\0' || text[2] < '0' || text[2] > '9'))
        tt_builder_report_error(build, "fmiVersion is \"%.40s\", expected \"3.0\"", text);
    else if (strchr(text, '-'))
        tt_builder_report_warning(build, "fmiVersion is \"%.40s\", a draft of the standard; it is read as 3.0", text);
    return tt_builder_copy_text(build, &desc->fmi_version, text);
}

static enum tutti_err description_read_token(struct tt_builder *build)
{
    struct tt_description *desc = build->desc;
    enum tt_builder_attribute right = desc->fmi == 3 ? ATTR_instantiationToken : ATTR_guid;
    enum tt_builder_attribute wrong = desc->fmi == 3 ? ATTR_guid : ATTR_instantiationToken;
    const char *token = tt_builder_take_attribute(build, right);
    if (!token && build->values[wrong]) {
        tt_builder_report_error(build, "found %s, expected %s; it is taken for that", tt_builder_attribute_name(wrong),
                                tt_builder_attribute_name(right));
        token = tt_builder_take_attribute(build, wrong);
    }
    return tt_builder_copy_text(build, &desc->token, token);
}

static enum tutti_err read_fmi1_root(struct tt_builder *build)
{
    struct tt_interface *me = &build->desc->interfaces[TUTTI_ME], *cs = &build->desc->interfaces[TUTTI_CS];
    TRY(tt_builder_copy_text(build, &me->model_identifier, tt_builder_take_attribute(build, ATTR_modelIdentifier)));
    cs->model_identifier = me->model_identifier;
    me->line = cs->line = build->line;
    if (!build->values[ATTR_numberOfContinuousStates])
        tt_builder_report_error(build, "found no numberOfContinuousStates, expected one; 0 is used");
    if (!build->values[ATTR_numberOfEventIndicators])
        tt_builder_report_error(build, "found no numberOfEventIndicators, expected one; 0 is used");
    tt_builder_read_uint32(build, ATTR_numberOfContinuousStates, &build->desc->state_count);
    return TUTTI_OK;
}

static enum tutti_err description_root(struct tt_builder *build, int tag)
{
    static const struct tt_builder_element *const versions[] = {NULL, tt_schema_fmi1, tt_schema_fmi2, tt_schema_fmi3};
    static const char *const conventions[] = {"flat", "structured", NULL};
    (void)tag;
    struct tt_description *desc = build->desc;
    uint8_t convention = 0;
    tt_builder_set_subject(build, NULL, NULL);
    desc->line = build->line;
    const char *version = tt_builder_take_attribute(build, ATTR_fmiVersion);
    if (!version)
        return tt_xml_fail(build->xml, TUTTI_ERR_FORMAT, "found no fmiVersion, expected 1.0, 2.0 or 3.0");
    TRY(read_version(build, version));
    build->root[0].children = versions[desc->fmi];
    TRY(tt_builder_copy_text(build, &desc->model_name, tt_builder_take_attribute(build, ATTR_modelName)));
    TRY(tt_builder_copy_text(build, &desc->description, tt_builder_take_attribute(build, ATTR_description)));
    TRY(tt_builder_copy_text(build, &desc->author, tt_builder_take_attribute(build, ATTR_author)));
    TRY(tt_builder_copy_text(build, &desc->version, tt_builder_take_attribute(build, ATTR_version)));
    TRY(tt_builder_copy_text(build, &desc->tool, tt_builder_take_attribute(build, ATTR_generationTool)));
    TRY(tt_builder_copy_text(build, &desc->date, tt_builder_take_attribute(build, ATTR_generationDateAndTime)));
    TRY(description_read_token(build));
    tt_builder_read_word(build, ATTR_variableNamingConvention, conventions, &convention);
    desc->naming = conventions[convention];
    if (desc->fmi > 1) {
        TRY(tt_builder_copy_text(build, &desc->copyright, tt_builder_take_attribute(build, ATTR_copyright)));
        TRY(tt_builder_copy_text(build, &desc->license, tt_builder_take_attribute(build, ATTR_license)));
    } else {
        TRY(read_fmi1_root(build));
    }
    if (desc->fmi < 3)
        tt_builder_read_uint32(build, ATTR_numberOfEventIndicators, &desc->event_indicator_count);
    return TUTTI_OK;
}

static enum tutti_err description_root_end(struct tt_builder *build)
{
    struct tt_interface *interfaces = build->desc->interfaces;
    if (build->desc->fmi == 1 && !interfaces[TUTTI_CS].present) {
        interfaces[TUTTI_ME].present = true;
        interfaces[TUTTI_ME].flags = TUTTI_NEEDS_COMPLETED_STEP;
    }
    return tt_resolver_run(build);
}

enum tutti_err tt_description_read(struct tt_description **out, const char *file, struct tt_byte_source *reader,
                                   struct tt_findings *findings)
{
    struct tt_builder build;
    *out = NULL;
    TRY(tt_builder_init(&build, file, findings));
    build.root[0] = (struct tt_builder_element){
        .name = "fmiModelDescription", .start = description_root, .end = description_root_end};
    enum tutti_err err = tt_xml_read(file, reader, &tt_builder_handlers, &build);
    tt_findings_limited_end(&build.report);
    tt_builder_fini(&build);
    if (err == TUTTI_OK)
        *out = build.desc;
    else
        tt_description_free(build.desc);
    return err;
}

void tt_description_free(struct tt_description *desc)
{
    if (!desc)
        return;
    struct tt_builder_description *whole = (struct tt_builder_description *)desc;
    tt_map_fini(&desc->names);
    tt_arena_fini(&desc->arena);
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
