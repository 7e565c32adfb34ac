/* SPDX-License-Identifier: MIT */
/* Parses lines and constraints from the command line or an annotation. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/system/flat.h"

/* A part of a text, without blanks at its ends. */
struct text_part {
    const char *text;
    size_t length;
};

/* "3*b.v" */
struct equation_term {
    double factor;
    struct tt_end end;
};

/* "a.v+3*b.v": what stands on one side of an equation. */
struct equation_side {
    struct tt_vector terms;
    double constant;
};

/* "a.v=3*b.v": ends, and the rows that say that each side equals the next one. */
struct constraint_equation {
    struct tt_vector ends; /* struct tt_end */
    double *ratios, *offsets;
    uint32_t row_count;
};

struct constraint_reader {
    struct tt_system *system;
    const char *option;    /* "--tlm" */
    struct text_part text; /* of the current joint */
    const char *file;      /* that it is from; NULL: the command line */
    unsigned line;
    struct tt_vector fed, read, lines, constraints;
    struct tt_vector origins; /* struct constraint_origin, per constraint */
};

struct constraint_origin {
    struct text_part text;
    const char *file;
    unsigned line;
};

/* ---- texts ---- */

static struct text_part constraints_text_part(const char *text, size_t length)
{
    while (length > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return (struct text_part){text, length};
}

/* Splits at the next `mark` outside brackets; *rest receives the text after it. False at the end of the text. */
static bool constraints_next_part(struct text_part *rest, char mark, struct text_part *part)
{
    int depth = 0;
    size_t at = 0;
    if (!rest->text)
        return false;
    for (; at < rest->length && (rest->text[at] != mark || depth > 0); at++) {
        depth += rest->text[at] == '[' || rest->text[at] == '(';
        depth -= depth > 0 && (rest->text[at] == ']' || rest->text[at] == ')');
    }
    *part = constraints_text_part(rest->text, at);
    *rest = at < rest->length ? (struct text_part){rest->text + at + 1, rest->length - at - 1}
                              : (struct text_part){NULL, 0};
    return true;
}

static bool constraints_read_number(struct text_part part, double *number)
{
    return part.length > 0 && tt_number_read_double(part.text, part.length, number) && isfinite(*number);
}

/* "--constrain 'a.v=b.v': what is wrong" */
TUTTI_PRINTF(2, 3)
static enum tutti_err constraints_fail(const struct constraint_reader *joiner, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s '%.*s': %s", joiner->option, (int)joiner->text.length, joiner->text.text,
                   why);
}

/* ---- names ---- */

static const struct tt_var *constraints_var_of(const struct constraint_reader *joiner, const struct tt_end *end)
{
    return &joiner->system->components[end->component].fmu->desc->vars[end->variable];
}

static const char *constraints_name_of(const struct constraint_reader *joiner, const struct tt_end *end, char *name,
                                       size_t size)
{
    return tt_system_name(joiner->system, end, name, size);
}

/* *found: the variable exists. */
static enum tutti_err constraints_find_name(const struct constraint_reader *joiner, struct text_part part,
                                            struct tt_end *end, bool *found)
{
    char *name = strndup(part.text, part.length);
    if (!name)
        return tt_fail_memory();
    *end = (struct tt_end){0};
    enum tutti_err err =
        tt_system_find(joiner->system, name, joiner->option, &end->component, &end->variable, &end->element);
    free(name);
    *found = err == TUTTI_OK;
    return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK;
}

static enum tutti_err constraints_fail_unknown(const struct constraint_reader *joiner, struct text_part part)
{
    struct tt_end end = {0};
    char *name = strndup(part.text, part.length);
    if (!name)
        return tt_fail_memory();
    enum tutti_err err = part.length == 0 ? constraints_fail(joiner, "a name is missing")
                                          : tt_system_find(joiner->system, name, joiner->option, &end.component,
                                                           &end.variable, &end.element);
    free(name);
    return err ? err : constraints_fail(joiner, "'%.*s' cannot be read", (int)part.length, part.text);
}

