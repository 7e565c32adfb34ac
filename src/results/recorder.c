/* SPDX-License-Identifier: MIT */
#include "results/recorder.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"
#include "results/record_file.h"

static const struct tt_record_format *const formats[] = {&tt_csv_format, &tt_csv_units_format, &tt_mat_format,
                                                         &tt_hdf5_format, &tt_jsonl_format};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Pipes and devices (/dev/null) mostly have no extension; they get the first format then. */
bool tt_recorder_is_stream(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static enum tutti_err recorder_fail_unknown(const char *path, const char *extension)
{
    struct tt_text known = {0};
    for (size_t i = 0; i < FORMATS; i++)
        tt_text_printf(&known, "%s%s", i ? ", " : "", formats[i]->extension);
    enum tutti_err err =
        known.failed ? tt_fail_memory()
        : *extension
            ? tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no result format '%s'; the file's name must end in %s", path,
                      extension, known.text)
            : tt_fail(TUTTI_ERR_ARGUMENT, "%s: the result format is taken from the file's name, which must end in %s",
                      path, known.text);
    tt_text_fini(&known);
    return err;
}

enum tutti_err tt_recorder_find_format(const struct tt_record_format **format, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const struct tt_record_format *found = NULL;
    for (size_t i = 0; i < FORMATS; i++) {
        const struct tt_record_format *f = formats[i];
        assert(f->name && f->extension && f->open && f->row && f->flush && f->close && f->emergency && f->mark &&
               f->reopen && f->sync);
        /* A name that is only an extension, like ".csv", has none. */
        size_t length = strlen(name), n = strlen(f->extension);
        if (length > n && strcasecmp(name + length - n, f->extension) == 0 && (!found || n > strlen(found->extension)))
            found = f;
    }
    if (!found && !tt_recorder_is_stream(path))
        return recorder_fail_unknown(path, dot && dot > name ? dot : "");
    *format = found ? found : formats[0];
    return TUTTI_OK;
}

uint64_t tt_recorder_digest(uint64_t sum, const void *bytes, size_t n)
{
    for (const unsigned char *at = bytes, *end = at + n; at < end; at++)
        sum = (sum ^ *at) * 1099511628211u;
    return sum;
}

static uint64_t digest_text(uint64_t sum, const char *text)
{
    return text ? tt_recorder_digest(sum, text, strlen(text) + 1) : tt_recorder_digest(sum, "\1", 1);
}

static uint64_t digest_columns(const struct tt_column *columns, size_t n)
{
    uint64_t sum = TUTTI_RECORD_DIGEST;
    for (size_t i = 0; i < n; i++) {
        const uint64_t source = columns[i].source;
        const uint8_t traits[] = {(uint8_t)columns[i].type, columns[i].negated, columns[i].fixed};
        sum = digest_text(sum, columns[i].name);
        sum = digest_text(sum, columns[i].unit);
        sum = digest_text(sum, columns[i].description);
        sum = tt_recorder_digest(sum, traits, sizeof traits);
        sum = tt_recorder_digest(sum, &source, sizeof source);
    }
    return sum;
}

void tt_recorder_put_columns(struct tt_byte_writer *mark, const struct tt_record_format *format,
                             const struct tt_column *columns, size_t n)
{
    tt_bytes_put_text(mark, format->extension);
    tt_bytes_put_u64(mark, n);
    tt_bytes_put_u64(mark, digest_columns(columns, n));
}

enum tutti_err tt_recorder_check_columns(struct tt_byte_reader *mark, const struct tt_record_format *format,
                                         const char *path, const struct tt_column *columns, size_t n)
{
    const char *extension = tt_bytes_get_text(mark);
    uint64_t count = tt_bytes_get_u64(mark), sum = tt_bytes_get_u64(mark);
    if (mark->bad || !extension)
        return tt_record_file_fail_mark(path);
    if (strcmp(extension, format->extension) != 0)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "cannot go on with %s: the result of the interrupted run is a %s file; name that file", path,
                       tt_text_excerpt(extension).text);
    if (count == n && sum == digest_columns(columns, n))
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_FORMAT,
                   "cannot go on with %s: the interrupted run recorded %s (%llu columns, not %zu); choose the same "
                   "variables (--record), or start the run anew",
                   path, count == n ? "other variables" : "more or fewer variables", (unsigned long long)count, n);
}

double tt_recorder_column_number(const struct tt_column *column)
{
    double value = NAN;
    switch (column->type) {
#define NUMBER_OF(name, ctype)                                                                                         \
    case TUTTI_TYPE_##name: value = (double)*(const ctype *)column->value; break
        NUMBER_OF(FLOAT64, double);
        NUMBER_OF(FLOAT32, float);
        NUMBER_OF(INT8, int8_t);
        NUMBER_OF(UINT8, uint8_t);
        NUMBER_OF(INT16, int16_t);
        NUMBER_OF(UINT16, uint16_t);
        NUMBER_OF(INT32, int32_t);
        NUMBER_OF(UINT32, uint32_t);
        NUMBER_OF(INT64, int64_t);
        NUMBER_OF(UINT64, uint64_t);
        NUMBER_OF(BOOLEAN, bool);
        NUMBER_OF(ENUMERATION, int64_t);
        NUMBER_OF(CLOCK, bool);
#undef NUMBER_OF
    case TUTTI_TYPE_STRING:
    case TUTTI_TYPE_BINARY: break;
    }
    return column->negated ? 0 - value : value; /* 0 - x: minus nothing is nothing, not -0 */
}
