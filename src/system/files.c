/* SPDX-License-Identifier: MIT */
/* The files of a system, each opened once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "compile/compile.h"
#include "ssp/uri.h"
#include "system/flat.h"

/* A new entry; what of it is made already is freed with all the others. */
static struct file *add(struct flat *flat, const char *key, const char *shown)
{
    struct file *file = calloc(1, sizeof *file);
    struct file **slot = file ? tutti_vector_push(&flat->files, sizeof *slot) : NULL;
    if (!slot) {
        free(file);
        return NULL;
    }
    *slot = file;
    file->fmu = TUTTI_NONE;
    file->index = (uint32_t)flat->files.count - 1;
    file->place.path = tutti_str_copy(key);
    file->place.shown = tutti_str_copy(shown);
    file->shown = tutti_arena_text(&flat->system->arena, shown, strlen(shown));
    if (!file->place.path || !file->place.shown || !file->shown)
        return NULL;
    return tutti_map_add(&flat->files_by_path, file->place.path, file->index, NULL) ? NULL : file;
}

/* The entry of `key`, new or known; NULL when memory is out, and *err tells it. `shown` names it in messages. */
static struct file *get_keyed(struct flat *flat, const char *key, const char *shown, enum tutti_err *err)
{
    int64_t known = tutti_map_find(&flat->files_by_path, key);
    struct file *file = known == TUTTI_MAP_NONE ? add(flat, key, shown) : ((struct file **)flat->files.items)[known];
    *err = file ? TUTTI_OK : tutti_fail_memory();
    return file;
}

/* ---- files that lie elsewhere ---- */

const struct tutti_file_alias *tutti_files_alias(struct flat *flat, const char *name)
{
    const struct tutti_system_source *source = flat->source;
    for (size_t i = flat->aliases.count == 0 ? 0 : source->alias_count; i < source->alias_count; i++)
        if (!source->aliases[i].if_missing && tutti_map_add(&flat->aliases, source->aliases[i].name, (int64_t)i, NULL))
            return NULL; /* memory is out: whatever comes next finds that, too */
    int64_t found = source->alias_count > 0 ? tutti_map_find(&flat->aliases, name) : TUTTI_MAP_NONE;
    return found == TUTTI_MAP_NONE ? NULL : &source->aliases[found];
}

/* ---- files that were loaded before ---- */

const struct tutti_system_file *tutti_files_earlier(struct flat *flat, const char *name)
{
    const struct tutti_system *earlier = flat->source->earlier;
    if (!earlier)
        return NULL;
    for (uint32_t i = flat->earlier.count == 0 ? 0 : earlier->file_count; i < earlier->file_count; i++)
        if (tutti_map_add(&flat->earlier, earlier->files[i].name, i, NULL))
            return NULL;
    int64_t found = tutti_map_find(&flat->earlier, name);
    return found == TUTTI_MAP_NONE ? NULL : &earlier->files[found];
}

bool tutti_files_is_system(struct flat *flat, const char *path, const char *shown)
{
    const struct tutti_file_alias *alias = tutti_files_alias(flat, shown);
    const struct tutti_system_file *earlier = tutti_files_earlier(flat, shown);
    if (earlier)
        return earlier->package != NULL;
    return alias ? alias->system : tutti_package_is(path);
}

/* Where a file lies that is not where it should be; NULL: not known. */
static const char *find_missing(const struct flat *flat, const char *shown)
{
    const char *slash = strrchr(shown, '/'), *name = slash ? slash + 1 : shown;
    const struct tutti_file_alias *aliases = flat->source->aliases;
    for (size_t i = 0; aliases && i < flat->source->alias_count; i++)
        if (aliases[i].if_missing && strcmp(aliases[i].name, name) == 0)
            return aliases[i].path;
    return NULL;
}

enum tutti_err tutti_files_fail_foreign(const char *name)
{
    return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                      "'%s' is not among the files that the run has sent here, and a node reads no others", name);
}

