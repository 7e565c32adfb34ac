/* SPDX-License-Identifier: MIT */
/* All of it runs in a handler of a signal, in a process whose memory may be damaged: no allocation, no lock, no stdio, no dladdr. */
#include "fmi/blame.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "fmi/call.h"

struct mapping {
    uintptr_t begin, end;
    bool runs;
    char path[512]; /* cut, if it is longer */
};

struct maps {
    int fd;
    size_t at, count;
    char bytes[4096];
};

static int next_byte(struct maps *maps)
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

static int hex_digit(int byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0' : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The byte after it. */
static int read_address(struct maps *maps, uintptr_t *address)
{
    int byte = next_byte(maps);
    for (*address = 0; hex_digit(byte) >= 0; byte = next_byte(maps))
        *address = *address * 16 + (uintptr_t)hex_digit(byte);
    return byte;
}

/* "begin-end rwxp offset device inode   path" */
static bool next_mapping(struct maps *maps, struct mapping *mapping)
{
    enum { FIELDS_BEFORE_PATH = 3 };
    if (read_address(maps, &mapping->begin) != '-' || read_address(maps, &mapping->end) != ' ')
        return false;
    (void)next_byte(maps);
    (void)next_byte(maps);
    mapping->runs = next_byte(maps) == 'x';
    (void)next_byte(maps);
    int byte = next_byte(maps);
    for (int field = 0; field < FIELDS_BEFORE_PATH; field++)
        do
            byte = next_byte(maps);
        while (byte > ' ');
    while (byte == ' ')
        byte = next_byte(maps);
    size_t length = 0;
    for (; byte >= 0 && byte != '\n'; byte = next_byte(maps))
        if (length + 1 < sizeof mapping->path)
            mapping->path[length++] = (char)byte;
    mapping->path[length] = '\0';
    return byte == '\n';
}

static bool find_mapping(uintptr_t address, struct mapping *mapping)
{
    struct maps maps = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    bool found = false;
    while (!found && maps.fd >= 0 && next_mapping(&maps, mapping))
        found = address >= mapping->begin && address < mapping->end;
    if (maps.fd >= 0)
        close(maps.fd);
    return found;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_of_fmu(const char *path)
{
    const struct tutti_instance *in = tutti_instance_current();
    const char *folder = in ? in->library->folder : NULL;
    size_t length = folder ? strlen(folder) : 0;
    return length > 0 && ((strncmp(path, folder, length) == 0 && path[length] == '/') ||
                          (in->library->path && strcmp(path, in->library->path) == 0));
}

static enum tutti_whose whose(const struct mapping *mapping)
{
    static const char module[] = "tutti_";
    struct mapping own;
    if (!mapping->runs)
        return TUTTI_WHOSE_NO_CODE;
    if (is_of_fmu(mapping->path))
        return TUTTI_WHOSE_FMU;
    bool is_own = find_mapping((uintptr_t)tutti_blame_find, &own) && strcmp(own.path, mapping->path) == 0;
    if (is_own || strncmp(name_of(mapping->path), module, sizeof module - 1) == 0)
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

void tutti_blame_find(struct tutti_blame *blame, const void *info, const void *context)
{
    const siginfo_t *signal_info = info;
    bool own = signal_info->si_code > 0 || (signal_info->si_signo == SIGABRT && signal_info->si_pid == getpid());
    uintptr_t instruction;
    struct mapping mapping;
    *blame = (struct tutti_blame){0};
    if (!own || !read_instruction(context, &instruction))
        return;
    if (find_mapping(instruction, &mapping))
        blame->whose = whose(&mapping);
    else if (find_mapping((uintptr_t)tutti_blame_find, &mapping)) /* the others can be read */
        blame->whose = TUTTI_WHOSE_NO_CODE;
    if (blame->whose == TUTTI_WHOSE_LIBRARY)
        memcpy(blame->file, name_of(mapping.path), strnlen(name_of(mapping.path), sizeof blame->file - 1));
    bool took = blame->whose == TUTTI_WHOSE_LIBRARY && tutti_call_takes_message;
    blame->is_tuttis = blame->whose == TUTTI_WHOSE_TUTTI || took;
}
