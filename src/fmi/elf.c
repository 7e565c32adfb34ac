/* SPDX-License-Identifier: MIT */
#include "fmi/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { OUR_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OUR_MACHINE = EM_AARCH64 };
#elif defined(__i386__)
enum { OUR_MACHINE = EM_386 };
#endif

static enum tutti_err bad(const char *file, const char *what)
{
    return tutti_fail(TUTTI_ERR_LOAD, "%s: the FMU's library %s; ask for another export of the FMU", file, what);
}

static bool read_at(int fd, void *out, size_t size, off_t at)
{
    return pread(fd, out, size, at) == (ssize_t)size;
}

/* Every part that will be mapped must be in the file. */
static enum tutti_err check_segments(int fd, const ElfW(Ehdr) * header, off_t size, const char *file)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        off_t at = (off_t)(header->e_phoff + (ElfW(Off))i * sizeof segment);
        if (header->e_phentsize != sizeof segment || at < 0 || !read_at(fd, &segment, sizeof segment, at))
            return bad(file, "is damaged");
        ElfW(Off) end;
        bool wraps = __builtin_add_overflow(segment.p_offset, segment.p_filesz, &end);
        if (segment.p_type == PT_LOAD && (wraps || end > (ElfW(Off))size))
            return bad(file, "is cut short");
    }
    return TUTTI_OK;
}

static enum tutti_err check(int fd, const char *file)
{
    ElfW(Ehdr) header;
    struct stat status;
    if (fstat(fd, &status) != 0 || !read_at(fd, &header, sizeof header, 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN)
        return bad(file, "is no shared library of Linux");
    if (header.e_machine != OUR_MACHINE || header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return bad(file, "is for another kind of machine than this one");
    return check_segments(fd, &header, status.st_size, file);
}

enum tutti_err tutti_elf_check(const char *path, const char *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return bad(file, "cannot be read");
    enum tutti_err err = check(fd, file);
    close(fd);
    return err;
}