/* Is a file, with links resolved, one that may be read? */
static bool is_within(const struct flat *flat, const char *real)
{
    char *folder = realpath(flat->source->within, NULL);
    size_t length = folder ? strlen(folder) : 0;
    bool within = folder && strncmp(real, folder, length) == 0 && real[length] == '/';
    free(folder);
    return within;
}

static char *find_real(struct flat *flat, const char *path, const char *shown)
{
    const struct tutti_file_alias *alias = tutti_files_alias(flat, shown);
    char *real = realpath(alias ? alias->path : path, NULL);
    int error = errno;
    const char *missing = real || (error != ENOENT && error != ENOTDIR) ? NULL : find_missing(flat, shown);
    if (missing)
        return realpath(missing, NULL);
    errno = error;
    return real;
}

static enum tutti_err note_name(struct flat *flat, const char *shown, uint32_t file)
{
    if (tutti_map_find(&flat->names_known, shown) != TUTTI_MAP_NONE)
        return TUTTI_OK;
    struct file_name *slot = tutti_vector_push(&flat->names, sizeof *slot);
    const char *name = tutti_arena_text(&flat->system->arena, shown, strlen(shown));
    if (!slot || !name)
        return tutti_fail_memory();
    *slot = (struct file_name){name, file};
    return tutti_map_add(&flat->names_known, name, file, NULL);
}

static struct file *get(struct flat *flat, const char *path, const char *shown, enum tutti_err *err)
{
    const struct tutti_system_file *earlier = tutti_files_earlier(flat, shown);
    char *real = earlier ? tutti_str_copy(earlier->path) : find_real(flat, path, shown);
    if (real && flat->source->within && !earlier && !tutti_files_alias(flat, shown) && !is_within(flat, real)) {
        free(real);
        *err = tutti_files_fail_foreign(shown);
        return NULL;
    }
    if (!real) {
        *err = earlier ? tutti_fail_memory() : tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", shown, strerror(errno));
        return NULL;
    }
    struct file *file = get_keyed(flat, real, shown, err);
    free(real);
    if (file)
        *err = note_name(flat, shown, file->index);
    return *err ? NULL : file;
}

enum tutti_err tutti_files_keep(struct flat *flat)
{
    struct tutti_system *system = flat->system;
    const struct file_name *names = flat->names.items;
    system->files = tutti_arena_array(&system->arena, flat->names.count, sizeof *system->files);
    if (!system->files)
        return tutti_fail_memory();
    for (size_t i = 0; i < flat->names.count; i++) {
        const struct file *file = ((struct file **)flat->files.items)[names[i].file];
        const char *path = file->built ? file->built : file->place.path;
        if (!file->opened && file->fmu == TUTTI_NONE && !file->beside)
            continue;
        path = tutti_arena_text(&system->arena, path, strlen(path));
        if (!path)
            return tutti_fail_memory();
        struct tutti_fmu *const *fmus = flat->fmus.items;
        system->files[system->file_count++] = (struct tutti_system_file){
            names[i].name, path, file->opened, file->fmu == TUTTI_NONE ? NULL : fmus[file->fmu]};
    }
    return TUTTI_OK;
}

void tutti_files_fini(struct flat *flat)
{
    for (size_t i = 0; i < flat->files.count; i++) {
        struct file *file = ((struct file **)flat->files.items)[i];
        tutti_ssd_free(file->ssd);
        tutti_ssv_free(file->ssv);
        tutti_ssm_free(file->ssm);
        tutti_ssb_free(file->ssb);
        tutti_assembly_free(file->assembly);
        tutti_map_fini(&file->sources);
        tutti_map_fini(&file->ids);
        tutti_vector_fini(&file->systems);
        tutti_map_fini(&file->parameters);
        tutti_place_fini(&file->place);
        free(file->built);
        free(file);
    }
    tutti_vector_fini(&flat->files);
    tutti_vector_fini(&flat->names);
    tutti_map_fini(&flat->files_by_path);
    tutti_map_fini(&flat->names_known);
    tutti_map_fini(&flat->aliases);
    tutti_map_fini(&flat->earlier);
}

