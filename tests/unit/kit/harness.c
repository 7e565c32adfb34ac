/* SPDX-License-Identifier: MIT */
#include "harness.h"

char last_message[512];
int message_count;

static void keep(const char *message)
{
    snprintf(last_message, sizeof last_message, "%s", message ? message : "(null)");
    message_count++;
}

void log1(fmiComponent c, fmiString name, fmiStatus status, fmiString category, fmiString message, ...)
{
    (void)c, (void)name, (void)status, (void)category;
    keep(message);
}

static void log2_(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                  fmi2String message, ...)
{
    (void)environment, (void)name, (void)status, (void)category;
    keep(message);
}

void log3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message)
{
    (void)environment, (void)status, (void)category;
    keep(message);
}

const fmi2CallbackFunctions callbacks2 = {log2_, calloc, free, NULL, NULL};

/* The token is in the description that was packed with the library. */
static void read_guid(const char *path, char *guid, size_t size)
{
    char description[65536];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(description, 1, sizeof description - 1, file);
    fclose(file);
    description[n] = '\0';
    const char *start = strstr(description, "{");
    const char *end = strstr(description, "}");
    assert_true(start && end && (size_t)(end - start) + 2 <= size);
    snprintf(guid, size, "%.*s", (int)(end - start) + 1, start);
}

struct library library_open(const char *path)
{
    struct library library = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!library.handle)
        fail_msg("%s", dlerror());
    char root[400];
    snprintf(root, sizeof root, "%s", path);
    for (int i = 0; i < 3; i++) /* binaries/<platform>/<file> */
        *strrchr(root, '/') = '\0';
    char description[480];
    snprintf(description, sizeof description, "%s/modelDescription.xml", root);
    read_guid(description, library.guid, sizeof library.guid);
    snprintf(library.resources, sizeof library.resources, "%s/resources/", root);
    return library;
}

void library_close(struct library *library)
{
    dlclose(library->handle);
}

/* ISO C has no cast from object to function pointers; POSIX guarantees this way. */
static void find(const struct library *library, const char *name, void *pointer)
{
    void *symbol = dlsym(library->handle, name);
    memcpy(pointer, &symbol, sizeof symbol);
}

void load1(struct fmi1 *f, const struct library *library, const char *model)
{
    char name[128];
#define FIND1(function, result, parameters, group)                                                                     \
    snprintf(name, sizeof name, "%s_%s", model, #function);                                                            \
    find(library, name, &f->function);
    FMI1_FUNCTIONS(FIND1)
}

#define FIND(function, result, parameters, group) find(library, #function, &f->function);

void load2(struct fmi2 *f, const struct library *library)
{
    FMI2_FUNCTIONS(FIND)
}

void load3(struct fmi3 *f, const struct library *library){FMI3_FUNCTIONS(FIND)}

fmi2Component start2(struct fmi2 *f, const struct library *library, fmi2Type type)
{
    fmi2Component c = f->fmi2Instantiate("test", type, library->guid, NULL, &callbacks2, fmi2False, fmi2True);
    assert_non_null(c);
    assert_int_equal(f->fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0), fmi2OK);
    assert_int_equal(f->fmi2EnterInitializationMode(c), fmi2OK);
    assert_int_equal(f->fmi2ExitInitializationMode(c), fmi2OK);
    return c;
}

fmi3Instance start3(struct fmi3 *f, const struct library *library, bool event_mode, bool early_return)
{
    fmi3Instance c = f->fmi3InstantiateCoSimulation("test", library->guid, library->resources, false, true, event_mode,
                                                    early_return, NULL, 0, NULL, log3, NULL);
    assert_non_null(c);
    assert_int_equal(f->fmi3EnterInitializationMode(c, false, 0, 0, false, 0), fmi3OK);
    assert_int_equal(f->fmi3ExitInitializationMode(c), fmi3OK);
    return c;
}
