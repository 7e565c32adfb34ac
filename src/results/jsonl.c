/* SPDX-License-Identifier: MIT */
/* JSON lines: a row is an object on a separate line, {"time":0.1,"h":1,"name":"text"} (RFC 8259). Booleans are true and
 * false, Binaries are texts in hexadecimal; NaN, which JSON cannot express, is null, and infinity is 1e999, which
 * readers convert to infinity. Bytes of a text that are not UTF-8 become U+FFFD. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "results/recorder.h"
#include "results/result.h"
#include "results/row_writer.h"

struct jsonl_field {
    struct tt_row_cell cell;
    enum tt_type type;
    char *key; /* ,"name": */
    size_t key_length;
};

struct tt_recorder {
    struct tt_row_writer lines;
    size_t fixed; /* most bytes of a row without the contents of its texts */
    struct jsonl_field *fields;
    size_t n;
    const struct tt_column *columns;
    bool told; /* a row is in the file: a full disk shows with the first one, not after hours */
};

static const char TIME_KEY[] = "{\"time\":";
enum { MOST_PER_BYTE = 6 }; /* \u001f */

/* --- values */

static char *jsonl_put_word(char *at, const char *word)
{
    while (*word)
        *at++ = *word++;
    return at;
}

/* A number that was just written from `at` to `end`. */
static char *fix_json_number(char *at, char *end)
{
    bool negative = *at == '-';
    if (at[negative] == 'n')
        return jsonl_put_word(at, "null");
    return at[negative] == 'i' ? jsonl_put_word(at + negative, "1e999") : end;
}

/* n bytes of text in quotes: at most MOST_PER_BYTE n + 2 bytes. */
static char *jsonl_put_text(char *at, const char *text, size_t n)
{
    const char *end = text + n;
    *at++ = '"';
    while (text < end) {
        unsigned char c = (unsigned char)*text;
        size_t length = tt_text_utf8_length(text); /* the terminating zero is not part of a character */
        if (c == '"' || c == '\\') {
            *at++ = '\\';
            *at++ = (char)c;
        } else if (c < 0x20) {
            at = jsonl_put_word(at, "\\u00");
            *at++ = "01"[c >> 4];
            *at++ = "0123456789abcdef"[c & 15];
        } else if (length > 0) {
            memcpy(at, text, length);
            at += length;
        } else
            at = jsonl_put_word(at, "\xef\xbf\xbd");
        text += length > 0 ? length : 1;
    }
    *at++ = '"';
    return at;
}

static char *jsonl_put_value(char *at, const struct jsonl_field *field)
{
    const struct tt_row_cell *cell = &field->cell;
    switch (field->type) {
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_CLOCK: return jsonl_put_word(at, *(const bool *)cell->value ? "true" : "false");
    case TUTTI_TYPE_STRING:
        return jsonl_put_text(at, cell->length ? *(const char *const *)cell->value : "", cell->length);
    case TUTTI_TYPE_BINARY:
        *at = '"';
        at = tt_row_writer_put_binary(at + 1, cell);
        *at = '"';
        return at + 1;
    case TUTTI_TYPE_FLOAT64:
    case TUTTI_TYPE_FLOAT32: return fix_json_number(at, cell->put(at, cell));
    default: return cell->put(at, cell);
    }
}

/* Looks up how long this row's texts are; returns the most bytes that the row can need, SIZE_MAX if that is absurd. */
static size_t jsonl_measure(struct tt_recorder *recorder)
{
    size_t need = recorder->fixed;
    for (size_t i = 0; i < recorder->n; i++) {
        struct jsonl_field *field = &recorder->fields[i];
        if (field->type != TUTTI_TYPE_STRING && field->type != TUTTI_TYPE_BINARY)
            continue;
        tt_row_writer_measure_cell(&field->cell, field->type);
        if (field->cell.length > SIZE_MAX / 16 || need > SIZE_MAX / 16)
            return SIZE_MAX;
        need += MOST_PER_BYTE * field->cell.length;
    }
    return need;
}

