/* SPDX-License-Identifier: MIT */
#include "apps/api/save.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tutti/run.h>
#include <tutti/save.h>

#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "model/ssp/package.h"
#include "model/ssp/uri.h"
#include "model/system/write.h"
#include "run/federate/attribute_links.h"
#include "sim/job/annotation.h"
#include "sim/job/integration.h"
#include "sim/job/job.h"

#define DEFAULT_SSD "SystemStructure.ssd"

struct saver {
    const struct tutti_run_options *options;
    const char *output;
    bool bare; /* an .ssd is to be written */
    struct tt_job job;
    struct tt_ssd_writer_options write;
    struct tt_run_setting words[TUTTI_ANNOTATION_MOST];
    struct tt_save_files files;
    struct tt_text text; /* of the document */
    struct tt_arena arena;
};

static bool save_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcasecmp(text + n - m, end) == 0;
}

/* ---- what to write ---- */

/* "UNIT=VALUE" as a setting of the unit. */
static enum tutti_err read_unit_word(struct saver *saver, const char *option, const char *text,
                                     struct tt_ssd_writer_setting *word)
{
    const struct tt_system *system = saver->job.system;
    const char *equals = strrchr(text, '=');
    char *name = tt_arena_copy_text(&saver->arena, text, equals ? (size_t)(equals - text) : strlen(text));
    if (!name)
        return tt_fail_memory();
    int64_t component = tt_map_find(&system->names, name);
    word->option = option;
    word->component = (uint32_t)component;
    word->value = equals ? equals + 1 : "";
    if (component != TUTTI_MAP_NONE)
        return TUTTI_OK;
    struct tt_text_nearest nearest = {.wanted = name};
    for (uint32_t c = 0; c < system->component_count; c++)
        tt_text_nearest_offer(&nearest, system->components[c].name);
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s %s: there is no unit '%s'%s%s%s", option, text, name,
                   nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

static enum tutti_err read_unit_step(struct saver *saver, const char *text, struct tt_ssd_writer_setting *word)
{
    const char *equals = strrchr(text, '=');
    double step;
    if (!equals || !tt_number_read_double(equals + 1, strlen(equals + 1), &step))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--step takes UNIT=H with a number H, not '%s'", text);
    word->name = "step";
    TRY(read_unit_word(saver, "--step", text, word));
    return tt_times_check_multiple(&saver->job.times, step, saver->job.system->components[word->component].name);
}

/* A feature of the unit that is not to be used. */
static enum tutti_err read_feature(struct saver *saver, const char *option, const char *unit,
                                   struct tt_ssd_writer_setting *word)
{
    word->name = option + strlen("--");
    TRY(read_unit_word(saver, option, unit, word));
    word->value = "true";
    return TUTTI_OK;
}

static enum tutti_err save_read_rank(struct saver *saver, const char *text, struct tt_ssd_writer_setting *word)
{
    const char *equals = strrchr(text, '=');
    uint64_t rank;
    if (!equals || !tt_number_read_uint(equals + 1, strlen(equals + 1), &rank) || rank >= INT32_MAX)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--place takes UNIT=RANK with a rank from 0 on, not '%s'", text);
    word->name = "rank";
    return read_unit_word(saver, "--place", text, word);
}

static enum tutti_err read_unit_words(struct saver *saver)
{
    const struct tutti_run_options *options = saver->options;
    size_t count = options->unit_step_count + options->place_count + options->no_event_mode_unit_count +
                   options->no_stop_time_unit_count + options->no_directional_derivatives_unit_count;
    struct tt_ssd_writer_setting *words = tt_arena_array(&saver->arena, count, sizeof *words);
    if (!words)
        return tt_fail_memory();
    saver->write.unit_words = words;
    saver->write.unit_word_count = count;
    if (options->unit_quantum_count > 0)
        return tt_fail(
            TUTTI_ERR_UNSUPPORTED,
            "--quantum %s is not kept in a file, which has one quantum for all outputs; give it to tutti run",
            options->unit_quantums[0]);
    if (options->unit_atol_count > 0)
        return tt_fail(
            TUTTI_ERR_UNSUPPORTED,
            "--atol %s is not kept in a file, which has one tolerance for all states of a unit; give it to tutti run",
            options->unit_atols[0]);
    for (size_t i = 0; i < options->unit_step_count; i++)
        TRY(read_unit_step(saver, options->unit_steps[i], words++));
    for (size_t i = 0; i < options->place_count; i++)
        TRY(save_read_rank(saver, options->places[i], words++));
    for (size_t i = 0; i < options->no_event_mode_unit_count; i++)
        TRY(read_feature(saver, "--no-event-mode", options->no_event_mode_units[i], words++));
    for (size_t i = 0; i < options->no_stop_time_unit_count; i++)
        TRY(read_feature(saver, "--no-stop-time", options->no_stop_time_units[i], words++));
    for (size_t i = 0; i < options->no_directional_derivatives_unit_count; i++)
        TRY(read_feature(saver, "--no-directional-derivatives", options->no_directional_derivatives_units[i], words++));
    return TUTTI_OK;
}

/* Whether a component would be integrated by Tutti, and the options for that are good. An FMU that Tutti cannot run may well
 * be saved. */
static enum tutti_err check_component(const struct saver *saver, uint32_t c, bool *exchange)
{
    const struct tt_job *job = &saver->job;
    const struct tt_component *component = &job->system->components[c];
    const struct tt_unit_kind *kind;
    struct tutti_run_options own = *saver->options;
    struct tt_integration unused;
    enum tt_interface_choice choice;
    double step;
    TRY(tt_annotation_apply_component(&own, job->system, component, &step));
    TRY(tt_integration_choose_interface(&own, &choice));
    if (tt_integration_find_interface(&own, component->fmu, false, &kind) != TUTTI_OK || kind->interface != TUTTI_ME)
        return TUTTI_OK;
    *exchange = true;
    uint32_t first = job->structure.component_first[c], end = job->structure.component_first[c + 1];
    bool driven = first < end && !job->structure.nodes[first].output;
    return tt_integration_resolve(&unused, &own, &job->times, own.has_rtol ? own.rtol : job->times.tolerance, driven,
                                  tt_system_is_coupled(job->system));
}

/* Rejects options that a run would reject only after loading the FMUs; a system of another tool may have settings that
 * do not concern its FMUs. */
static enum tutti_err save_check_options(const struct saver *saver)
{
    bool exchange = false;
    for (uint32_t c = 0; c < saver->job.system->component_count; c++)
        TRY(check_component(saver, c, &exchange));
    if (exchange)
        return TUTTI_OK;
    if (saver->options->solver)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--solver %s is for Model Exchange, which no FMU of this system has",
                       saver->options->solver);
    return tt_integration_reject_options(saver->options, tt_system_is_coupled(saver->job.system));
}

