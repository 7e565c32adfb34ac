/* SPDX-License-Identifier: MIT */
/* Any bytes as a checkpoint. The first selects the use: as a plain file; as a file with a corrected checksum, so that
 * its content can be anything; as frames of ranks (length in two bytes, the low one first, bytes), of which checkpoints
 * are made. An accepted file is written again with equal bytes. */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/checkpoint/collector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAGIC "Tutti checkpoint\n"
enum { HASH = 32, HASH_AT = sizeof MAGIC - 1 + 8, PAYLOAD_AT = HASH_AT + HASH, UNITS = 2 };

static void check(bool good)
{
    if (!good)
        abort();
}

/* Of its own size, so that a look beyond it is seen. */
static char *copy_of(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    check(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    return copy;
}

static void parse(const char *bytes, size_t size)
{
    struct tt_checkpoint *checkpoint;
    struct tt_byte_writer again = {0};
    enum tutti_err err = tt_checkpoint_parse(&checkpoint, bytes, size, "file");
    check(!err == (checkpoint != NULL) && (!err || strstr(tutti_err_message(), "'file'")));
    if (err)
        return;
    tt_checkpoint_encode_and_hash(&again, checkpoint);
    check(again.size == size && memcmp(again.bytes, bytes, size) == 0);
    tt_bytes_fini(&again);
    tt_checkpoint_free(checkpoint);
}

static void parse_with_sum(char *bytes, size_t size)
{
    struct tt_byte_writer head = {0};
    if (size < PAYLOAD_AT)
        return;
    tt_checkpoint_encode_and_hash(&head, &(struct tt_checkpoint){.t = 0});
    check(!head.failed);
    memcpy(bytes, head.bytes, HASH_AT);
    crypto_generichash((unsigned char *)bytes + HASH_AT, HASH, (unsigned char *)bytes + PAYLOAD_AT, size - PAYLOAD_AT,
                       NULL, 0);
    tt_bytes_fini(&head);
    parse(bytes, size);
}

/* A frame that must wait does so for ever here: it is left out. */
static enum tutti_err take(struct tt_collector *collector, const uint8_t *data, size_t size)
{
    char *copy = copy_of(data, size);
    struct tt_byte_reader in = {.at = copy, .end = copy + size};
    bool complete = false;
    enum tutti_err err = TUTTI_OK;
    if (!tt_collector_must_wait(collector, in))
        err = tt_collector_add_frame(collector, &in, &complete);
    free(copy);
    if (err || !complete)
        return err;
    check(tt_collector_write(collector, (struct tt_bytes){2, (const uint8_t *)"at"}, (struct tt_bytes){0}) == TUTTI_OK);
    struct tt_bytes last = tt_collector_last_file(collector);
    check(last.size > 0);
    parse((const char *)last.data, last.size);
    return TUTTI_OK;
}

static void collect(const uint8_t *data, size_t size)
{
    const struct tt_collector_target target = {
        .identity = {3, (const uint8_t *)"who"}, .unit_count = UNITS, .keeps = true};
    struct tt_collector *collector;
    check(tt_collector_new(&collector, &target) == TUTTI_OK);
    while (size >= 2) {
        size_t length = data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        if (take(collector, data, length) != TUTTI_OK)
            break;
        data += length;
        size -= length;
    }
    tt_collector_free(collector);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *copy = copy_of(data + 1, size - 1);
    if (data[0] % 3 == 0)
        parse(copy, size - 1);
    else if (data[0] % 3 == 1)
        parse_with_sum(copy, size - 1);
    else
        collect(data + 1, size - 1);
    free(copy);
    return 0;
}
