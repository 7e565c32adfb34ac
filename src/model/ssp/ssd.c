/* SPDX-License-Identifier: MIT */
/* System structure descriptions (.ssd). */
#include <stdlib.h>

#include "model/ssp/ssp_reader.h"

static enum tutti_err read_experiment(struct tt_ssp_reader *parts, const struct tt_tree_node *node, struct tt_ssd *ssd)
{
    static const struct tt_shape_word attributes[] = {{"startTime", false}, {"stopTime", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    TRY(tt_ssp_reader_read_double(parts, node, "startTime", &ssd->start, &ssd->has_start));
    return tt_ssp_reader_read_double(parts, node, "stopTime", &ssd->stop, &ssd->has_stop);
}

static enum tutti_err ssd_read_document(struct tt_ssp_reader *parts, struct tt_ssd *ssd)
{
    static const struct tt_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"System", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_SCOPE(TUTTI_SPACE_SSD),
                                                     {"DefaultExperiment", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_META,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    const struct tt_tree_node *top = ssd->tree->root;
    TRY(tt_ssp_reader_read_version(parts, top));
    TRY(tt_ssp_reader_check(parts, top, &shape));
    ssd->version = tt_tree_find_attribute(top, "version");
    TRY(tt_ssp_reader_require(parts, top, "name", &ssd->name));
    TRY(tt_ssp_reader_read_scope(parts, top, &ssd->scope));
    struct tt_tree_node *system = tt_ssp_reader_find_child(top, "System");
    if (!system)
        return tt_ssp_reader_fail(parts, top, "<System> is missing; add one");
    TRY(tt_ssd_read_system(parts, system, &ssd->system));
    const struct tt_tree_node *experiment = tt_ssp_reader_find_child(top, "DefaultExperiment");
    ssd->settings = tt_ssp_reader_read_settings(parts, top);
    ssd->foreign = ssd->system.foreign;
    tt_ssd_read_foreign(parts, top, &ssd->foreign);
    if (experiment) {
        TRY(read_experiment(parts, experiment, ssd));
        const struct tt_tree_node *settings = tt_ssp_reader_read_settings(parts, experiment);
        ssd->settings = ssd->settings ? ssd->settings : settings;
        tt_ssd_read_foreign(parts, experiment, &ssd->foreign);
    }
    ssd->settings = ssd->settings ? ssd->settings : ssd->system.settings;
    return TUTTI_OK;
}

enum tutti_err tt_ssd_read(struct tt_ssd **out, const char *file, struct tt_byte_source *reader,
                           struct tt_findings *findings)
{
    *out = NULL;
    struct tt_ssd *ssd = calloc(1, sizeof *ssd);
    if (!ssd)
        return tt_fail_memory();
    enum tutti_err err = tt_ssp_reader_open(&ssd->tree, file, reader, TUTTI_SPACE_SSD, "SystemStructureDescription");
    if (err == TUTTI_OK) {
        struct tt_ssp_reader parts;
        tt_ssp_reader_init(&parts, ssd->tree->file, &ssd->arena, findings);
        err = ssd_read_document(&parts, ssd);
        tt_ssp_reader_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssd;
    else
        tt_ssd_free(ssd);
    return err;
}

void tt_ssd_free(struct tt_ssd *ssd)
{
    if (!ssd)
        return;
    tt_tree_free(ssd->tree);
    tt_arena_fini(&ssd->arena);
    free(ssd);
}
