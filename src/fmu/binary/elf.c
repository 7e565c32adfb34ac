/* SPDX-License-Identifier: MIT */
#include "fmu/binary/elf.h"

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

static enum tutti_err elf_fail(const char *file, const char *what)
{
    return tt_fail(TUTTI_ERR_LOAD, "%s: the FMU's library %s; ask for another export of the FMU", file, what);
}

static bool elf_read_at(int fd, void *out, size_t size, off_t at)
{
    return pread(fd, out, size, at) == (ssize_t)size;
}

/* Every part that will be mapped must be in the file. */
static enum tutti_err check_segments(int fd, const ElfW(Ehdr) * header, off_t size, const char *file)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        off_t at = (off_t)(header->e_phoff + (ElfW(Off))i * sizeof segment);
        if (header->e_phentsize != sizeof segment || at < 0 || !elf_read_at(fd, &segment, sizeof segment, at))
            return elf_fail(file, "is damaged");
        ElfW(Off) end;
        bool wraps = __builtin_add_overflow(segment.p_offset, segment.p_filesz, &end);
        if (segment.p_type == PT_LOAD && (wraps || end > (ElfW(Off))size))
            return elf_fail(file, "is cut short");
    }
    return TUTTI_OK;
}

enum tutti_err tt_elf_check(const char *path, const char *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return elf_fail(file, "cannot be read");
    ElfW(Ehdr) header;
    struct stat status;
    enum tutti_err err;
    if (fstat(fd, &status) != 0 || !elf_read_at(fd, &header, sizeof header, 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN)
        err = elf_fail(file, "is no shared library of Linux");
    else if (header.e_machine != OUR_MACHINE ||
             header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        err = elf_fail(file, "is for another kind of machine than this one");
    else
        err = check_segments(fd, &header, status.st_size, file);
    close(fd);
    return err;
}

/* A file in memory; what is read of it may be wrong, so everything goes through elf_items_at(). */
struct elf_image {
    const char *bytes;
    size_t size;
};

/* `count` items of `size` bytes, `at` bytes into the file; NULL if they are not all in it or not aligned. */
static const void *elf_items_at(const struct elf_image *image, size_t at, size_t count, size_t size)
{
    size_t length, end;
    if (__builtin_mul_overflow(count, size, &length) || __builtin_add_overflow(at, length, &end) || end > image->size)
        return NULL;
    return at % _Alignof(ElfW(Sym)) == 0 || size == 1 ? image->bytes + at : NULL;
}

/* A table of the file, and the texts that it refers to, the last of which is terminated. */
struct elf_table {
    const void *items;
    size_t count;
    const char *texts;
    size_t text_size;
};

/* Finds the table of a type; without items if it is missing or truncated. */
static struct elf_table elf_find_table(const struct elf_image *image, unsigned type, size_t item_size)
{
    struct elf_table table = {0};
    const ElfW(Ehdr) *header = elf_items_at(image, 0, 1, sizeof *header);
    const ElfW(Shdr) *sections = header ? elf_items_at(image, header->e_shoff, header->e_shnum, sizeof *sections)
                                        : NULL;
    size_t i = 0;
    while (sections && i < header->e_shnum && sections[i].sh_type != type)
        i++;
    if (!sections || i == header->e_shnum || sections[i].sh_link >= header->e_shnum)
        return table;
    const ElfW(Shdr) *texts = &sections[sections[i].sh_link];
    table.count = sections[i].sh_size / item_size;
    table.texts = elf_items_at(image, texts->sh_offset, texts->sh_size, 1);
    table.text_size = texts->sh_size;
    if (table.texts && table.text_size > 0 && table.texts[table.text_size - 1] == '\0')
        table.items = elf_items_at(image, sections[i].sh_offset, table.count, item_size);
    return table;
}

/* A text that is neither empty nor absurd: many names may be one endless text each. NULL: none. */
static const char *elf_text_at(const struct elf_table *table, size_t at)
{
    enum { MOST = 8192 };
    const char *text = at < table->text_size ? table->texts + at : "";
    return *text && strnlen(text, MOST) < MOST ? text : NULL;
}

static bool is_symbol_name(const ElfW(Sym) * symbol)
{
    /* 64 bits or 32: these macros are the same */
    unsigned bind = ELF64_ST_BIND(symbol->st_info), type = ELF64_ST_TYPE(symbol->st_info);
    return (bind == STB_GLOBAL || bind == STB_WEAK) && (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE);
}

static void elf_visit_names(const struct elf_image *image,
                            void (*visit)(void *context, const char *name, bool is_defined), void *context)
{
    struct elf_table table = elf_find_table(image, SHT_DYNSYM, sizeof(ElfW(Sym)));
    const ElfW(Sym) *symbols = table.items;
    for (size_t i = 0; symbols && i < table.count; i++) {
        const char *name = is_symbol_name(&symbols[i]) ? elf_text_at(&table, symbols[i].st_name) : NULL;
        if (name)
            visit(context, name, symbols[i].st_shndx != SHN_UNDEF);
    }
}

static bool is_dynamic_entry(int64_t tag, enum tt_elf_entry *entry)
{
    switch (tag) {
    case DT_NEEDED: *entry = TUTTI_ELF_NEEDED; return true;
    case DT_SONAME: *entry = TUTTI_ELF_NAME; return true;
    case DT_RPATH:
    case DT_RUNPATH: *entry = TUTTI_ELF_FOLDERS; return true;
    default: return false;
    }
}

static void elf_visit_entries(const struct elf_image *image,
                              void (*visit)(void *context, enum tt_elf_entry entry, const char *text), void *context)
{
    struct elf_table table = elf_find_table(image, SHT_DYNAMIC, sizeof(ElfW(Dyn)));
    const ElfW(Dyn) *entries = table.items;
    for (size_t i = 0; entries && i < table.count && entries[i].d_tag != DT_NULL; i++) {
        enum tt_elf_entry entry;
        const char *text = is_dynamic_entry(entries[i].d_tag, &entry) ? elf_text_at(&table, entries[i].d_un.d_val)
                                                                      : NULL;
        if (text)
            visit(context, entry, text);
    }
}

void tt_elf_read(const void *bytes, size_t size, void (*name)(void *context, const char *name, bool is_defined),
                 void (*entry)(void *context, enum tt_elf_entry entry, const char *text), void *context)
{
    const struct elf_image image = {bytes, size};
    if (name)
        elf_visit_names(&image, name, context);
    if (entry)
        elf_visit_entries(&image, entry, context);
}

static void elf_read_file(const char *path, void (*name)(void *context, const char *name, bool is_defined),
                          void (*entry)(void *context, enum tt_elf_entry entry, const char *text), void *context)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            tt_elf_read(bytes, (size_t)status.st_size, name, entry, context);
            munmap(bytes, (size_t)status.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
}

void tt_elf_each_name(const char *path, void (*visit)(void *context, const char *name, bool is_defined), void *context)
{
    elf_read_file(path, visit, NULL, context);
}

void tt_elf_each_entry(const char *path, void (*visit)(void *context, enum tt_elf_entry entry, const char *text),
                       void *context)
{
    elf_read_file(path, NULL, visit, context);
}
