/* SPDX-License-Identifier: MIT */
#include "record/recorder.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/str.h"

/* Every format there is. */
static const struct tutti_record_format *const formats[] = {&tutti_record_csv};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Pipes and devices (/dev/null) have no extension; they get the first format. */
static bool is_stream(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static enum tutti_err fail_unknown(const char *path, const char *extension)
{
    struct tutti_text known = {0};
    for (size_t i = 0; i < FORMATS; i++)
        tutti_text_printf(&known, "%s%s", i ? ", " : "", formats[i]->extension);
    enum tutti_err err =
        known.failed ? tutti_fail_memory()
        : *extension
            ? tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there is no result format '%s'; the file's name must end in %s", path,
                         extension, known.text)
            : tutti_fail(TUTTI_ERR_ARGUMENT,
                         "%s: the result format is taken from the file's name, which must end in %s", path, known.text);
    tutti_text_fini(&known);
    return err;
}

enum tutti_err tutti_record_format_for(const struct tutti_record_format **format, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.'), *extension = dot && dot > name ? dot : "";
    for (size_t i = 0; i < FORMATS; i++) {
        const struct tutti_record_format *f = formats[i];
        assert(f->name && f->extension && f->open && f->row && f->flush && f->close && f->emergency);
        if (strcasecmp(extension, f->extension) == 0 || (i == 0 && is_stream(path))) {
            *format = f;
            return TUTTI_OK;
        }
    }
    return fail_unknown(path, extension);
}

static bool is_text(const struct tutti_column *column)
{
    return column->type == TUTTI_TYPE_STRING || column->type == TUTTI_TYPE_BINARY;
}

static void warn_of_texts(const struct tutti_record_format *format, const struct tutti_column *columns, size_t count,
                          const struct tutti_log *log, const char *origin)
{
    const struct tutti_column *first = NULL;
    size_t texts = 0;
    for (size_t i = 0; i < count && !format->holds_texts; i++)
        if (is_text(&columns[i]) && texts++ == 0)
            first = &columns[i];
    if (texts == 1)
        tutti_log_printf(log, TUTTI_LOG_WARNING, origin, "'%s' is a text, which a %s file cannot hold: it is left out",
                         first->name, format->extension);
    else if (texts > 1)
        tutti_log_printf(log, TUTTI_LOG_WARNING, origin,
                         "'%s' and %zu more are texts, which a %s file cannot hold: they are left out", first->name,
                         texts - 1, format->extension);
}

enum tutti_err tutti_record_open(const struct tutti_record_format **format, struct tutti_recorder **recorder,
                                 const char *path, const struct tutti_column *columns, size_t count,
                                 const struct tutti_log *log, const char *origin)
{
    const struct tutti_record_format *found;
    TRY(tutti_record_format_for(&found, path));
    TRY(found->open(recorder, path, columns, count));
    *format = found;
    warn_of_texts(found, columns, count, log, origin);
    return TUTTI_OK;
}

static bool is_nan(const struct tutti_column *column)
{
    return (column->type == TUTTI_TYPE_FLOAT64 && isnan(*(const double *)column->value)) ||
           (column->type == TUTTI_TYPE_FLOAT32 && isnan(*(const float *)column->value));
}

bool tutti_record_warn_of_nan(const struct tutti_column *columns, size_t count, double t, const struct tutti_log *log,
                              const char *origin)
{
    for (size_t i = 0; i < count; i++)
        if (is_nan(&columns[i])) {
            tutti_log_printf(log, TUTTI_LOG_WARNING, origin, "'%s' is not a number (NaN) at t = %s; going on",
                             columns[i].name, NUMBER(t));
            return true;
        }
    return false;
}
