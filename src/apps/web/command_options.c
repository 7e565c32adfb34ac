/* SPDX-License-Identifier: MIT */
/* The options of a run that the page offers: those that say what is computed and where on this machine. Options that name files outside of the
 * folder, other machines, or what code of FMUs may do, are for the command line only. */
#include "apps/web/command_options.h"

#include <string.h>

#include "apps/describe/json.h"
#include "apps/web/site.h"

bool tt_command_offers_option(const struct tt_option *option)
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

static json_t *command_options_words_json(const struct tutti_option_word *words)
{
    json_t *list = json_array();
    for (; words && words->name; words++)
        tt_json_append(&list, json_pack("{s:s, s:s*}", "word", words->name, "help", words->text));
    return list;
}

static json_t *option_json(const struct tt_option *option)
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
    tt_json_set(&json, "name", json_string(option->name));
    tt_json_set(&json, "kind", json_string(kinds[option->kind]));
    tt_json_set(&json, "group", json_string(groups[option->group]));
    tt_json_set(&json, "argument", option->argument ? json_string(option->argument) : json_null());
    tt_json_set(&json, "default",
                option->words       ? json_string(option->words[0].name)
                : option->otherwise ? json_string(option->otherwise)
                                    : json_null());
    tt_json_set(&json, "words", command_options_words_json(option->words));
    tt_json_set(&json, "help", json_string(option->help ? option->help : ""));
    tt_json_set(&json, "annotation",
                option->annotation == TUTTI_OF_UNIT     ? json_string("unit")
                : option->annotation == TUTTI_OF_SYSTEM ? json_string("system")
                                                        : json_null());
    tt_json_set(&json, "repeatable",
                json_boolean(option->kind == TUTTI_OPTION_TEXTS || option->kind == TUTTI_OPTION_STEP ||
                             option->kind == TUTTI_OPTION_UNITS));
    return json;
}

enum tutti_err tt_command_list_options(struct tt_web_site *site, const struct tt_web_request *request,
                                       struct tt_http_response *answer)
{
    json_t *list = json_array();
    (void)site;
    (void)request;
    for (const struct tt_option *option = tt_options; option->name; option++)
        if (tt_command_offers_option(option))
            tt_json_append(&list, option_json(option));
    tt_response_json(answer, 200, list);
    return TUTTI_OK;
}
