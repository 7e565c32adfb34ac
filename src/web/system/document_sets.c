/* SPDX-License-Identifier: MIT */
#include "web/system/document_sets.h"

#include <stdlib.h>
#include <string.h>

#include "fmi/fmu.h"
#include "system/system.h"
#include "system/write_parts.h"

static void free_list(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

void tutti_web_sets_fini(struct tutti_web_sets *sets)
{
    free_list(sets->set, sets->set_count);
    free_list(sets->unset, sets->unset_count);
    free_list(sets->gone, sets->gone_count);
    for (size_t i = 0; i < sets->described_count; i++) {
        free(sets->described[i].source);
        tutti_fmu_free(sets->described[i].fmu);
    }
    free(sets->described);
}

struct tutti_fmu *tutti_web_sets_fmu(struct tutti_web_sets *sets, const struct tutti_web_draft *draft,
                                     const char *source)
{
    char *path = NULL;
    for (size_t i = 0; i < sets->described_count; i++)
        if (strcmp(sets->described[i].source, source) == 0)
            return sets->described[i].fmu;
    struct tutti_web_described *more = reallocarray(sets->described, sets->described_count + 1, sizeof *more);
    if (!more)
        return NULL;
    sets->described = more;
    more[sets->described_count] = (struct tutti_web_described){.source = tutti_str_copy(source)};
    if (!more[sets->described_count].source)
        return NULL;
    struct tutti_fmu **fmu = &more[sets->described_count++].fmu;
    if (tutti_web_draft_find(draft, source, &path) == TUTTI_OK &&
        tutti_fmu_open_as(fmu, path, source, NULL) != TUTTI_OK)
        *fmu = NULL;
    free(path);
    return *fmu;
}

/* Takes the text. */
static enum tutti_err add(char ***list, size_t *count, struct tutti_text *text)
{
    char **more = text->failed ? NULL : reallocarray(*list, *count + 1, sizeof *more);
    if (!more) {
        tutti_text_fini(text);
        return tutti_fail_memory();
    }
    *list = more;
    more[(*count)++] = text->text;
    return TUTTI_OK;
}

/* "a.b.k"; of the document itself "k". */
static void put_name(struct tutti_text *text, const char *id, const char *name)
{
    tutti_text_printf(text, "%s%s%s", id, *id ? "." : "", name);
}

static enum tutti_err add_set(struct tutti_web_sets *sets, const char *id, const char *name, const char *value)
{
    struct tutti_text text = {0};
    if (!value)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "the value of '%s.%s' has to be a text", id, tutti_str_show(name).text);
    put_name(&text, id, name);
    tutti_text_printf(&text, "=%s", value);
    return add(&sets->set, &sets->set_count, &text);
}

/* Names of an element's values that the file has; all, or those that the page has not any more. */
static enum tutti_err add_names(char ***list, size_t *count, const char *id, json_t *values, json_t *old)
{
    enum tutti_err err = TUTTI_OK;
    const char *name;
    json_t *value;
    json_object_foreach(old, name, value)
    {
        struct tutti_text text = {0};
        if (err || json_object_get(values, name))
            continue;
        put_name(&text, id, name);
        err = add(list, count, &text);
    }
    return err;
}

enum tutti_err tutti_web_sets_compare(struct tutti_web_sets *sets, const char *id, json_t *json, json_t *before,
                                      const char *was)
{
    json_t *values = json_object_get(json, "parameters"), *old = json_object_get(before, "parameters"), *value;
    const char *name;
    bool moved = before && strcmp(was, id) != 0;
    enum tutti_err err = TUTTI_OK;
    if (!values)
        return TUTTI_OK;
    if (!json_is_object(values))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "\"parameters\" has to be an object");
    json_object_foreach(values, name, value)
    {
        if (!err && (moved || !json_equal(value, json_object_get(old, name))))
            err = add_set(sets, id, name, json_string_value(value));
    }
    if (!err && moved)
        err = add_names(&sets->gone, &sets->gone_count, was, NULL, old);
    return err || moved ? err : add_names(&sets->unset, &sets->unset_count, id, values, old);
}

/* ---- writing ---- */

