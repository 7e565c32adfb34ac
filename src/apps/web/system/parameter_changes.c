/* SPDX-License-Identifier: MIT */
#include "apps/web/system/parameter_changes.h"

#include <stdlib.h>
#include <string.h>

#include "fmu/fmu.h"
#include "model/system/system.h"
#include "model/system/ssp_elements.h"

static void free_text_list(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

void tt_parameter_changes_fini(struct tt_parameter_changes *sets)
{
    free_text_list(sets->set, sets->set_count);
    free_text_list(sets->unset, sets->unset_count);
    free_text_list(sets->gone, sets->gone_count);
    for (size_t i = 0; i < sets->described_count; i++) {
        free(sets->described[i].source);
        tt_fmu_free(sets->described[i].fmu);
    }
    free(sets->described);
}

struct tt_fmu *tt_parameter_changes_describe_fmu(struct tt_parameter_changes *sets, const struct tt_system_draft *draft,
                                                 const char *source)
{
    char *path = NULL;
    for (size_t i = 0; i < sets->described_count; i++)
        if (strcmp(sets->described[i].source, source) == 0)
            return sets->described[i].fmu;
    struct tt_described_fmu *more = reallocarray(sets->described, sets->described_count + 1, sizeof *more);
    if (!more)
        return NULL;
    sets->described = more;
    more[sets->described_count] = (struct tt_described_fmu){.source = tt_text_copy(source)};
    if (!more[sets->described_count].source)
        return NULL;
    struct tt_fmu **fmu = &more[sets->described_count++].fmu;
    if (tt_system_draft_find(draft, source, &path) == TUTTI_OK && tt_fmu_open_as(fmu, path, source, NULL) != TUTTI_OK)
        *fmu = NULL;
    free(path);
    return *fmu;
}

/* Takes the text. */
static enum tutti_err parameter_changes_add(char ***list, size_t *count, struct tt_text *text)
{
    char **more = text->failed ? NULL : reallocarray(*list, *count + 1, sizeof *more);
    if (!more) {
        tt_text_fini(text);
        return tt_fail_memory();
    }
    *list = more;
    more[(*count)++] = text->text;
    return TUTTI_OK;
}

/* "a.b.k"; of the document itself "k". */
static void parameter_changes_write_name(struct tt_text *text, const char *id, const char *name)
{
    tt_text_printf(text, "%s%s%s", id, *id ? "." : "", name);
}

static enum tutti_err parameter_changes_add_set(struct tt_parameter_changes *sets, const char *id, const char *name,
                                                const char *value)
{
    struct tt_text text = {0};
    if (!value)
        return tt_fail(TUTTI_ERR_ARGUMENT, "the value of '%s.%s' has to be a text", id, tt_text_excerpt(name).text);
    parameter_changes_write_name(&text, id, name);
    tt_text_printf(&text, "=%s", value);
    return parameter_changes_add(&sets->set, &sets->set_count, &text);
}

/* Names of an element's values that the file has; all, or those that the page has not any more. */
static enum tutti_err parameter_changes_add_names(char ***list, size_t *count, const char *id, json_t *values,
                                                  json_t *old)
{
    enum tutti_err err = TUTTI_OK;
    const char *name;
    json_t *value;
    json_object_foreach(old, name, value)
    {
        struct tt_text text = {0};
        if (err || json_object_get(values, name))
            continue;
        parameter_changes_write_name(&text, id, name);
        err = parameter_changes_add(list, count, &text);
    }
    return err;
}

enum tutti_err tt_parameter_changes_compare(struct tt_parameter_changes *sets, const char *id, json_t *json,
                                            json_t *before, const char *was)
{
    json_t *values = json_object_get(json, "parameters"), *old = json_object_get(before, "parameters"), *value;
    const char *name;
    bool moved = before && strcmp(was, id) != 0;
    enum tutti_err err = TUTTI_OK;
    if (!values)
        return TUTTI_OK;
    if (!json_is_object(values))
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"parameters\" has to be an object");
    json_object_foreach(values, name, value)
    {
        if (!err && (moved || !json_equal(value, json_object_get(old, name))))
            err = parameter_changes_add_set(sets, id, name, json_string_value(value));
    }
    if (!err && moved)
        err = parameter_changes_add_names(&sets->gone, &sets->gone_count, was, NULL, old);
    return err || moved ? err : parameter_changes_add_names(&sets->unset, &sets->unset_count, id, values, old);
}

/* ---- writing ---- */