/* ---- FMUs ---- */

/* --compile: one without a library for this platform becomes one that has it. */
static enum tutti_err compile(struct flat *flat, struct file *file, const char *shown, struct tutti_fmu **fmu)
{
    TRY(tutti_compile_missing(*fmu, flat->source->log, &file->built));
    if (!file->built)
        return TUTTI_OK;
    tutti_fmu_free(*fmu);
    *fmu = NULL;
    return tutti_fmu_open_as(fmu, file->built, shown, NULL);
}

static enum tutti_err open_fmu(struct flat *flat, struct file *file, const char *shown, struct tutti_fmu **out)
{
    const struct tutti_system_file *earlier = tutti_files_earlier(flat, shown);
    struct tutti_findings flaws = {0};
    if (earlier && earlier->fmu) {
        *out = tutti_fmu_share(earlier->fmu);
        return TUTTI_OK;
    }
    TRY(tutti_fmu_open_as(out, file->place.path, shown, &flaws));
    if (flat->source->compile)
        TRY(compile(flat, file, shown, out));
    TRY(tutti_desc_check((*out)->desc, (*out)->description, &flaws));
    if (flaws.errors + flaws.warnings > 0)
        tutti_log_printf(flat->source->log, TUTTI_LOG_WARNING, shown,
                         "the model description has %u flaw%s; going on (`tutti check` lists them)",
                         flaws.errors + flaws.warnings, flaws.errors + flaws.warnings == 1 ? "" : "s");
    return TUTTI_OK;
}

enum tutti_err tutti_files_fmu(struct flat *flat, const char *path, const char *shown, struct file **out)
{
    enum tutti_err err;
    struct file *file = get(flat, path, shown, &err);
    *out = file;
    if (!file)
        return err;
    if (file->fmu != TUTTI_NONE)
        return TUTTI_OK;
    struct tutti_fmu **slot = tutti_vector_push(&flat->fmus, sizeof *slot);
    if (!slot)
        return tutti_fail_memory();
    TRY(open_fmu(flat, file, shown, slot));
    file->fmu = (uint32_t)flat->fmus.count - 1;
    return TUTTI_OK;
}

/* ---- documents ---- */

static enum tutti_err read_as(struct flat *flat, struct file *file, enum document kind, struct tutti_reader *reader)
{
    switch (kind) {
    case DOCUMENT_SSD: return tutti_ssd_read(&file->ssd, file->shown, reader, flat->findings);
    case DOCUMENT_SSV: return tutti_ssv_read(&file->ssv, file->shown, reader, flat->findings);
    case DOCUMENT_SSM: return tutti_ssm_read(&file->ssm, file->shown, reader, flat->findings);
    case DOCUMENT_SSB: return tutti_ssb_read(&file->ssb, file->shown, reader, flat->findings);
    }
    return TUTTI_OK;
}

static enum tutti_err read_document(struct flat *flat, struct file *file, enum document kind)
{
    struct tutti_reader reader;
    const void *read[] = {file->ssd, file->ssv, file->ssm, file->ssb};
    if (read[kind])
        return TUTTI_OK;
    if (file->archive) {
        TRY(tutti_archive_begin_entry(file->archive, file->entry, &reader));
        enum tutti_err err = read_as(flat, file, kind, &reader);
        tutti_archive_end_entry(file->archive);
        return err;
    }
    enum tutti_err err = tutti_place_begin_read(&file->place, &reader);
    if (!err)
        err = read_as(flat, file, kind, &reader);
    tutti_place_end_read(&reader);
    return err;
}

static enum tutti_err open_document(struct flat *flat, const struct tutti_place *place, struct tutti_package *package,
                                    struct file **out)
{
    enum tutti_err err;
    struct file *file = get(flat, place->path, place->shown, &err);
    *out = file;
    if (!file)
        return err;
    if (!file->package)
        file->package = package;
    file->beside = file->beside || tutti_package_is_bare(package);
    return read_document(flat, file, DOCUMENT_SSD);
}

