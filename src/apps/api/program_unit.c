/* SPDX-License-Identifier: MIT */
#include "unit/program/program_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/module.h"
#include "base/number.h"
#include "base/text.h"
#include "fmu/binary/library.h"
#include "fmu/binary/binary.h"

static enum tutti_err load_program_module(const struct tt_program_module **module)
{
    static const struct tt_module file = {.file = "tutti_program.so",
                                          .symbol = "tt_program_module",
                                          .library = "the FMU kit",
                                          .build_package = "nothing else",
                                          .run_package = "tutti"};
    void *symbol;
    TRY(tt_module_load(&symbol, &file, NULL));
    *module = symbol;
    return TUTTI_OK;
}

/* ---- what is wrong with it ---- */

static enum tutti_err check_variables(const struct tutti_program *program, struct tt_map *names, size_t *states)
{
    for (size_t i = 0; i < program->variable_count; i++) {
        const struct tutti_program_variable *var = &program->variables[i];
        int64_t earlier = TUTTI_MAP_NONE;
        if (!var->name || !var->name[0])
            return tt_fail(TUTTI_ERR_ARGUMENT, "program '%s': variable %zu has no name", program->name, i + 1);
        if ((unsigned)var->role > TUTTI_PROGRAM_STATE)
            return tt_fail(TUTTI_ERR_ARGUMENT, "program '%s': '%s' has no role", program->name, var->name);
        if (!isfinite(var->start))
            return tt_fail(TUTTI_ERR_ARGUMENT, "program '%s': the start value of '%s' is %s; a finite number is wanted",
                           program->name, var->name, NUMBER(var->start));
        TRY(tt_map_add(names, var->name, 0, &earlier));
        if (earlier != TUTTI_MAP_NONE || strcmp(var->name, "time") == 0)
            return tt_fail(TUTTI_ERR_ARGUMENT, "program '%s': there are two variables '%s'", program->name, var->name);
        *states += var->role == TUTTI_PROGRAM_STATE;
    }
    return TUTTI_OK;
}

static enum tutti_err program_unit_check(const struct tutti_program *program)
{
    struct tt_map names = {0};
    size_t states = 0;
    if (!program->name || !program->name[0])
        return tt_fail(TUTTI_ERR_ARGUMENT, "a program has no name");
    if (!program->step == !program->derivatives)
        return tt_fail(TUTTI_ERR_ARGUMENT, "program '%s': either step or derivatives is wanted", program->name);
    enum tutti_err err = check_variables(program, &names, &states);
    tt_map_fini(&names);
    if (!err && (states > 0) != (program->derivatives != NULL))
        err = tt_fail(TUTTI_ERR_ARGUMENT,
                      program->derivatives ? "program '%s' has derivatives, but no states"
                                           : "program '%s' has states, which want derivatives in place of step",
                      program->name);
    return err;
}

/* ---- its folder ---- */

static enum tutti_err program_unit_fail(const char *what)
{
    return tt_fail(TUTTI_ERR_IO, "'%s' cannot be made: %s", what, strerror(errno));
}

static enum tutti_err program_unit_create_folder(const char *path)
{
    return mkdir(path, 0700) ? program_unit_fail(path) : TUTTI_OK;
}

static enum tutti_err program_unit_write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t size = strlen(text);
    bool good = fd >= 0 && tt_fs_write(fd, text, size, -1) == size;
    if (fd >= 0 && close(fd))
        good = false;
    return good ? TUTTI_OK : program_unit_fail(path);
}

/* FOLDER/modelDescription.xml, FOLDER/binaries/PLATFORM/tutti_program.so. */
static enum tutti_err write_program_folder(const char *folder, const char *description, const char *library)
{
    struct tt_text binaries = {0}, platform = {0}, link = {0}, xml = {0};
    tt_text_printf(&xml, "%s/modelDescription.xml", folder);
    tt_text_printf(&binaries, "%s/binaries", folder);
    tt_text_printf(&platform, "%s/binaries/%s", folder, tt_binary_platforms()->folders[0]);
    tt_text_printf(&link, "%s/binaries/%s/" TUTTI_PROGRAM_IDENTIFIER ".so", folder, tt_binary_platforms()->folders[0]);
    enum tutti_err err = xml.failed || binaries.failed || platform.failed || link.failed
                             ? tt_fail_memory()
                             : program_unit_create_folder(folder);
    if (!err)
        err = program_unit_write_text(xml.text, description);
    if (!err)
        err = program_unit_create_folder(binaries.text);
    if (!err)
        err = program_unit_create_folder(platform.text);
    if (!err && symlink(library, link.text))
        err = program_unit_fail(link.text);
    tt_text_fini(&xml);
    tt_text_fini(&binaries);
    tt_text_fini(&platform);
    tt_text_fini(&link);
    return err;
}

static struct tutti_program_unit *program_unit_create(const struct tt_program_module *module,
                                                      const struct tutti_program *program, char **description)
{
    struct tt_number_text *numbers = calloc(program->variable_count + 1, sizeof *numbers);
    const char **starts = calloc(program->variable_count + 1, sizeof *starts);
    struct tutti_program_unit *unit = NULL;
    for (size_t i = 0; numbers && starts && i < program->variable_count; i++) {
        numbers[i] = tt_number_show(program->variables[i].start);
        starts[i] = numbers[i].text;
    }
    if (numbers && starts)
        unit = module->make(program, starts, description);
    free(numbers);
    free(starts);
    return unit;
}

enum tutti_err tutti_program_open(struct tutti_program_unit **out, const struct tutti_program *program,
                                  const char *folder)
{
    const struct tt_program_module *module;
    char *description = NULL;
    Dl_info library = {0};
    TRY(program_unit_check(program));
    TRY(load_program_module(&module));
    if (!dladdr(module, &library) || !library.dli_fname)
        return tt_fail(TUTTI_ERR_LOAD, "it cannot be told where tutti_program.so was loaded from");
    struct tutti_program_unit *unit = program_unit_create(module, program, &description);
    if (!unit)
        return tt_fail_memory();
    char *path = realpath(library.dli_fname, NULL);
    enum tutti_err err = path ? write_program_folder(folder, description, path) : program_unit_fail(library.dli_fname);
    free(path);
    free(description);
    if (err)
        module->drop(unit);
    else
        *out = unit;
    return err;
}

void tutti_program_close(struct tutti_program_unit *unit)
{
    const struct tt_program_module *module;
    if (unit && load_program_module(&module) == TUTTI_OK)
        module->drop(unit);
}
