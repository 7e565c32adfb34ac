/* SPDX-License-Identifier: MIT */
#include "fmu/binary/scope.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "fmu/binary/elf.h"

/* The C++ library with the C library after it, or the C library alone; never unloaded, since this process runs on it. */
static void *standard_libraries(void)
{
    void *handle = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    /* cppcheck-suppress resourceLeak ; it is meant to stay */
    return handle ? handle : dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
}

/* A program that is not position-independent has stubs of functions whose address it takes, and they stand for the functions in
 * all libraries; they lead to what comes next under that name. */
static bool is_plt_stub(const void *address)
{
    Dl_info info;
    void *entry = NULL;
    if (!address || !dladdr1(address, &info, &entry, RTLD_DL_SYMENT) || !entry)
        return false;
    return ((const ElfW(Sym) *)entry)->st_shndx == SHN_UNDEF;
}

/* What comes after the program under a name: the libraries of LD_PRELOAD are the first there. */
static const void *find_after_program(const char *name)
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
static bool library_is_replaced(void *standard, const char *name)
{
    const void *usual = dlsym(standard, name), *found = usual ? dlsym(RTLD_DEFAULT, name) : NULL;
    if (found != usual && is_plt_stub(found))
        found = find_after_program(name);
    return found != usual;
}

/* Programs have copies of these, but all of them point to the same streams. */
static bool library_is_harmless(const char *name)
{
    return strcmp(name, "stdin") == 0 || strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0;
}

enum { MOST_NAMES = 3 }; /* in a message */

struct scope_search {
    void *standard;
    struct tt_library_scope *scope;
    struct tt_text *clashes;
    size_t count;
};

static void check_replaced(void *context, const char *name, bool is_defined)
{
    struct scope_search *search = context;
    if (!is_defined && !search->scope->cause[0] && !library_is_harmless(name) &&
        library_is_replaced(search->standard, name))
        snprintf(search->scope->cause, sizeof search->scope->cause, "%s", name);
}

struct tt_library_scope tt_library_choose_scope(const char *path)
{
    struct tt_library_scope scope = {0};
    struct scope_search search = {.standard = standard_libraries(), .scope = &scope};
    if (search.standard && library_is_replaced(search.standard, "malloc"))
        snprintf(scope.cause, sizeof scope.cause, "malloc");
    else if (search.standard)
        tt_elf_each_name(path, check_replaced, &search);
    scope.mode = scope.cause[0] ? 0 : RTLD_DEEPBIND;
    return scope;
}

static void check_clash(void *context, const char *name, bool is_defined)
{
    struct scope_search *search = context;
    if (!is_defined || !dlsym(RTLD_DEFAULT, name) || (search->standard && dlsym(search->standard, name)))
        return;
    if (search->count++ < MOST_NAMES)
        tt_text_printf(search->clashes, "%s%s", search->count > 1 ? ", " : "", name);
}

void tt_library_list_clashes(const char *path, struct tt_text *out)
{
    struct scope_search search = {.standard = standard_libraries(), .clashes = out};
    tt_elf_each_name(path, check_clash, &search);
    if (search.count > MOST_NAMES)
        tt_text_printf(out, " and %zu more", search.count - MOST_NAMES);
}