static enum tutti_err jsonl_flush(struct tt_recorder *recorder)
{
    return tt_row_writer_flush(&recorder->lines);
}

static enum tutti_err jsonl_write_row(struct tt_recorder *recorder, double time)
{
    size_t need = jsonl_measure(recorder);
    char *at;
    if (need == SIZE_MAX)
        return tt_fail_memory();
    TRY(tt_row_writer_start_row(&recorder->lines, need, &at));
    at = jsonl_put_word(at, TIME_KEY);
    at = fix_json_number(at, at + tt_number_write_double(at, time));
    for (const struct jsonl_field *field = recorder->fields, *end = field + recorder->n; field < end; field++) {
        memcpy(at, field->key, field->key_length);
        at = jsonl_put_value(at + field->key_length, field);
    }
    at = jsonl_put_word(at, "}\n");
    tt_row_writer_end_row(&recorder->lines, at);
    if (recorder->told)
        return TUTTI_OK;
    recorder->told = true;
    return jsonl_flush(recorder);
}

static void jsonl_emergency(struct tt_recorder *recorder)
{
    tt_row_writer_emergency(&recorder->lines);
}

static enum tutti_err jsonl_mark(struct tt_recorder *recorder, struct tt_byte_writer *mark)
{
    tt_recorder_put_columns(mark, &tt_jsonl_format, recorder->columns, recorder->n);
    return tt_row_writer_mark(&recorder->lines, mark);
}

static enum tutti_err jsonl_sync(struct tt_recorder *recorder)
{
    return tt_row_writer_sync(&recorder->lines);
}

/* --- opening and closing */

static void jsonl_release(struct tt_recorder *recorder)
{
    for (size_t i = 0; recorder->fields && i < recorder->n; i++)
        free(recorder->fields[i].key);
    tt_row_writer_fini(&recorder->lines);
    free(recorder->fields);
    free(recorder);
}

static enum tutti_err jsonl_close(struct tt_recorder *recorder)
{
    enum tutti_err err = tt_row_writer_close(&recorder->lines, jsonl_flush(recorder));
    jsonl_release(recorder);
    return err;
}

static enum tutti_err jsonl_prepare_field(struct tt_recorder *recorder, struct jsonl_field *field, const char *path,
                                          const struct tt_column *column)
{
    size_t n = strlen(column->name);
    if (strcmp(column->name, "time") == 0)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "cannot write %s: a variable is named 'time', and an object of a .jsonl file has that name for the "
            "time of its row; name what to record (--record), or use .csv",
            path);
    field->type = column->type;
    field->cell = tt_row_writer_cell(column);
    field->key = malloc(MOST_PER_BYTE * n + 5);
    if (!field->key)
        return tt_fail_memory();
    field->key[0] = ',';
    char *end = jsonl_put_text(field->key + 1, column->name, n);
    *end++ = ':';
    field->key_length = (size_t)(end - field->key);
    recorder->fixed += field->key_length + 1 + TUTTI_NUMBER_MAX + 2; /* sign, digits or quotes */
    return TUTTI_OK;
}

static enum tutti_err jsonl_prepare(struct tt_recorder *recorder, const char *path, const struct tt_column *columns,
                                    size_t n)
{
    recorder->fields = calloc(n + 1, sizeof *recorder->fields);
    recorder->n = n;
    recorder->columns = columns;
    recorder->fixed = sizeof TIME_KEY + TUTTI_NUMBER_MAX + 4;
    if (!recorder->fields)
        return tt_fail_memory();
    for (size_t i = 0; i < n; i++)
        TRY(jsonl_prepare_field(recorder, &recorder->fields[i], path, &columns[i]));
    return tt_row_writer_prepare(&recorder->lines, path, 2 * recorder->fixed);
}

