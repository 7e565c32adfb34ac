/* SPDX-License-Identifier: MIT */
/* The files of a system, each opened once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "fmu/build/compile_fmu.h"
#include "model/ssp/uri.h"
#include "model/system/flat.h"

/* Adds an entry; after a failure its parts are freed with all other entries. */
static struct tt_flat_file *model_files_add(struct tt_flat *flat, const char *key, const char *shown)
{
    struct tt_flat_file *file = calloc(1, sizeof *file);
    struct tt_flat_file **slot = file ? tt_vector_push(&flat->files, sizeof *slot) : NULL;
    if (!slot) {
        free(file);
        return NULL;
    }
    *slot = file;
    file->fmu = TUTTI_NONE;
    file->index = (uint32_t)flat->files.count - 1;
    file->place.path = tt_text_copy(key);
    file->place.shown = tt_text_copy(shown);
    file->shown = tt_arena_copy_text(&flat->system->arena, shown, strlen(shown));
    if (!file->place.path || !file->place.shown || !file->shown)
        return NULL;
    return tt_map_add(&flat->files_by_path, file->place.path, file->index, NULL) ? NULL : file;
}

/* Returns the entry of `key`, new or known; NULL and *err when memory is out. `shown` names it in messages. */
static struct tt_flat_file *model_files_get_keyed(struct tt_flat *flat, const char *key, const char *shown,
                                                  enum tutti_err *err)
{
    int64_t known = tt_map_find(&flat->files_by_path, key);
    struct tt_flat_file *file = known == TUTTI_MAP_NONE ? model_files_add(flat, key, shown)
                                                        : ((struct tt_flat_file **)flat->files.items)[known];
    *err = file ? TUTTI_OK : tt_fail_memory();
    return file;
}

/* ---- files that lie elsewhere ---- */

const struct tt_file_alias *tt_model_files_find_alias(struct tt_flat *flat, const char *name)
{
    const struct tt_system_source *source = flat->source;
    for (size_t i = flat->aliases.count == 0 ? 0 : source->alias_count; i < source->alias_count; i++)
        if (!source->aliases[i].if_missing && tt_map_add(&flat->aliases, source->aliases[i].name, (int64_t)i, NULL))
            return NULL; /* memory is out: whatever comes next finds that, too */
    int64_t found = source->alias_count > 0 ? tt_map_find(&flat->aliases, name) : TUTTI_MAP_NONE;
    return found == TUTTI_MAP_NONE ? NULL : &source->aliases[found];
}

/* ---- files that were loaded before ---- */

const struct tt_system_file *tt_model_files_find_earlier(struct tt_flat *flat, const char *name)
{
    const struct tt_system *earlier = flat->source->earlier;
    if (!earlier)
        return NULL;
    for (uint32_t i = flat->earlier.count == 0 ? 0 : earlier->file_count; i < earlier->file_count; i++)
        if (tt_map_add(&flat->earlier, earlier->files[i].name, i, NULL))
            return NULL;
    int64_t found = tt_map_find(&flat->earlier, name);
    return found == TUTTI_MAP_NONE ? NULL : &earlier->files[found];
}

bool tt_model_files_is_system(struct tt_flat *flat, const char *path, const char *shown)
{
    const struct tt_file_alias *alias = tt_model_files_find_alias(flat, shown);
    const struct tt_system_file *earlier = tt_model_files_find_earlier(flat, shown);
    if (earlier)
        return earlier->package != NULL;
    return alias ? alias->system : tt_package_is_system(path);
}

/* Where a file lies that is not where it should be; NULL: not known. */
static const char *model_files_find_missing(const struct tt_flat *flat, const char *shown)
{
    const char *slash = strrchr(shown, '/'), *name = slash ? slash + 1 : shown;
    const struct tt_file_alias *aliases = flat->source->aliases;
    for (size_t i = 0; aliases && i < flat->source->alias_count; i++)
        if (aliases[i].if_missing && strcmp(aliases[i].name, name) == 0)
            return aliases[i].path;
    return NULL;
}

enum tutti_err tt_model_files_fail_foreign(const char *name)
{
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "'%s' is not among the files that the run has sent here, and a node reads no others", name);
}

