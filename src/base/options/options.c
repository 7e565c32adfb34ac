/* SPDX-License-Identifier: MIT */
#include "base/options/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/options/option_words.h"
#include "base/text.h"

/* ---- the table ---- */

#define WORD(name, word, meaning) {word, meaning},
#define WORDS(...)                                                                                                     \
    (const struct tutti_option_word[])                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
        {                                                                                                              \
            NULL, NULL                                                                                                 \
        }                                                                                                              \
    }
#define AT(member) offsetof(struct tutti_run_options, member)
#define PLACES_FLAG(field) .value = AT(field)
#define PLACES_COUNT(field) .value = AT(field)
#define PLACES_NUMBER(field) .value = AT(field), .given = AT(has_##field)
#define PLACES_TIME(field) PLACES_NUMBER(field)
#define PLACES_TEXT(field) .value = AT(field)
#define PLACES_TEXTS(field) .list = AT(field##s), .length = AT(field##_count)
#define PLACES_STEP(field) PLACES_NUMBER(field), PLACES_TEXTS(unit_##field)
#define PLACES_UNITS(field) .value = AT(field), PLACES_TEXTS(field##_unit)
#define PLACES_CHOICE(field) .value = AT(field), .how = AT(field##_how)
#define OPTION(kind_, name_, field, ...)                                                                               \
    {.name = name_, .kind = TUTTI_OPTION_##kind_, PLACES_##kind_(field), __VA_ARGS__},
#define COUPLED                                                                                                        \
    .travels = true, .annotation = TUTTI_OF_SYSTEM, .group = TUTTI_GROUP_COUPLING, .commands = TUTTI_IN_SIMULATING
#define FEDERATED .travels = true, .annotation = TUTTI_OF_SYSTEM, .group = TUTTI_GROUP_FEDERATION

const struct tt_option tt_options[] = {
#include "base/options/options.def"
    {.name = NULL},
};

const struct tt_option *tt_options_find(const char *name)
{
    for (const struct tt_option *option = tt_options; option->name; option++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

/* ---- reading ---- */

static enum tutti_err read_option_flag(bool *flag, const struct tt_option *option, const char *text)
{
    bool on = *text == '\0' || strcmp(text, "true") == 0;
    struct tt_text_excerpt shown = tt_text_excerpt(text);
    if (!on && strcmp(text, "false") != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--%s takes true or false, not '%s'", option->name, shown.text);
    *flag = on;
    return TUTTI_OK;
}

static enum tutti_err fail_option_count(const struct tt_option *option, const char *text)
{
    struct tt_text_excerpt shown = tt_text_excerpt(text);
    return tt_fail(TUTTI_ERR_ARGUMENT, "--%s takes a whole number from 1 to %u, not '%s'", option->name, option->most,
                   shown.text);
}

static enum tutti_err read_option_count(unsigned *count, const struct tt_option *option, const char *text)
{
    double number;
    if (!tt_number_read_double(text, strlen(text), &number) || !(number >= 1 && number <= option->most) ||
        number != floor(number))
        return fail_option_count(option, text);
    *count = (unsigned)number;
    return TUTTI_OK;
}

static enum tutti_err check_option_number(const struct tt_option *option, double number, const char *text)
{
    struct tt_text_excerpt shown = tt_text_excerpt(text);
    if (option->kind == TUTTI_OPTION_TIME || (number > 0 && isfinite(number)))
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT, "--%s takes a number greater than 0, not '%s'", option->name, shown.text);
}

static enum tutti_err read_option_number(struct tutti_run_options *options, const struct tt_option *option,
                                         const char *text)
{
    double number;
    struct tt_text_excerpt shown = tt_text_excerpt(text);
    if (!tt_number_read_double(text, strlen(text), &number))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--%s takes a number, not '%s'", option->name, shown.text);
    TRY(check_option_number(option, number, text));
    memcpy((char *)options + option->value, &number, sizeof number);
    *(bool *)((char *)options + option->given) = true;
    return TUTTI_OK;
}

static enum tutti_err fail_option_word(const struct tt_option *option, const char *word)
{
    struct tt_text all = {0};
    struct tt_text_excerpt shown = tt_text_excerpt(word);
    for (const struct tutti_option_word *known = option->words; known->name; known++)
        tt_text_printf(&all, "%s%s", known == option->words ? "" : known[1].name ? ", " : " or ", known->name);
    enum tutti_err err =
        tt_fail(TUTTI_ERR_ARGUMENT, "--%s takes %s, not '%s'", option->name, all.text ? all.text : "", shown.text);
    tt_text_fini(&all);
    return err;
}

/* Returns the index of a keyword in the list that the option accepts; -1 if it is not in the list. */
static int find_option_word(const struct tt_option *option, const char *word)
{
    for (int i = 0; option->words[i].name; i++)
        if (strcmp(option->words[i].name, word) == 0)
            return i;
    return -1;
}

static enum tutti_err check_option_word(const struct tt_option *option, const char *word)
{
    return !option->words || find_option_word(option, word) >= 0 ? TUTTI_OK : fail_option_word(option, word);
}

static enum tutti_err read_option_text(const char **out, const struct tt_option *option, const char *text,
                                       struct tt_arena *memory)
{
    TRY(check_option_word(option, text));
    const char *copy = memory ? tt_arena_copy_text(memory, text, strlen(text)) : text;
    if (!copy)
        return tt_fail_memory();
    *out = copy;
    return TUTTI_OK;
}

static bool is_flag_text(const char *text)
{
    return !*text || strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
}

static enum tutti_err read_option_choice(struct tutti_run_options *options, const struct tt_option *option,
                                         const char *text, struct tt_arena *memory)
{
    bool *on = (bool *)((char *)options + option->value);
    const char **how = (const char **)(void *)((char *)options + option->how);
    if (!is_flag_text(text)) {
        TRY(read_option_text(how, option, text, memory));
        *on = true;
        return TUTTI_OK;
    }
    *how = NULL;
    return read_option_flag(on, option, text);
}

/* The list has room for as many texts as the next power of two. */
static enum tutti_err add_option_text(struct tutti_run_options *options, const struct tt_option *option,
                                      const char *text, struct tt_arena *memory)
{
    const char ***list = (const char ***)(void *)((char *)options + option->list);
    size_t *count = (size_t *)(void *)((char *)options + option->length);
    const char *copy = tt_arena_copy_text(memory, text, strlen(text));
    if (!copy)
        return tt_fail_memory();
    if ((*count & (*count - 1)) == 0) { /* it is full */
        const char **longer = tt_arena_array(memory, *count ? 2 * *count : 1, sizeof *longer);
        if (!longer)
            return tt_fail_memory();
        if (*count)
            memcpy(longer, *list, *count * sizeof *longer);
        *list = longer;
    }
    (*list)[(*count)++] = copy;
    return TUTTI_OK;
}

enum tutti_err tt_options_read(struct tutti_run_options *options, const struct tt_option *option, const char *text,
                               struct tt_arena *memory)
{
    void *value = (char *)options + option->value;
    switch (option->kind) {
    case TUTTI_OPTION_FLAG: return read_option_flag(value, option, text);
    case TUTTI_OPTION_COUNT: return read_option_count(value, option, text);
    case TUTTI_OPTION_NUMBER:
    case TUTTI_OPTION_TIME: return read_option_number(options, option, text);
    case TUTTI_OPTION_TEXT: return read_option_text(value, option, text, memory);
    case TUTTI_OPTION_TEXTS: return add_option_text(options, option, text, memory);
    case TUTTI_OPTION_STEP:
        return strchr(text, '=') ? add_option_text(options, option, text, memory)
                                 : read_option_number(options, option, text);
    case TUTTI_OPTION_CHOICE: return read_option_choice(options, option, text, memory);
    case TUTTI_OPTION_UNITS: break;
    }
    return is_flag_text(text) ? read_option_flag(value, option, text) : add_option_text(options, option, text, memory);
}

/* ---- one option of a set ---- */

bool tt_options_is_given(const struct tutti_run_options *options, const struct tt_option *option)
{
    const char *base = (const char *)options;
    bool has_list = option->length && *(const size_t *)(const void *)(base + option->length) > 0;
    switch (option->kind) {
    case TUTTI_OPTION_FLAG:
    case TUTTI_OPTION_CHOICE:
    case TUTTI_OPTION_UNITS: return has_list || *(const bool *)(base + option->value);
    case TUTTI_OPTION_COUNT: return *(const unsigned *)(const void *)(base + option->value) > 0;
    case TUTTI_OPTION_NUMBER:
    case TUTTI_OPTION_TIME:
    case TUTTI_OPTION_STEP: return has_list || *(const bool *)(base + option->given);
    case TUTTI_OPTION_TEXT: return *(const char *const *)(const void *)(base + option->value) != NULL;
    case TUTTI_OPTION_TEXTS: break;
    }
    return has_list;
}

static void copy_option_bytes(void *to, const void *from, size_t offset, size_t size)
{
    memcpy((char *)to + offset, (const char *)from + offset, size);
}

void tt_options_copy_one(struct tutti_run_options *to, const struct tutti_run_options *from,
                         const struct tt_option *option)
{
    static const size_t sizes[] = {
        [TUTTI_OPTION_FLAG] = sizeof(bool),     [TUTTI_OPTION_COUNT] = sizeof(unsigned),
        [TUTTI_OPTION_NUMBER] = sizeof(double), [TUTTI_OPTION_TIME] = sizeof(double),
        [TUTTI_OPTION_TEXT] = sizeof(char *),   [TUTTI_OPTION_TEXTS] = 0,
        [TUTTI_OPTION_STEP] = sizeof(double),   [TUTTI_OPTION_UNITS] = sizeof(bool),
        [TUTTI_OPTION_CHOICE] = sizeof(bool),
    };
    copy_option_bytes(to, from, option->value, sizes[option->kind]);
    if (option->given)
        copy_option_bytes(to, from, option->given, sizeof(bool));
    if (option->how)
        copy_option_bytes(to, from, option->how, sizeof(char *));
    if (option->length) {
        copy_option_bytes(to, from, option->list, sizeof(char **));
        copy_option_bytes(to, from, option->length, sizeof(size_t));
    }
}

/* ---- checks ---- */

static enum tutti_err options_check_one(const struct tutti_run_options *options, const struct tt_option *option)
{
    const void *value = (const char *)options + option->value;
    if (!tt_options_is_given(options, option))
        return TUTTI_OK;
    if (option->kind == TUTTI_OPTION_COUNT && *(const unsigned *)value > option->most)
        return fail_option_count(option, NUMBER((double)*(const unsigned *)value));
    if (option->kind == TUTTI_OPTION_TEXT)
        return check_option_word(option, *(const char *const *)value);
    if (option->how && *(const char *const *)(const void *)((const char *)options + option->how))
        return check_option_word(option, *(const char *const *)(const void *)((const char *)options + option->how));
    if (option->given && *(const bool *)((const char *)options + option->given))
        return check_option_number(option, *(const double *)value, NUMBER(*(const double *)value));
    return TUTTI_OK;
}

enum tutti_err tt_options_check(const struct tutti_run_options *options)
{
    for (const struct tt_option *option = tt_options; option->name; option++)
        TRY(options_check_one(options, option));
    if (options->has_h_min && options->has_h_max && options->h_min > options->h_max)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--h-min %s is more than --h-max %s", NUMBER(options->h_min),
                       NUMBER(options->h_max));
    return TUTTI_OK;
}

enum tutti_err tt_options_choose(const char *name, const char *word, int *place)
{
    const struct tt_option *option = tt_options_find(name);
    *place = word ? find_option_word(option, word) : 0;
    return *place >= 0 ? TUTTI_OK : fail_option_word(option, word);
}

/* ---- for programs ---- */

enum tutti_err tutti_options_make(struct tutti_run_options **out)
{
    struct tutti_run_options *options = calloc(1, sizeof *options);
    if (!options)
        return tt_fail_memory();
    *out = options;
    return TUTTI_OK;
}

void tutti_options_free(struct tutti_run_options *options)
{
    if (!options)
        return;
    tt_arena_fini(&options->memory);
    free(options);
}

enum tutti_err tutti_options_set(struct tutti_run_options *options, const char *name, const char *value)
{
    static const struct tutti_run_options none;
    const struct tt_option *option = tt_options_find(name);
    if (!option) {
        struct tt_text_nearest nearest = {.wanted = name};
        struct tt_text_excerpt shown = tt_text_excerpt(name);
        for (option = tt_options; option->name; option++)
            tt_text_nearest_offer(&nearest, option->name);
        return nearest.best ? tt_fail(TUTTI_ERR_ARGUMENT, "there is no option '%s'; did you mean '%s'?", shown.text,
                                      nearest.best)
                            : tt_fail(TUTTI_ERR_ARGUMENT, "there is no option '%s'", shown.text);
    }
    if (!value)
        tt_options_copy_one(options, &none, option);
    return value ? tt_options_read(options, option, value, &options->memory) : TUTTI_OK;
}

enum tutti_err tutti_options_set_number(struct tutti_run_options *options, const char *name, double value)
{
    return tutti_options_set(options, name, NUMBER(value));
}

bool tutti_options_describe(size_t number, struct tutti_option_description *out)
{
    const size_t count = sizeof tt_options / sizeof *tt_options - 1;
    if (number >= count)
        return false;
    const struct tt_option *option = &tt_options[number];
    *out = (struct tutti_option_description){
        .name = option->name,
        .argument = option->argument,
        .help = option->help,
        .words = option->words,
        .repeatable = option->length > 0,
    };
    return true;
}

void tutti_options_name_with_dashes(bool dashes)
{
    tt_text_set_dashes(dashes);
}

bool tt_options_records_nothing(const struct tutti_run_options *options)
{
    return options->record_count == 1 && strcmp(options->records[0], "none") == 0;
}

void tt_options_resolve_live(struct tutti_run_options *options)
{
    if (!options->live || strcmp(options->live, TUTTI_LIVE_ALL_ROWS) == 0 ||
        strcmp(options->live, TUTTI_LIVE_WANTED_ROWS) == 0)
        return;
    bool nothing = tt_options_records_nothing(options);
    options->live = !nothing && (options->output || options->watcher) ? TUTTI_LIVE_ALL_ROWS : TUTTI_LIVE_WANTED_ROWS;
    if (nothing) {
        options->record_count = 0;
        options->output = NULL;
        options->watcher = NULL;
    }
}

void tutti_options_set_watcher(struct tutti_run_options *options, const struct tutti_watcher *watcher)
{
    options->own_watcher = watcher ? *watcher : (struct tutti_watcher){0};
    options->watcher = watcher ? &options->own_watcher : NULL;
    options->tells_digits = false;
}

void tutti_options_set_log(struct tutti_run_options *options, const struct tutti_log *log)
{
    options->own_log = log ? *log : (struct tutti_log){0};
    options->log = log ? &options->own_log : NULL;
}

void tutti_options_set_progress(struct tutti_run_options *options,
                                void (*progress)(void *context, const struct tutti_progress *progress), void *context)
{
    options->progress = progress;
    options->progress_context = context;
}

void tutti_options_set_finished(struct tutti_run_options *options,
                                void (*finished)(void *context, enum tutti_err err,
                                                 const struct tutti_run_stats *stats),
                                void *context)
{
    options->finished = finished;
    options->finished_context = context;
}

void tutti_options_set_used(struct tutti_run_options *options,
                            void (*used)(void *context, const struct tutti_used_file *file), void *context)
{
    options->used = used;
    options->used_context = context;
}

void tutti_options_set_run_id(struct tutti_run_options *options, const unsigned char id[TUTTI_RUN_ID_SIZE])
{
    if (id)
        memcpy(options->own_run_id, id, sizeof options->own_run_id);
    options->run_id = id ? options->own_run_id : NULL;
}

void tutti_options_set_interrupt(struct tutti_run_options *options, const volatile sig_atomic_t *interrupt)
{
    options->interrupt = interrupt;
}

void tutti_options_set_extra(struct tutti_run_options *options, const struct tutti_extra *extra)
{
    options->extra = extra;
}

void tt_options_pack_one(const struct tutti_run_options *options, const struct tt_option *option,
                         struct tt_byte_writer *parcel)
{
    const char *base = (const char *)options;
    const void *value = base + option->value;
    switch (option->kind) {
    case TUTTI_OPTION_FLAG:
    case TUTTI_OPTION_CHOICE:
    case TUTTI_OPTION_UNITS: tt_bytes_put_u8(parcel, *(const bool *)value); break;
    case TUTTI_OPTION_COUNT: tt_bytes_put_u32(parcel, *(const unsigned *)value); break;
    case TUTTI_OPTION_NUMBER:
    case TUTTI_OPTION_TIME:
    case TUTTI_OPTION_STEP:
        tt_bytes_put_u8(parcel, *(const bool *)(base + option->given));
        tt_bytes_put_double(parcel, *(const double *)value);
        break;
    case TUTTI_OPTION_TEXT: tt_bytes_put_text(parcel, *(const char *const *)value); break;
    case TUTTI_OPTION_TEXTS: break;
    }
    if (option->how)
        tt_bytes_put_text(parcel, *(const char *const *)(const void *)(base + option->how));
    if (option->length) {
        const char *const *texts = *(const char *const *const *)(const void *)(base + option->list);
        size_t count = *(const size_t *)(const void *)(base + option->length);
        tt_bytes_put_u64(parcel, count);
        for (size_t i = 0; i < count; i++)
            tt_bytes_put_text(parcel, texts[i]);
    }
}

enum tutti_err tt_options_pack(const struct tutti_run_options *given, struct tt_byte_writer *parcel)
{
    struct tutti_run_options sent = *given;
    tt_options_resolve_live(&sent);
    if (sent.watcher && !sent.output)
        sent.output = "-"; /* ranks only check whether anything is recorded */
    if (sent.extra)
        return tt_fail(TUTTI_ERR_ARGUMENT, "equations of a program's own (extra) cannot be sent to nodes");
    for (const struct tt_option *option = tt_options; option->name; option++)
        if (option->travels)
            tt_options_pack_one(&sent, option, parcel);
    tt_bytes_put_u8(parcel, sent.log && sent.log->write ? (uint8_t)sent.log->level : UINT8_MAX);
    tt_bytes_put_u8(parcel, sent.progress != NULL);
    tt_bytes_put_u8(parcel, tt_text_has_dashes());
    return parcel->failed ? tt_fail_memory() : TUTTI_OK;
}

/* NULL stays NULL; false: memory is out. */
static bool options_copy_text(const char **out, const char *text, struct tt_arena *arena)
{
    *out = text ? tt_arena_copy_text(arena, text, strlen(text)) : NULL;
    return !text || *out;
}

static bool options_unpack_texts(const char *const **out, size_t *count, struct tt_byte_reader *in,
                                 struct tt_arena *arena)
{
    uint64_t told = tt_bytes_get_u64(in);
    if (told > (size_t)(in->end - in->at)) /* each takes more than a byte */
        in->bad = true;
    if (in->bad || told == 0)
        return true;
    const char **texts = tt_arena_array(arena, told, sizeof *texts);
    bool copied = texts != NULL;
    for (uint64_t i = 0; copied && i < told && !in->bad; i++) {
        const char *text = tt_bytes_get_text(in);
        in->bad = in->bad || !text; /* a list must not contain NULL texts */
        copied = options_copy_text(&texts[i], text, arena);
    }
    *out = texts;
    *count = told;
    return copied;
}

/* False: memory is out. */
static bool options_unpack_one(struct tutti_run_options *options, const struct tt_option *option,
                               struct tt_byte_reader *in, struct tt_arena *arena)
{
    char *base = (char *)options;
    void *value = base + option->value;
    bool enough = true;
    switch (option->kind) {
    case TUTTI_OPTION_FLAG:
    case TUTTI_OPTION_CHOICE:
    case TUTTI_OPTION_UNITS: *(bool *)value = tt_bytes_get_u8(in) != 0; break;
    case TUTTI_OPTION_COUNT: *(unsigned *)value = tt_bytes_get_u32(in); break;
    case TUTTI_OPTION_NUMBER:
    case TUTTI_OPTION_TIME:
    case TUTTI_OPTION_STEP:
        *(bool *)(base + option->given) = tt_bytes_get_u8(in) != 0;
        *(double *)value = tt_bytes_get_double(in);
        break;
    case TUTTI_OPTION_TEXT: enough = options_copy_text(value, tt_bytes_get_text(in), arena); break;
    case TUTTI_OPTION_TEXTS: break;
    }
    if (option->how)
        enough = options_copy_text((const char **)(void *)(base + option->how), tt_bytes_get_text(in), arena);
    if (option->length)
        enough = options_unpack_texts((const char *const **)(void *)(base + option->list),
                                      (size_t *)(void *)(base + option->length), in, arena);
    return enough;
}

enum tutti_err tt_options_unpack(struct tutti_run_options *options, struct tt_options_extras *extras,
                                 struct tt_byte_reader *in, struct tt_arena *arena)
{
    bool enough = true;
    *options = (struct tutti_run_options){0};
    for (const struct tt_option *option = tt_options; option->name && enough && !in->bad; option++)
        if (option->travels)
            enough = options_unpack_one(options, option, in, arena);
    uint8_t level = tt_bytes_get_u8(in);
    extras->log_level = level > TUTTI_LOG_DEBUG ? -1 : level;
    extras->has_progress = tt_bytes_get_u8(in) != 0;
    extras->has_dashes = tt_bytes_get_u8(in) != 0;
    if (!enough)
        return tt_fail_memory();
    return in->bad ? tt_fail(TUTTI_ERR_FORMAT, "the options of the run are damaged") : TUTTI_OK;
}