/* `mark` is NULL for a new file. */
static enum tutti_err jsonl_open_recorder(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                          size_t n, struct tt_byte_reader *mark)
{
    struct tt_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tt_fail_memory();
    enum tutti_err err = jsonl_prepare(recorder, path, columns, n);
    if (err == TUTTI_OK && !mark)
        err = tt_row_writer_open(&recorder->lines);
    if (err == TUTTI_OK && mark) {
        err = tt_recorder_check_columns(mark, &tt_jsonl_format, recorder->lines.path, recorder->columns, recorder->n);
        if (err == TUTTI_OK)
            err = tt_row_writer_reopen(&recorder->lines, 0, mark);
        recorder->told = recorder->lines.offset > 0;
    }
    if (err == TUTTI_OK)
        *out = recorder;
    else
        jsonl_release(recorder);
    return err;
}

static enum tutti_err jsonl_open(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n)
{
    return jsonl_open_recorder(out, path, columns, n, NULL);
}

static enum tutti_err jsonl_reopen(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                   size_t n, struct tt_byte_reader *mark)
{
    return jsonl_open_recorder(out, path, columns, n, mark);
}

const struct tt_record_format tt_jsonl_format = {
    .name = "jsonl",
    .extension = ".jsonl",
    .any_thread = true,
    .holds_texts = true,
    .open = jsonl_open,
    .row = jsonl_write_row,
    .flush = jsonl_flush,
    .close = jsonl_close,
    .emergency = jsonl_emergency,
    .mark = jsonl_mark,
    .reopen = jsonl_reopen,
    .sync = jsonl_sync,
};

/* Reads results as JSON lines, of Tutti or another tool: an object per line, with a member "time" (or "t"). The first
 * row defines the variables; in later rows they may be in any order or missing. The file is parsed once at open, for
 * the times, and once in every read. */

enum { BUFFER = 1 << 20, ROW_MOST = 1 << 28 };

struct jsonl_result {
    int fd;
    off_t size, offset; /* of the file when it was opened; of what was read */
    char *buffer;
    size_t room, from, filled; /* what was not looked at yet is buffer[from..filled) */
    size_t line;               /* number of the current line */
    bool ended;                /* the line is terminated */
    bool told;                 /* of members that the first row does not have */
    size_t times_room;
    struct tt_map places; /* of variables, by name */
    const char **keys;    /* as they stand in the first row, "time" too */
    size_t *key_lengths;
    int64_t *key_places; /* per key: its variable; TIME */
    size_t key_count;
    size_t *wanted; /* per variable: its place among those that are read, counted from 1; 0: none */
};

enum { TIME = -2 };

static const char MARK[] = "\xef\xbb\xbf"; /* byte order mark, which is redundant in UTF-8 */

static bool jsonl_fits(const char *path, const unsigned char *head, size_t size)
{
    size_t n = strlen(path), i = size >= 3 && memcmp(head, MARK, 3) == 0 ? 3 : 0;
    while (i < size && isspace(head[i]))
        i++;
    return (i < size && head[i] == '{') || (i == size && n > 6 && strcasecmp(path + n - 6, ".jsonl") == 0);
}

/* --- lines */

static enum tutti_err jsonl_make_room(struct tutti_result *result, struct jsonl_result *jsonl)
{
    size_t room = jsonl->room ? 2 * jsonl->room : BUFFER;
    if (room > ROW_MOST)
        return tt_fail(TUTTI_ERR_LIMIT, "%s:%zu: a row of more than 256 MiB", result->path, jsonl->line + 1);
    char *larger = realloc(jsonl->buffer, room + 1); /* and a zero */
    if (!larger)
        return tt_fail_memory();
    jsonl->buffer = larger;
    jsonl->room = room;
    return TUTTI_OK;
}

/* Reads on, after what was not looked at yet, which moves. *more: there was something. The file ends where it ended when it was
 * opened. */
