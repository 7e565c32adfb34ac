/* SPDX-License-Identifier: MIT */
/* FMUs that can be used here, but do not leave this machine: others get an archive with the description alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/text.h"
#include "run/node/daemon.h"
#include "fmu/fmu.h"
#include "fmu/archive/zip_writer.h"

#define DESCRIPTION "modelDescription.xml"

static enum tutti_err write_stand_in(const struct tt_node_offer *offer)
{
    struct tt_fmu *fmu = NULL;
    struct tt_findings findings = {0};
    TRY(tt_fmu_open(&fmu, offer->path, &findings));
    struct tt_zip_part part = {.name = DESCRIPTION, .archive = fmu->archive};
    while (strcmp(tt_archive_name(fmu->archive, part.index), DESCRIPTION) != 0)
        part.index++;
    enum tutti_err err = tt_zip_write(offer->stand, &part, 1);
    tt_fmu_free(fmu);
    return err;
}

static enum tutti_err offers_stat(const struct tt_node_offer *offer, struct stat *st)
{
    if (stat(offer->path, st) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s, which is offered: %s", offer->path, strerror(errno));
    if (!S_ISREG(st->st_mode))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--offer takes an FMU that is packed, and %s is not a plain file",
                       offer->path);
    return TUTTI_OK;
}

static enum tutti_err open_offer(struct tt_node_daemon *node, struct tt_node_offer *offer, const char *path)
{
    struct stat st;
    struct tt_text stand = {0};
    const char *slash = strrchr(path, '/');
    tt_text_printf(&stand, "%s/offer-%zu", tt_content_cache_work_folder(node->cache), node->offer_count);
    offer->stand = stand.text;
    offer->name = tt_text_copy(slash ? slash + 1 : path);
    offer->path = tt_fs_absolute(path);
    if (stand.failed || !offer->name || !offer->path)
        return tt_fail_memory();
    TRY(offers_stat(offer, &st));
    offer->size = st.st_size;
    offer->changed = st.st_mtim;
    for (size_t i = 0; i < node->offer_count; i++)
        if (strcmp(node->offers[i].name, offer->name) == 0)
            return tt_fail(TUTTI_ERR_ARGUMENT, "--offer: two files are called %s; runs could not tell them apart",
                           offer->name);
    TRY(write_stand_in(offer));
    return tt_content_of_file(&offer->content, offer->stand);
}

enum tutti_err tt_node_daemon_open_offers(struct tt_node_daemon *node)
{
    node->offers = calloc(node->options->offer_count + 1, sizeof *node->offers);
    if (!node->offers)
        return tt_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < node->options->offer_count && !err; i++) {
        err = open_offer(node, &node->offers[i], node->options->offers[i]);
        node->offer_count++; /* also one that is half made: it is released with the others */
    }
    return err;
}

void tt_node_daemon_close_offers(struct tt_node_daemon *node)
{
    for (size_t i = 0; i < node->offer_count; i++) {
        free(node->offers[i].name);
        free(node->offers[i].path);
        free(node->offers[i].stand);
    }
    free(node->offers);
}

enum tutti_err tt_node_daemon_check_offer(const struct tt_node_offer *offer)
{
    struct stat st;
    TRY(offers_stat(offer, &st));
    if (st.st_size == offer->size && st.st_mtim.tv_sec == offer->changed.tv_sec &&
        st.st_mtim.tv_nsec == offer->changed.tv_nsec)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_IO, "%s has changed since the node that offers it was started; start it again",
                   offer->name);
}
