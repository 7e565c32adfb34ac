/* SPDX-License-Identifier: MIT */
/* System structure descriptions (.ssd). */
#include <stdlib.h>

#include "ssp/parts.h"

static enum tutti_err read_experiment(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_ssd *ssd)
{
    static const struct tutti_shape_word attributes[] = {{"startTime", false}, {"stopTime", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_check(parts, node, &shape));
    TRY(tutti_parts_double(parts, node, "startTime", &ssd->start, &ssd->has_start));
    return tutti_parts_double(parts, node, "stopTime", &ssd->stop, &ssd->has_stop);
}

static enum tutti_err read_document(struct tutti_parts *parts, struct tutti_ssd *ssd)
{
    static const struct tutti_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"System", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        SHAPE_SCOPE(TUTTI_SPACE_SSD),
                                                        {"DefaultExperiment", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        SHAPE_META,
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    const struct tutti_node *top = ssd->tree->root;
    TRY(tutti_parts_version(parts, top));
    TRY(tutti_parts_check(parts, top, &shape));
    ssd->version = tutti_node_attribute(top, "version");
    TRY(tutti_parts_required(parts, top, "name", &ssd->name));
    TRY(tutti_parts_scope(parts, top, &ssd->scope));
    struct tutti_node *system = tutti_parts_child(top, "System");
    if (!system)
        return tutti_parts_fail(parts, top, "<System> is missing; add one");
    TRY(tutti_parts_system(parts, system, &ssd->system));
    const struct tutti_node *experiment = tutti_parts_child(top, "DefaultExperiment");
    ssd->settings = tutti_parts_settings(parts, top);
    ssd->foreign = ssd->system.foreign;
    tutti_parts_foreign(parts, top, &ssd->foreign);
    if (experiment) {
        TRY(read_experiment(parts, experiment, ssd));
        const struct tutti_node *settings = tutti_parts_settings(parts, experiment);
        ssd->settings = ssd->settings ? ssd->settings : settings;
        tutti_parts_foreign(parts, experiment, &ssd->foreign);
    }
    ssd->settings = ssd->settings ? ssd->settings : ssd->system.settings;
    return TUTTI_OK;
}

enum tutti_err tutti_ssd_read(struct tutti_ssd **out, const char *file, struct tutti_reader *reader,
                              struct tutti_findings *findings)
{
    *out = NULL;
    struct tutti_ssd *ssd = calloc(1, sizeof *ssd);
    if (!ssd)
        return tutti_fail_memory();
    enum tutti_err err = tutti_parts_open(&ssd->tree, file, reader, TUTTI_SPACE_SSD, "SystemStructureDescription");
    if (err == TUTTI_OK) {
        struct tutti_parts parts;
        tutti_parts_init(&parts, ssd->tree->file, &ssd->arena, findings);
        err = read_document(&parts, ssd);
        tutti_parts_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssd;
    else
        tutti_ssd_free(ssd);
    return err;
}

void tutti_ssd_free(struct tutti_ssd *ssd)
{
    if (!ssd)
        return;
    tutti_tree_free(ssd->tree);
    tutti_arena_fini(&ssd->arena);
    free(ssd);
}