static enum tutti_err jsonl_fill_buffer(struct tutti_result *result, struct jsonl_result *jsonl, bool *more)
{
    size_t kept = jsonl->filled - jsonl->from;
    if (kept > 0)
        memmove(jsonl->buffer, jsonl->buffer + jsonl->from, kept);
    jsonl->from = 0;
    jsonl->filled = kept;
    if (kept == jsonl->room)
        TRY(jsonl_make_room(result, jsonl));
    size_t left = (size_t)(jsonl->size - jsonl->offset), n = jsonl->room - kept;
    ssize_t got;
    do
        got = pread(jsonl->fd, jsonl->buffer + kept, n < left ? n : left, jsonl->offset);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", result->path, strerror(errno));
    jsonl->offset += got;
    jsonl->filled += (size_t)got;
    *more = got > 0;
    return TUTTI_OK;
}

/* The next line that is not blank, with a zero instead of its end; *line is NULL at the end of the file. */
static enum tutti_err jsonl_next_line(struct tutti_result *result, struct jsonl_result *jsonl, char **line)
{
    for (*line = NULL; !*line;) {
        char *begin = jsonl->buffer + jsonl->from, *stop = NULL;
        if (jsonl->filled > jsonl->from)
            stop = memchr(begin, '\n', jsonl->filled - jsonl->from);
        jsonl->ended = stop != NULL;
        if (!stop) {
            bool more = false;
            TRY(jsonl_fill_buffer(result, jsonl, &more));
            if (more)
                continue;
            if (jsonl->filled == 0)
                return TUTTI_OK;
            begin = jsonl->buffer;
            stop = begin + jsonl->filled;
        }
        jsonl->line++;
        jsonl->from = (size_t)(stop - jsonl->buffer) + jsonl->ended;
        if (memchr(begin, '\0', (size_t)(stop - begin)))
            return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: not a text file (there are zero bytes in it)", result->path,
                           jsonl->line);
        *stop = '\0';
        if (jsonl->line == 1 && strncmp(begin, MARK, 3) == 0)
            begin += 3;
        if (begin[strspn(begin, " \t\r")])
            *line = begin;
    }
    return TUTTI_OK;
}

static void rewind_lines(struct jsonl_result *jsonl)
{
    jsonl->from = jsonl->filled = jsonl->line = 0;
    jsonl->offset = 0;
}

/* A member of one: its name as it stands there, and what it is as a number. */
struct jsonl_member {
    const char *key; /* without its quotes */
    size_t key_length;
    double value; /* NAN for a text and for null */
    bool is_text;
    const char *text; /* as it stands there, without quotes */
    size_t length;
};

static enum tutti_err fail_syntax(const struct tutti_result *result, const struct jsonl_result *jsonl, const char *what)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: %s", result->path, jsonl->line, what);
}

static const char *skip_blank(const char *at)
{
    return at + strspn(at, " \t\r");
}

/* Finds the quote that closes a text; NULL if there is none. */
static const char *end_of_text(const char *at)
{
    for (; *at && *at != '"'; at++)
        if (*at == '\\' && !*++at)
            return NULL;
    return *at ? at : NULL;
}

/* A number that does not fit: "1e999" is infinity, "1e-999" nothing. */
static bool read_large(const char *text, size_t n, double *value)
{
    const char *e = memchr(text, 'e', n) ? memchr(text, 'e', n) : memchr(text, 'E', n);
    if (!e || strspn(text, "+-0123456789.eE") < n || e + 1 == text + n)
        return false;
    *value = e[1] == '-' ? 0 : text[0] == '-' ? -INFINITY : INFINITY;
    return true;
}

static bool jsonl_read_number(const char *text, size_t n, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"true", 1},  {"false", 0},           {"null", NAN},
                 {"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i].word) && memcmp(text, words[i].word, n) == 0) {
            *value = words[i].value;
            return true;
        }
    return n > 0 && strspn(text, "+-0123456789.eE") >= n &&
           (tt_number_read_double(text, n, value) || read_large(text, n, value));
}

