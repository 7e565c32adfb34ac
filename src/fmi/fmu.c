/* SPDX-License-Identifier: MIT */
#include "fmi/fmu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/beside.h"
#include "base/str.h"
#include "fmi/binary/binary.h"
#include "fmi/forked/forked.h"
#include "fmi/instance.h"

static enum tutti_err read_description(struct tutti_fmu *fmu, struct tutti_findings *findings)
{
    struct tutti_reader reader;
    TRY(tutti_archive_begin_entry(fmu->archive, "modelDescription.xml", &reader));
    enum tutti_err err = tutti_desc_read(&fmu->desc, fmu->description, &reader, findings);
    tutti_archive_end_entry(fmu->archive);
    return err;
}

/* Messages name the file as it lies on the disk; people know it by another name. */
static enum tutti_err rename_in_message(enum tutti_err err, const char *path, const char *shown)
{
    const char *message = tutti_err_message(), *found = strstr(message, path);
    if (strcmp(path, shown) == 0 || !found)
        return err;
    struct tutti_text renamed = {0};
    tutti_text_append_n(&renamed, message, (size_t)(found - message));
    tutti_text_append(&renamed, shown);
    tutti_text_append(&renamed, found + strlen(path));
    if (renamed.failed)
        err = tutti_fail_memory();
    else
        tutti_fail(err, "%s", renamed.text);
    tutti_text_fini(&renamed);
    return err;
}

static void report_repeats(const struct tutti_fmu *fmu, struct tutti_findings *findings)
{
    const char *first;
    size_t count = tutti_archive_repeats(fmu->archive, &first);
    if (count > 0)
        tutti_findings_add(findings, TUTTI_FINDING_WARNING, fmu->path, 0,
                           "the archive has '%s'%s twice, with the same content; pack it again",
                           tutti_str_show(first).text, count > 1 ? " and other files" : "");
}

static enum tutti_err open_fmu(struct tutti_fmu *fmu, const char *path, const char *shown,
                               struct tutti_findings *findings)
{
    struct tutti_text description = {0};
    tutti_text_printf(&description, "%s/modelDescription.xml", shown);
    fmu->description = description.text;
    fmu->path = tutti_str_copy(shown);
    if (description.failed || !fmu->path)
        return tutti_fail_memory();
    enum tutti_err err = tutti_archive_open(&fmu->archive, path);
    if (err)
        return rename_in_message(err, path, shown);
    if (!tutti_archive_has(fmu->archive, "modelDescription.xml"))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: no modelDescription.xml at the top of the archive; this is no FMU",
                          shown);
    report_repeats(fmu, findings);
    return read_description(fmu, findings);
}

enum tutti_err tutti_fmu_open_as(struct tutti_fmu **out, const char *path, const char *shown,
                                 struct tutti_findings *findings)
{
    *out = NULL;
    struct tutti_fmu *fmu = calloc(1, sizeof *fmu);
    if (!fmu)
        return tutti_fail_memory();
    enum tutti_err err = open_fmu(fmu, path, shown, findings);
    if (err) {
        tutti_fmu_free(fmu);
        return err;
    }
    *out = fmu;
    return TUTTI_OK;
}

enum tutti_err tutti_fmu_open(struct tutti_fmu **out, const char *path, struct tutti_findings *findings)
{
    return tutti_fmu_open_as(out, path, path, findings);
}

struct tutti_fmu *tutti_fmu_share(struct tutti_fmu *fmu)
{
    fmu->sharers++;
    return fmu;
}

void tutti_fmu_free(struct tutti_fmu *fmu)
{
    if (!fmu)
        return;
    if (fmu->sharers > 0) {
        fmu->sharers--;
        return;
    }
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++) {
        if (fmu->libraries[kind])
            tutti_instance_free_idle(fmu->libraries[kind]);
        tutti_library_free(fmu->libraries[kind]);
    }
    tutti_terminals_free(fmu->terminals);
    tutti_desc_free(fmu->desc);
    tutti_archive_free(fmu->archive);
    free(fmu->description);
    free(fmu->path);
    free(fmu);
}

/* "PATH/ENTRY", for messages; NULL when memory is out. */
static char *name_entry(const struct tutti_fmu *fmu, const char *entry)
{
    struct tutti_text name = {0};
    tutti_text_printf(&name, "%s/%s", fmu->path, entry);
    if (!name.failed)
        return name.text;
    tutti_text_fini(&name);
    return NULL;
}

enum tutti_err tutti_fmu_terminals(struct tutti_fmu *fmu, struct tutti_findings *findings,
                                   const struct tutti_terminals **out)
{
    enum tutti_err err = TUTTI_OK;
    *out = NULL;
    if (!fmu->terminals_read && tutti_archive_has(fmu->archive, TUTTI_TERMINALS_ENTRY)) {
        struct tutti_reader reader;
        char *name = name_entry(fmu, TUTTI_TERMINALS_ENTRY);
        err = name ? tutti_archive_begin_entry(fmu->archive, TUTTI_TERMINALS_ENTRY, &reader) : tutti_fail_memory();
        if (!err) {
            err = tutti_terminals_read(&fmu->terminals, name, &reader, fmu->desc, findings);
            tutti_archive_end_entry(fmu->archive);
        }
        free(name);
    }
    fmu->terminals_read = !err;
    *out = fmu->terminals;
    return err;
}