/* Options that extend the values of the annotation instead of replacing them. */
static enum tutti_err merge_annotation_word(struct saver *saver, struct tt_run_setting *word)
{
    const struct tt_system *system = saver->job.system;
    struct tt_text both = {0};
    if (tt_options_find(word->name)->kind != TUTTI_OPTION_TEXTS)
        return TUTTI_OK;
    for (size_t i = 0; i < system->word_count; i++)
        if (strcmp(system->words[i].name, word->name) == 0)
            tt_text_printf(&both, "%s%s", system->words[i].value, TUTTI_ANNOTATION_AND);
    tt_text_append(&both, word->value);
    word->value = both.failed ? NULL : tt_arena_copy_text(&saver->arena, both.text, both.length);
    tt_text_fini(&both);
    return word->value ? TUTTI_OK : tt_fail_memory();
}

/* A new document gets the settings of the other tool's file that the options do not override. */
static void add_words(struct saver *saver)
{
    const struct tt_system *system = saver->job.system;
    for (size_t i = 0; i < system->word_count; i++) {
        size_t given = 0;
        while (given < saver->write.word_count && strcmp(saver->words[given].name, system->words[i].name) != 0)
            given++;
        if (given == saver->write.word_count && given < TUTTI_ANNOTATION_MOST)
            saver->words[saver->write.word_count++] = system->words[i];
    }
}