/* Returns true if the file, with links resolved, may be read. */
static bool model_files_is_allowed(const struct tt_flat *flat, const char *real)
{
    char *folder = realpath(flat->source->within, NULL);
    size_t length = folder ? strlen(folder) : 0;
    bool within = folder && strncmp(real, folder, length) == 0 && real[length] == '/';
    free(folder);
    return within;
}

static char *model_files_find_real(struct tt_flat *flat, const char *path, const char *shown)
{
    const struct tt_file_alias *alias = tt_model_files_find_alias(flat, shown);
    char *real = realpath(alias ? alias->path : path, NULL);
    int error = errno;
    const char *missing = real || (error != ENOENT && error != ENOTDIR) ? NULL : model_files_find_missing(flat, shown);
    if (missing)
        return realpath(missing, NULL);
    errno = error;
    return real;
}

static enum tutti_err model_files_note_name(struct tt_flat *flat, const char *shown, uint32_t file)
{
    if (tt_map_find(&flat->names_known, shown) != TUTTI_MAP_NONE)
        return TUTTI_OK;
    struct tt_flat_file_name *slot = tt_vector_push(&flat->names, sizeof *slot);
    const char *name = tt_arena_copy_text(&flat->system->arena, shown, strlen(shown));
    if (!slot || !name)
        return tt_fail_memory();
    *slot = (struct tt_flat_file_name){name, file};
    return tt_map_add(&flat->names_known, name, file, NULL);
}

static struct tt_flat_file *model_files_get(struct tt_flat *flat, const char *path, const char *shown,
                                            enum tutti_err *err)
{
    const struct tt_system_file *earlier = tt_model_files_find_earlier(flat, shown);
    char *real = earlier ? tt_text_copy(earlier->path) : model_files_find_real(flat, path, shown);
    if (real && flat->source->within && !earlier && !tt_model_files_find_alias(flat, shown) &&
        !model_files_is_allowed(flat, real)) {
        free(real);
        *err = tt_model_files_fail_foreign(shown);
        return NULL;
    }
    if (!real) {
        *err = earlier ? tt_fail_memory() : tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", shown, strerror(errno));
        return NULL;
    }
    struct tt_flat_file *file = model_files_get_keyed(flat, real, shown, err);
    free(real);
    if (file)
        *err = model_files_note_name(flat, shown, file->index);
    return *err ? NULL : file;
}

enum tutti_err tt_model_files_list(struct tt_flat *flat)
{
    struct tt_system *system = flat->system;
    const struct tt_flat_file_name *names = flat->names.items;
    system->files = tt_arena_array(&system->arena, flat->names.count, sizeof *system->files);
    if (!system->files)
        return tt_fail_memory();
    for (size_t i = 0; i < flat->names.count; i++) {
        const struct tt_flat_file *file = ((struct tt_flat_file **)flat->files.items)[names[i].file];
        const char *path = file->built ? file->built : file->place.path;
        if (!file->opened && file->fmu == TUTTI_NONE && !file->beside)
            continue;
        path = tt_arena_copy_text(&system->arena, path, strlen(path));
        if (!path)
            return tt_fail_memory();
        struct tt_fmu *const *fmus = flat->fmus.items;
        system->files[system->file_count++] = (struct tt_system_file){names[i].name, path, file->opened,
                                                                      file->fmu == TUTTI_NONE ? NULL : fmus[file->fmu]};
    }
    return TUTTI_OK;
}

void tt_model_files_fini(struct tt_flat *flat)
{
    for (size_t i = 0; i < flat->files.count; i++) {
        struct tt_flat_file *file = ((struct tt_flat_file **)flat->files.items)[i];
        tt_ssd_free(file->ssd);
        tt_ssv_free(file->ssv);
        tt_ssm_free(file->ssm);
        tt_ssb_free(file->ssb);
        tt_import_free(file->assembly);
        tt_map_fini(&file->sources);
        tt_map_fini(&file->ids);
        tt_vector_fini(&file->systems);
        tt_map_fini(&file->parameters);
        tt_package_place_fini(&file->place);
        free(file->built);
        free(file);
    }
    tt_vector_fini(&flat->files);
    tt_vector_fini(&flat->names);
    tt_map_fini(&flat->files_by_path);
    tt_map_fini(&flat->names_known);
    tt_map_fini(&flat->aliases);
    tt_map_fini(&flat->earlier);
}