static enum tutti_err jsonl_read_value(const struct tutti_result *result, const struct jsonl_result *jsonl,
                                       const char **at, struct jsonl_member *member)
{
    member->is_text = **at == '"';
    member->value = NAN;
    if (member->is_text) {
        const char *end = end_of_text(*at + 1);
        if (!end)
            return fail_syntax(result, jsonl, "a text that does not end");
        member->text = *at + 1;
        member->length = (size_t)(end - member->text);
        *at = end + 1;
        return TUTTI_OK;
    }
    if (**at == '{' || **at == '[')
        return fail_syntax(result, jsonl,
                           "a value is an object or an array; a row has numbers, texts, true, false and null");
    size_t n = strcspn(*at, ",} \t\r");
    if (!jsonl_read_number(*at, n, &member->value))
        return fail_syntax(result, jsonl, "a value is neither a number nor a text, true, false or null");
    member->text = *at;
    member->length = n;
    *at += n;
    return TUTTI_OK;
}

/* Goes from member to member of a line: *at is after what was read; *found is false at the end of the object. */
static enum tutti_err next_member(const struct tutti_result *result, const struct jsonl_result *jsonl, const char **at,
                                  bool first, struct jsonl_member *member, bool *found)
{
    *at = skip_blank(*at);
    if (first && **at != '{')
        return fail_syntax(result, jsonl, "a row must be an object, {\"time\": ...}");
    if (first)
        *at = skip_blank(*at + 1);
    *found = **at != '}';
    if (!*found)
        return *skip_blank(*at + 1) ? fail_syntax(result, jsonl, "there is something after the object") : TUTTI_OK;
    if (!first && **at != ',')
        return fail_syntax(result, jsonl, "the object does not end");
    if (!first)
        *at = skip_blank(*at + 1);
    const char *end = **at == '"' ? end_of_text(*at + 1) : NULL;
    if (!end)
        return fail_syntax(result, jsonl, "a member has no name");
    member->key = *at + 1;
    member->key_length = (size_t)(end - member->key);
    *at = skip_blank(end + 1);
    if (**at != ':')
        return fail_syntax(result, jsonl, "there is no ':' after the name of a member");
    *at = skip_blank(*at + 1);
    return jsonl_read_value(result, jsonl, at, member);
}

/* Four hexadecimal digits; -1: they are none. */
static long read_hex(const char *at)
{
    long value = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *found = at[i] ? strchr(digits, tolower((unsigned char)at[i])) : NULL;
        if (!found)
            return -1;
        value = 16 * value + (found - digits);
    }
    return value;
}

static char *jsonl_put_utf8(char *to, long c)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | (c >> (6 * more)));
    while (more-- > 0)
        *to++ = (char)(0x80 | ((c >> (6 * more)) & 0x3f));
    return to;
}