static enum tutti_err save_prepare(struct saver *saver, bool is_new)
{
    const struct tutti_run_options *options = saver->options;
    saver->write.system = saver->job.system;
    saver->write.set = options->sets;
    saver->write.set_count = options->set_count;
    saver->write.connect = options->connects;
    saver->write.connect_count = options->connect_count;
    TRY(save_check_options(saver));
    saver->write.words = saver->words;
    TRY(tt_annotation_list_given(options, &saver->arena, saver->words, &saver->write.word_count));
    for (size_t i = 0; i < saver->write.word_count; i++)
        TRY(merge_annotation_word(saver, &saver->words[i]));
    if (is_new)
        add_words(saver);
    TRY(read_unit_words(saver));

    /* Start and stop: those of the options; in a new document also what the FMUs propose. */
    struct tt_experiment proposal;
    tt_times_propose(saver->job.system, &proposal);
    saver->write.has_start = options->has_start || (is_new && proposal.has_start && isfinite(proposal.start));
    saver->write.has_stop = options->has_stop || (is_new && proposal.has_stop && isfinite(proposal.stop));
    saver->write.start = saver->job.times.start;
    saver->write.stop = saver->job.times.stop;
    return TUTTI_OK;
}

/* ---- a new document ---- */

/* "dir/car.ssp" -> "car" */
static enum tutti_err choose_saved_name(struct saver *saver)
{
    const char *last = strrchr(saver->output, '/') ? strrchr(saver->output, '/') + 1 : saver->output;
    size_t n = strlen(last);
    saver->write.name = tt_arena_copy_text(&saver->arena, last, n > 4 ? n - 4 : n);
    struct tt_text tool = {0};
    tt_text_printf(&tool, "Tutti %s", tutti_version());
    saver->write.tool = tool.failed ? NULL : tt_arena_copy_text(&saver->arena, tool.text, tool.length);
    tt_text_fini(&tool);
    return saver->write.name && saver->write.tool ? TUTTI_OK : tt_fail_memory();
}

/* The path of a table's file on the disk. */
static const char *find_table_path(const struct tt_system *system, const struct tt_system_table *table)
{
    for (uint32_t i = 0; i < system->file_count; i++)
        if (strcmp(system->files[i].name, table->file) == 0)
            return system->files[i].path;
    return table->file;
}

/* Puts a file into the package, or finds the reference to it from a bare document. */
static enum tutti_err save_add_source(struct saver *saver, const char *path, const char **uri)
{
    return saver->bare ? tt_save_files_relative(&saver->files, path, uri)
                       : tt_save_files_resource(&saver->files, path, uri);
}

static enum tutti_err save_new(struct saver *saver)
{
    const struct tt_system *system = saver->job.system;
    TRY(save_prepare(saver, true));
    TRY(choose_saved_name(saver));
    const char **sources = tt_arena_array(&saver->arena, system->fmu_count, sizeof *sources);
    const char **tables = tt_arena_array(&saver->arena, system->table_count + 1, sizeof *tables);
    if (!sources || !tables)
        return tt_fail_memory();
    saver->write.sources = sources;
    saver->write.tables = tables;
    for (uint32_t i = 0; i < system->fmu_count; i++)
        TRY(save_add_source(saver, system->fmus[i]->path, &sources[i]));
    for (uint32_t i = 0; i < system->table_count; i++)
        TRY(save_add_source(saver, find_table_path(system, &system->tables[i]), &tables[i]));
    struct tt_tree *tree;
    TRY(tt_ssd_writer_write(&tree, &saver->write));
    tt_tree_write(tree, &saver->text);
    tt_tree_free(tree);
    if (saver->bare)
        return tt_save_files_write_text(saver->output, &saver->text);
    TRY(tt_save_files_text(&saver->files, DEFAULT_SSD, &saver->text));
    return tt_save_files_write(&saver->files);
}

/* ---- a document that is changed ---- */

/* Returns the text after '#' of "[NAME=]PATH#VARIANT", or NULL. */
static const char *find_variant_name(const char *text, const char *path)
{
    size_t n = strlen(path);
    if (strncmp(text, path, n) != 0)
        text = strchr(text, '=') + 1;
    return text[n] == '#' ? text + n + 1 : NULL;
}