/* ---- FMUs ---- */

/* --compile: one without a library for this platform becomes one that has it. */
static enum tutti_err model_files_compile(struct tt_flat *flat, struct tt_flat_file *file, const char *shown,
                                          struct tt_fmu **fmu)
{
    TRY(tt_compile_fmu_if_missing(*fmu, flat->source->log, &file->built));
    if (!file->built)
        return TUTTI_OK;
    tt_fmu_free(*fmu);
    *fmu = NULL;
    return tt_fmu_open_as(fmu, file->built, shown, NULL);
}

static enum tutti_err model_files_load_fmu(struct tt_flat *flat, struct tt_flat_file *file, const char *shown,
                                           struct tt_fmu **out)
{
    const struct tt_system_file *earlier = tt_model_files_find_earlier(flat, shown);
    struct tt_findings flaws = {0};
    if (earlier && earlier->fmu) {
        *out = tt_fmu_share(earlier->fmu);
        return TUTTI_OK;
    }
    TRY(tt_fmu_open_as(out, file->place.path, shown, &flaws));
    if (flat->source->compile)
        TRY(model_files_compile(flat, file, shown, out));
    TRY(tt_description_check((*out)->desc, (*out)->description, &flaws));
    if (flaws.errors + flaws.warnings > 0)
        tt_log(flat->source->log, TUTTI_LOG_WARNING, shown,
               "the model description has %u flaw%s; going on (`tutti check` lists them)",
               flaws.errors + flaws.warnings, flaws.errors + flaws.warnings == 1 ? "" : "s");
    return TUTTI_OK;
}

enum tutti_err tt_model_files_open_fmu(struct tt_flat *flat, const char *path, const char *shown,
                                       struct tt_flat_file **out)
{
    enum tutti_err err;
    struct tt_flat_file *file = model_files_get(flat, path, shown, &err);
    *out = file;
    if (!file)
        return err;
    if (file->fmu != TUTTI_NONE)
        return TUTTI_OK;
    struct tt_fmu **slot = tt_vector_push(&flat->fmus, sizeof *slot);
    if (!slot)
        return tt_fail_memory();
    TRY(model_files_load_fmu(flat, file, shown, slot));
    file->fmu = (uint32_t)flat->fmus.count - 1;
    return TUTTI_OK;
}

/* ---- documents ---- */

static enum tutti_err model_files_read_as(struct tt_flat *flat, struct tt_flat_file *file, enum tt_flat_document kind,
                                          struct tt_byte_source *reader)
{
    switch (kind) {
    case DOCUMENT_SSD: return tt_ssd_read(&file->ssd, file->shown, reader, flat->findings);
    case DOCUMENT_SSV: return tt_ssv_read(&file->ssv, file->shown, reader, flat->findings);
    case DOCUMENT_SSM: return tt_ssm_read(&file->ssm, file->shown, reader, flat->findings);
    case DOCUMENT_SSB: return tt_ssb_read(&file->ssb, file->shown, reader, flat->findings);
    }
    return TUTTI_OK;
}

static enum tutti_err model_files_read_document(struct tt_flat *flat, struct tt_flat_file *file,
                                                enum tt_flat_document kind)
{
    struct tt_byte_source reader;
    const void *read[] = {file->ssd, file->ssv, file->ssm, file->ssb};
    if (read[kind])
        return TUTTI_OK;
    if (file->archive) {
        TRY(tt_archive_open_entry(file->archive, file->entry, &reader));
        enum tutti_err err = model_files_read_as(flat, file, kind, &reader);
        tt_archive_close_entry(file->archive);
        return err;
    }
    enum tutti_err err = tt_package_open_file(&file->place, &reader);
    if (!err)
        err = model_files_read_as(flat, file, kind, &reader);
    tt_package_close_file(&reader);
    return err;
}

static enum tutti_err model_files_open_document(struct tt_flat *flat, const struct tt_package_place *place,
                                                struct tt_package *package, struct tt_flat_file **out)
{
    enum tutti_err err;
    struct tt_flat_file *file = model_files_get(flat, place->path, place->shown, &err);
    *out = file;
    if (!file)
        return err;
    if (!file->package)
        file->package = package;
    file->beside = file->beside || tt_package_is_bare(package);
    return model_files_read_document(flat, file, DOCUMENT_SSD);
}

