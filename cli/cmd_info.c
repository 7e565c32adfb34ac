/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "commands.h"
#include "console.h"
#include "fmu/binary/binary.h"
#include "fmu/fmi_state.h"
#include "info.h"
#include "run_options.h"
#include "apps/describe/info.h"

static bool incomplete;

void info_release(struct tt_text *text)
{
    incomplete = incomplete || text->failed;
    tt_text_fini(text);
}

/* Texts come from the file: nothing in them may steer the terminal. */
void info_put(const char *text)
{
    struct tt_text clean = {0};
    tt_text_append(&clean, text);
    if (!clean.failed) {
        tt_text_make_printable(clean.text);
        fputs(clean.text, stdout);
    }
    info_release(&clean);
}

void info_line(const char *word, const char *text)
{
    if (!text || !*text)
        return;
    printf("%-13s", word);
    info_put(text);
    putchar('\n');
}

static void print_interfaces(const struct tt_description *desc)
{
    struct tt_text text = {0};
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++) {
        const struct tt_interface *interface = &desc->interfaces[kind];
        if (!interface->present)
            continue;
        tt_text_printf(&text, "%s%s", text.length ? ", " : "",
                       tt_fmi_state_interface_name((enum tt_interface_kind)kind));
        if (interface->flags & TUTTI_NEEDS_TOOL)
            tt_text_append(&text, " (needs its tool)");
        if (interface->flags & TUTTI_ONCE_PER_PROCESS)
            tt_text_append(&text, " (one instance per process)");
    }
    info_line("interfaces", text.length ? text.text : "none");
    info_release(&text);
}

void info_print_experiment(const struct tt_experiment *experiment)
{
    const struct {
        bool given;
        const char *name;
        double value;
    } parts[] = {
        {experiment->has_start, "start", experiment->start},
        {experiment->has_stop, "stop", experiment->stop},
        {experiment->has_step, "step", experiment->step},
        {experiment->has_tolerance, "tolerance", experiment->tolerance},
    };
    struct tt_text text = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].given)
            tt_text_printf(&text, "%s%s %g", text.length ? ", " : "", parts[i].name, parts[i].value);
    info_line("experiment", text.text);
    info_release(&text);
}

static void print_counts(const struct tt_description *desc)
{
    unsigned long by_causality[8] = {0};
    for (uint32_t i = 0; i < desc->var_count; i++)
        by_causality[desc->vars[i].causality]++;
    struct tt_text text = {0};
    tt_text_printf(&text, "%u", desc->var_count);
    const char *separator = ": ";
    for (int c = 0; c < 8; c++) {
        if (by_causality[c] == 0)
            continue;
        tt_text_printf(&text, "%s%lu %s", separator, by_causality[c],
                       tt_description_causality_name((enum tt_causality)c));
        separator = ", ";
    }
    info_line("variables", text.text);
    info_release(&text);
    if (desc->state_count > 0)
        printf("%-13s%u, with %u event indicator%s\n", "states", (unsigned)desc->state_count,
               desc->event_indicator_count, desc->event_indicator_count == 1 ? "" : "s");
}

/* Continuous inputs that a Co-Simulation FMU of FMI 3.0 holds in a step though it asks for others (sim/start/open.c); *moving: how
 * many those are. */
static uint32_t count_held(const struct tt_description *desc, uint32_t *moving, const struct tt_var **first)
{
    uint32_t held = 0;
    for (uint32_t i = desc->var_count; i-- > 0;) {
        const struct tt_var *var = &desc->vars[i];
        if (var->causality != TUTTI_INPUT || var->variability != TUTTI_CONTINUOUS || !tt_type_is_float(var->type))
            continue;
        bool moves = tt_description_var_moves(var);
        *moving += moves;
        held += !moves;
        if (!moves)
            *first = var;
    }
    return held;
}

/* For which inputs it holds that they move. */
static void print_moving(const struct tt_description *desc)
{
    const struct tt_var *first = NULL;
    uint32_t moving = 0, held = count_held(desc, &moving, &first);
    if (held == 0) {
        puts("yes");
        return;
    }
    fputs(moving > 0 ? "yes, but not '" : "no: '", stdout);
    info_put(first->name);
    printf(held > 1 ? "' and %u more" : "'", held - 1);
    puts(held > 1 ? ", which are held: only Float64 of constant size with intermediateUpdate moves"
                  : ", which is held: only Float64 of constant size with intermediateUpdate moves");
}