static enum tutti_err write_changed_document(struct saver *saver, struct tt_ssd *ssd,
                                             const struct tt_package_place *place)
{
    const char *path = saver->job.system->path;
    bool from_bare = save_ends_with(path, ".ssd");
    TRY(tt_save_files_check_input(saver->output, path));
    if (from_bare)
        TRY(tt_save_files_rewrite_references(&saver->files, ssd->tree, path, !saver->bare));
    else if (saver->bare)
        return tt_fail(TUTTI_ERR_ARGUMENT, "an .ssd has no room for the files of %s; write an .ssp", path);
    tt_edit_write_back(ssd->tree, &saver->text);
    if (saver->bare)
        return tt_save_files_write_text(saver->output, &saver->text);
    if (from_bare)
        TRY(tt_save_files_text(&saver->files, DEFAULT_SSD, &saver->text));
    else
        TRY(tt_save_files_copy(&saver->files, path, strrchr(place->path, '/') + 1, &saver->text));
    return tt_save_files_write(&saver->files);
}

static enum tutti_err save_changed(struct saver *saver)
{
    const char *path = saver->job.system->path;
    struct tt_package *package = NULL;
    struct tt_package_place place = {0};
    struct tt_ssd *ssd = NULL;
    TRY(save_prepare(saver, false));
    enum tutti_err err = tt_package_open(&package, path, path);
    if (!err)
        err = tt_package_find_ssd(package, find_variant_name(saver->options->files[0], path), &place);
    if (!err) {
        struct tt_byte_source reader;
        err = tt_package_open_file(&place, &reader);
        if (!err)
            err = tt_ssd_read(&ssd, place.shown, &reader, NULL);
        tt_package_close_file(&reader);
    }
    if (!err)
        err = tt_ssd_changes_apply(ssd, &saver->write);
    if (!err)
        err = write_changed_document(saver, ssd, &place);
    tt_ssd_free(ssd);
    tt_package_place_fini(&place);
    tt_package_free(package);
    return err;
}

static enum tutti_err save_write(struct saver *saver)
{
    TRY(tt_job_load(&saver->job, saver->options, NULL));
    if (saver->job.system->package_count == 0)
        return save_new(saver);
    if (saver->options->file_count > 1)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s is a system already; give it alone, or FMUs only",
                       saver->job.system->path);
    return save_changed(saver);
}

enum tutti_err tutti_save(const char *output, const struct tutti_run_options *options)
{
    if (!save_ends_with(output, ".ssp") && !save_ends_with(output, ".ssd"))
        return tt_fail(TUTTI_ERR_ARGUMENT, "the file to write is OUT.ssp or OUT.ssd, not '%s'", output);
    struct tt_failure failure;
    struct saver *saver = calloc(1, sizeof *saver);
    if (!saver)
        return tt_fail_memory();
    saver->options = options;
    saver->output = saver->files.output = output;
    saver->bare = save_ends_with(output, ".ssd");
    tt_fail_save(&failure, save_write(saver));
    tt_save_files_fini(&saver->files);
    tt_text_fini(&saver->text);
    tt_arena_fini(&saver->arena);
    tt_job_close(&saver->job);
    free(saver);
    return tt_fail_restore(&failure);
}

void tt_save_files_fini(struct tt_save_files *files)
{
    free(files->parts);
    tt_map_fini(&files->names);
    tt_map_fini(&files->paths);
    tt_archive_free(files->archive);
    tt_tempdir_free(files->tempdir);
    tt_arena_fini(&files->arena);
}

