/* SPDX-License-Identifier: MIT */
#include "base/options/options_pack.h"

#include <string.h>

#include "base/text.h"

static void options_pack_texts(const char *const *texts, size_t count, struct tt_byte_writer *parcel)
{
    tt_bytes_put_u64(parcel, count);
    for (size_t i = 0; i < count; i++)
        tt_bytes_put_text(parcel, texts[i]);
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
    if (option->length)
        options_pack_texts(*(const char *const *const *)(const void *)(base + option->list),
                           *(const size_t *)(const void *)(base + option->length), parcel);
}

enum tutti_err tt_options_pack(const struct tutti_run_options *given, struct tt_byte_writer *parcel)
{
    struct tutti_run_options sent = *given;
    tt_options_resolve_live(&sent);
    if (sent.watcher && !sent.output)
        sent.output = "-"; /* ranks only ask whether there is anything to record for */
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
        in->bad = in->bad || !text; /* there are no texts that are none in a list */
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
