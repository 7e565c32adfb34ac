/* SPDX-License-Identifier: MIT */
#include "fmu/fmu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/text.h"
#include "fmu/binary/binary.h"
#include "fmu/process/forked.h"
#include "fmu/instance.h"

/* Messages name the file as it lies on the disk; people know it by another name. */
static enum tutti_err fmu_rename_in_message(enum tutti_err err, const char *path, const char *shown)
{
    const char *message = tutti_err_message(), *found = strstr(message, path);
    if (strcmp(path, shown) == 0 || !found)
        return err;
    struct tt_text renamed = {0};
    tt_text_append_n(&renamed, message, (size_t)(found - message));
    tt_text_append(&renamed, shown);
    tt_text_append(&renamed, found + strlen(path));
    if (renamed.failed)
        err = tt_fail_memory();
    else
        tt_fail(err, "%s", renamed.text);
    tt_text_fini(&renamed);
    return err;
}

static enum tutti_err fmu_open_fmu(struct tt_fmu *fmu, const char *path, const char *shown,
                                   struct tt_findings *findings)
{
    struct tt_text description = {0};
    tt_text_printf(&description, "%s/modelDescription.xml", shown);
    fmu->description = description.text;
    fmu->path = tt_text_copy(shown);
    if (description.failed || !fmu->path)
        return tt_fail_memory();
    enum tutti_err err = tt_archive_open(&fmu->archive, path);
    if (err)
        return fmu_rename_in_message(err, path, shown);
    if (!tt_archive_has(fmu->archive, "modelDescription.xml"))
        return tt_fail(TUTTI_ERR_FORMAT, "%s: no modelDescription.xml at the top of the archive; this is no FMU",
                       shown);
    const char *first;
    size_t count = tt_archive_count_repeats(fmu->archive, &first);
    if (count > 0)
        tt_findings_add(findings, TUTTI_FINDING_WARNING, fmu->path, 0,
                        "the archive has '%s'%s twice, with the same content; pack it again",
                        tt_text_excerpt(first).text, count > 1 ? " and other files" : "");

    struct tt_byte_source reader;
    TRY(tt_archive_open_entry(fmu->archive, "modelDescription.xml", &reader));
    err = tt_description_read(&fmu->desc, fmu->description, &reader, findings);
    tt_archive_close_entry(fmu->archive);
    return err;
}

enum tutti_err tt_fmu_open_as(struct tt_fmu **out, const char *path, const char *shown, struct tt_findings *findings)
{
    *out = NULL;
    struct tt_fmu *fmu = calloc(1, sizeof *fmu);
    if (!fmu)
        return tt_fail_memory();
    enum tutti_err err = fmu_open_fmu(fmu, path, shown, findings);
    if (err) {
        tt_fmu_free(fmu);
        return err;
    }
    *out = fmu;
    return TUTTI_OK;
}

enum tutti_err tt_fmu_open(struct tt_fmu **out, const char *path, struct tt_findings *findings)
{
    return tt_fmu_open_as(out, path, path, findings);
}

struct tt_fmu *tt_fmu_share(struct tt_fmu *fmu)
{
    fmu->sharers++;
    return fmu;
}

void tt_fmu_free(struct tt_fmu *fmu)
{
    if (!fmu)
        return;
    if (fmu->sharers > 0) {
        fmu->sharers--;
        return;
    }
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++) {
        if (fmu->libraries[kind])
            tt_instance_free_idle(fmu->libraries[kind]);
        tt_library_free(fmu->libraries[kind]);
    }
    tt_terminals_free(fmu->terminals);
    tt_description_free(fmu->desc);
    tt_archive_free(fmu->archive);
    free(fmu->description);
    free(fmu->path);
    free(fmu);
}

/* "PATH/ENTRY", for messages; NULL when memory is out. */
static char *fmu_entry_path(const struct tt_fmu *fmu, const char *entry)
{
    struct tt_text name = {0};
    tt_text_printf(&name, "%s/%s", fmu->path, entry);
    if (!name.failed)
        return name.text;
    tt_text_fini(&name);
    return NULL;
}

enum tutti_err tt_fmu_terminals(struct tt_fmu *fmu, struct tt_findings *findings, const struct tt_terminals **out)
{
    enum tutti_err err = TUTTI_OK;
    *out = NULL;
    if (!fmu->terminals_read && tt_archive_has(fmu->archive, TUTTI_TERMINALS_ENTRY)) {
        struct tt_byte_source reader;
        char *name = fmu_entry_path(fmu, TUTTI_TERMINALS_ENTRY);
        err = name ? tt_archive_open_entry(fmu->archive, TUTTI_TERMINALS_ENTRY, &reader) : tt_fail_memory();
        if (!err) {
            err = tt_terminals_read(&fmu->terminals, name, &reader, fmu->desc, findings);
            tt_archive_close_entry(fmu->archive);
        }
        free(name);
    }
    fmu->terminals_read = !err;
    *out = fmu->terminals;
    return err;
}