/* "b.v", "3*b.v", "b.v*3", "-b.v" */
static enum tutti_err constraints_find_term(const struct constraint_reader *joiner, struct text_part part,
                                            struct equation_term *term, bool *found)
{
    *term = (struct equation_term){.factor = 1};
    TRY(constraints_find_name(joiner, part, &term->end, found));
    if (*found || part.length == 0)
        return TUTTI_OK;
    if (part.text[0] == '-' || part.text[0] == '+') {
        TRY(constraints_find_term(joiner, constraints_text_part(part.text + 1, part.length - 1), term, found));
        term->factor *= part.text[0] == '-' ? -1 : 1;
        return TUTTI_OK;
    }
    for (size_t i = 1; i + 1 < part.length && !*found; i++) {
        if (part.text[i] != '*')
            continue;
        struct text_part left = constraints_text_part(part.text, i),
                         right = constraints_text_part(part.text + i + 1, part.length - i - 1);
        if (constraints_read_number(left, &term->factor))
            TRY(constraints_find_name(joiner, right, &term->end, found));
        else if (constraints_read_number(right, &term->factor))
            TRY(constraints_find_name(joiner, left, &term->end, found));
    }
    return TUTTI_OK;
}

/* Finds the longest term, or number, at the beginning of the text: names may contain signs. *length: 0 if there is
 * none. */
static enum tutti_err parse_term(const struct constraint_reader *joiner, struct text_part text,
                                 struct equation_side *side, size_t *length)
{
    for (*length = text.length; *length > 0; --*length) {
        struct text_part part = constraints_text_part(text.text, *length);
        double number;
        bool found = false;
        struct equation_term term;
        if (*length < text.length && text.text[*length] != '+' && text.text[*length] != '-')
            continue;
        if (constraints_read_number(part, &number)) {
            side->constant += number;
            return TUTTI_OK;
        }
        TRY(constraints_find_term(joiner, part, &term, &found));
        struct equation_term *kept = found ? tt_vector_push(&side->terms, sizeof *kept) : NULL;
        if (found && !kept)
            return tt_fail_memory();
        if (found) {
            *kept = term;
            return TUTTI_OK;
        }
    }
    return TUTTI_OK;
}

static enum tutti_err constraints_read_side(const struct constraint_reader *joiner, struct text_part text,
                                            struct equation_side *side)
{
    if (text.length == 0)
        return constraints_fail(joiner, "a side of an equation is missing");
    while (text.length > 0) {
        size_t length;
        struct text_part first = text;
        TRY(parse_term(joiner, text, side, &length));
        if (length == 0) {
            (void)constraints_next_part(&(struct text_part){text.text + 1, text.length - 1}, '+', &first);
            return constraints_fail_unknown(
                joiner, constraints_text_part(text.text, (size_t)(first.text + first.length - text.text)));
        }
        text = (struct text_part){text.text + length, text.length - length};
    }
    return TUTTI_OK;
}

/* ---- what may be joined ---- */

static enum tutti_err check_scalar(const struct constraint_reader *joiner, const struct tt_end *end, const char *what)
{
    const struct tt_var *var = constraints_var_of(joiner, end);
    char name[256];
    constraints_name_of(joiner, end, name, sizeof name);
    if (var->type != TUTTI_TYPE_FLOAT64 || var->variability != TUTTI_CONTINUOUS)
        return constraints_fail(joiner, "'%s' cannot be %s: it is not a continuous Real", name, what);
    if (var->dimension_count > 0)
        return constraints_fail(joiner, "'%s' cannot be %s: it is an array", name, what);
    if (var->negated)
        return constraints_fail(joiner, "'%s' is a negatedAlias: name the variable that it is an alias of", name);
    return TUTTI_OK;
}

static const char *causality_name(const struct tt_var *var)
{
    return var->causality == TUTTI_INPUT    ? "an input"
           : var->causality == TUTTI_OUTPUT ? "an output"
           : var->causality == TUTTI_LOCAL  ? "a local variable"
                                            : "a parameter, or the time";
}

/* A place in `read`, where each output is once. */
static enum tutti_err constraints_add_read(struct constraint_reader *joiner, const struct tt_end *end, const char *what,
                                           uint32_t *place)
{
    const struct tt_var *var = constraints_var_of(joiner, end);
    char name[256];
    TRY(check_scalar(joiner, end, what));
    if (var->causality != TUTTI_OUTPUT && var->causality != TUTTI_LOCAL)
        return constraints_fail(joiner, "'%s' cannot be %s: it is %s, and an output is needed",
                                constraints_name_of(joiner, end, name, sizeof name), what, causality_name(var));
    struct tt_end *known = joiner->read.items;
    for (*place = 0; *place < joiner->read.count; ++*place)
        if (known[*place].component == end->component && known[*place].variable == end->variable)
            return TUTTI_OK;
    struct tt_end *kept = tt_vector_push(&joiner->read, sizeof *kept);
    if (!kept)
        return tt_fail_memory();
    *kept = *end;
    return TUTTI_OK;
}