enum tutti_err tt_model_files_open_package(struct tt_flat *flat, const char *path, const char *shown,
                                           const char *variant, struct tt_flat_file **out)
{
    struct tt_package_place place;
    enum tutti_err err;
    struct tt_flat_file *archive = model_files_get(flat, path, shown, &err);
    if (!archive)
        return err;
    if (!archive->opened) {
        struct tt_package **slot = tt_vector_push(&flat->packages, sizeof *slot);
        if (!slot)
            return tt_fail_memory();
        const struct tt_system_file *earlier = tt_model_files_find_earlier(flat, shown);
        if (earlier && earlier->package)
            *slot = tt_package_share(earlier->package);
        else
            TRY(tt_package_open(slot, tt_model_files_find_alias(flat, shown) ? archive->place.path : path, shown));
        archive->opened = *slot;
    }
    TRY(tt_package_find_ssd(archive->opened, variant, &place));
    err = model_files_open_document(flat, &place, archive->opened, out);
    tt_package_place_fini(&place);
    return err;
}

/* ---- tables ---- */

/* A table is read for each component that it is: there will not be many. */
static enum tutti_err model_files_open_table(struct tt_flat *flat, const char *path, const char *shown, bool beside,
                                             struct tt_flat_file **out)
{
    enum tutti_err err;
    *out = model_files_get(flat, path, shown, &err);
    if (!*out)
        return err;
    (*out)->beside = (*out)->beside || beside;
    struct tt_system_table *slot = tt_vector_push(&flat->tables, sizeof *slot);
    if (!slot)
        return tt_fail_memory();
    slot->file = (*out)->shown;
    return tt_csv_table_read_named(&slot->table, (*out)->place.path, slot->file);
}

/* ---- systems of other tools ---- */

enum tutti_err tt_model_files_open_import(struct tt_flat *flat, const char *path, const char *shown,
                                          struct tt_flat_file **out)
{
    enum tutti_err err;
    struct tt_flat_file *file = model_files_get(flat, path, shown, &err);
    *out = file;
    if (!file)
        return err;
    struct tt_byte_source reader;
    file->beside = true;
    err = tt_package_open_file(&file->place, &reader);
    if (!err)
        err = tt_import_read(&file->assembly, file->shown, &reader, flat->findings);
    tt_package_close_file(&reader);
    return err;
}

/* A file in the folder of another one; both texts are the caller's. False: memory is out. */
static bool model_files_sibling_place(const struct tt_flat_file *base, const char *name, struct tt_text *path,
                                      struct tt_text *shown)
{
    const char *slash = strrchr(base->place.path, '/'), *shown_slash = strrchr(base->shown, '/');
    if (name[0] != '/') {
        tt_text_append_n(path, base->place.path, slash ? (size_t)(slash - base->place.path + 1) : 0);
        tt_text_append_n(shown, base->shown, shown_slash ? (size_t)(shown_slash - base->shown + 1) : 0);
    }
    tt_text_append(path, name);
    tt_text_append(shown, name);
    return !path->failed && !shown->failed;
}

static bool model_files_is_table(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && (strcasecmp(name + n - 4, ".csv") == 0 || strcasecmp(name + n - 4, ".tsv") == 0);
}

enum tutti_err tt_model_files_open_sibling(struct tt_flat *flat, const struct tt_flat_file *document,
                                           const char *source, struct tt_flat_file **out)
{
    struct tt_uri uri;
    struct tt_text path = {0}, shown = {0};
    TRY(tt_uri_read(&uri, source));
    enum tutti_err err = model_files_sibling_place(document, uri.path, &path, &shown) ? TUTTI_OK : tt_fail_memory();
    if (!err) {
        tt_text_make_printable(shown.text);
        err = model_files_is_table(shown.text) ? model_files_open_table(flat, path.text, shown.text, true, out)
                                               : tt_model_files_open_fmu(flat, path.text, shown.text, out);
    }
    tt_text_fini(&path);
    tt_text_fini(&shown);
    tt_uri_fini(&uri);
    return err;
}

