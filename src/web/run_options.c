/* SPDX-License-Identifier: MIT */
/* The options of a run that the page offers: those that say what is computed and where on this machine. Options that name files outside of the
 * folder, other machines, or what code of FMUs may do, are for the command line only. */
#include "web/run_options.h"

#include <string.h>

#include "tell/json.h"
#include "web/site.h"

bool tutti_web_option_offered(const struct tutti_option *option)
{
    static const char *const EXCLUDED[] = {"nodes",  "mpi",    "key",  "confine", "allow",
                                           "limits", "output", "live", "file"};
    if (!(option->commands & TUTTI_IN_RUN) || option->group == TUTTI_GROUP_NONE ||
        option->group == TUTTI_GROUP_FEDERATION || option->group == TUTTI_GROUP_GOING_ON)
        return false;
    if (option->files && strcmp(option->name, "input") != 0)
        return false;
    for (size_t i = 0; i < sizeof EXCLUDED / sizeof *EXCLUDED; i++)
        if (strcmp(option->name, EXCLUDED[i]) == 0)
            return false;
    return true;
}

static json_t *words_json(const struct tutti_option_word *words)
{
    json_t *list = json_array();
    for (; words && words->name; words++)
        tutti_json_append(&list, json_pack("{s:s, s:s*}", "word", words->name, "help", words->text));
    return list;
}

static json_t *option_json(const struct tutti_option *option)
{
    static const char *const kinds[] = {
        [TUTTI_OPTION_FLAG] = "flag", [TUTTI_OPTION_COUNT] = "count", [TUTTI_OPTION_NUMBER] = "number",
        [TUTTI_OPTION_TIME] = "time", [TUTTI_OPTION_TEXT] = "text",   [TUTTI_OPTION_TEXTS] = "texts",
        [TUTTI_OPTION_STEP] = "step", [TUTTI_OPTION_UNITS] = "units", [TUTTI_OPTION_CHOICE] = "choice"};
    static const char *const groups[] = {[TUTTI_GROUP_NONE] = "",
                                         [TUTTI_GROUP_MODEL] = "model",
                                         [TUTTI_GROUP_TIMES] = "times",
                                         [TUTTI_GROUP_ACCURACY] = "accuracy",
                                         [TUTTI_GROUP_COUPLING] = "coupling",
                                         [TUTTI_GROUP_WHERE] = "where",
                                         [TUTTI_GROUP_GOING_ON] = "",
                                         [TUTTI_GROUP_FEDERATION] = "",
                                         [TUTTI_GROUP_RESULTS] = "results"};
    json_t *json = json_object();
    tutti_json_set(&json, "name", json_string(option->name));
    tutti_json_set(&json, "kind", json_string(kinds[option->kind]));
    tutti_json_set(&json, "group", json_string(groups[option->group]));
    tutti_json_set(&json, "argument", option->argument ? json_string(option->argument) : json_null());
    tutti_json_set(&json, "default",
                   option->words       ? json_string(option->words[0].name)
                   : option->otherwise ? json_string(option->otherwise)
                                       : json_null());
    tutti_json_set(&json, "words", words_json(option->words));
    tutti_json_set(&json, "help", json_string(option->help ? option->help : ""));
    tutti_json_set(&json, "annotation",
                   option->annotation == TUTTI_OF_UNIT     ? json_string("unit")
                   : option->annotation == TUTTI_OF_SYSTEM ? json_string("system")
                                                           : json_null());
    tutti_json_set(&json, "repeatable",
                   json_boolean(option->kind == TUTTI_OPTION_TEXTS || option->kind == TUTTI_OPTION_STEP ||
                                option->kind == TUTTI_OPTION_UNITS));
    return json;
}

enum tutti_err tutti_web_options(struct tutti_web_site *site, const struct tutti_web_request *request,
                                 struct tutti_http_answer *answer)
{
    json_t *list = json_array();
    (void)site;
    (void)request;
    for (const struct tutti_option *option = tutti_options; option->name; option++)
        if (tutti_web_option_offered(option))
            tutti_json_append(&list, option_json(option));
    tutti_web_answer_json(answer, 200, list);
    return TUTTI_OK;
}