/* The parameters that were set in this way before; NULL: none. */
static struct tutti_node *own_parameters(const struct tutti_tree *tree)
{
    struct tutti_node *system = tutti_node_child(tree->root, TUTTI_SPACE_SSD, "System");
    struct tutti_node *bindings = system ? tutti_node_child(system, TUTTI_SPACE_SSD, "ParameterBindings") : NULL;
    struct tutti_node *last = bindings ? bindings->last : NULL;
    struct tutti_node *values = last && !last->text ? tutti_node_child(last, TUTTI_SPACE_SSD, "ParameterValues") : NULL;
    struct tutti_node *set = values ? tutti_node_child(values, TUTTI_SPACE_SSV, "ParameterSet") : NULL;
    const char *name = set ? tutti_node_attribute(set, "name") : NULL;
    return name && strcmp(name, tutti_write_set_name) == 0 ? tutti_node_child(set, TUTTI_SPACE_SSV, "Parameters")
                                                           : NULL;
}

/* NULL: there is none of this name. */
static struct tutti_node *find_parameter(const struct tutti_tree *tree, const char *wanted)
{
    struct tutti_node *list = own_parameters(tree);
    for (struct tutti_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *name = node->text ? NULL : tutti_node_attribute(node, "name");
        if (name && strcmp(name, wanted) == 0)
            return node;
    }
    return NULL;
}

static bool remove_parameter(const struct tutti_tree *tree, const char *wanted)
{
    struct tutti_node *found = find_parameter(tree, wanted);
    if (found)
        tutti_node_remove(found);
    return found != NULL;
}

const char *tutti_web_sets_given(const struct tutti_tree *tree, const char *id, const char *name)
{
    struct tutti_text wanted = {0};
    put_name(&wanted, id, name);
    const struct tutti_node *found = wanted.failed ? NULL : find_parameter(tree, wanted.text);
    const struct tutti_node *value = found ? found->first : NULL;
    while (value && value->text)
        value = value->next;
    tutti_text_fini(&wanted);
    return value ? tutti_node_attribute(value, "value") : NULL;
}

static enum tutti_err unset(const struct tutti_tree *tree, const char *wanted)
{
    if (remove_parameter(tree, wanted))
        return TUTTI_OK;
    return tutti_fail(
        TUTTI_ERR_ARGUMENT,
        "the value of '%s' is from a parameter set of the file, which stays as it is; give another value instead",
        tutti_str_show(wanted).text);
}

static enum tutti_err change(struct tutti_ssd *ssd, const struct tutti_web_sets *sets, const char *path,
                             struct tutti_text *text)
{
    struct tutti_system *system = NULL;
    struct tutti_findings findings = {0};
    struct tutti_system_source source = {
        .files = &path, .file_count = 1, .set = (const char *const *)sets->set, .set_count = sets->set_count};
    TRY(tutti_system_load(&system, &source, &findings));
    struct tutti_write write = {.system = system, .set = source.set, .set_count = source.set_count};
    enum tutti_err err = tutti_write_changes(ssd, &write);
    tutti_system_free(system);
    if (!err)
        tutti_tree_write_back(ssd->tree, text);
    return err;
}

static enum tutti_err write_sets(const struct tutti_web_sets *sets, const struct tutti_web_draft *draft,
                                 struct tutti_text *text)
{
    struct tutti_ssd *ssd = NULL;
    struct tutti_place place = {.shown = draft->ssd_name};
    struct tutti_reader reader;
    TRY(tutti_web_draft_put(draft, text, &place.path));
    text->length = 0;
    enum tutti_err err = tutti_place_begin_read(&place, &reader);
    if (!err)
        err = tutti_ssd_read(&ssd, draft->ssd_name, &reader, NULL);
    tutti_place_end_read(&reader);
    if (!err)
        err = change(ssd, sets, place.path, text);
    tutti_ssd_free(ssd);
    free(place.path);
    return err;
}

enum tutti_err tutti_web_sets_write(const struct tutti_web_sets *sets, const struct tutti_web_draft *draft,
                                    struct tutti_maker *maker, struct tutti_text *text)
{
    for (size_t i = 0; i < sets->unset_count; i++)
        TRY(unset(maker->tree, sets->unset[i]));
    for (size_t i = 0; i < sets->gone_count; i++) /* another element of that path must not get it */
        (void)remove_parameter(maker->tree, sets->gone[i]);
    tutti_tree_write_back(maker->tree, text);
    if (text->failed)
        return tutti_fail_memory();
    return sets->set_count > 0 ? write_sets(sets, draft, text) : TUTTI_OK;
}