static enum tutti_err model_files_read_group(struct tt_flat *flat, const struct tt_flat_file *base,
                                             const char *file_name, const char *name, struct tt_import_group *group,
                                             bool *found)
{
    struct tt_text path = {0}, shown = {0};
    struct tt_byte_source reader;
    struct tt_flat_file *file = NULL;
    enum tutti_err err = model_files_sibling_place(base, file_name, &path, &shown) ? TUTTI_OK : tt_fail_memory();
    if (!err)
        file = model_files_get(flat, path.text, shown.text, &err);
    if (file) {
        file->beside = true;
        err = tt_package_open_file(&file->place, &reader);
        if (!err)
            err = tt_osp_read_group(file->shown, &reader, name, &flat->arena, group, found);
        tt_package_close_file(&reader);
    }
    tt_text_fini(&path);
    tt_text_fini(&shown);
    return !file && err == TUTTI_ERR_IO ? TUTTI_OK : err; /* it is not there */
}

enum tutti_err tt_model_files_read_group(struct tt_flat *flat, const struct tt_flat_file *document,
                                         const struct tt_flat_file *fmu, const char *model, const char *name,
                                         struct tt_import_group *group, bool *found)
{
    struct tt_text file = {0};
    *found = false;
    tt_text_printf(&file, "%s_OspModelDescription.xml", model);
    enum tutti_err err = file.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && !strchr(file.text, '/')) { /* a model's name is not a path */
        err = model_files_read_group(flat, fmu, file.text, name, group, found);
        if (!err && !*found)
            err = model_files_read_group(flat, document, file.text, name, group, found);
    }
    tt_text_fini(&file);
    return err;
}

/* ---- what documents refer to ---- */

static bool model_files_is_type(const char *type, const char *wanted)
{
    return strncmp(type, wanted, strlen(wanted)) == 0 && strchr("; \t", type[strlen(wanted)]);
}

static enum tutti_err model_files_open_source(struct tt_flat *flat, const struct tt_flat_file *base,
                                              const struct tt_ssp_element *element,
                                              const struct tt_package_place *place, struct tt_flat_file **out)
{
    const char *type = element->type;
    if (!type && tt_model_files_is_system(flat, place->path, place->shown)) {
        size_t n = strlen(place->path);
        bool package = n > 4 && strcasecmp(place->path + n - 4, ".ssd") != 0;
        type = package ? "application/x-ssp-package" : "application/x-ssp-definition";
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, base->shown, element->line,
                        "the component '%s' has no type, and so should be an FMU, but its source \"%s\" is a "
                        "system; write type=\"%s\"",
                        element->name, element->source, type);
    }
    if (type && model_files_is_type(type, "application/x-ssp-package"))
        return tt_model_files_open_package(flat, place->path, place->shown, place->fragment, out);
    if (place->fragment)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "the source \"%s\" has a #, which is for the variants of an .ssp and, alone, for systems of "
                       "this document; leave it out",
                       tt_text_excerpt(element->source).text);
    if (type && model_files_is_type(type, "text/csv"))
        return model_files_open_table(flat, place->path, place->shown, tt_package_is_bare(base->package), out);
    if (!type || model_files_is_type(type, "application/x-fmu-sharedlibrary"))
        return tt_model_files_open_fmu(flat, place->path, place->shown, out);
    return model_files_open_document(flat, place, base->package, out);
}

/* A wrong source is the document's fault, not the command line's. */
static enum tutti_err model_files_fail_source(enum tutti_err err, const struct tt_flat_file *base,
                                              const struct tt_ssp_element *element)
{
    err = err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err;
    return tt_fail_context(err, "%s:%u: component '%s'", base->shown, element->line, element->name);
}

enum tutti_err tt_model_files_open_component(struct tt_flat *flat, struct tt_flat_file *base,
                                             const struct tt_ssp_element *element, struct tt_flat_file **out)
{
    /* Thousands of components may have the same source: the disk is asked once. */
    bool fmu = !element->type || model_files_is_type(element->type, "application/x-fmu-sharedlibrary");
    int64_t known = fmu ? tt_map_find(&base->sources, element->source) : TUTTI_MAP_NONE;
    if (known != TUTTI_MAP_NONE) {
        *out = ((struct tt_flat_file **)flat->files.items)[known];
        return TUTTI_OK;
    }
    struct tt_package_place place;
    enum tutti_err err = tt_package_resolve(base->package, &base->place, element->source, &place);
    if (err)
        return model_files_fail_source(err, base, element);
    err = model_files_open_source(flat, base, element, &place, out);
    tt_package_place_fini(&place);
    if (err)
        return model_files_fail_source(err, base, element);
    fmu = *out && (*out)->fmu != TUTTI_NONE;
    return fmu ? tt_map_add(&base->sources, element->source, (*out)->index, NULL) : TUTTI_OK;
}

