/* SPDX-License-Identifier: MIT */
#include "fmi/binary/scope.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "fmi/binary/elf.h"

/* The C++ library with the C library after it, or the C library alone; never unloaded, since this process runs on it. */
static void *standard_libraries(void)
{
    void *handle = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    /* cppcheck-suppress resourceLeak ; it is meant to stay */
    return handle ? handle : dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
}

/* A program that is not position-independent has stubs of functions whose address it takes, and they stand for the functions in
 * all libraries; they lead to what comes next under that name. */
static bool is_stub(const void *address)
{
    Dl_info info;
    void *entry = NULL;
    if (!address || !dladdr1(address, &info, &entry, RTLD_DL_SYMENT) || !entry)
        return false;
    return ((const ElfW(Sym) *)entry)->st_shndx == SHN_UNDEF;
}

/* What comes after the program under a name: the libraries of LD_PRELOAD are the first there. */
static const void *behind_program(const char *name)
{
    const struct link_map *map = NULL;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    const void *found = NULL;
    if (program && dlinfo(program, RTLD_DI_LINKMAP, &map) == 0)
        for (map = map->l_next; map && !found; map = map->l_next) {
            void *library = map->l_name[0] ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
            found = library ? dlsym(library, name) : NULL;
            if (library)
                dlclose(library);
        }
    return found;
}

/* The program has something else under a name of the standard libraries: a function of its own, or a copy of a variable. */
static bool is_replaced(void *standard, const char *name)
{
    const void *usual = dlsym(standard, name), *found = usual ? dlsym(RTLD_DEFAULT, name) : NULL;
    if (found != usual && is_stub(found))
        found = behind_program(name);
    return found != usual;
}

/* Programs have copies of these, but all of them point to the same streams. */
static bool is_harmless(const char *name)
{
    return strcmp(name, "stdin") == 0 || strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0;
}

enum { MOST_NAMES = 3 }; /* in a message */

struct search {
    void *standard;
    struct tutti_scope *scope;
    struct tutti_text *clashes;
    size_t count;
};

static void look_for_replaced(void *context, const char *name, bool is_defined)
{
    struct search *search = context;
    if (!is_defined && !search->scope->cause[0] && !is_harmless(name) && is_replaced(search->standard, name))
        snprintf(search->scope->cause, sizeof search->scope->cause, "%s", name);
}

struct tutti_scope tutti_scope_choose(const char *path)
{
    struct tutti_scope scope = {0};
    struct search search = {.standard = standard_libraries(), .scope = &scope};
    if (search.standard && is_replaced(search.standard, "malloc"))
        snprintf(scope.cause, sizeof scope.cause, "malloc");
    else if (search.standard)
        tutti_elf_each_name(path, look_for_replaced, &search);
    scope.mode = scope.cause[0] ? 0 : RTLD_DEEPBIND;
    return scope;
}

static void look_for_clash(void *context, const char *name, bool is_defined)
{
    struct search *search = context;
    if (!is_defined || !dlsym(RTLD_DEFAULT, name) || (search->standard && dlsym(search->standard, name)))
        return;
    if (search->count++ < MOST_NAMES)
        tutti_text_printf(search->clashes, "%s%s", search->count > 1 ? ", " : "", name);
}

void tutti_scope_list_clashes(const char *path, struct tutti_text *out)
{
    struct search search = {.standard = standard_libraries(), .clashes = out};
    tutti_elf_each_name(path, look_for_clash, &search);
    if (search.count > MOST_NAMES)
        tutti_text_printf(out, " and %zu more", search.count - MOST_NAMES);
}