enum tutti_err tt_save_files_check_input(const char *output, const char *path)
{
    struct stat a, b;
    if (stat(output, &a) != 0 || stat(path, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' would be written over the file that it is made from; use another name",
                   output);
}

/* ---- parts ---- */

static enum tutti_err save_files_add(struct tt_save_files *files, const struct tt_zip_part *part)
{
    if (!tt_vector_reserve(&files->parts, &files->room, files->count + 1, sizeof *files->parts))
        return tt_fail_memory();
    files->parts[files->count] = *part;
    return tt_map_add(&files->names, part->name, (int64_t)files->count++, NULL);
}

static const char *save_files_store_text(struct tt_save_files *files, const struct tt_text *text)
{
    return text->failed ? NULL : tt_arena_copy_text(&files->arena, text->text, text->length);
}

enum tutti_err tt_save_files_text(struct tt_save_files *files, const char *name, const struct tt_text *text)
{
    if (text->failed)
        return tt_fail_memory();
    const char *copy = tt_arena_copy_text(&files->arena, name, strlen(name));
    return copy ? save_files_add(files, &(struct tt_zip_part){.name = copy, .data = text->text, .size = text->length})
                : tt_fail_memory();
}

enum tutti_err tt_save_files_copy(struct tt_save_files *files, const char *package, const char *replaced,
                                  const struct tt_text *text)
{
    TRY(tt_archive_open(&files->archive, package));
    for (size_t i = 0; i < tt_archive_count(files->archive); i++) {
        const char *name = tt_archive_name(files->archive, i);
        if (text && strcmp(name, replaced) == 0)
            TRY(tt_save_files_text(files, name, text));
        else
            TRY(save_files_add(files, &(struct tt_zip_part){.name = name, .archive = files->archive, .index = i}));
    }
    return TUTTI_OK;
}

/* ---- resources ---- */

static bool save_files_is_plain(const char *c)
{
    return (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
           strchr("-_.+ ()@=,", *c) != NULL;
}

/* "resources/NAME", made of the last part of a path; with a number if another file has it; what archives or other systems
 * would stumble over becomes '_'. */
static enum tutti_err name_resource(struct tt_save_files *files, const char *path, bool folder, const char **name)
{
    const char *last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct tt_text stem = {0}, text = {0};
    for (const char *c = last; *c;) {
        size_t n = *c & 0x80 ? tt_text_utf8_length(c) : save_files_is_plain(c);
        tt_text_append_n(&stem, n ? c : "_", n ? n : 1);
        c += n ? n : 1;
    }
    const char *dot = stem.text && !folder ? strrchr(stem.text, '.') : NULL;
    int length = dot && dot > stem.text ? (int)(dot - stem.text) : (int)stem.length;
    const char *ending = folder ? tt_package_is_system(path) ? ".ssp" : ".fmu" : stem.text ? stem.text + length : "";
    *name = NULL;
    for (unsigned number = 1; !*name && !stem.failed && !text.failed; number++) {
        text.length = 0;
        tt_text_printf(&text, "resources/%.*s", length, stem.text ? stem.text : "");
        if (number > 1)
            tt_text_printf(&text, "_%u", number);
        tt_text_append(&text, ending);
        if (!text.failed && tt_map_find(&files->names, text.text) == TUTTI_MAP_NONE &&
            !(*name = save_files_store_text(files, &text)))
            break;
    }
    tt_text_fini(&stem);
    tt_text_fini(&text);
    return *name ? TUTTI_OK : tt_fail_memory();
}

/* Packs an unpacked FMU or SSP; *path becomes the packed one. */
static enum tutti_err pack_folder(struct tt_save_files *files, const char **path)
{
    struct tt_save_files inner = {0};
    struct tt_text text = {0};
    enum tutti_err err = files->tempdir ? TUTTI_OK : tt_tempdir_new(&files->tempdir);
    if (!err)
        err = tt_save_files_copy(&inner, *path, NULL, NULL);
    if (!err) {
        tt_text_printf(&text, "%s/%zu.zip", tt_tempdir_path(files->tempdir), files->count);
        *path = save_files_store_text(files, &text);
        err = *path ? tt_zip_write(*path, inner.parts, inner.count) : tt_fail_memory();
    }
    tt_text_fini(&text);
    tt_save_files_fini(&inner);
    return err;
}

static enum tutti_err add_resource(struct tt_save_files *files, const char *real, size_t *index)
{
    struct stat st;
    struct tt_zip_part part = {.path = tt_arena_copy_text(&files->arena, real, strlen(real))};
    if (!part.path)
        return tt_fail_memory();
    TRY(tt_save_files_check_input(files->output, real));
    TRY(tt_map_add(&files->paths, part.path, (int64_t)files->count, NULL));
    bool folder = stat(real, &st) == 0 && S_ISDIR(st.st_mode);
    TRY(name_resource(files, real, folder, &part.name));
    if (folder)
        TRY(pack_folder(files, &part.path));
    *index = files->count;
    return save_files_add(files, &part);
}

enum tutti_err tt_save_files_resource(struct tt_save_files *files, const char *path, const char **uri)
{
    char *real = realpath(path, NULL);
    if (!real)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    int64_t known = tt_map_find(&files->paths, real);
    size_t index = (size_t)known;
    enum tutti_err err = known == TUTTI_MAP_NONE ? add_resource(files, real, &index) : TUTTI_OK;
    free(real);
    TRY(err);
    struct tt_text text = {0};
    tt_uri_write(&text, files->parts[index].name);
    *uri = save_files_store_text(files, &text);
    tt_text_fini(&text);
    return *uri ? TUTTI_OK : tt_fail_memory();
}

/* ---- references to where files lie ---- */

/* The folder of a file that need not exist, links resolved; the caller's. */
static char *save_files_folder(const char *path)
{
    char *absolute = tt_fs_absolute(path);
    if (!absolute)
        return NULL;
    char *slash = strrchr(absolute, '/');
    slash[slash == absolute] = '\0';
    char *real = realpath(absolute, NULL);
    free(absolute);
    return real;
}

static void write_relative(struct tt_text *out, const char *folder, const char *path)
{
    size_t shared = 0, i = 0;
    for (; folder[i] && folder[i] == path[i]; i++)
        if (path[i] == '/')
            shared = i;
    if (!folder[i] && path[i] == '/')
        shared = i;
    for (const char *c = folder + shared; *c; c++)
        if (*c == '/' && c[1])
            tt_text_append(out, "../");
    tt_uri_write(out, path + shared + 1);
}

enum tutti_err tt_save_files_relative(struct tt_save_files *files, const char *path, const char **uri)
{
    char *folder = save_files_folder(files->output), *real = realpath(path, NULL);
    struct tt_text text = {0};
    enum tutti_err err;
    if (folder && real) {
        write_relative(&text, folder, real);
        *uri = save_files_store_text(files, &text);
        err = *uri ? tt_save_files_check_input(files->output, real) : tt_fail_memory();
    } else {
        err = tt_fail(TUTTI_ERR_IO, "cannot use %s: %s", folder ? path : files->output, strerror(errno));
    }
    tt_text_fini(&text);
    free(folder);
    free(real);
    return err;
}

/* ---- documents that move ---- */

/* Returns true if the element's source names a file. The source of a mapping's entry names a parameter or a value. */
static bool refers_to_file(const struct tt_tree_node *node)
{
    static const struct {
        enum tt_tree_space space;
        const char *local;
    } kinds[] = {{TUTTI_SPACE_SSD, "Component"},        {TUTTI_SPACE_SSD, "ParameterBinding"},
                 {TUTTI_SPACE_SSD, "ParameterMapping"}, {TUTTI_SPACE_SSD, "SignalDictionary"},
                 {TUTTI_SPACE_SSC, "MetaData"},         {TUTTI_SPACE_SSC, "Signature"}};
    const char *source = node->text ? NULL : tt_tree_find_attribute(node, "source");
    for (size_t i = 0; source && *source && i < sizeof kinds / sizeof *kinds; i++)
        if (node->space == kinds[i].space && strcmp(node->local, kinds[i].local) == 0)
            return true;
    return false;
}

static bool is_inner_source(const struct tt_tree_node *node)
{
    const char *base = tt_tree_find_attribute(node, "sourceBase");
    return base && strcmp(base, "SSD") != 0 && strcmp(base, "file") != 0;
}

static enum tutti_err reject_inner_ssd(const struct tt_tree_node *node, const char *file, const char *path)
{
    size_t n = strlen(path);
    if (n < 4 || strcasecmp(path + n - 4, ".ssd") != 0)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "%s:%u: it refers to %s, which may refer to more files; make an .ssp of that one first", file,
                   node->line, path);
}

/* One reference of a document that lies in the folder `from`. */
static enum tutti_err rewrite_reference(struct tt_save_files *files, struct tt_tree *tree, struct tt_tree_node *node,
                                        const char *name, const char *from, bool to_resources)
{
    const char *text = tt_tree_find_attribute(node, name), *reference = NULL;
    struct tt_uri uri;
    struct tt_text path = {0}, moved = {0};
    TRY(tt_uri_read(&uri, text));
    tt_text_printf(&path, "%s%s%s", *uri.path == '/' ? "" : from, *uri.path == '/' ? "" : "/", uri.path);
    enum tutti_err err = path.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && *uri.path && to_resources)
        err = reject_inner_ssd(node, tree->file, uri.path);
    if (!err && *uri.path)
        err = to_resources ? tt_save_files_resource(files, path.text, &reference)
                           : tt_save_files_relative(files, path.text, &reference);
    if (!err && reference) {
        const char *fragment = strchr(text, '#');
        tt_text_printf(&moved, "%s%s", reference, fragment ? fragment : "");
        if (moved.failed || !tt_tree_set_attribute(tree, node, name, moved.text))
            err = tt_fail_memory();
    }
    tt_text_fini(&moved);
    tt_text_fini(&path);
    tt_uri_fini(&uri);
    return err;
}

