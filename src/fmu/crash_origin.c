/* SPDX-License-Identifier: MIT */
/* Runs in a signal handler, in a process whose memory may be damaged: no allocation, no lock, no stdio, no dladdr. */
#include "fmu/crash_origin.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "fmu/fmi_call.h"

struct crash_mapping {
    uintptr_t begin, end;
    bool runs;
    char path[512]; /* cut, if it is longer */
};

struct maps_reader {
    int fd;
    size_t at, count;
    char bytes[4096];
};

static int maps_next_byte(struct maps_reader *maps)
{
    if (maps->at == maps->count) {
        ssize_t count = read(maps->fd, maps->bytes, sizeof maps->bytes);
        if (count <= 0)
            return -1;
        maps->at = 0;
        maps->count = (size_t)count;
    }
    return (unsigned char)maps->bytes[maps->at++];
}

static int crash_origin_hex_digit(int byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0' : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static int read_address(struct maps_reader *maps, uintptr_t *address)
{
    int byte = maps_next_byte(maps);
    for (*address = 0; crash_origin_hex_digit(byte) >= 0; byte = maps_next_byte(maps))
        *address = *address * 16 + (uintptr_t)crash_origin_hex_digit(byte);
    return byte;
}

/* "begin-end rwxp offset device inode   path" */
static bool maps_next_mapping(struct maps_reader *maps, struct crash_mapping *mapping)
{
    enum { FIELDS_BEFORE_PATH = 3 };
    if (read_address(maps, &mapping->begin) != '-' || read_address(maps, &mapping->end) != ' ')
        return false;
    (void)maps_next_byte(maps);
    (void)maps_next_byte(maps);
    mapping->runs = maps_next_byte(maps) == 'x';
    (void)maps_next_byte(maps);
    int byte = maps_next_byte(maps);
    for (int field = 0; field < FIELDS_BEFORE_PATH; field++)
        do
            byte = maps_next_byte(maps);
        while (byte > ' ');
    while (byte == ' ')
        byte = maps_next_byte(maps);
    size_t length = 0;
    for (; byte >= 0 && byte != '\n'; byte = maps_next_byte(maps))
        if (length + 1 < sizeof mapping->path)
            mapping->path[length++] = (char)byte;
    mapping->path[length] = '\0';
    return byte == '\n';
}

static bool find_mapping(uintptr_t address, struct crash_mapping *mapping)
{
    struct maps_reader maps = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    bool found = false;
    while (!found && maps.fd >= 0 && maps_next_mapping(&maps, mapping))
        found = address >= mapping->begin && address < mapping->end;
    if (maps.fd >= 0)
        close(maps.fd);
    return found;
}

static const char *crash_origin_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_fmu_path(const char *path)
{
    const struct tt_instance *in = tt_fmi_call_current_instance();
    const char *folder = in ? in->library->folder : NULL;
    size_t length = folder ? strlen(folder) : 0;
    return length > 0 && ((strncmp(path, folder, length) == 0 && path[length] == '/') ||
                          (in->library->path && strcmp(path, in->library->path) == 0));
}

static enum tt_crash_owner owner_of_mapping(const struct crash_mapping *mapping)
{
    static const char module[] = "tutti_";
    struct crash_mapping own;
    if (!mapping->runs)
        return TUTTI_WHOSE_NO_CODE;
    if (is_fmu_path(mapping->path))
        return TUTTI_WHOSE_FMU;
    bool is_own = find_mapping((uintptr_t)tt_crash_origin_find, &own) && strcmp(own.path, mapping->path) == 0;
    if (is_own || strncmp(crash_origin_name_of(mapping->path), module, sizeof module - 1) == 0)
        return TUTTI_WHOSE_TUTTI;
    return mapping->path[0] == '/' ? TUTTI_WHOSE_LIBRARY
                                   : TUTTI_WHOSE_UNKNOWN; /* code that was made as the program ran */
}

/* Where the thread was; false: not known for this processor. */
static bool read_instruction(const ucontext_t *context, uintptr_t *instruction)
{
#if defined(__x86_64__)
    *instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    return true;
#elif defined(__aarch64__)
    *instruction = context->uc_mcontext.pc;
    return true;
#else
    (void)context, (void)instruction;
    return false;
#endif
}

void tt_crash_origin_find(struct tt_crash_origin *blame, const void *info, const void *context)
{
    const siginfo_t *signal_info = info;
    bool own = signal_info->si_code > 0 || (signal_info->si_signo == SIGABRT && signal_info->si_pid == getpid());
    uintptr_t instruction;
    struct crash_mapping mapping;
    *blame = (struct tt_crash_origin){0};
    if (!own || !read_instruction(context, &instruction))
        return;
    if (find_mapping(instruction, &mapping))
        blame->whose = owner_of_mapping(&mapping);
    else if (find_mapping((uintptr_t)tt_crash_origin_find, &mapping)) /* otherwise the maps are unreadable */
        blame->whose = TUTTI_WHOSE_NO_CODE;
    if (blame->whose == TUTTI_WHOSE_LIBRARY)
        memcpy(blame->file, crash_origin_name_of(mapping.path),
               strnlen(crash_origin_name_of(mapping.path), sizeof blame->file - 1));
    bool took = blame->whose == TUTTI_WHOSE_LIBRARY && tt_fmi_call_takes_message;
    blame->is_tuttis = blame->whose == TUTTI_WHOSE_TUTTI || took;
}