enum tutti_err tutti_files_package(struct flat *flat, const char *path, const char *shown, const char *variant,
                                   struct file **out)
{
    struct tutti_place place;
    enum tutti_err err;
    struct file *archive = get(flat, path, shown, &err);
    if (!archive)
        return err;
    if (!archive->opened) {
        struct tutti_package **slot = tutti_vector_push(&flat->packages, sizeof *slot);
        if (!slot)
            return tutti_fail_memory();
        const struct tutti_system_file *earlier = tutti_files_earlier(flat, shown);
        if (earlier && earlier->package)
            *slot = tutti_package_share(earlier->package);
        else
            TRY(tutti_package_open(slot, tutti_files_alias(flat, shown) ? archive->place.path : path, shown));
        archive->opened = *slot;
    }
    TRY(tutti_package_ssd(archive->opened, variant, &place));
    err = open_document(flat, &place, archive->opened, out);
    tutti_place_fini(&place);
    return err;
}

/* ---- tables ---- */

/* A table is read for each component that it is: there will not be many. */
static enum tutti_err open_table(struct flat *flat, const char *path, const char *shown, bool beside, struct file **out)
{
    enum tutti_err err;
    *out = get(flat, path, shown, &err);
    if (!*out)
        return err;
    (*out)->beside = (*out)->beside || beside;
    struct tutti_system_table *slot = tutti_vector_push(&flat->tables, sizeof *slot);
    if (!slot)
        return tutti_fail_memory();
    slot->file = (*out)->shown;
    return tutti_table_read_named(&slot->table, (*out)->place.path, slot->file);
}

/* ---- systems of other tools ---- */

enum tutti_err tutti_files_assembly(struct flat *flat, const char *path, const char *shown, struct file **out)
{
    enum tutti_err err;
    struct file *file = get(flat, path, shown, &err);
    *out = file;
    if (!file)
        return err;
    struct tutti_reader reader;
    file->beside = true;
    err = tutti_place_begin_read(&file->place, &reader);
    if (!err)
        err = tutti_assembly_read(&file->assembly, file->shown, &reader, flat->findings);
    tutti_place_end_read(&reader);
    return err;
}

/* A file in the folder of another one; both texts are the caller's. False: memory is out. */
static bool place_beside(const struct file *base, const char *name, struct tutti_text *path, struct tutti_text *shown)
{
    const char *slash = strrchr(base->place.path, '/'), *shown_slash = strrchr(base->shown, '/');
    if (name[0] != '/') {
        tutti_text_append_n(path, base->place.path, slash ? (size_t)(slash - base->place.path + 1) : 0);
        tutti_text_append_n(shown, base->shown, shown_slash ? (size_t)(shown_slash - base->shown + 1) : 0);
    }
    tutti_text_append(path, name);
    tutti_text_append(shown, name);
    return !path->failed && !shown->failed;
}

static bool is_table(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && (strcasecmp(name + n - 4, ".csv") == 0 || strcasecmp(name + n - 4, ".tsv") == 0);
}

enum tutti_err tutti_files_beside(struct flat *flat, const struct file *document, const char *source, struct file **out)
{
    struct tutti_uri uri;
    struct tutti_text path = {0}, shown = {0};
    TRY(tutti_uri_read(&uri, source));
    enum tutti_err err = place_beside(document, uri.path, &path, &shown) ? TUTTI_OK : tutti_fail_memory();
    if (!err) {
        tutti_str_make_printable(shown.text);
        err = is_table(shown.text) ? open_table(flat, path.text, shown.text, true, out)
                                   : tutti_files_fmu(flat, path.text, shown.text, out);
    }
    tutti_text_fini(&path);
    tutti_text_fini(&shown);
    tutti_uri_fini(&uri);
    return err;
}

