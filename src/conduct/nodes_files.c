/* SPDX-License-Identifier: MIT */
/* Which files a run is made of, and in which form they travel.
 *
 * FMUs go one by one, because they are what is large and what stays the same from run to run; each is sent to a node once, and
 * found there by its hash ever after. A package goes without them: its documents are small, and it is they that change. What is
 * unpacked here is packed; the same files give the same bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/str.h"
#include "conduct/nodes_parts.h"
#include "ssp/package_write.h"

void tutti_nodes_files_fini(struct tutti_nodes_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        free(files->files[i].packed);
    free(files->files);
    free(files->names);
    tutti_map_fini(&files->by_path);
}

/* ---- packing ---- */

/* Is there a file of the system by the name "PACKAGE/ENTRY"? Then it travels by itself. */
static bool travels_alone(const struct tutti_map *names, const char *package, const char *entry)
{
    struct tutti_text name = {0};
    tutti_text_printf(&name, "%s/%s", package, entry);
    bool alone = !name.failed && tutti_map_find(names, name.text) != TUTTI_MAP_NONE;
    tutti_text_fini(&name);
    return alone;
}

/* Writes an archive, or folder, as an archive; of the package `name` (NULL: no package) without what travels alone. */
static enum tutti_err pack(const char *from, const char *to, const char *name, const struct tutti_map *names)
{
    struct tutti_archive *archive;
    TRY(tutti_archive_open(&archive, from));
    size_t count = tutti_archive_count(archive), used = 0;
    struct tutti_package_part *parts = calloc(count + 1, sizeof *parts);
    for (size_t i = 0; parts && i < count; i++) {
        const char *entry = tutti_archive_name(archive, i);
        if (!name || !travels_alone(names, name, entry))
            parts[used++] = (struct tutti_package_part){.name = entry, .archive = archive, .index = i};
    }
    enum tutti_err err = parts ? tutti_package_write(to, parts, used) : tutti_fail_memory();
    free(parts);
    tutti_archive_free(archive);
    return err;
}

static bool is_bare(const char *name)
{
    size_t n = strlen(name);
    return n >= 4 && strcasecmp(name + n - 4, ".ssd") == 0;
}

/* ---- files ---- */

static enum tutti_err prepare(struct tutti_nodes_file *file, const struct tutti_nodes *nodes, uint32_t number,
                              const char *package, const struct tutti_map *names)
{
    struct stat st;
    if (stat(file->path, &st) != 0)
        return tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", file->path, strerror(errno));
    if (S_ISDIR(st.st_mode) || (package && !is_bare(package))) {
        struct tutti_text packed = {0};
        tutti_text_printf(&packed, "%s/file-%u", tutti_tempdir_path(nodes->tempdir), number);
        file->packed = packed.text;
        if (packed.failed)
            return tutti_fail_memory();
        TRY(pack(file->path, file->packed, package, names));
    }
    return tutti_content_of_file(&file->content, file->packed ? file->packed : file->path);
}

/* Does it stand in for what a node offers? */
static void find_offer(struct tutti_nodes_file *file, const struct tutti_nodes *nodes)
{
    for (uint32_t n = 0; n < nodes->list.count; n++)
        for (uint32_t i = 0; i < nodes->fars[n].offer_count; i++) {
            const char *path = nodes->fars[n].offers[i].path;
            if (path && strcmp(path, file->path) == 0) {
                file->far = n;
                file->offer = i;
                return;
            }
        }
}

/* Adds a name of a file, and the file if it is new. */
static enum tutti_err add(struct tutti_nodes_files *files, const struct tutti_nodes *nodes, const char *name,
                          const char *path, bool system, const struct tutti_map *names)
{
    int64_t number = tutti_map_find(&files->by_path, path);
    if (number == TUTTI_MAP_NONE) {
        if (files->count == TUTTI_NODE_MOST_FILES)
            return tutti_fail(TUTTI_ERR_LIMIT, "the system has more than %d files, which is too many for nodes",
                              TUTTI_NODE_MOST_FILES);
        number = files->count++;
        struct tutti_nodes_file *file = &files->files[number];
        *file = (struct tutti_nodes_file){.path = path, .far = UINT32_MAX};
        TRY(tutti_map_add(&files->by_path, path, number, NULL));
        find_offer(file, nodes);
        TRY(prepare(file, nodes, (uint32_t)number, system ? name : NULL, names));
    }
    files->names[files->name_count++] =
        (struct tutti_node_name){.name = name, .file = (uint32_t)number, .system = system};
    return TUTTI_OK;
}

/* An input file may have an alias, too. */
static const char *path_of_input(const struct tutti_run_options *options, const char *name)
{
    for (size_t i = 0; i < options->alias_count; i++)
        if (!options->aliases[i].if_missing && strcmp(options->aliases[i].name, name) == 0)
            return options->aliases[i].path;
    return name;
}

enum tutti_err tutti_nodes_files_list(struct tutti_nodes_files *files, const struct tutti_nodes *nodes,
                                      const struct tutti_job *job)
{
    const struct tutti_system *system = job->system;
    const struct tutti_run_options *options = job->asked;
    struct tutti_map names = {0};
    *files = (struct tutti_nodes_files){0};
    files->files = calloc(system->file_count + options->input_count + 1, sizeof *files->files);
    files->names = calloc(system->file_count + options->input_count + 1, sizeof *files->names);
    enum tutti_err err = files->files && files->names ? TUTTI_OK : tutti_fail_memory();
    for (uint32_t i = 0; i < system->file_count && !err; i++)
        err = tutti_map_add(&names, system->files[i].name, i, NULL);
    for (uint32_t i = 0; i < system->file_count && !err; i++)
        err = add(files, nodes, system->files[i].name, system->files[i].path, system->files[i].package, &names);
    for (size_t i = 0; i < options->input_count && !err; i++)
        err = add(files, nodes, options->inputs[i], path_of_input(options, options->inputs[i]), false, &names);
    tutti_map_fini(&names);
    return err;
}