static enum tutti_err read_layer(struct tutti_fmu *fmu, const char *entry, struct tutti_layer *layer,
                                 struct tutti_arena *arena, struct tutti_findings *findings)
{
    struct tutti_reader reader;
    char *name = name_entry(fmu, entry);
    enum tutti_err err = name ? tutti_archive_begin_entry(fmu->archive, entry, &reader) : tutti_fail_memory();
    if (!err) {
        err = tutti_layer_read(layer, name, &reader, arena, findings);
        tutti_archive_end_entry(fmu->archive);
    }
    free(name);
    return err;
}

enum tutti_err tutti_fmu_next_layer(struct tutti_fmu *fmu, size_t *at, struct tutti_layer *layer,
                                    struct tutti_arena *arena, struct tutti_findings *findings, bool *found)
{
    *found = false;
    while (!*found && *at < tutti_archive_count(fmu->archive)) {
        const char *entry = tutti_archive_name(fmu->archive, (*at)++);
        if (!tutti_layer_is_manifest(entry))
            continue;
        enum tutti_err err = read_layer(fmu, entry, layer, arena, findings);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        if (err)
            tutti_findings_add(findings, TUTTI_FINDING_ERROR, NULL, 0, "%s", tutti_err_message());
        *found = !err;
    }
    return TUTTI_OK;
}

/* Terminals and manifests, as far as anything is wrong with them. */
static enum tutti_err check_extras(struct tutti_fmu *fmu, struct tutti_findings *findings)
{
    const struct tutti_terminals *terminals;
    struct tutti_arena arena = {0};
    struct tutti_layer layer;
    bool found = true;
    enum tutti_err err = tutti_fmu_terminals(fmu, findings, &terminals);
    if (err && err != TUTTI_ERR_MEMORY) {
        tutti_findings_add(findings, TUTTI_FINDING_ERROR, NULL, 0, "%s", tutti_err_message());
        err = TUTTI_OK;
    }
    for (size_t at = 0; !err && found;)
        err = tutti_fmu_next_layer(fmu, &at, &layer, &arena, findings, &found);
    tutti_arena_fini(&arena);
    return err;
}

const char *tutti_fmu_keeper(const struct tutti_fmu *fmu)
{
    struct tutti_binary_entry found = {0};
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT && !found.keeper; kind++) {
        const struct tutti_interface *interface = &fmu->desc->interfaces[kind];
        if (interface->present && interface->model_identifier &&
            tutti_binary_find(fmu->archive, fmu->path, interface->model_identifier, &found) != TUTTI_OK)
            found.keeper = NULL;
    }
    return found.keeper;
}

enum tutti_err tutti_fmu_unpack(struct tutti_fmu *fmu)
{
    const char *folder;
    return tutti_archive_folder(fmu->archive, &folder);
}

static enum tutti_err load_library(struct tutti_fmu *fmu, enum tutti_interface_kind kind, const struct tutti_log *log,
                                   struct tutti_library **out)
{
    TRY(tutti_binary_load(out, fmu->archive, fmu->path, fmu->desc, kind, log));
    enum tutti_err err = (*out)->keeper ? tutti_forked_probe(*out, log) : TUTTI_OK;
    if (err) {
        tutti_library_free(*out);
        *out = NULL;
    }
    return err;
}

enum tutti_err tutti_fmu_load(struct tutti_fmu *fmu, enum tutti_interface_kind kind, const struct tutti_log *log)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    tutti_beside_hold();
    pthread_mutex_lock(&lock);
    enum tutti_err err = TUTTI_OK;
    if (!fmu->libraries[kind])
        err = load_library(fmu, kind, log, &fmu->libraries[kind]);
    pthread_mutex_unlock(&lock);
    tutti_beside_release();
    return err;
}

/* Loading warnings become findings. */
static void report_warning(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)level;
    tutti_findings_add(context, TUTTI_FINDING_WARNING, origin, 0, "%s", text);
}

static enum tutti_err check_library(struct tutti_fmu *fmu, enum tutti_interface_kind kind, bool loads,
                                    const struct tutti_log *log)
{
    struct tutti_library *library = NULL;
    if (!loads)
        return tutti_binary_inspect(fmu->archive, fmu->path, fmu->desc, kind, log);
    TRY(load_library(fmu, kind, log, &library));
    tutti_library_free(library);
    return TUTTI_OK;
}

enum tutti_err tutti_fmu_check(struct tutti_fmu *fmu, bool loads, struct tutti_findings *flaws,
                               struct tutti_findings *findings)
{
    TRY(tutti_desc_check(fmu->desc, fmu->description, flaws));
    TRY(check_extras(fmu, flaws));
    struct tutti_log log = {TUTTI_LOG_WARNING, report_warning, findings};
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++) {
        if (!fmu->desc->interfaces[kind].present)
            continue;
        enum tutti_err err = check_library(fmu, (enum tutti_interface_kind)kind, loads, &log);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        if (err) {
            /* The message starts with the file's name, and so does the finding. */
            const char *text = tutti_err_message();
            size_t n = strlen(fmu->path);
            bool repeated = strncmp(text, fmu->path, n) == 0 && strncmp(text + n, ": ", 2) == 0;
            tutti_findings_add(findings, TUTTI_FINDING_ERROR, fmu->path, 0, "%s", repeated ? text + n + 2 : text);
        }
    }
    return TUTTI_OK;
}