/* The parameters that were set in this way before; NULL: none. */
static struct tt_tree_node *parameter_changes_own_parameters(const struct tt_tree *tree)
{
    struct tt_tree_node *system = tt_tree_find_child(tree->root, TUTTI_SPACE_SSD, "System");
    struct tt_tree_node *bindings = system ? tt_tree_find_child(system, TUTTI_SPACE_SSD, "ParameterBindings") : NULL;
    struct tt_tree_node *last = bindings ? bindings->last : NULL;
    struct tt_tree_node *values = last && !last->text ? tt_tree_find_child(last, TUTTI_SPACE_SSD, "ParameterValues")
                                                      : NULL;
    struct tt_tree_node *set = values ? tt_tree_find_child(values, TUTTI_SPACE_SSV, "ParameterSet") : NULL;
    const char *name = set ? tt_tree_find_attribute(set, "name") : NULL;
    return name && strcmp(name, tt_ssp_elements_set_name) == 0 ? tt_tree_find_child(set, TUTTI_SPACE_SSV, "Parameters")
                                                               : NULL;
}

/* NULL if no parameter has this name. */
static struct tt_tree_node *find_parameter(const struct tt_tree *tree, const char *wanted)
{
    struct tt_tree_node *list = parameter_changes_own_parameters(tree);
    for (struct tt_tree_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *name = node->text ? NULL : tt_tree_find_attribute(node, "name");
        if (name && strcmp(name, wanted) == 0)
            return node;
    }
    return NULL;
}

static bool parameter_changes_remove_parameter(const struct tt_tree *tree, const char *wanted)
{
    struct tt_tree_node *found = find_parameter(tree, wanted);
    if (found)
        tt_tree_remove_node(found);
    return found != NULL;
}

const char *tt_parameter_changes_is_given(const struct tt_tree *tree, const char *id, const char *name)
{
    struct tt_text wanted = {0};
    parameter_changes_write_name(&wanted, id, name);
    const struct tt_tree_node *found = wanted.failed ? NULL : find_parameter(tree, wanted.text);
    const struct tt_tree_node *value = found ? found->first : NULL;
    while (value && value->text)
        value = value->next;
    tt_text_fini(&wanted);
    return value ? tt_tree_find_attribute(value, "value") : NULL;
}

static enum tutti_err parameter_changes_apply(struct tt_ssd *ssd, const struct tt_parameter_changes *sets,
                                              const char *path, struct tt_text *text)
{
    struct tt_system *system = NULL;
    struct tt_findings findings = {0};
    struct tt_system_source source = {
        .files = &path, .file_count = 1, .set = (const char *const *)sets->set, .set_count = sets->set_count};
    TRY(tt_system_load(&system, &source, &findings));
    struct tt_ssd_writer_options write = {.system = system, .set = source.set, .set_count = source.set_count};
    enum tutti_err err = tt_ssd_changes_apply(ssd, &write);
    tt_system_free(system);
    if (!err)
        tt_edit_write_back(ssd->tree, text);
    return err;
}

static enum tutti_err write_changed_parameters(const struct tt_parameter_changes *sets,
                                               const struct tt_system_draft *draft, struct tt_text *text)
{
    struct tt_ssd *ssd = NULL;
    struct tt_package_place place = {.shown = draft->ssd_name};
    struct tt_byte_source reader;
    TRY(tt_system_draft_write(draft, text, &place.path));
    text->length = 0;
    enum tutti_err err = tt_package_open_file(&place, &reader);
    if (!err)
        err = tt_ssd_read(&ssd, draft->ssd_name, &reader, NULL);
    tt_package_close_file(&reader);
    if (!err)
        err = parameter_changes_apply(ssd, sets, place.path, text);
    tt_ssd_free(ssd);
    free(place.path);
    return err;
}

enum tutti_err tt_parameter_changes_write(const struct tt_parameter_changes *sets, const struct tt_system_draft *draft,
                                          struct tt_editor *maker, struct tt_text *text)
{
    for (size_t i = 0; i < sets->unset_count; i++)
        if (!parameter_changes_remove_parameter(maker->tree, sets->unset[i]))
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "the value of '%s' is from a parameter set of the file, which stays as it is; give another "
                           "value instead",
                           tt_text_excerpt(sets->unset[i]).text);
    for (size_t i = 0; i < sets->gone_count; i++) /* another element of that path must not get it */
        (void)parameter_changes_remove_parameter(maker->tree, sets->gone[i]);
    tt_edit_write_back(maker->tree, text);
    if (text->failed)
        return tt_fail_memory();
    return sets->set_count > 0 ? write_changed_parameters(sets, draft, text) : TUTTI_OK;
}
