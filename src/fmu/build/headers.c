/* SPDX-License-Identifier: MIT */
#include "fmu/build/headers.h"

#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"

/* fmu/api2.h and fmu/api3.h as they are: made by the build (src/CMakeLists.txt). */
extern const char tt_compile_fmu_api2[], tt_compile_fmu_api3[];

/* What follows from the list of functions, with V for the version. A shared library has no prefix before the names of its functions,
 * whatever the sources say. */
static const char types_of_functions[] = "#ifndef TUTTI_FMIV_FUNCTION_TYPES\n"
                                         "#define TUTTI_FMIV_FUNCTION_TYPES\n"
                                         "#include \"%s\"\n"
                                         "#define TUTTI_TYPE(name, type, parameters, group) "
                                         "typedef type name##TYPE parameters;\n"
                                         "FMIV_FUNCTIONS(TUTTI_TYPE)\n"
                                         "#undef TUTTI_TYPE\n"
                                         "#endif\n";
static const char functions[] = "#ifndef TUTTI_FMIV_FUNCTIONS\n"
                                "#define TUTTI_FMIV_FUNCTIONS\n"
                                "#include \"fmiVFunctionTypes.h\"\n"
                                "#define FMIV_Export __attribute__((visibility(\"default\")))\n"
                                "#define fmiVFullName(name) name\n"
                                "#ifdef __cplusplus\n"
                                "extern \"C\" {\n"
                                "#endif\n"
                                "#define TUTTI_FUNCTION(name, type, parameters, group) FMIV_Export type name "
                                "parameters;\n"
                                "FMIV_FUNCTIONS(TUTTI_FUNCTION)\n"
                                "#undef TUTTI_FUNCTION\n"
                                "#ifdef __cplusplus\n"
                                "}\n"
                                "#endif\n"
                                "#endif\n";

static const char *const names[][3] = {
    {"fmi2TypesPlatform.h", "fmi2FunctionTypes.h", "fmi2Functions.h"},
    {"fmi3PlatformTypes.h", "fmi3FunctionTypes.h", "fmi3Functions.h"},
};

bool tt_compile_fmu_has_header(int fmi, const char *name)
{
    for (size_t i = 0; i < 3; i++)
        if (strcmp(names[fmi - 2][i], name) == 0)
            return true;
    return false;
}

/* V in words that begin with FMI or fmi is the version, and %s the name of the first header. */
static void fill_header(struct tt_text *out, const char *text, int fmi)
{
    for (const char *c = text; *c; c++)
        if (*c == 'V' && c - text >= 3 && (strncmp(c - 3, "FMI", 3) == 0 || strncmp(c - 3, "fmi", 3) == 0))
            tt_text_printf(out, "%d", fmi);
        else if (*c == '%' && *++c == 's')
            tt_text_append(out, names[fmi - 2][0]);
        else
            tt_text_append_n(out, c, 1);
}

static enum tutti_err write_header_file(const char *folder, const char *name, const struct tt_text *content)
{
    struct tt_text path = {0};
    tt_text_printf(&path, "%s/%s", folder, name);
    enum tutti_err err = path.failed || content->failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && !tt_fs_replace(path.text, content->text, content->length))
        err = tt_fail(TUTTI_ERR_IO, "cannot write %s: %s", path.text, strerror(errno));
    tt_text_fini(&path);
    return err;
}

enum tutti_err tt_compile_fmu_write_headers(int fmi, const char *folder)
{
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < 3 && !err; i++) {
        struct tt_text text = {0};
        if (i == 0)
            tt_text_append(&text, fmi == 2 ? tt_compile_fmu_api2 : tt_compile_fmu_api3);
        else
            fill_header(&text, i == 1 ? types_of_functions : functions, fmi);
        err = write_header_file(folder, names[fmi - 2][i], &text);
        tt_text_fini(&text);
    }
    return err;
}