static enum tutti_err read_group(struct flat *flat, const struct file *base, const char *file_name, const char *name,
                                 struct tutti_assembly_group *group, bool *found)
{
    struct tutti_text path = {0}, shown = {0};
    struct tutti_reader reader;
    struct file *file = NULL;
    enum tutti_err err = place_beside(base, file_name, &path, &shown) ? TUTTI_OK : tutti_fail_memory();
    if (!err)
        file = get(flat, path.text, shown.text, &err);
    if (file) {
        file->beside = true;
        err = tutti_place_begin_read(&file->place, &reader);
        if (!err)
            err = tutti_assembly_read_group(file->shown, &reader, name, &flat->arena, group, found);
        tutti_place_end_read(&reader);
    }
    tutti_text_fini(&path);
    tutti_text_fini(&shown);
    return !file && err == TUTTI_ERR_IO ? TUTTI_OK : err; /* it is not there */
}

enum tutti_err tutti_files_group(struct flat *flat, const struct file *document, const struct file *fmu,
                                 const char *model, const char *name, struct tutti_assembly_group *group, bool *found)
{
    struct tutti_text file = {0};
    *found = false;
    tutti_text_printf(&file, "%s_OspModelDescription.xml", model);
    enum tutti_err err = file.failed ? tutti_fail_memory() : TUTTI_OK;
    if (!err && !strchr(file.text, '/')) { /* a model's name is no path */
        err = read_group(flat, fmu, file.text, name, group, found);
        if (!err && !*found)
            err = read_group(flat, document, file.text, name, group, found);
    }
    tutti_text_fini(&file);
    return err;
}

/* ---- what documents refer to ---- */

static bool is_type(const char *type, const char *wanted)
{
    return strncmp(type, wanted, strlen(wanted)) == 0 && strchr("; \t", type[strlen(wanted)]);
}

static enum tutti_err open_source(struct flat *flat, const struct file *base, const struct tutti_ssp_element *element,
                                  const struct tutti_place *place, struct file **out)
{
    const char *type = element->type;
    if (!type && tutti_files_is_system(flat, place->path, place->shown)) {
        size_t n = strlen(place->path);
        bool package = n > 4 && strcasecmp(place->path + n - 4, ".ssd") != 0;
        type = package ? "application/x-ssp-package" : "application/x-ssp-definition";
        tutti_findings_add(flat->findings, TUTTI_FINDING_WARNING, base->shown, element->line,
                           "the component '%s' has no type, and so should be an FMU, but its source \"%s\" is a "
                           "system; write type=\"%s\"",
                           element->name, element->source, type);
    }
    if (type && is_type(type, "application/x-ssp-package"))
        return tutti_files_package(flat, place->path, place->shown, place->fragment, out);
    if (place->fragment)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "the source \"%s\" has a #, which is for the variants of an .ssp and, alone, for systems of "
                          "this document; leave it out",
                          tutti_str_show(element->source).text);
    if (type && is_type(type, "text/csv"))
        return open_table(flat, place->path, place->shown, tutti_package_is_bare(base->package), out);
    if (!type || is_type(type, "application/x-fmu-sharedlibrary"))
        return tutti_files_fmu(flat, place->path, place->shown, out);
    return open_document(flat, place, base->package, out);
}

/* A wrong source is the document's fault, not the command line's. */
static enum tutti_err fail_source(enum tutti_err err, const struct file *base, const struct tutti_ssp_element *element)
{
    err = err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err;
    return tutti_fail_context(err, "%s:%u: component '%s'", base->shown, element->line, element->name);
}

enum tutti_err tutti_files_component(struct flat *flat, struct file *base, const struct tutti_ssp_element *element,
                                     struct file **out)
{
    /* Thousands of components may have the same source: the disk is asked once. */
    bool fmu = !element->type || is_type(element->type, "application/x-fmu-sharedlibrary");
    int64_t known = fmu ? tutti_map_find(&base->sources, element->source) : TUTTI_MAP_NONE;
    if (known != TUTTI_MAP_NONE) {
        *out = ((struct file **)flat->files.items)[known];
        return TUTTI_OK;
    }
    struct tutti_place place;
    enum tutti_err err = tutti_package_resolve(base->package, &base->place, element->source, &place);
    if (err)
        return fail_source(err, base, element);
    err = open_source(flat, base, element, &place, out);
    tutti_place_fini(&place);
    if (err)
        return fail_source(err, base, element);
    fmu = *out && (*out)->fmu != TUTTI_NONE;
    return fmu ? tutti_map_add(&base->sources, element->source, (*out)->index, NULL) : TUTTI_OK;
}