static void print_capabilities(const struct tt_description *desc)
{
    const struct tt_interface *cs = &desc->interfaces[TUTTI_CS];
    if (!cs->present)
        return;
    puts("\nCo-Simulation");
    for (size_t i = 0; i < tt_info_capability_count; i++) {
        const struct tt_info_capability *capability = &tt_info_capabilities[i];
        if (desc->fmi < capability->since || desc->fmi > capability->until)
            continue;
        bool has = cs->flags & capability->flag;
        if (has && capability->flag == TUTTI_CAN_INTERMEDIATE) {
            printf("  %-30s", capability->words);
            print_moving(desc);
            continue;
        }
        printf("  %-30s%s%s%s\n", capability->words, has ? "yes" : "no", has || !capability->without ? "" : ": ",
               has || !capability->without ? "" : capability->without);
    }
    if (cs->max_output_derivative_order > 0)
        printf("  %-30syes, up to order %u\n", "output derivatives", cs->max_output_derivative_order);
    else
        printf("  %-30sno\n", "output derivatives");
    if (cs->fixed_step > 0)
        printf("  %-30s%g\n", "internal step", cs->fixed_step);
}

/* Also prints capabilities that Tutti emulates. */
static void print_exchange(const struct tt_description *desc)
{
    const struct tt_interface *me = &desc->interfaces[TUTTI_ME];
    bool saved = me->flags & TUTTI_CAN_STATE, directional = me->flags & TUTTI_CAN_DIRECTIONAL, structure = false;
    if (!me->present)
        return;
    for (uint32_t i = 0; i < desc->derivatives.count; i++)
        structure = structure || desc->derivatives.items[i].has_dependencies;
    puts("\nModel Exchange");
    printf("  %-30s%s\n", "state saved and restored",
           saved ? "yes" : "no: time, states and inputs are set again, as long as no event lies between");
    printf("  %-30s%s\n", "directional derivatives", directional ? "yes" : "no: differences take their place");
    if (desc->state_count > 0)
        printf("  %-30s%s\n", "dependencies of derivatives",
               structure ? "yes" : "no: every derivative is taken to depend on every state");
    printf("  %-30s%s\n", "inputs that move in a step", "yes, as polynomials");
    printf("  %-30s%s\n", "output derivatives", "yes, up to order 2");
}

static void print_start(const struct tt_var *var)
{
    char number[TUTTI_NUMBER_MAX + 1];
    if (!var->start || var->start_count != 1)
        return;
    size_t n = 0;
    switch ((enum tt_type)var->type) {
    case TUTTI_TYPE_FLOAT64: n = tt_number_write_double(number, *(const double *)var->start); break;
    case TUTTI_TYPE_INT32: n = tt_number_write_int(number, *(const int32_t *)var->start); break;
    case TUTTI_TYPE_INT64:
    case TUTTI_TYPE_ENUMERATION: n = tt_number_write_int(number, *(const int64_t *)var->start); break;
    case TUTTI_TYPE_UINT64: n = tt_number_write_uint(number, *(const uint64_t *)var->start); break;
    case TUTTI_TYPE_BOOLEAN: printf(" = %s", *(const bool *)var->start ? "true" : "false"); return;
    case TUTTI_TYPE_STRING:
        fputs(" = \"", stdout);
        info_put(*(const char *const *)var->start);
        fputs("\"", stdout);
        return;
    default: return;
    }
    printf(" = %.*s", (int)n, number);
}

/* "[2,n]" */
static void print_dimensions(const struct tt_description *desc, const struct tt_var *var)
{
    for (unsigned d = 0; d < var->dimension_count; d++) {
        const struct tt_dimension *dimension = &var->dimensions[d];
        fputs(d == 0 ? "[" : ",", stdout);
        if (dimension->variable == TUTTI_NONE)
            printf("%llu", (unsigned long long)dimension->start);
        else
            info_put(desc->vars[dimension->variable].name);
    }
    fputs(var->dimension_count ? "]" : "", stdout);
}

static void print_items(const struct tt_description *desc, const struct tt_var *var)
{
    const struct tt_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    for (uint32_t i = 0; def && i < def->item_count; i++) {
        fputs(i ? ", " : " {", stdout);
        info_put(def->items[i].name);
        printf("=%lld", (long long)def->items[i].value);
    }
    fputs(def && def->item_count ? "}" : "", stdout);
}

/* ", interval 1/100": a fraction where the description has one. */
static void print_timing(const char *word, double decimal, uint64_t counter, uint64_t resolution)
{
    if (counter > 0 && resolution > 0)
        printf(", %s %llu/%llu", word, (unsigned long long)counter, (unsigned long long)resolution);
    else if (decimal > 0)
        printf(", %s %s", word, NUMBER(decimal));
}