enum tutti_err tt_save_files_rewrite_references(struct tt_save_files *files, struct tt_tree *tree, const char *from,
                                                bool to_resources)
{
    char *folder = save_files_folder(from), *target = save_files_folder(files->output);
    enum tutti_err err = TUTTI_OK;
    struct tt_tree_node *node = tree->root;
    if (!folder)
        err = tt_fail(TUTTI_ERR_IO, "cannot use %s: %s", from, strerror(errno));
    if (!folder || (target && strcmp(folder, target) == 0 && !to_resources))
        node = NULL; /* nothing moves */
    while (node && !err) {
        if (refers_to_file(node) && !is_inner_source(node))
            err = rewrite_reference(files, tree, node, "source", folder, to_resources);
        if (!err && !node->text && node->space == TUTTI_SPACE_SSD && tt_tree_find_attribute(node, "iconSource"))
            err = rewrite_reference(files, tree, node, "iconSource", folder, to_resources);
        if (node->first) {
            node = node->first;
            continue;
        }
        while (node && !node->next)
            node = node->parent;
        node = node ? node->next : NULL;
    }
    free(folder);
    free(target);
    return err;
}

/* ---- writing ---- */

enum tutti_err tt_save_files_write(const struct tt_save_files *files)
{
    return tt_zip_write(files->output, files->parts, files->count);
}

