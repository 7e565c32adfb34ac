/* SPDX-License-Identifier: MIT */
#include <tutti/save.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>
#include <strings.h>

#include "base/suggestion.h"
#include "base/number.h"
#include "base/text.h"
#include "sim/job/integration.h"
#include "sim/job/job.h"
#include "apps/api/save_files.h"
#include "sim/job/annotation.h"
#include "model/ssp/package.h"
#include "model/system/write.h"

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

/* Start and stop: those of the options; in a new document also what the FMUs propose. */
static void choose_saved_times(struct saver *saver, bool is_new)
{
    struct tt_experiment proposal;
    tt_times_propose(saver->job.system, &proposal);
    saver->write.has_start = saver->options->has_start || (is_new && proposal.has_start && isfinite(proposal.start));
    saver->write.has_stop = saver->options->has_stop || (is_new && proposal.has_stop && isfinite(proposal.stop));
    saver->write.start = saver->job.times.start;
    saver->write.stop = saver->job.times.stop;
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

/* What a run would refuse of the options given, though it would load the FMUs for that; a system of another tool may say more than concerns its FMUs. */
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

/* What adds to what the annotation says, and does not replace it. */
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

/* A new document says what the file of another tool said, where the options do not. */
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
    choose_saved_times(saver, is_new);
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

/* What stands after '#' of "[NAME=]PATH#VARIANT", or NULL. */
static const char *find_variant_name(const char *text, const char *path)
{
    size_t n = strlen(path);
    if (strncmp(text, path, n) != 0)
        text = strchr(text, '=') + 1;
    return text[n] == '#' ? text + n + 1 : NULL;
}

static enum tutti_err save_read_ssd(const struct tt_package_place *place, struct tt_ssd **ssd)
{
    struct tt_byte_source reader;
    enum tutti_err err = tt_package_open_file(place, &reader);
    if (!err)
        err = tt_ssd_read(ssd, place->shown, &reader, NULL);
    tt_package_close_file(&reader);
    return err;
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
    if (!err)
        err = save_read_ssd(&place, &ssd);
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