bool tutti_files_supports(const char *type)
{
    return !type || is_type(type, "application/x-fmu-sharedlibrary") || is_type(type, "application/x-ssp-definition") ||
           is_type(type, "application/x-ssp-package") || is_type(type, "text/csv");
}

/* Collects the systems of a document that have an id. As deep as the XML is. */
static enum tutti_err collect_ids(struct file *file, const struct tutti_ssp_element *element)
{
    if (element->id) {
        const struct tutti_ssp_element **slot = tutti_vector_push(&file->systems, sizeof *slot);
        if (!slot)
            return tutti_fail_memory();
        *slot = element;
        TRY(tutti_map_add(&file->ids, element->id, (int64_t)file->systems.count - 1, NULL));
    }
    for (size_t i = 0; i < element->element_count; i++)
        if (element->elements[i].kind == TUTTI_SSP_SYSTEM)
            TRY(collect_ids(file, &element->elements[i]));
    return TUTTI_OK;
}

enum tutti_err tutti_files_system(struct file *file, const char *id, const struct tutti_ssp_element **out)
{
    if (!file->ids_known)
        TRY(collect_ids(file, &file->ssd->system));
    file->ids_known = true;
    int64_t found = tutti_map_find(&file->ids, id);
    *out = found == TUTTI_MAP_NONE ? NULL : ((const struct tutti_ssp_element **)file->systems.items)[found];
    return TUTTI_OK;
}

/* A document inside of an FMU: sourceBase="component". NULL, and *err, if there is none. */
static struct file *find_in_fmu(struct flat *flat, const struct file *base, const char *source, enum tutti_err *err)
{
    const struct tutti_fmu *fmu = ((struct tutti_fmu **)flat->fmus.items)[base->fmu];
    const char *key = base->place.path;
    struct file *file = NULL;
    struct tutti_uri uri;
    char *entry = NULL;
    struct tutti_text full = {0}, shown = {0};
    *err = tutti_uri_read(&uri, source);
    if (*err)
        return NULL;
    *err = tutti_uri_join("", uri.path, &entry);
    if (!*err && !tutti_archive_has(fmu->archive, entry))
        *err = tutti_fail(TUTTI_ERR_IO, "there is no %s in %s", tutti_str_show(entry).text, fmu->path);
    if (!*err) {
        tutti_text_printf(&full, "%s/%s", key, entry);
        tutti_text_printf(&shown, "%s/%s", fmu->path, entry);
        if (full.failed || shown.failed)
            *err = tutti_fail_memory();
        else
            tutti_str_make_printable(shown.text);
        if (!*err)
            file = get_keyed(flat, full.text, shown.text, err);
    }
    if (file) {
        file->archive = fmu->archive;
        file->entry = file->place.path + strlen(key) + 1;
    }
    tutti_text_fini(&full);
    tutti_text_fini(&shown);
    free(entry);
    tutti_uri_fini(&uri);
    return file;
}

enum tutti_err tutti_files_document(struct flat *flat, struct file *base, const char *source, enum document kind,
                                    struct file **out)
{
    enum tutti_err err;
    struct file *file;
    if (base->fmu != TUTTI_NONE) {
        file = find_in_fmu(flat, base, source, &err);
    } else {
        struct tutti_place place;
        err = tutti_package_resolve(base->package, &base->place, source, &place);
        file = err ? NULL : get(flat, place.path, place.shown, &err);
        if (file && tutti_package_is_bare(base->package))
            file->beside = true;
        tutti_place_fini(&place);
    }
    *out = file;
    if (file)
        return read_document(flat, file, kind);
    return err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err;
}