static enum tutti_err constraints_add_fed(struct constraint_reader *joiner, const struct tt_end *end, uint32_t *place)
{
    const struct tt_var *var = constraints_var_of(joiner, end);
    char name[256], from[256];
    uint32_t count;
    constraints_name_of(joiner, end, name, sizeof name);
    TRY(check_scalar(joiner, end, "a force"));
    if (var->causality != TUTTI_INPUT)
        return constraints_fail(joiner, "'%s' cannot be a force: it is %s, and an input is needed", name,
                                causality_name(var));
    const struct tt_connection *connection =
        tt_system_connections_to(joiner->system, end->component, end->variable, &count);
    if (count > 0)
        return constraints_fail(joiner, "'%s' has two sources, this and '%s'; remove one of them", name,
                                constraints_name_of(joiner, &connection->from, from, sizeof from));
    const struct tt_end *known = joiner->fed.items;
    for (size_t i = 0; i < joiner->fed.count; i++)
        if (known[i].component == end->component && known[i].variable == end->variable)
            return constraints_fail(
                joiner,
                "'%s' is joined twice: each end has a force of its own; more than two ends are joined by one "
                "constraint, a.v=b.v=c.v",
                name);
    *place = (uint32_t)joiner->fed.count;
    struct tt_end *kept = tt_vector_push(&joiner->fed, sizeof *kept);
    if (!kept)
        return tt_fail_memory();
    *kept = *end;
    return TUTTI_OK;
}

/* The force of an end moves its velocity: both are of one unit. */
static enum tutti_err check_one_unit(const struct constraint_reader *joiner, const struct tt_end *force,
                                     uint32_t velocity)
{
    const struct tt_end *read = (const struct tt_end *)joiner->read.items + velocity;
    char names[2][256];
    return force->component == read->component
               ? TUTTI_OK
               : constraints_fail(joiner, "the force '%s' and the velocity '%s' of an end are of different units",
                                  constraints_name_of(joiner, force, names[0], sizeof names[0]),
                                  constraints_name_of(joiner, read, names[1], sizeof names[1]));
}

static const struct tt_unit_def *constraints_unit_of(const struct constraint_reader *joiner, const struct tt_end *end)
{
    const struct tt_description *desc = joiner->system->components[end->component].fmu->desc;
    uint32_t unit = desc->vars[end->variable].unit;
    return unit == TUTTI_NONE ? NULL : &desc->units[unit];
}

/* Values are compared as they are: nothing is converted, so units have to be the same. */
static enum tutti_err constraints_check_units(const struct constraint_reader *joiner, const struct tt_end *a,
                                              const struct tt_end *b)
{
    const struct tt_unit_def *units[] = {constraints_unit_of(joiner, a), constraints_unit_of(joiner, b)};
    char names[2][256];
    double factor = 1, offset = 0;
    bool known = false;
    if (!units[0] || !units[1])
        return TUTTI_OK;
    enum tutti_err err = tt_conversion_units(units[0], units[1], &factor, &offset, &known);
    if (!err && factor == 1 && offset == 0)
        return TUTTI_OK;
    return constraints_fail(
        joiner,
        "'%s' [%s] and '%s' [%s] have different units, which are not converted here; give a ratio, as in "
        "a.v=0.3*b.v, or join variables of the same unit",
        constraints_name_of(joiner, a, names[0], sizeof names[0]), units[0]->name,
        constraints_name_of(joiner, b, names[1], sizeof names[1]), units[1]->name);
}

/* ---- lines ---- */

/* "a.f,a.v" */
static enum tutti_err read_line_end(struct constraint_reader *joiner, struct text_part text,
                                    struct tt_tlm_line_end *end)
{
    struct text_part force, velocity, more;
    struct equation_term terms[2];
    bool found[2];
    if (!constraints_next_part(&text, ',', &force) || !constraints_next_part(&text, ',', &velocity) ||
        constraints_next_part(&text, ',', &more))
        return constraints_fail(joiner, "each end is a force and a velocity, a.f,a.v");
    TRY(constraints_find_term(joiner, force, &terms[0], &found[0]));
    TRY(constraints_find_term(joiner, velocity, &terms[1], &found[1]));
    if (!found[0] || !found[1])
        return constraints_fail_unknown(joiner, found[0] ? velocity : force);
    TRY(constraints_add_fed(joiner, &terms[0].end, &end->force));
    TRY(constraints_add_read(joiner, &terms[1].end, "a velocity", &end->velocity));
    TRY(check_one_unit(joiner, &terms[0].end, end->velocity));
    end->force_factor = terms[0].factor;
    end->velocity_factor = terms[1].factor;
    return TUTTI_OK;
}