static enum tutti_err fmu_read_layer(struct tt_fmu *fmu, const char *entry, struct tt_layer *layer,
                                     struct tt_arena *arena, struct tt_findings *findings)
{
    struct tt_byte_source reader;
    char *name = fmu_entry_path(fmu, entry);
    enum tutti_err err = name ? tt_archive_open_entry(fmu->archive, entry, &reader) : tt_fail_memory();
    if (!err) {
        err = tt_layer_read(layer, name, &reader, arena, findings);
        tt_archive_close_entry(fmu->archive);
    }
    free(name);
    return err;
}

enum tutti_err tt_fmu_next_layer(struct tt_fmu *fmu, size_t *at, struct tt_layer *layer, struct tt_arena *arena,
                                 struct tt_findings *findings, bool *found)
{
    *found = false;
    while (!*found && *at < tt_archive_count(fmu->archive)) {
        const char *entry = tt_archive_name(fmu->archive, (*at)++);
        if (!tt_layer_is_manifest(entry))
            continue;
        enum tutti_err err = fmu_read_layer(fmu, entry, layer, arena, findings);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        if (err)
            tt_findings_add(findings, TUTTI_FINDING_ERROR, NULL, 0, "%s", tutti_err_message());
        *found = !err;
    }
    return TUTTI_OK;
}

/* Terminals and manifests, as far as anything is wrong with them. */
static enum tutti_err fmu_check_extras(struct tt_fmu *fmu, struct tt_findings *findings)
{
    const struct tt_terminals *terminals;
    struct tt_arena arena = {0};
    struct tt_layer layer;
    bool found = true;
    enum tutti_err err = tt_fmu_terminals(fmu, findings, &terminals);
    if (err && err != TUTTI_ERR_MEMORY) {
        tt_findings_add(findings, TUTTI_FINDING_ERROR, NULL, 0, "%s", tutti_err_message());
        err = TUTTI_OK;
    }
    for (size_t at = 0; !err && found;)
        err = tt_fmu_next_layer(fmu, &at, &layer, &arena, findings, &found);
    tt_arena_fini(&arena);
    return err;
}

const char *tt_fmu_fork_server(const struct tt_fmu *fmu)
{
    struct tt_binary_entry found = {0};
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT && !found.keeper; kind++) {
        const struct tt_interface *interface = &fmu->desc->interfaces[kind];
        if (interface->present && interface->model_identifier &&
            tt_binary_find(fmu->archive, fmu->path, interface->model_identifier, &found) != TUTTI_OK)
            found.keeper = NULL;
    }
    return found.keeper;
}

enum tutti_err tt_fmu_unpack(struct tt_fmu *fmu)
{
    const char *folder;
    return tt_archive_unpack(fmu->archive, &folder);
}

static enum tutti_err fmu_load_library(struct tt_fmu *fmu, enum tt_interface_kind kind, const struct tutti_log *log,
                                       struct tt_library **out)
{
    TRY(tt_binary_load(out, fmu->archive, fmu->path, fmu->desc, kind, log));
    enum tutti_err err = (*out)->keeper ? tt_forked_probe(*out, log) : TUTTI_OK;
    if (err) {
        tt_library_free(*out);
        *out = NULL;
    }
    return err;
}

enum tutti_err tt_fmu_load(struct tt_fmu *fmu, enum tt_interface_kind kind, const struct tutti_log *log)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    tt_child_hold();
    pthread_mutex_lock(&lock);
    enum tutti_err err = TUTTI_OK;
    if (!fmu->libraries[kind])
        err = fmu_load_library(fmu, kind, log, &fmu->libraries[kind]);
    pthread_mutex_unlock(&lock);
    tt_child_release();
    return err;
}

/* Loading warnings become findings. */
static void fmu_report_warning(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)level;
    tt_findings_add(context, TUTTI_FINDING_WARNING, origin, 0, "%s", text);
}

enum tutti_err tt_fmu_check(struct tt_fmu *fmu, bool loads, struct tt_findings *flaws, struct tt_findings *findings)
{
    TRY(tt_description_check(fmu->desc, fmu->description, flaws));
    TRY(fmu_check_extras(fmu, flaws));
    struct tutti_log log = {TUTTI_LOG_WARNING, fmu_report_warning, findings};
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++) {
        if (!fmu->desc->interfaces[kind].present)
            continue;
        struct tt_library *library = NULL;
        enum tutti_err err =
            loads ? fmu_load_library(fmu, (enum tt_interface_kind)kind, &log, &library)
                  : tt_binary_inspect(fmu->archive, fmu->path, fmu->desc, (enum tt_interface_kind)kind, &log);
        if (loads && !err)
            tt_library_free(library);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        if (err) {
            /* The message starts with the file's name, and so does the finding. */
            const char *text = tutti_err_message();
            size_t n = strlen(fmu->path);
            bool repeated = strncmp(text, fmu->path, n) == 0 && strncmp(text + n, ": ", 2) == 0;
            tt_findings_add(findings, TUTTI_FINDING_ERROR, fmu->path, 0, "%s", repeated ? text + n + 2 : text);
        }
    }
    return TUTTI_OK;
}
