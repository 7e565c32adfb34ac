/* SPDX-License-Identifier: MIT */
/* The superblock, the first 48 bytes of a file (HDF5 File Format Specification Version 3.0, II.A, version 3 of it):
 * signature (8), version (1), size of offsets (1), size of lengths (1), consistency flags (1), then 8 bytes each: base
 * address, superblock extension, end of file, root group; and a checksum (4) of what is before it.
 *
 * While HDF5 writes, the flags keep out all readers that do not ask for SWMR, and after a kill for ever. */
#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/hdf5/hdf5_module_parts.h"

enum { VERSION_AT = 8, OFFSETS_AT = 9, FLAGS_AT = 11, END_AT = 28, CHECKSUM_AT = 44, SIZE = 48 };

static const unsigned char SIGNATURE[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static uint32_t rotate_bits(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

static uint32_t read_word_32(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return le32toh(value);
}

/* Bob Jenkins's lookup3 (hashlittle, from 0), of a length that 4 divides and that is not 0. */
static uint32_t lookup3_checksum(const unsigned char *bytes, size_t length)
{
    uint32_t a = 0xdeadbeef + (uint32_t)length, b = a, c = a;
    for (; length > 12; length -= 12, bytes += 12) {
        a += read_word_32(bytes), b += read_word_32(bytes + 4), c += read_word_32(bytes + 8);
        a = (a - c) ^ rotate_bits(c, 4), c += b;
        b = (b - a) ^ rotate_bits(a, 6), a += c;
        c = (c - b) ^ rotate_bits(b, 8), b += a;
        a = (a - c) ^ rotate_bits(c, 16), c += b;
        b = (b - a) ^ rotate_bits(a, 19), a += c;
        c = (c - b) ^ rotate_bits(b, 4), b += a;
    }
    a += read_word_32(bytes);
    b += length > 4 ? read_word_32(bytes + 4) : 0;
    c += length > 8 ? read_word_32(bytes + 8) : 0;
    c = (c ^ b) - rotate_bits(b, 14);
    a = (a ^ c) - rotate_bits(c, 11);
    b = (b ^ a) - rotate_bits(a, 25);
    c = (c ^ b) - rotate_bits(b, 16);
    a = (a ^ c) - rotate_bits(c, 4);
    b = (b ^ a) - rotate_bits(a, 14);
    return (c ^ b) - rotate_bits(b, 24);
}

int tt_hdf5_writer_repair_superblock(int fd)
{
    unsigned char bytes[SIZE];
    struct stat st;
    errno = 0;
    if (fstat(fd, &st) != 0 || pread(fd, bytes, SIZE, 0) != SIZE)
        return errno ? errno : ENOTSUP; /* it is too short */
    if (memcmp(bytes, SIGNATURE, sizeof SIGNATURE) != 0 || bytes[VERSION_AT] != 3 || bytes[OFFSETS_AT] != 8)
        return ENOTSUP;
    uint64_t end = htole64((uint64_t)st.st_size);
    bytes[FLAGS_AT] = 0;
    memcpy(bytes + END_AT, &end, sizeof end);
    uint32_t sum = htole32(lookup3_checksum(bytes, CHECKSUM_AT));
    memcpy(bytes + CHECKSUM_AT, &sum, sizeof sum);
    return pwrite(fd, bytes, SIZE, 0) == SIZE ? 0 : errno ? errno : EIO;
}
