/* SPDX-License-Identifier: MIT */
#include "options/parcel.h"

#include <string.h>

#include "base/str.h"

static void pack_texts(const char *const *texts, size_t count, struct tutti_parcel *parcel)
{
    tutti_parcel_put_u64(parcel, count);
    for (size_t i = 0; i < count; i++)
        tutti_parcel_put_text(parcel, texts[i]);
}

void tutti_option_pack(const struct tutti_run_options *options, const struct tutti_option *option,
                       struct tutti_parcel *parcel)
{
    const char *base = (const char *)options;
    const void *value = base + option->value;
    switch (option->kind) {
    case TUTTI_OPTION_FLAG:
    case TUTTI_OPTION_CHOICE:
    case TUTTI_OPTION_UNITS: tutti_parcel_put_u8(parcel, *(const bool *)value); break;
    case TUTTI_OPTION_COUNT: tutti_parcel_put_u32(parcel, *(const unsigned *)value); break;
    case TUTTI_OPTION_NUMBER:
    case TUTTI_OPTION_TIME:
    case TUTTI_OPTION_STEP:
        tutti_parcel_put_u8(parcel, *(const bool *)(base + option->given));
        tutti_parcel_put_double(parcel, *(const double *)value);
        break;
    case TUTTI_OPTION_TEXT: tutti_parcel_put_text(parcel, *(const char *const *)value); break;
    case TUTTI_OPTION_TEXTS: break;
    }
    if (option->how)
        tutti_parcel_put_text(parcel, *(const char *const *)(const void *)(base + option->how));
    if (option->length)
        pack_texts(*(const char *const *const *)(const void *)(base + option->list),
                   *(const size_t *)(const void *)(base + option->length), parcel);
}

enum tutti_err tutti_options_pack(const struct tutti_run_options *given, struct tutti_parcel *parcel)
{
    struct tutti_run_options sent = *given;
    tutti_options_settle_live(&sent);
    if (sent.watcher && !sent.output)
        sent.output = "-"; /* ranks only ask whether there is anything to record for */
    if (sent.extra)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "equations of a program's own (extra) cannot be sent to nodes");
    for (const struct tutti_option *option = tutti_options; option->name; option++)
        if (option->travels)
            tutti_option_pack(&sent, option, parcel);
    tutti_parcel_put_u8(parcel, sent.log && sent.log->write ? (uint8_t)sent.log->level : UINT8_MAX);
    tutti_parcel_put_u8(parcel, sent.progress != NULL);
    tutti_parcel_put_u8(parcel, tutti_spelling_has_dashes());
    return parcel->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* NULL stays NULL; false: memory is out. */
static bool copy_text(const char **out, const char *text, struct tutti_arena *arena)
{
    *out = text ? tutti_arena_text(arena, text, strlen(text)) : NULL;
    return !text || *out;
}

static bool unpack_texts(const char *const **out, size_t *count, struct tutti_unparcel *in, struct tutti_arena *arena)
{
    uint64_t told = tutti_unparcel_u64(in);
    if (told > (size_t)(in->end - in->at)) /* each takes more than a byte */
        in->bad = true;
    if (in->bad || told == 0)
        return true;
    const char **texts = tutti_arena_array(arena, told, sizeof *texts);
    bool copied = texts != NULL;
    for (uint64_t i = 0; copied && i < told && !in->bad; i++) {
        const char *text = tutti_unparcel_text(in);
        in->bad = in->bad || !text; /* there are no texts that are none in a list */
        copied = copy_text(&texts[i], text, arena);
    }
    *out = texts;
    *count = told;
    return copied;
}

/* False: memory is out. */
static bool unpack(struct tutti_run_options *options, const struct tutti_option *option, struct tutti_unparcel *in,
                   struct tutti_arena *arena)
{
    char *base = (char *)options;
    void *value = base + option->value;
    bool enough = true;
    switch (option->kind) {
    case TUTTI_OPTION_FLAG:
    case TUTTI_OPTION_CHOICE:
    case TUTTI_OPTION_UNITS: *(bool *)value = tutti_unparcel_u8(in) != 0; break;
    case TUTTI_OPTION_COUNT: *(unsigned *)value = tutti_unparcel_u32(in); break;
    case TUTTI_OPTION_NUMBER:
    case TUTTI_OPTION_TIME:
    case TUTTI_OPTION_STEP:
        *(bool *)(base + option->given) = tutti_unparcel_u8(in) != 0;
        *(double *)value = tutti_unparcel_double(in);
        break;
    case TUTTI_OPTION_TEXT: enough = copy_text(value, tutti_unparcel_text(in), arena); break;
    case TUTTI_OPTION_TEXTS: break;
    }
    if (option->how)
        enough = copy_text((const char **)(void *)(base + option->how), tutti_unparcel_text(in), arena);
    if (option->length)
        enough = unpack_texts((const char *const **)(void *)(base + option->list),
                              (size_t *)(void *)(base + option->length), in, arena);
    return enough;
}

enum tutti_err tutti_options_unpack(struct tutti_run_options *options, struct tutti_options_extras *extras,
                                    struct tutti_unparcel *in, struct tutti_arena *arena)
{
    bool enough = true;
    *options = (struct tutti_run_options){0};
    for (const struct tutti_option *option = tutti_options; option->name && enough && !in->bad; option++)
        if (option->travels)
            enough = unpack(options, option, in, arena);
    uint8_t level = tutti_unparcel_u8(in);
    extras->log_level = level > TUTTI_LOG_DEBUG ? -1 : level;
    extras->has_progress = tutti_unparcel_u8(in) != 0;
    extras->has_dashes = tutti_unparcel_u8(in) != 0;
    if (!enough)
        return tutti_fail_memory();
    return in->bad ? tutti_fail(TUTTI_ERR_FORMAT, "the options of the run are damaged") : TUTTI_OK;
}