static enum tutti_err constraints_read_value(const struct constraint_reader *joiner, struct text_part field,
                                             const char *key, double *value, bool *found)
{
    struct text_part name, number, rest = field;
    *found = constraints_next_part(&rest, '=', &name) && name.length == strlen(key) &&
             strncmp(name.text, key, name.length) == 0;
    if (!*found)
        return TUTTI_OK;
    number = constraints_text_part(rest.text ? rest.text : "", rest.length);
    return constraints_read_number(number, value) && *value > 0
               ? TUTTI_OK
               : constraints_fail(joiner, "%s takes a number greater than 0, not '%.*s'", key, (int)number.length,
                                  number.text);
}

static enum tutti_err constraints_read_line(struct constraint_reader *joiner)
{
    struct tt_tlm_line line = {0};
    struct text_part rest = joiner->text, field, sides = {0}, left = {0}, right = {0}, more;
    bool is_delay, is_impedance;
    while (constraints_next_part(&rest, ';', &field)) {
        TRY(constraints_read_value(joiner, field, "delay", &line.delay, &is_delay));
        TRY(constraints_read_value(joiner, field, "impedance", &line.impedance, &is_impedance));
        if (is_delay || is_impedance)
            continue;
        if (sides.text)
            return constraints_fail(joiner,
                                    "it has two ends, and nothing else than delay=D and impedance=Z; not '%.*s'",
                                    (int)field.length, field.text);
        sides = field;
    }
    if (!constraints_next_part(&sides, '=', &left) || !constraints_next_part(&sides, '=', &right) ||
        constraints_next_part(&sides, '=', &more))
        return constraints_fail(joiner, "it takes A.f,A.v=B.f,B.v; delay=D; impedance=Z");
    if (line.delay == 0 || line.impedance == 0)
        return constraints_fail(joiner, "%s is missing", line.delay == 0 ? "delay=D" : "impedance=Z");
    TRY(read_line_end(joiner, left, &line.ends[0]));
    TRY(read_line_end(joiner, right, &line.ends[1]));

    /* Ends with the same factor must have the same unit. */
    const struct tt_end *fed = joiner->fed.items, *read = joiner->read.items;
    const struct tt_tlm_line_end *ends = line.ends;
    if (fabs(ends[0].force_factor) == fabs(ends[1].force_factor))
        TRY(constraints_check_units(joiner, &fed[ends[0].force], &fed[ends[1].force]));
    if (fabs(ends[0].velocity_factor) == fabs(ends[1].velocity_factor))
        TRY(constraints_check_units(joiner, &read[ends[0].velocity], &read[ends[1].velocity]));

    line.text = tt_arena_copy_text(&joiner->system->arena, joiner->text.text, joiner->text.length);
    struct tt_tlm_line *kept = line.text ? tt_vector_push(&joiner->lines, sizeof *kept) : NULL;
    if (!kept)
        return tt_fail_memory();
    *kept = line;
    return TUTTI_OK;
}

/* ---- constraints ---- */

static void equation_fini(struct constraint_equation *equation)
{
    tt_vector_fini(&equation->ends);
    free(equation->ratios);
    free(equation->offsets);
    *equation = (struct constraint_equation){0};
}

static enum tutti_err equation_place_of(struct constraint_equation *equation, const struct tt_end *end, size_t *place)
{
    const struct tt_end *known = equation->ends.items;
    for (*place = 0; *place < equation->ends.count; ++*place)
        if (known[*place].component == end->component && known[*place].variable == end->variable)
            return TUTTI_OK;
    struct tt_end *kept = tt_vector_push(&equation->ends, sizeof *kept);
    if (!kept)
        return tt_fail_memory();
    *kept = *end;
    return TUTTI_OK;
}