bool tt_model_files_supports_type(const char *type)
{
    return !type || model_files_is_type(type, "application/x-fmu-sharedlibrary") ||
           model_files_is_type(type, "application/x-ssp-definition") ||
           model_files_is_type(type, "application/x-ssp-package") || model_files_is_type(type, "text/csv");
}

/* Collects the systems of a document that have an id. As deep as the XML is. */
static enum tutti_err collect_ids(struct tt_flat_file *file, const struct tt_ssp_element *element)
{
    if (element->id) {
        const struct tt_ssp_element **slot = tt_vector_push(&file->systems, sizeof *slot);
        if (!slot)
            return tt_fail_memory();
        *slot = element;
        TRY(tt_map_add(&file->ids, element->id, (int64_t)file->systems.count - 1, NULL));
    }
    for (size_t i = 0; i < element->element_count; i++)
        if (element->elements[i].kind == TUTTI_SSP_SYSTEM)
            TRY(collect_ids(file, &element->elements[i]));
    return TUTTI_OK;
}

enum tutti_err tt_model_files_find_system(struct tt_flat_file *file, const char *id, const struct tt_ssp_element **out)
{
    if (!file->ids_known)
        TRY(collect_ids(file, &file->ssd->system));
    file->ids_known = true;
    int64_t found = tt_map_find(&file->ids, id);
    *out = found == TUTTI_MAP_NONE ? NULL : ((const struct tt_ssp_element **)file->systems.items)[found];
    return TUTTI_OK;
}

/* Finds a document inside an FMU: sourceBase="component". NULL, with *err, if it does not exist. */
static struct tt_flat_file *find_in_fmu(struct tt_flat *flat, const struct tt_flat_file *base, const char *source,
                                        enum tutti_err *err)
{
    const struct tt_fmu *fmu = ((struct tt_fmu **)flat->fmus.items)[base->fmu];
    const char *key = base->place.path;
    struct tt_flat_file *file = NULL;
    struct tt_uri uri;
    char *entry = NULL;
    struct tt_text full = {0}, shown = {0};
    *err = tt_uri_read(&uri, source);
    if (*err)
        return NULL;
    *err = tt_uri_join("", uri.path, &entry);
    if (!*err && !tt_archive_has(fmu->archive, entry))
        *err = tt_fail(TUTTI_ERR_IO, "there is no %s in %s", tt_text_excerpt(entry).text, fmu->path);
    if (!*err) {
        tt_text_printf(&full, "%s/%s", key, entry);
        tt_text_printf(&shown, "%s/%s", fmu->path, entry);
        if (full.failed || shown.failed)
            *err = tt_fail_memory();
        else
            tt_text_make_printable(shown.text);
        if (!*err)
            file = model_files_get_keyed(flat, full.text, shown.text, err);
    }
    if (file) {
        file->archive = fmu->archive;
        file->entry = file->place.path + strlen(key) + 1;
    }
    tt_text_fini(&full);
    tt_text_fini(&shown);
    free(entry);
    tt_uri_fini(&uri);
    return file;
}

enum tutti_err tt_model_files_open_document(struct tt_flat *flat, struct tt_flat_file *base, const char *source,
                                            enum tt_flat_document kind, struct tt_flat_file **out)
{
    enum tutti_err err;
    struct tt_flat_file *file;
    if (base->fmu != TUTTI_NONE) {
        file = find_in_fmu(flat, base, source, &err);
    } else {
        struct tt_package_place place;
        err = tt_package_resolve(base->package, &base->place, source, &place);
        file = err ? NULL : model_files_get(flat, place.path, place.shown, &err);
        if (file && tt_package_is_bare(base->package))
            file->beside = true;
        tt_package_place_fini(&place);
    }
    *out = file;
    if (file)
        return model_files_read_document(flat, file, kind);
    return err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err;
}
