/* SPDX-License-Identifier: MIT */
/* FMUs that can be used here, but do not leave this machine: others get an archive with the description alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/str.h"
#include "conduct/node/daemon.h"
#include "fmi/fmu.h"
#include "ssp/package_write.h"

#define DESCRIPTION "modelDescription.xml"

static enum tutti_err write_stand_in(const struct tutti_offer *offer)
{
    struct tutti_fmu *fmu = NULL;
    struct tutti_findings findings = {0};
    TRY(tutti_fmu_open(&fmu, offer->path, &findings));
    struct tutti_package_part part = {.name = DESCRIPTION, .archive = fmu->archive};
    while (strcmp(tutti_archive_name(fmu->archive, part.index), DESCRIPTION) != 0)
        part.index++;
    enum tutti_err err = tutti_package_write(offer->stand, &part, 1);
    tutti_fmu_free(fmu);
    return err;
}

static enum tutti_err look(const struct tutti_offer *offer, struct stat *st)
{
    if (stat(offer->path, st) != 0)
        return tutti_fail(TUTTI_ERR_IO, "cannot read %s, which is offered: %s", offer->path, strerror(errno));
    if (!S_ISREG(st->st_mode))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--offer takes an FMU that is packed, and %s is not a plain file",
                          offer->path);
    return TUTTI_OK;
}

static enum tutti_err open_offer(struct tutti_daemon *node, struct tutti_offer *offer, const char *path)
{
    struct stat st;
    struct tutti_text stand = {0};
    const char *slash = strrchr(path, '/');
    tutti_text_printf(&stand, "%s/offer-%zu", tutti_cache_work(node->cache), node->offer_count);
    offer->stand = stand.text;
    offer->name = tutti_str_copy(slash ? slash + 1 : path);
    offer->path = tutti_fs_absolute(path);
    if (stand.failed || !offer->name || !offer->path)
        return tutti_fail_memory();
    TRY(look(offer, &st));
    offer->size = st.st_size;
    offer->changed = st.st_mtim;
    for (size_t i = 0; i < node->offer_count; i++)
        if (strcmp(node->offers[i].name, offer->name) == 0)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "--offer: two files are called %s; runs could not tell them apart",
                              offer->name);
    TRY(write_stand_in(offer));
    return tutti_content_of_file(&offer->content, offer->stand);
}

enum tutti_err tutti_offers_open(struct tutti_daemon *node)
{
    node->offers = calloc(node->options->offer_count + 1, sizeof *node->offers);
    if (!node->offers)
        return tutti_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < node->options->offer_count && !err; i++) {
        err = open_offer(node, &node->offers[i], node->options->offers[i]);
        node->offer_count++; /* also one that is half made: it is released with the others */
    }
    return err;
}

void tutti_offers_close(struct tutti_daemon *node)
{
    for (size_t i = 0; i < node->offer_count; i++) {
        free(node->offers[i].name);
        free(node->offers[i].path);
        free(node->offers[i].stand);
    }
    free(node->offers);
}

enum tutti_err tutti_offer_check(const struct tutti_offer *offer)
{
    struct stat st;
    TRY(look(offer, &st));
    if (st.st_size == offer->size && st.st_mtim.tv_sec == offer->changed.tv_sec &&
        st.st_mtim.tv_nsec == offer->changed.tv_nsec)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_IO, "%s has changed since the node that offers it was started; start it again",
                      offer->name);
}