/* One row per '=': what stands before it, less what stands after it. */
static enum tutti_err equation_make_rows(struct constraint_equation *equation, const struct equation_side *sides,
                                         uint32_t count)
{
    size_t place;
    for (uint32_t s = 0; s < count; s++)
        for (size_t i = 0; i < sides[s].terms.count; i++)
            TRY(equation_place_of(equation, &((const struct equation_term *)sides[s].terms.items)[i].end, &place));
    equation->row_count = count - 1;
    equation->ratios = calloc(equation->row_count * equation->ends.count + 1, sizeof *equation->ratios);
    equation->offsets = calloc((size_t)equation->row_count + 1, sizeof *equation->offsets);
    if (!equation->ratios || !equation->offsets)
        return tt_fail_memory();
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t r = s > 0 ? s - 1 : 0; r <= s && r < equation->row_count; r++) {
            double sign = r == s ? 1 : -1;
            equation->offsets[r] += sign * sides[s].constant;
            for (size_t i = 0; i < sides[s].terms.count; i++) {
                const struct equation_term *term = &((const struct equation_term *)sides[s].terms.items)[i];
                TRY(equation_place_of(equation, &term->end, &place));
                equation->ratios[r * equation->ends.count + place] += sign * term->factor;
            }
        }
    return TUTTI_OK;
}

enum { MOST_SIDES = 64 };

static enum tutti_err read_equation(const struct constraint_reader *joiner, struct text_part text,
                                    struct constraint_equation *equation)
{
    struct equation_side sides[MOST_SIDES] = {0};
    struct text_part part;
    uint32_t count = 0;
    enum tutti_err err = TUTTI_OK;
    while (!err && constraints_next_part(&text, '=', &part)) {
        if (count == MOST_SIDES)
            err = constraints_fail(joiner, "more than %d sides of an equation", MOST_SIDES);
        else
            err = constraints_read_side(joiner, part, &sides[count++]);
    }
    if (!err)
        err = equation_make_rows(equation, sides, count);
    for (uint32_t s = 0; s < count; s++)
        tt_vector_fini(&sides[s].terms);
    return err;
}

/* The units of what is equal. */
static enum tutti_err check_equation(const struct constraint_reader *joiner, const struct constraint_equation *equation)
{
    const struct tt_end *ends = equation->ends.items;
    size_t count = equation->ends.count;
    for (uint32_t r = 0; r < equation->row_count; r++) {
        size_t first = count;
        for (size_t e = 0; e < count; e++) {
            double ratio = equation->ratios[r * count + e];
            if (ratio == 0)
                continue;
            if (first < count && fabs(ratio) == fabs(equation->ratios[r * count + first]))
                TRY(constraints_check_units(joiner, &ends[first], &ends[e]));
            first = first < count ? first : e;
        }
    }
    return TUTTI_OK;
}

/* Positions are to move as the velocities say. */
static enum tutti_err check_matching_ends(const struct constraint_reader *joiner,
                                          const struct constraint_equation *velocities,
                                          const struct constraint_equation *positions)
{
    size_t count = (size_t)velocities->row_count * velocities->ends.count;
    bool same = velocities->row_count == positions->row_count && velocities->ends.count == positions->ends.count;
    for (size_t i = 0; same && i < count; i++)
        same = velocities->ratios[i] == positions->ratios[i];
    if (velocities->ends.count == 0)
        return constraints_fail(joiner, "there is nothing to constrain in it");
    for (uint32_t r = 0; r < velocities->row_count; r++)
        if (velocities->offsets[r] != 0)
            return constraints_fail(joiner, "only positions may be apart by a number, not velocities");
    return same ? TUTTI_OK
                : constraints_fail(
                      joiner, "positions and velocities are not constrained alike: the same ends in the same order, "
                              "with the same ratios");
}

/* "a.f,b.f": one per end, in their order. */
static enum tutti_err read_forces(struct constraint_reader *joiner, struct text_part text,
                                  const struct tt_constraint *constraint, uint32_t *forces)
{
    struct text_part part, all = text;
    uint32_t count = 0;
    while (constraints_next_part(&text, ',', &part)) {
        struct tt_end end;
        bool found = false;
        TRY(constraints_find_name(joiner, part, &end, &found));
        if (!found)
            return constraints_fail_unknown(joiner, part);
        if (count < constraint->end_count) {
            TRY(check_one_unit(joiner, &end, constraint->velocities[count]));
            TRY(constraints_add_fed(joiner, &end, &forces[count]));
        }
        count++;
    }
    return count == constraint->end_count
               ? TUTTI_OK
               : constraints_fail(joiner,
                                  "it has %u end%s and the force%s '%.*s': one per end is needed, in the order of ends",
                                  constraint->end_count, constraint->end_count == 1 ? "" : "s", count == 1 ? "" : "s",
                                  (int)all.length, all.text);
}

