/* SPDX-License-Identifier: MIT */
/* Any bytes as an FMU: opened, listed, every entry read, everything unpacked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "fmu/archive/archive.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (access("/dev/shm", W_OK) == 0) /* in memory: many times faster */
        setenv("TMPDIR", "/dev/shm", 0);
    return 0;
}

/* What no name of an opened archive may be, however it is written. */
static void check_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || name[0] == '/' || strchr(name, '\\') || strstr(name, "//") || strncmp(name, "../", 3) == 0 ||
        strstr(name, "/../") || strcmp(name, "..") == 0 || (length > 2 && strcmp(name + length - 3, "/..") == 0))
        abort();
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20)
            abort();
}

static void read_all(struct tt_archive *archive, const char *name)
{
    struct tt_byte_source reader;
    char buffer[4096];
    size_t got = 1;
    if (tt_archive_open_entry(archive, name, &reader) == TUTTI_OK)
        while (got > 0 && reader.read(reader.context, buffer, sizeof buffer, &got) == TUTTI_OK)
            if (got > sizeof buffer)
                abort();
    tt_archive_close_entry(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    if (fd < 0 || tt_fs_write(fd, data, size, -1) != size)
        abort();
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct tt_archive *archive = NULL;
    enum tutti_err err = tt_archive_open(&archive, path);
    if ((err == TUTTI_OK) != (archive != NULL) || (err != TUTTI_OK && !tutti_err_message()[0]))
        abort();
    for (size_t i = 0; archive && i < tt_archive_count(archive); i++) {
        const char *name = tt_archive_name(archive, i);
        check_name(name);
        if (!tt_archive_has(archive, name))
            abort();
        read_all(archive, name);
    }
    const char *folder = NULL;
    if (archive && tt_archive_unpack(archive, &folder) == TUTTI_OK && access(folder, F_OK) != 0)
        abort();
    tt_archive_free(archive);
    close(fd);
    return 0;
}