/* The properties of a clock: " {constant, interval 1/100, priority 1}". */
static void print_clock(const struct tt_clock *clock)
{
    bool told = clock->interval > 0 || (clock->interval_counter > 0 && clock->resolution > 0);
    printf(" {%s", tt_description_interval_name(clock->interval_variability));
    print_timing("interval", clock->interval, clock->interval_counter, clock->resolution);
    print_timing("shift", clock->shift, clock->shift_counter, clock->resolution);
    if (!told && clock->interval_variability < TUTTI_INTERVAL_TRIGGERED) {
        fputs(", interval computed by the FMU", stdout);
        if (clock->resolution > 0)
            printf(" in 1/%llu", (unsigned long long)clock->resolution);
    }
    if (clock->has_priority)
        printf(", priority %u", (unsigned)clock->priority);
    fputs("}", stdout);
}

/* The clocks that the variable belongs to: " (at ticks of own, triggered)". */
static void print_clocks(const struct tt_description *desc, const struct tt_var *var)
{
    for (uint32_t i = 0; i < var->clock_count; i++) {
        fputs(i ? ", " : " (at ticks of ", stdout);
        info_put(desc->vars[var->more->clocks[i]].name);
    }
    fputs(var->clock_count ? ")" : "", stdout);
}

static void print_variables(const struct tt_description *desc)
{
    puts("\nVariables");
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        printf("  %-19s %-11s ", tt_description_causality_name(var->causality), tt_type_name(var->type));
        info_put(var->name);
        print_dimensions(desc, var);
        print_start(var);
        print_items(desc, var);
        if (var->more && var->more->clock)
            print_clock(var->more->clock);
        print_clocks(desc, var);
        if (var->unit != TUTTI_NONE) {
            fputs(" [", stdout);
            info_put(desc->units[var->unit].name);
            fputs("]", stdout);
        }
        if (var->description) {
            fputs("  ", stdout);
            info_put(var->description);
        }
        putchar('\n');
    }
    for (uint32_t i = 0; i < desc->alias_count; i++) {
        printf("  %-19s %-11s ", "alias", "");
        info_put(desc->aliases[i].name);
        fputs(" = ", stdout);
        info_put(desc->vars[desc->aliases[i].variable].name);
        putchar('\n');
    }
}

static void print_info(struct tt_fmu *fmu, bool variables)
{
    const struct tt_description *desc = fmu->desc;
    info_put(desc->model_name ? desc->model_name : fmu->path);
    printf(", FMI %s\n", desc->fmi_version);
    info_line("description", desc->description);
    info_line("made by", desc->tool);
    info_line("author", desc->author);
    info_line("version", desc->version);
    info_line("license", desc->license);
    info_line("date", desc->date);
    print_interfaces(desc);
    struct tt_text platforms = {0};
    tt_binary_list_platforms(fmu->archive, &platforms);
    info_line("platforms", platforms.length ? platforms.text : "none");
    info_release(&platforms);
    info_line("cannot run", tt_info_find_obstacle(fmu));
    info_print_layers(fmu);
    info_print_experiment(&desc->experiment);
    print_counts(desc);
    print_capabilities(desc);
    print_exchange(desc);
    info_print_terminals(fmu, variables);
    if (variables)
        print_variables(desc);
}

static enum tutti_err print_json(const char *path)
{
    char *json = NULL;
    TRY(tutti_tell_info(&json, path));
    fputs(json, stdout);
    tutti_tell_free(json);
    return TUTTI_OK;
}

static enum tutti_err print_fmu(const char *path, bool variables)
{
    struct tt_fmu *fmu;
    TRY(tt_info_check_format(path));
    TRY(tt_fmu_open(&fmu, path, NULL));
    print_info(fmu, variables);
    tt_fmu_free(fmu);
    return TUTTI_OK;
}

int command_info(const struct arguments *arguments)
{
    const char *path = arguments->operands[0];
    bool json = arguments_value(arguments, "--json"), variables = arguments_value(arguments, "--variables");
    if (!json && tt_info_is_system(path)) {
        int status = info_print_system(path, variables);
        if (status != EXIT_DONE)
            return status;
    } else {
        enum tutti_err err = json ? print_json(path) : print_fmu(path, variables);
        if (err)
            console_error(tutti_err_message());
        if (err)
            return run_exit_status(err);
    }
    if (incomplete)
        console_error("out of memory: something is missing in what was printed");
    return incomplete ? EXIT_FAILED : EXIT_DONE;
}