static enum tutti_err add_constraint_reads(struct constraint_reader *joiner, const struct constraint_equation *equation,
                                           const char *what, uint32_t *places)
{
    for (size_t e = 0; e < equation->ends.count; e++)
        TRY(constraints_add_read(joiner, (const struct tt_end *)equation->ends.items + e, what, &places[e]));
    return check_equation(joiner, equation);
}

static enum tutti_err constraints_add(struct constraint_reader *joiner, const struct constraint_equation *positions,
                                      const struct constraint_equation *velocities, struct text_part forces,
                                      double compliance)
{
    struct tt_arena *arena = &joiner->system->arena;
    size_t count = velocities->ends.count, rows = velocities->row_count;
    uint32_t *places[3];
    for (int i = 0; i < 3; i++)
        places[i] = tt_arena_array(arena, count, sizeof *places[i]);
    double *ratios = tt_arena_array(arena, rows * count, sizeof *ratios);
    double *offsets = tt_arena_array(arena, rows, sizeof *offsets);
    struct tt_constraint made = {.end_count = (uint32_t)count,
                                 .row_count = (uint32_t)rows,
                                 .forces = places[0],
                                 .velocities = places[1],
                                 .positions = positions ? places[2] : NULL,
                                 .ratios = ratios,
                                 .offsets = offsets,
                                 .compliance = compliance,
                                 .text = tt_arena_copy_text(arena, joiner->text.text, joiner->text.length)};
    if (!places[0] || !places[1] || !places[2] || !ratios || !offsets || !made.text)
        return tt_fail_memory();
    memcpy(ratios, velocities->ratios, rows * count * sizeof *ratios);
    if (positions)
        memcpy(offsets, positions->offsets, rows * sizeof *offsets);
    TRY(add_constraint_reads(joiner, velocities, "a velocity", places[1]));
    if (positions)
        TRY(add_constraint_reads(joiner, positions, "a position", places[2]));
    TRY(read_forces(joiner, forces, &made, places[0]));
    struct tt_constraint *kept = tt_vector_push(&joiner->constraints, sizeof *kept);
    struct constraint_origin *origin = tt_vector_push(&joiner->origins, sizeof *origin);
    if (!kept || !origin)
        return tt_fail_memory();
    *kept = made;
    *origin = (struct constraint_origin){joiner->text, joiner->file, joiner->line};
    return TUTTI_OK;
}

static enum tutti_err constraints_read_equations(struct constraint_reader *joiner, const struct text_part *fields,
                                                 int count, struct text_part forces, double compliance)
{
    struct constraint_equation equations[2] = {0};
    enum tutti_err err = TUTTI_OK;
    for (int i = 0; i < count && !err; i++)
        err = read_equation(joiner, fields[i], &equations[i]);
    if (!err)
        err = check_matching_ends(joiner, &equations[count - 1], &equations[0]);
    if (!err)
        err = constraints_add(joiner, count == 2 ? &equations[0] : NULL, &equations[count - 1], forces, compliance);
    equation_fini(&equations[0]);
    equation_fini(&equations[1]);
    return err;
}

static enum tutti_err read_constraint(struct constraint_reader *joiner)
{
    struct text_part rest = joiner->text, field, fields[2], forces = {0};
    double compliance = 0;
    int count = 0;
    while (constraints_next_part(&rest, ';', &field)) {
        bool is_compliance;
        TRY(constraints_read_value(joiner, field, "compliance", &compliance, &is_compliance));
        if (is_compliance)
            continue;
        bool is_equation = memchr(field.text, '=', field.length) != NULL;
        if ((is_equation && (count == 2 || forces.text)) || (!is_equation && (forces.text || field.length == 0)))
            return constraints_fail(joiner,
                                    "it takes A.x=B.x; A.v=B.v; A.f,B.f: positions (or none), velocities, forces; and "
                                    "compliance=E");
        if (is_equation)
            fields[count++] = field;
        else
            forces = field;
    }
    if (count == 0 || !forces.text)
        return constraints_fail(joiner, "%s missing: A.x=B.x; A.v=B.v; A.f,B.f",
                                count == 0 ? "what is to be equal is" : "forces are");
    return constraints_read_equations(joiner, fields, count, forces, compliance);
}

/* ---- redundant constraints ---- */

enum { MOST_ROWS = 500 }; /* up to this number of rows the test is cheap; for more, a run detects redundant rows */

