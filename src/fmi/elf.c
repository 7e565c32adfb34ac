/* SPDX-License-Identifier: MIT */
#include "fmi/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
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

/* A file in memory; what is read of it may be wrong, so everything goes through part(). */
struct image {
    const char *bytes;
    size_t size;
};

/* `count` items of `size` bytes, `at` bytes into the file; NULL if they are not all in it or not aligned. */
static const void *part(const struct image *image, size_t at, size_t count, size_t size)
{
    size_t length, end;
    if (__builtin_mul_overflow(count, size, &length) || __builtin_add_overflow(at, length, &end) || end > image->size)
        return NULL;
    return at % _Alignof(ElfW(Sym)) == 0 || size == 1 ? image->bytes + at : NULL;
}

static bool is_name(const ElfW(Sym) * symbol)
{
    /* 64 bits or 32: these macros are the same */
    unsigned bind = ELF64_ST_BIND(symbol->st_info), type = ELF64_ST_TYPE(symbol->st_info);
    return (bind == STB_GLOBAL || bind == STB_WEAK) && (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE);
}

static void each_name(const struct image *image, void (*visit)(void *context, const char *name, bool is_defined),
                      void *context)
{
    const ElfW(Ehdr) *header = part(image, 0, 1, sizeof *header);
    const ElfW(Shdr) *sections = header ? part(image, header->e_shoff, header->e_shnum, sizeof *sections) : NULL;
    for (size_t i = 0; sections && i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM || sections[i].sh_link >= header->e_shnum)
            continue;
        const ElfW(Shdr) *texts = &sections[sections[i].sh_link];
        size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
        const ElfW(Sym) *symbols = part(image, sections[i].sh_offset, count, sizeof *symbols);
        const char *text = part(image, texts->sh_offset, texts->sh_size, 1);
        if (!symbols || !text || texts->sh_size == 0 || text[texts->sh_size - 1] != '\0')
            continue;
        for (size_t s = 0; s < count; s++)
            if (is_name(&symbols[s]) && symbols[s].st_name < texts->sh_size && text[symbols[s].st_name])
                visit(context, text + symbols[s].st_name, symbols[s].st_shndx != SHN_UNDEF);
    }
}

void tutti_elf_each_name(const char *path, void (*visit)(void *context, const char *name, bool is_defined),
                         void *context)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            each_name(&(struct image){bytes, (size_t)status.st_size}, visit, context);
            munmap(bytes, (size_t)status.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
}