static enum tutti_err save_files_fail_writing(const char *output, int number)
{
    return tt_fail(TUTTI_ERR_IO, "'%s' cannot be written: %s", output, strerror(number));
}

enum tutti_err tt_save_files_write_text(const char *output, const struct tt_text *text)
{
    struct tt_text temporary = {0};
    tt_text_printf(&temporary, "%s.%ld.tmp", output, (long)getpid());
    if (temporary.failed || text->failed) {
        tt_text_fini(&temporary);
        return tt_fail_memory();
    }
    int fd = open(temporary.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum tutti_err err = fd < 0 ? save_files_fail_writing(output, errno) : TUTTI_OK;
    if (!err && tt_fs_write(fd, text->text, text->length, -1) != text->length)
        err = save_files_fail_writing(output, errno);
    if (fd >= 0 && close(fd) != 0 && !err)
        err = save_files_fail_writing(output, errno);
    if (!err && rename(temporary.text, output) != 0)
        err = save_files_fail_writing(output, errno);
    if (err && fd >= 0)
        unlink(temporary.text);
    tt_text_fini(&temporary);
    return err;
}

/* The object model that a run needs as a federate. */

static enum tutti_err write_fom_module(const struct tt_job *job, const char *path)
{
    struct tt_attribute_links links;
    struct tt_failure failure;
    TRY(tt_attribute_links_read(&links, job));
    bool any = links.published_count + links.subscribed_count > 0;
    tt_fail_save(&failure, any ? tt_attribute_links_write_module(&links, job->system->name, path)
                               : tt_fail(TUTTI_ERR_ARGUMENT,
                                         "there is nothing to write to %s: --publish and --subscribe say what "
                                         "the object model has",
                                         path));
    tt_attribute_links_fini(&links);
    return tt_fail_restore(&failure);
}

enum tutti_err tutti_save_fom(const char *path, const struct tutti_run_options *options)
{
    struct tt_job job;
    struct tt_failure failure;
    TRY(tt_job_load(&job, options, NULL));
    tt_fail_save(&failure, write_fom_module(&job, path));
    tt_job_close(&job);
    return tt_fail_restore(&failure);
}