/* Takes known rows away from one; what is left becomes known, unless it is nothing. */
static bool is_independent(double *row, double **known, uint32_t *known_count, size_t columns)
{
    double largest = 0, left = 0;
    size_t pivot = 0;
    for (size_t i = 0; i < columns; i++)
        largest = fmax(largest, fabs(row[i]));
    for (uint32_t k = 0; k < *known_count; k++) {
        size_t at = 0; /* where its first entry is, which is 1 */
        while (known[k][at] != 1)
            at++;
        double factor = row[at];
        for (size_t i = 0; i < columns; i++)
            row[i] -= factor * known[k][i];
        row[at] = 0;
    }
    for (size_t i = 0; i < columns && left == 0; i++)
        if (fabs(row[i]) > 1e-10 * largest) {
            left = row[i];
            pivot = i;
        }
    if (left == 0)
        return false;
    for (size_t i = 0; i < columns; i++)
        row[i] = i < pivot ? 0 : i == pivot ? 1 : row[i] / left;
    known[(*known_count)++] = row;
    return true;
}

static enum tutti_err find_redundant(struct constraint_reader *joiner, double *rows, double **known,
                                     struct tt_findings *findings)
{
    const struct tt_constraint *all = joiner->constraints.items;
    size_t columns = joiner->read.count;
    uint32_t known_count = 0;
    for (size_t c = 0; c < joiner->constraints.count; c++)
        for (uint32_t r = 0; r < all[c].row_count; r++, rows += columns) {
            const struct constraint_origin *origin = (const struct constraint_origin *)joiner->origins.items + c;
            for (uint32_t e = 0; e < all[c].end_count; e++)
                rows[all[c].velocities[e]] += all[c].ratios[r * all[c].end_count + e];
            if (is_independent(rows, known, &known_count, columns))
                continue;
            joiner->option = "--constrain";
            joiner->text = origin->text;
            enum tutti_err err = constraints_fail(
                joiner, "it is redundant: what it says of velocities follows from others, or from itself; "
                        "leave it out");
            if (!origin->file)
                return err;
            tt_findings_add(findings, TUTTI_FINDING_ERROR, origin->file, origin->line, "%s", tutti_err_message());
        }
    return TUTTI_OK;
}

static enum tutti_err check_redundant(struct constraint_reader *joiner, struct tt_findings *findings)
{
    const struct tt_constraint *all = joiner->constraints.items;
    uint32_t count = 0;
    for (size_t c = 0; c < joiner->constraints.count; c++)
        count += all[c].row_count;
    if (count == 0 || count > MOST_ROWS)
        return TUTTI_OK;
    double *rows = calloc((size_t)count * joiner->read.count + 1, sizeof *rows);
    double **known = calloc(count, sizeof(double *));
    enum tutti_err err = rows && known ? find_redundant(joiner, rows, known, findings) : tt_fail_memory();
    free(rows);
    free(known);
    return err;
}

/* ---- all of them ---- */

/* Several may stand in one text, with | between them: an annotation has no other way. */
static enum tutti_err constraints_read_all(struct constraint_reader *joiner, const char *text,
                                           struct tt_findings *findings)
{
    struct text_part rest = {text, strlen(text)};
    bool line = strcmp(joiner->option, "--tlm") == 0;
    while (constraints_next_part(&rest, '|', &joiner->text)) {
        enum tutti_err err = line ? constraints_read_line(joiner) : read_constraint(joiner);
        if (err == TUTTI_ERR_ARGUMENT && joiner->file) {
            tt_findings_add(findings, TUTTI_FINDING_ERROR, joiner->file, joiner->line, "%s", tutti_err_message());
            continue;
        }
        TRY(err);
    }
    return TUTTI_OK;
}

static enum tutti_err constraints_read_settings(struct constraint_reader *joiner, const char *word,
                                                struct tt_findings *findings)
{
    const struct tt_system *system = joiner->system;
    for (size_t i = 0; i < system->word_count; i++) {
        if (strcmp(system->words[i].name, word) != 0)
            continue;
        joiner->file = system->words_file;
        joiner->line = system->words[i].line;
        TRY(constraints_read_all(joiner, system->words[i].value, findings));
    }
    joiner->file = NULL;
    return TUTTI_OK;
}