/* Decodes \uXXXX, or two of them for one character, to at least 1. Invalid sequences are U+FFFD. */
static const char *jsonl_read_unicode(const char *at, const char *end, char **to)
{
    long c = end - at >= 4 ? read_hex(at) : -1, low = -1;
    at += c >= 0 ? 4 : 0;
    if (c >= 0xd800 && c < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u')
        low = read_hex(at + 2);
    if (low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    *to = jsonl_put_utf8(*to, c <= 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
    return at;
}

/* A name with its escapes resolved; in the arena. */
static const char *jsonl_decode(struct tt_arena *arena, const char *key, size_t n)
{
    static const char escaped[] = "bfnrt", meant[] = "\b\f\n\r\t";
    char *text = tt_arena_alloc(arena, 3 * n + 4), *to = text;
    for (const char *at = key, *end = key + n; text && at < end;) {
        if (*at != '\\' || at + 1 == end) {
            *to++ = *at++;
            continue;
        }
        char c = at[1];
        at += 2;
        if (c == 'u')
            at = jsonl_read_unicode(at, end, &to);
        else
            *to++ = c && strchr(escaped, c) ? meant[strchr(escaped, c) - escaped] : c;
    }
    if (text)
        *to = '\0';
    return text;
}

static bool jsonl_is_time(const char *name)
{
    return strcasecmp(name, "time") == 0 || strcmp(name, "t") == 0;
}

/* Returns the variable of member i of a row: usually that of the first row; TIME; TUTTI_MAP_NONE: not a variable. */
static enum tutti_err jsonl_column_of(const struct jsonl_result *jsonl, const struct jsonl_member *member, size_t i,
                                      int64_t *place)
{
    if (i < jsonl->key_count && jsonl->key_lengths[i] == member->key_length &&
        memcmp(jsonl->keys[i], member->key, member->key_length) == 0) {
        *place = jsonl->key_places[i];
        return TUTTI_OK;
    }
    struct tt_arena arena = {0};
    const char *name = jsonl_decode(&arena, member->key, member->key_length);
    if (!name)
        return tt_fail_memory();
    *place = tt_map_find(&jsonl->places, name);
    if (*place == TUTTI_MAP_NONE && jsonl_is_time(name))
        *place = TIME;
    tt_arena_fini(&arena);
    return TUTTI_OK;
}

/* --- the first row */

static enum tutti_err add_key(struct tutti_result *result, struct jsonl_result *jsonl,
                              const struct jsonl_member *member, bool *timed, const struct tutti_log *log)
{
    size_t i = jsonl->key_count++;
    const char *name = jsonl_decode(&result->arena, member->key, member->key_length);
    jsonl->keys[i] = tt_arena_copy_text(&result->arena, member->key, member->key_length);
    if (!name || !jsonl->keys[i])
        return tt_fail_memory();
    jsonl->key_lengths[i] = member->key_length;
    if (!*timed && jsonl_is_time(name)) {
        *timed = true;
        jsonl->key_places[i] = TIME;
        return TUTTI_OK;
    }
    if (!name[0]) {
        tt_log(log, TUTTI_LOG_WARNING, NULL, "%s:%zu: member %zu has no name and is left out", result->path,
               jsonl->line, i + 1);
        jsonl->key_places[i] = TUTTI_MAP_NONE;
        return TUTTI_OK;
    }
    jsonl->key_places[i] = (int64_t)result->count;
    result->variables[result->count] = (struct tutti_result_variable){.name = name, .numeric = true};
    return tt_map_add(&jsonl->places, name, (int64_t)result->count++, NULL);
}

static enum tutti_err count_members(struct tutti_result *result, const struct jsonl_result *jsonl, const char *line,
                                    size_t *count)
{
    struct jsonl_member member;
    bool found = true;
    for (*count = 0; found; *count += found)
        TRY(next_member(result, jsonl, &line, *count == 0, &member, &found));
    return TUTTI_OK;
}

static enum tutti_err read_names(struct tutti_result *result, struct jsonl_result *jsonl, const char *line,
                                 const struct tutti_log *log)
{
    struct tt_arena *arena = &result->arena;
    size_t count;
    bool timed = false, found = true;
    TRY(count_members(result, jsonl, line, &count));
    jsonl->keys = tt_arena_array(arena, count, sizeof *jsonl->keys);
    jsonl->key_lengths = tt_arena_array(arena, count, sizeof *jsonl->key_lengths);
    jsonl->key_places = tt_arena_array(arena, count, sizeof *jsonl->key_places);
    jsonl->wanted = tt_arena_array(arena, count, sizeof *jsonl->wanted);
    result->variables = tt_arena_array(arena, count, sizeof *result->variables);
    if (!jsonl->keys || !jsonl->key_lengths || !jsonl->key_places || !jsonl->wanted || !result->variables)
        return tt_fail_memory();
    for (size_t i = 0; found; i++) {
        struct jsonl_member member = {.key = ""};
        TRY(next_member(result, jsonl, &line, i == 0, &member, &found));
        if (found)
            TRY(add_key(result, jsonl, &member, &timed, log));
    }
    return timed ? TUTTI_OK : fail_syntax(result, jsonl, "the object has no member \"time\"");
}

/* --- the rows */

/* The time of a row; *other: it has a member that the first one does not have. */
static enum tutti_err jsonl_read_time(struct tutti_result *result, struct jsonl_result *jsonl, const char *line,
                                      double *time, bool *other)
{
    bool found = true;
    *time = NAN;
    for (size_t i = 0; found; i++) {
        struct jsonl_member member = {.key = ""};
        int64_t place = TUTTI_MAP_NONE;
        TRY(next_member(result, jsonl, &line, i == 0, &member, &found));
        if (!found)
            break;
        TRY(jsonl_column_of(jsonl, &member, i, &place));
        if (place == TIME && isnan(*time))
            *time = member.value;
        *other = *other || (place == TUTTI_MAP_NONE && member.key_length > 0);
    }
    if (!isfinite(*time))
        return fail_syntax(result, jsonl, "the row has no \"time\" that is a number");
    if (result->rows > 0 && *time < result->times[result->rows - 1])
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: time runs backwards, from %s to %s; rows must be in order of time",
                       result->path, jsonl->line, NUMBER(result->times[result->rows - 1]), NUMBER(*time));
    return TUTTI_OK;
}

static enum tutti_err jsonl_add_row(struct tutti_result *result, struct jsonl_result *jsonl, const char *line,
                                    const struct tutti_log *log)
{
    double time;
    bool other = false;
    if (jsonl->key_count == 0)
        TRY(read_names(result, jsonl, line, log));
    TRY(jsonl_read_time(result, jsonl, line, &time, &other));
    if (other && !jsonl->told)
        tt_log(log, TUTTI_LOG_WARNING, NULL,
               "%s:%zu: the row has members that the first one does not have; they are left out", result->path,
               jsonl->line);
    jsonl->told = jsonl->told || other;
    if (!tt_vector_reserve(&result->times, &jsonl->times_room, result->rows + 1, sizeof *result->times))
        return tt_fail_memory();
    result->times[result->rows++] = time;
    return TUTTI_OK;
}

/* A file that ends too early ends with a row that is not whole. */
static enum tutti_err jsonl_read_times(struct tutti_result *result, struct jsonl_result *jsonl,
                                       const struct tutti_log *log)
{
    for (;;) {
        char *line;
        TRY(jsonl_next_line(result, jsonl, &line));
        if (!line)
            return TUTTI_OK;
        enum tutti_err err = jsonl_add_row(result, jsonl, line, log);
        if (err == TUTTI_OK)
            continue;
        if (err != TUTTI_ERR_FORMAT || jsonl->ended || result->rows == 0)
            return err;
        tt_log(log, TUTTI_LOG_WARNING, NULL,
               "%s; it is the last row, of a run that was aborted or goes on, and is left out", tutti_err_message());
        return TUTTI_OK;
    }
}

static void jsonl_close_result(struct tutti_result *result)
{
    struct jsonl_result *jsonl = result->own;
    if (jsonl->fd >= 0)
        close(jsonl->fd);
    tt_map_fini(&jsonl->places);
    free(jsonl->buffer);
    free(jsonl);
}

static enum tutti_err jsonl_open_result(struct tutti_result *result, const struct tutti_log *log)
{
    struct jsonl_result *jsonl = calloc(1, sizeof *jsonl);
    struct stat st;
    if (!jsonl)
        return tt_fail_memory();
    result->own = jsonl;
    jsonl->fd = open(result->path, O_RDONLY | O_CLOEXEC);
    if (jsonl->fd < 0 || fstat(jsonl->fd, &st) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", result->path, strerror(errno));
    jsonl->size = st.st_size;
    TRY(jsonl_make_room(result, jsonl));
    return jsonl_read_times(result, jsonl, log);
}

static enum tutti_err jsonl_read_row(struct tutti_result *result, struct jsonl_result *jsonl, const char *line,
                                     size_t row, double *const *values)
{
    bool found = true;
    for (size_t i = 0; found; i++) {
        struct jsonl_member member = {.key = ""};
        int64_t place = TUTTI_MAP_NONE;
        TRY(next_member(result, jsonl, &line, i == 0, &member, &found));
        if (!found)
            break;
        TRY(jsonl_column_of(jsonl, &member, i, &place));
        size_t wanted = place >= 0 ? jsonl->wanted[place] : 0;
        if (wanted == 0)
            continue;
        values[wanted - 1][row] = member.value;
        if (member.is_text)
            result->variables[place].numeric = false;
    }
    return TUTTI_OK;
}

static enum tutti_err jsonl_read_result(struct tutti_result *result, const size_t *which, size_t count,
                                        double *const *values)
{
    struct jsonl_result *jsonl = result->own;
    memset(jsonl->wanted, 0, result->count * sizeof *jsonl->wanted);
    for (size_t i = 0; i < count; i++)
        jsonl->wanted[which[i]] = i + 1;
    rewind_lines(jsonl);
    for (size_t row = 0; row < result->rows; row++) {
        char *line;
        for (size_t i = 0; i < count; i++)
            values[i][row] = NAN;
        TRY(jsonl_next_line(result, jsonl, &line));
        if (!line)
            return tt_fail(TUTTI_ERR_IO, "%s: the file changed while it was read", result->path);
        TRY(jsonl_read_row(result, jsonl, line, row, values));
    }
    return TUTTI_OK;
}

/* The member of a row for a variable; `cell` keeps its text NULL if the row has none. */
static enum tutti_err find_member(struct tutti_result *result, struct jsonl_result *jsonl, const char *line,
                                  size_t which, struct jsonl_member *cell)
{
    bool found = true;
    for (size_t i = 0; found; i++) {
        struct jsonl_member member = {.key = ""};
        int64_t place = TUTTI_MAP_NONE;
        TRY(next_member(result, jsonl, &line, i == 0, &member, &found));
        if (found)
            TRY(jsonl_column_of(jsonl, &member, i, &place));
        if (place == (int64_t)which)
            *cell = member;
    }
    return TUTTI_OK;
}

static enum tutti_err jsonl_read_texts(struct tutti_result *result, size_t which, tt_result_take_text *take,
                                       void *context)
{
    struct jsonl_result *jsonl = result->own;
    rewind_lines(jsonl);
    for (size_t row = 0; row < result->rows; row++) {
        struct jsonl_member cell = {0};
        struct tt_arena arena = {0};
        char *line;
        TRY(jsonl_next_line(result, jsonl, &line));
        if (!line)
            return tt_fail(TUTTI_ERR_IO, "%s: the file changed while it was read", result->path);
        TRY(find_member(result, jsonl, line, which, &cell));
        const char *text = cell.is_text ? jsonl_decode(&arena, cell.text, cell.length) : cell.text;
        enum tutti_err err = cell.is_text && !text
                                 ? tt_fail_memory()
                                 : take(context, row, text ? text : "", cell.is_text ? strlen(text) : cell.length);
        tt_arena_fini(&arena);
        TRY(err);
    }
    return TUTTI_OK;
}

const struct tt_result_format tt_jsonl_result_format = {
    .name = "jsonl",
    .fits = jsonl_fits,
    .open = jsonl_open_result,
    .read = jsonl_read_result,
    .texts = jsonl_read_texts,
    .close = jsonl_close_result,
};