static enum tutti_err copy_vector(struct tt_arena *arena, const struct tt_vector *vector, size_t size, void *out,
                                  uint32_t *count)
{
    void *kept = tt_arena_array(arena, vector->count, size);
    if (!kept)
        return tt_fail_memory();
    if (vector->count > 0)
        memcpy(kept, vector->items, vector->count * size);
    memcpy(out, &kept, sizeof kept);
    *count = (uint32_t)vector->count;
    return TUTTI_OK;
}

/* An end depends on its own velocity immediately: by a connection from the unit to itself, so that couplings treat it
 * like any connection. The master feeds the values that arrive from the opposite end. */
static enum tutti_err connect_end(struct tt_system *system, const struct tt_tlm_line *line,
                                  const struct tt_tlm_line_end *end, struct tt_connection *connection)
{
    struct tt_conversion *conversion = tt_arena_alloc(&system->arena, sizeof *conversion);
    if (!conversion)
        return tt_fail_memory();
    double factor = -end->force_factor * end->velocity_factor * line->impedance;
    *conversion =
        (struct tt_conversion){.from = TUTTI_TYPE_FLOAT64, .to = TUTTI_TYPE_FLOAT64, .linear = true, .factor = factor};
    *connection = (struct tt_connection){.from = system->read[end->velocity],
                                         .to = system->fed[end->force],
                                         .conversion = conversion,
                                         .factor = factor,
                                         .adds = true,
                                         .of_line = true};
    return TUTTI_OK;
}

static int compare_destinations(const void *a, const void *b)
{
    const struct tt_end *x = &((const struct tt_connection *)a)->to, *y = &((const struct tt_connection *)b)->to;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->variable < y->variable ? -1 : x->variable > y->variable;
}

/* Connections stay sorted by destination: none had one of these before. */
static enum tutti_err connect_lines(struct tt_system *system)
{
    uint32_t count = system->connection_count, added = 2 * system->line_count, next = 0;
    struct tt_connection *own = tt_arena_array(&system->arena, added, sizeof *own);
    struct tt_connection *all = tt_arena_array(&system->arena, (size_t)count + added, sizeof *all);
    if (!own || !all)
        return tt_fail_memory();
    for (uint32_t i = 0; i < added; i++)
        TRY(connect_end(system, &system->lines[i / 2], &system->lines[i / 2].ends[i % 2], &own[i]));
    qsort(own, added, sizeof *own, compare_destinations);
    for (uint32_t i = 0; i < added; i++) {
        while (next < count && compare_destinations(&system->connections[next], &own[i]) < 0) {
            all[next + i] = system->connections[next];
            next++;
        }
        all[next + i] = own[i];
    }
    for (; next < count; next++)
        all[next + added] = system->connections[next];
    system->connections = all;
    system->connection_count = count + added;
    return TUTTI_OK;
}

static enum tutti_err constraints_read(struct constraint_reader *joiner, const struct tt_system_source *source,
                                       struct tt_findings *findings)
{
    joiner->option = "--tlm";
    TRY(constraints_read_settings(joiner, "tlm", findings));
    for (size_t i = 0; i < source->tlm_count; i++)
        TRY(constraints_read_all(joiner, source->tlms[i], findings));
    joiner->option = "--constrain";
    TRY(constraints_read_settings(joiner, "constrain", findings));
    for (size_t i = 0; i < source->constrain_count; i++)
        TRY(constraints_read_all(joiner, source->constrains[i], findings));
    TRY(check_redundant(joiner, findings));

    struct tt_system *system = joiner->system;
    struct tt_arena *arena = &system->arena;
    TRY(copy_vector(arena, &joiner->fed, sizeof *system->fed, &system->fed, &system->fed_count));
    TRY(copy_vector(arena, &joiner->read, sizeof *system->read, &system->read, &system->read_count));
    TRY(copy_vector(arena, &joiner->lines, sizeof *system->lines, &system->lines, &system->line_count));
    TRY(copy_vector(arena, &joiner->constraints, sizeof *system->constraints, &system->constraints,
                    &system->constraint_count));
    return system->line_count > 0 ? connect_lines(system) : TUTTI_OK;
}

enum tutti_err tt_constraints_build(struct tt_flat *flat)
{
    struct constraint_reader joiner = {.system = flat->system};
    enum tutti_err err = constraints_read(&joiner, flat->source, flat->findings);
    struct tt_vector *const lists[] = {&joiner.fed, &joiner.read, &joiner.lines, &joiner.constraints, &joiner.origins};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        tt_vector_fini(lists[i]);
    return err;
}
