/* SPDX-License-Identifier: MIT */
/* Lines and constraints, from what a command line or an annotation says of them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "system/flat.h"

/* A part of a text, without blanks at its ends. */
struct part {
    const char *text;
    size_t length;
};

/* "3*b.v" */
struct term {
    double factor;
    struct tutti_end end;
};

/* "a.v+3*b.v": what stands on one side of an equation. */
struct side {
    struct tutti_vector terms;
    double constant;
};

/* "a.v=3*b.v": ends, and the rows that say that each side equals the next one. */
struct equation {
    struct tutti_vector ends; /* struct tutti_end */
    double *ratios, *offsets;
    uint32_t row_count;
};

struct joiner {
    struct tutti_system *system;
    const char *option; /* "--tlm" */
    struct part text;   /* of the joint at hand */
    const char *file;   /* that it is from; NULL: the command line */
    unsigned line;
    struct tutti_vector fed, read, lines, constraints;
    struct tutti_vector origins; /* struct origin, per constraint */
};

struct origin {
    struct part text;
    const char *file;
    unsigned line;
};

/* ---- texts ---- */

static struct part part_of(const char *text, size_t length)
{
    while (length > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return (struct part){text, length};
}

/* What comes before the next `mark` outside of brackets; the rest, without it, is left in *rest. False: nothing is left. */
static bool next_part(struct part *rest, char mark, struct part *part)
{
    int depth = 0;
    size_t at = 0;
    if (!rest->text)
        return false;
    for (; at < rest->length && (rest->text[at] != mark || depth > 0); at++) {
        depth += rest->text[at] == '[' || rest->text[at] == '(';
        depth -= depth > 0 && (rest->text[at] == ']' || rest->text[at] == ')');
    }
    *part = part_of(rest->text, at);
    *rest = at < rest->length ? (struct part){rest->text + at + 1, rest->length - at - 1} : (struct part){NULL, 0};
    return true;
}

static bool read_number(struct part part, double *number)
{
    return part.length > 0 && tutti_number_read_double(part.text, part.length, number) && isfinite(*number);
}

/* "--constrain 'a.v=b.v': what is wrong" */
TUTTI_PRINTF(2, 3) static enum tutti_err refuse(const struct joiner *joiner, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return tutti_fail(TUTTI_ERR_ARGUMENT, "%s '%.*s': %s", joiner->option, (int)joiner->text.length, joiner->text.text,
                      why);
}

/* ---- names ---- */

static const struct tutti_var *var_of(const struct joiner *joiner, const struct tutti_end *end)
{
    return &joiner->system->components[end->component].fmu->desc->vars[end->variable];
}

static const char *name_of(const struct joiner *joiner, const struct tutti_end *end, char *name, size_t size)
{
    return tutti_system_name(joiner->system, end, name, size);
}

/* *found: there is such a variable. */
static enum tutti_err find_name(const struct joiner *joiner, struct part part, struct tutti_end *end, bool *found)
{
    char *name = strndup(part.text, part.length);
    if (!name)
        return tutti_fail_memory();
    *end = (struct tutti_end){0};
    enum tutti_err err =
        tutti_system_find(joiner->system, name, joiner->option, &end->component, &end->variable, &end->element);
    free(name);
    *found = err == TUTTI_OK;
    return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK;
}

static enum tutti_err unknown(const struct joiner *joiner, struct part part)
{
    struct tutti_end end = {0};
    char *name = strndup(part.text, part.length);
    if (!name)
        return tutti_fail_memory();
    enum tutti_err err = part.length == 0 ? refuse(joiner, "a name is missing")
                                          : tutti_system_find(joiner->system, name, joiner->option, &end.component,
                                                              &end.variable, &end.element);
    free(name);
    return err ? err : refuse(joiner, "'%.*s' cannot be read", (int)part.length, part.text);
}

/* "b.v", "3*b.v", "b.v*3", "-b.v" */
static enum tutti_err find_term(const struct joiner *joiner, struct part part, struct term *term, bool *found)
{
    *term = (struct term){.factor = 1};
    TRY(find_name(joiner, part, &term->end, found));
    if (*found || part.length == 0)
        return TUTTI_OK;
    if (part.text[0] == '-' || part.text[0] == '+') {
        TRY(find_term(joiner, part_of(part.text + 1, part.length - 1), term, found));
        term->factor *= part.text[0] == '-' ? -1 : 1;
        return TUTTI_OK;
    }
    for (size_t i = 1; i + 1 < part.length && !*found; i++) {
        if (part.text[i] != '*')
            continue;
        struct part left = part_of(part.text, i), right = part_of(part.text + i + 1, part.length - i - 1);
        if (read_number(left, &term->factor))
            TRY(find_name(joiner, right, &term->end, found));
        else if (read_number(right, &term->factor))
            TRY(find_name(joiner, left, &term->end, found));
    }
    return TUTTI_OK;
}

/* The longest term, or number, that the text begins with: names may have signs in them. *length: of it; 0: there is none. */
static enum tutti_err take_term(const struct joiner *joiner, struct part text, struct side *side, size_t *length)
{
    for (*length = text.length; *length > 0; --*length) {
        struct part part = part_of(text.text, *length);
        double number;
        bool found = false;
        struct term term;
        if (*length < text.length && text.text[*length] != '+' && text.text[*length] != '-')
            continue;
        if (read_number(part, &number)) {
            side->constant += number;
            return TUTTI_OK;
        }
        TRY(find_term(joiner, part, &term, &found));
        struct term *kept = found ? tutti_vector_push(&side->terms, sizeof *kept) : NULL;
        if (found && !kept)
            return tutti_fail_memory();
        if (found) {
            *kept = term;
            return TUTTI_OK;
        }
    }
    return TUTTI_OK;
}

static enum tutti_err read_side(const struct joiner *joiner, struct part text, struct side *side)
{
    if (text.length == 0)
        return refuse(joiner, "a side of an equation is missing");
    while (text.length > 0) {
        size_t length;
        struct part first = text;
        TRY(take_term(joiner, text, side, &length));
        if (length == 0) {
            (void)next_part(&(struct part){text.text + 1, text.length - 1}, '+', &first);
            return unknown(joiner, part_of(text.text, (size_t)(first.text + first.length - text.text)));
        }
        text = (struct part){text.text + length, text.length - length};
    }
    return TUTTI_OK;
}

/* ---- what may be joined ---- */

static enum tutti_err check_scalar(const struct joiner *joiner, const struct tutti_end *end, const char *what)
{
    const struct tutti_var *var = var_of(joiner, end);
    char name[256];
    name_of(joiner, end, name, sizeof name);
    if (var->type != TUTTI_TYPE_FLOAT64 || var->variability != TUTTI_CONTINUOUS)
        return refuse(joiner, "'%s' cannot be %s: it is not a continuous Real", name, what);
    if (var->dimension_count > 0)
        return refuse(joiner, "'%s' cannot be %s: it is an array", name, what);
    if (var->negated)
        return refuse(joiner, "'%s' is a negatedAlias: name the variable that it is an alias of", name);
    return TUTTI_OK;
}

static const char *causality_name(const struct tutti_var *var)
{
    return var->causality == TUTTI_INPUT    ? "an input"
           : var->causality == TUTTI_OUTPUT ? "an output"
           : var->causality == TUTTI_LOCAL  ? "a local variable"
                                            : "a parameter, or the time";
}

/* A place in `read`, where each output is once. */
static enum tutti_err add_read(struct joiner *joiner, const struct tutti_end *end, const char *what, uint32_t *place)
{
    const struct tutti_var *var = var_of(joiner, end);
    char name[256];
    TRY(check_scalar(joiner, end, what));
    if (var->causality != TUTTI_OUTPUT && var->causality != TUTTI_LOCAL)
        return refuse(joiner, "'%s' cannot be %s: it is %s, and an output is needed",
                      name_of(joiner, end, name, sizeof name), what, causality_name(var));
    struct tutti_end *known = joiner->read.items;
    for (*place = 0; *place < joiner->read.count; ++*place)
        if (known[*place].component == end->component && known[*place].variable == end->variable)
            return TUTTI_OK;
    struct tutti_end *kept = tutti_vector_push(&joiner->read, sizeof *kept);
    if (!kept)
        return tutti_fail_memory();
    *kept = *end;
    return TUTTI_OK;
}

static enum tutti_err add_fed(struct joiner *joiner, const struct tutti_end *end, uint32_t *place)
{
    const struct tutti_var *var = var_of(joiner, end);
    char name[256], from[256];
    uint32_t count;
    name_of(joiner, end, name, sizeof name);
    TRY(check_scalar(joiner, end, "a force"));
    if (var->causality != TUTTI_INPUT)
        return refuse(joiner, "'%s' cannot be a force: it is %s, and an input is needed", name, causality_name(var));
    const struct tutti_connection *connection =
        tutti_system_connections_to(joiner->system, end->component, end->variable, &count);
    if (count > 0)
        return refuse(joiner, "'%s' has two sources, this and '%s'; remove one of them", name,
                      name_of(joiner, &connection->from, from, sizeof from));
    const struct tutti_end *known = joiner->fed.items;
    for (size_t i = 0; i < joiner->fed.count; i++)
        if (known[i].component == end->component && known[i].variable == end->variable)
            return refuse(joiner,
                          "'%s' is joined twice: each end has a force of its own; more than two ends are joined by one "
                          "constraint, a.v=b.v=c.v",
                          name);
    *place = (uint32_t)joiner->fed.count;
    struct tutti_end *kept = tutti_vector_push(&joiner->fed, sizeof *kept);
    if (!kept)
        return tutti_fail_memory();
    *kept = *end;
    return TUTTI_OK;
}

/* The force of an end moves its velocity: both are of one unit. */
static enum tutti_err check_one_unit(const struct joiner *joiner, const struct tutti_end *force, uint32_t velocity)
{
    const struct tutti_end *read = (const struct tutti_end *)joiner->read.items + velocity;
    char names[2][256];
    return force->component == read->component
               ? TUTTI_OK
               : refuse(joiner, "the force '%s' and the velocity '%s' of an end are of different units",
                        name_of(joiner, force, names[0], sizeof names[0]),
                        name_of(joiner, read, names[1], sizeof names[1]));
}

static const struct tutti_unit_def *unit_of(const struct joiner *joiner, const struct tutti_end *end)
{
    const struct tutti_desc *desc = joiner->system->components[end->component].fmu->desc;
    uint32_t unit = desc->vars[end->variable].unit;
    return unit == TUTTI_NONE ? NULL : &desc->units[unit];
}

/* Values are compared as they are: nothing is converted, so units have to be the same. */
static enum tutti_err check_units(const struct joiner *joiner, const struct tutti_end *a, const struct tutti_end *b)
{
    const struct tutti_unit_def *units[] = {unit_of(joiner, a), unit_of(joiner, b)};
    char names[2][256];
    double factor = 1, offset = 0;
    bool known = false;
    if (!units[0] || !units[1])
        return TUTTI_OK;
    enum tutti_err err = tutti_conversion_units(units[0], units[1], &factor, &offset, &known);
    if (!err && factor == 1 && offset == 0)
        return TUTTI_OK;
    return refuse(joiner,
                  "'%s' [%s] and '%s' [%s] have different units, which are not converted here; give a ratio, as in "
                  "a.v=0.3*b.v, or join variables of the same unit",
                  name_of(joiner, a, names[0], sizeof names[0]), units[0]->name,
                  name_of(joiner, b, names[1], sizeof names[1]), units[1]->name);
}

/* ---- lines ---- */

/* "a.f,a.v" */
static enum tutti_err read_line_end(struct joiner *joiner, struct part text, struct tutti_line_end *end)
{
    struct part force, velocity, more;
    struct term terms[2];
    bool found[2];
    if (!next_part(&text, ',', &force) || !next_part(&text, ',', &velocity) || next_part(&text, ',', &more))
        return refuse(joiner, "each end is a force and a velocity, a.f,a.v");
    TRY(find_term(joiner, force, &terms[0], &found[0]));
    TRY(find_term(joiner, velocity, &terms[1], &found[1]));
    if (!found[0] || !found[1])
        return unknown(joiner, found[0] ? velocity : force);
    TRY(add_fed(joiner, &terms[0].end, &end->force));
    TRY(add_read(joiner, &terms[1].end, "a velocity", &end->velocity));
    TRY(check_one_unit(joiner, &terms[0].end, end->velocity));
    end->force_factor = terms[0].factor;
    end->velocity_factor = terms[1].factor;
    return TUTTI_OK;
}

/* "delay=D" */
static enum tutti_err read_value(const struct joiner *joiner, struct part field, const char *key, double *value,
                                 bool *found)
{
    struct part name, number, rest = field;
    *found = next_part(&rest, '=', &name) && name.length == strlen(key) && strncmp(name.text, key, name.length) == 0;
    if (!*found)
        return TUTTI_OK;
    number = part_of(rest.text ? rest.text : "", rest.length);
    return read_number(number, value) && *value > 0
               ? TUTTI_OK
               : refuse(joiner, "%s takes a number greater than 0, not '%.*s'", key, (int)number.length, number.text);
}

static enum tutti_err check_line_units(const struct joiner *joiner, const struct tutti_line *line)
{
    const struct tutti_end *fed = joiner->fed.items, *read = joiner->read.items;
    const struct tutti_line_end *ends = line->ends;
    if (fabs(ends[0].force_factor) == fabs(ends[1].force_factor))
        TRY(check_units(joiner, &fed[ends[0].force], &fed[ends[1].force]));
    if (fabs(ends[0].velocity_factor) == fabs(ends[1].velocity_factor))
        TRY(check_units(joiner, &read[ends[0].velocity], &read[ends[1].velocity]));
    return TUTTI_OK;
}

static enum tutti_err read_line(struct joiner *joiner)
{
    struct tutti_line line = {0};
    struct part rest = joiner->text, field, sides = {0}, left = {0}, right = {0}, more;
    bool is_delay, is_impedance;
    while (next_part(&rest, ';', &field)) {
        TRY(read_value(joiner, field, "delay", &line.delay, &is_delay));
        TRY(read_value(joiner, field, "impedance", &line.impedance, &is_impedance));
        if (is_delay || is_impedance)
            continue;
        if (sides.text)
            return refuse(joiner, "it has two ends, and nothing else than delay=D and impedance=Z; not '%.*s'",
                          (int)field.length, field.text);
        sides = field;
    }
    if (!next_part(&sides, '=', &left) || !next_part(&sides, '=', &right) || next_part(&sides, '=', &more))
        return refuse(joiner, "it takes A.f,A.v=B.f,B.v; delay=D; impedance=Z");
    if (line.delay == 0 || line.impedance == 0)
        return refuse(joiner, "%s is missing", line.delay == 0 ? "delay=D" : "impedance=Z");
    TRY(read_line_end(joiner, left, &line.ends[0]));
    TRY(read_line_end(joiner, right, &line.ends[1]));
    TRY(check_line_units(joiner, &line));
    line.text = tutti_arena_text(&joiner->system->arena, joiner->text.text, joiner->text.length);
    struct tutti_line *kept = line.text ? tutti_vector_push(&joiner->lines, sizeof *kept) : NULL;
    if (!kept)
        return tutti_fail_memory();
    *kept = line;
    return TUTTI_OK;
}

/* ---- constraints ---- */

static void equation_fini(struct equation *equation)
{
    tutti_vector_fini(&equation->ends);
    free(equation->ratios);
    free(equation->offsets);
    *equation = (struct equation){0};
}

static enum tutti_err place_of(struct equation *equation, const struct tutti_end *end, size_t *place)
{
    const struct tutti_end *known = equation->ends.items;
    for (*place = 0; *place < equation->ends.count; ++*place)
        if (known[*place].component == end->component && known[*place].variable == end->variable)
            return TUTTI_OK;
    struct tutti_end *kept = tutti_vector_push(&equation->ends, sizeof *kept);
    if (!kept)
        return tutti_fail_memory();
    *kept = *end;
    return TUTTI_OK;
}

/* One row per '=': what stands before it, less what stands after it. */
static enum tutti_err make_rows(struct equation *equation, const struct side *sides, uint32_t count)
{
    size_t place;
    for (uint32_t s = 0; s < count; s++)
        for (size_t i = 0; i < sides[s].terms.count; i++)
            TRY(place_of(equation, &((const struct term *)sides[s].terms.items)[i].end, &place));
    equation->row_count = count - 1;
    equation->ratios = calloc(equation->row_count * equation->ends.count + 1, sizeof *equation->ratios);
    equation->offsets = calloc((size_t)equation->row_count + 1, sizeof *equation->offsets);
    if (!equation->ratios || !equation->offsets)
        return tutti_fail_memory();
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t r = s > 0 ? s - 1 : 0; r <= s && r < equation->row_count; r++) {
            double sign = r == s ? 1 : -1;
            equation->offsets[r] += sign * sides[s].constant;
            for (size_t i = 0; i < sides[s].terms.count; i++) {
                const struct term *term = &((const struct term *)sides[s].terms.items)[i];
                TRY(place_of(equation, &term->end, &place));
                equation->ratios[r * equation->ends.count + place] += sign * term->factor;
            }
        }
    return TUTTI_OK;
}

enum { MOST_SIDES = 64 };

static enum tutti_err read_equation(const struct joiner *joiner, struct part text, struct equation *equation)
{
    struct side sides[MOST_SIDES] = {0};
    struct part part;
    uint32_t count = 0;
    enum tutti_err err = TUTTI_OK;
    while (!err && next_part(&text, '=', &part)) {
        if (count == MOST_SIDES)
            err = refuse(joiner, "more than %d sides of an equation", MOST_SIDES);
        else
            err = read_side(joiner, part, &sides[count++]);
    }
    if (!err)
        err = make_rows(equation, sides, count);
    for (uint32_t s = 0; s < count; s++)
        tutti_vector_fini(&sides[s].terms);
    return err;
}

/* The units of what is equal. */
static enum tutti_err check_equation(const struct joiner *joiner, const struct equation *equation)
{
    const struct tutti_end *ends = equation->ends.items;
    size_t count = equation->ends.count;
    for (uint32_t r = 0; r < equation->row_count; r++) {
        size_t first = count;
        for (size_t e = 0; e < count; e++) {
            double ratio = equation->ratios[r * count + e];
            if (ratio == 0)
                continue;
            if (first < count && fabs(ratio) == fabs(equation->ratios[r * count + first]))
                TRY(check_units(joiner, &ends[first], &ends[e]));
            first = first < count ? first : e;
        }
    }
    return TUTTI_OK;
}

/* Positions are to move as the velocities say. */
static enum tutti_err check_alike(const struct joiner *joiner, const struct equation *velocities,
                                  const struct equation *positions)
{
    size_t count = (size_t)velocities->row_count * velocities->ends.count;
    bool same = velocities->row_count == positions->row_count && velocities->ends.count == positions->ends.count;
    for (size_t i = 0; same && i < count; i++)
        same = velocities->ratios[i] == positions->ratios[i];
    if (velocities->ends.count == 0)
        return refuse(joiner, "there is nothing to constrain in it");
    for (uint32_t r = 0; r < velocities->row_count; r++)
        if (velocities->offsets[r] != 0)
            return refuse(joiner, "only positions may be apart by a number, not velocities");
    return same ? TUTTI_OK
                : refuse(joiner, "positions and velocities are not constrained alike: the same ends in the same order, "
                                 "with the same ratios");
}

/* "a.f,b.f": one per end, in their order. */
static enum tutti_err read_forces(struct joiner *joiner, struct part text, const struct tutti_constraint *constraint,
                                  uint32_t *forces)
{
    struct part part, all = text;
    uint32_t count = 0;
    while (next_part(&text, ',', &part)) {
        struct tutti_end end;
        bool found = false;
        TRY(find_name(joiner, part, &end, &found));
        if (!found)
            return unknown(joiner, part);
        if (count < constraint->end_count) {
            TRY(check_one_unit(joiner, &end, constraint->velocities[count]));
            TRY(add_fed(joiner, &end, &forces[count]));
        }
        count++;
    }
    return count == constraint->end_count
               ? TUTTI_OK
               : refuse(joiner, "it has %u end%s and the force%s '%.*s': one per end is needed, in the order of ends",
                        constraint->end_count, constraint->end_count == 1 ? "" : "s", count == 1 ? "" : "s",
                        (int)all.length, all.text);
}

static enum tutti_err keep_reads(struct joiner *joiner, const struct equation *equation, const char *what,
                                 uint32_t *places)
{
    for (size_t e = 0; e < equation->ends.count; e++)
        TRY(add_read(joiner, (const struct tutti_end *)equation->ends.items + e, what, &places[e]));
    return check_equation(joiner, equation);
}

static enum tutti_err keep_constraint(struct joiner *joiner, const struct equation *positions,
                                      const struct equation *velocities, struct part forces, double compliance)
{
    struct tutti_arena *arena = &joiner->system->arena;
    size_t count = velocities->ends.count, rows = velocities->row_count;
    uint32_t *places[3];
    for (int i = 0; i < 3; i++)
        places[i] = tutti_arena_array(arena, count, sizeof *places[i]);
    double *ratios = tutti_arena_array(arena, rows * count, sizeof *ratios);
    double *offsets = tutti_arena_array(arena, rows, sizeof *offsets);
    struct tutti_constraint made = {.end_count = (uint32_t)count,
                                    .row_count = (uint32_t)rows,
                                    .forces = places[0],
                                    .velocities = places[1],
                                    .positions = positions ? places[2] : NULL,
                                    .ratios = ratios,
                                    .offsets = offsets,
                                    .compliance = compliance,
                                    .text = tutti_arena_text(arena, joiner->text.text, joiner->text.length)};
    if (!places[0] || !places[1] || !places[2] || !ratios || !offsets || !made.text)
        return tutti_fail_memory();
    memcpy(ratios, velocities->ratios, rows * count * sizeof *ratios);
    if (positions)
        memcpy(offsets, positions->offsets, rows * sizeof *offsets);
    TRY(keep_reads(joiner, velocities, "a velocity", places[1]));
    if (positions)
        TRY(keep_reads(joiner, positions, "a position", places[2]));
    TRY(read_forces(joiner, forces, &made, places[0]));
    struct tutti_constraint *kept = tutti_vector_push(&joiner->constraints, sizeof *kept);
    struct origin *origin = tutti_vector_push(&joiner->origins, sizeof *origin);
    if (!kept || !origin)
        return tutti_fail_memory();
    *kept = made;
    *origin = (struct origin){joiner->text, joiner->file, joiner->line};
    return TUTTI_OK;
}

static enum tutti_err read_equations(struct joiner *joiner, const struct part *fields, int count, struct part forces,
                                     double compliance)
{
    struct equation equations[2] = {0};
    enum tutti_err err = TUTTI_OK;
    for (int i = 0; i < count && !err; i++)
        err = read_equation(joiner, fields[i], &equations[i]);
    if (!err)
        err = check_alike(joiner, &equations[count - 1], &equations[0]);
    if (!err)
        err = keep_constraint(joiner, count == 2 ? &equations[0] : NULL, &equations[count - 1], forces, compliance);
    equation_fini(&equations[0]);
    equation_fini(&equations[1]);
    return err;
}

static enum tutti_err read_constraint(struct joiner *joiner)
{
    struct part rest = joiner->text, field, fields[2], forces = {0};
    double compliance = 0;
    int count = 0;
    while (next_part(&rest, ';', &field)) {
        bool is_compliance;
        TRY(read_value(joiner, field, "compliance", &compliance, &is_compliance));
        if (is_compliance)
            continue;
        bool is_equation = memchr(field.text, '=', field.length) != NULL;
        if ((is_equation && (count == 2 || forces.text)) || (!is_equation && (forces.text || field.length == 0)))
            return refuse(joiner, "it takes A.x=B.x; A.v=B.v; A.f,B.f: positions (or none), velocities, forces; and "
                                  "compliance=E");
        if (is_equation)
            fields[count++] = field;
        else
            forces = field;
    }
    if (count == 0 || !forces.text)
        return refuse(joiner, "%s missing: A.x=B.x; A.v=B.v; A.f,B.f",
                      count == 0 ? "what is to be equal is" : "forces are");
    return read_equations(joiner, fields, count, forces, compliance);
}

/* ---- redundant constraints ---- */

enum { MOST_ROWS = 500 }; /* for so many the test costs little; of more, a run finds what is redundant */

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

static enum tutti_err find_redundant(struct joiner *joiner, double *rows, double **known,
                                     struct tutti_findings *findings)
{
    const struct tutti_constraint *all = joiner->constraints.items;
    size_t columns = joiner->read.count;
    uint32_t known_count = 0;
    for (size_t c = 0; c < joiner->constraints.count; c++)
        for (uint32_t r = 0; r < all[c].row_count; r++, rows += columns) {
            const struct origin *origin = (const struct origin *)joiner->origins.items + c;
            for (uint32_t e = 0; e < all[c].end_count; e++)
                rows[all[c].velocities[e]] += all[c].ratios[r * all[c].end_count + e];
            if (is_independent(rows, known, &known_count, columns))
                continue;
            joiner->option = "--constrain";
            joiner->text = origin->text;
            enum tutti_err err =
                refuse(joiner, "it is redundant: what it says of velocities follows from others, or from itself; "
                               "leave it out");
            if (!origin->file)
                return err;
            tutti_findings_add(findings, TUTTI_FINDING_ERROR, origin->file, origin->line, "%s", tutti_err_message());
        }
    return TUTTI_OK;
}

static enum tutti_err check_redundant(struct joiner *joiner, struct tutti_findings *findings)
{
    const struct tutti_constraint *all = joiner->constraints.items;
    uint32_t count = 0;
    for (size_t c = 0; c < joiner->constraints.count; c++)
        count += all[c].row_count;
    if (count == 0 || count > MOST_ROWS)
        return TUTTI_OK;
    double *rows = calloc((size_t)count * joiner->read.count + 1, sizeof *rows);
    double **known = calloc(count, sizeof(double *));
    enum tutti_err err = rows && known ? find_redundant(joiner, rows, known, findings) : tutti_fail_memory();
    free(rows);
    free(known);
    return err;
}

/* ---- all of them ---- */

/* Several may stand in one text, with | between them: an annotation has no other way. */
static enum tutti_err read_all(struct joiner *joiner, const char *text, struct tutti_findings *findings)
{
    struct part rest = {text, strlen(text)};
    bool line = strcmp(joiner->option, "--tlm") == 0;
    while (next_part(&rest, '|', &joiner->text)) {
        enum tutti_err err = line ? read_line(joiner) : read_constraint(joiner);
        if (err == TUTTI_ERR_ARGUMENT && joiner->file) {
            tutti_findings_add(findings, TUTTI_FINDING_ERROR, joiner->file, joiner->line, "%s", tutti_err_message());
            continue;
        }
        TRY(err);
    }
    return TUTTI_OK;
}

static enum tutti_err read_words(struct joiner *joiner, const char *word, struct tutti_findings *findings)
{
    const struct tutti_system *system = joiner->system;
    for (size_t i = 0; i < system->word_count; i++) {
        if (strcmp(system->words[i].name, word) != 0)
            continue;
        joiner->file = system->words_file;
        joiner->line = system->words[i].line;
        TRY(read_all(joiner, system->words[i].value, findings));
    }
    joiner->file = NULL;
    return TUTTI_OK;
}

static enum tutti_err keep_array(struct tutti_arena *arena, const struct tutti_vector *vector, size_t size, void *out,
                                 uint32_t *count)
{
    void *kept = tutti_arena_array(arena, vector->count, size);
    if (!kept)
        return tutti_fail_memory();
    if (vector->count > 0)
        memcpy(kept, vector->items, vector->count * size);
    memcpy(out, &kept, sizeof kept);
    *count = (uint32_t)vector->count;
    return TUTTI_OK;
}

/* An end feels its own velocity at once: by a connection from the unit to itself, so that every coupling treats that as it treats
 * connections. What arrives from the other end is what the master feeds. */
static enum tutti_err connect_end(struct tutti_system *system, const struct tutti_line *line,
                                  const struct tutti_line_end *end, struct tutti_connection *connection)
{
    struct tutti_conversion *conversion = tutti_arena_alloc(&system->arena, sizeof *conversion);
    if (!conversion)
        return tutti_fail_memory();
    double factor = -end->force_factor * end->velocity_factor * line->impedance;
    *conversion = (struct tutti_conversion){
        .from = TUTTI_TYPE_FLOAT64, .to = TUTTI_TYPE_FLOAT64, .linear = true, .factor = factor};
    *connection = (struct tutti_connection){.from = system->read[end->velocity],
                                            .to = system->fed[end->force],
                                            .conversion = conversion,
                                            .factor = factor,
                                            .adds = true,
                                            .of_line = true};
    return TUTTI_OK;
}

static int compare_destinations(const void *a, const void *b)
{
    const struct tutti_end *x = &((const struct tutti_connection *)a)->to,
                           *y = &((const struct tutti_connection *)b)->to;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->variable < y->variable ? -1 : x->variable > y->variable;
}

/* Connections stay sorted by destination: none had one of these before. */
static enum tutti_err connect_lines(struct tutti_system *system)
{
    uint32_t count = system->connection_count, added = 2 * system->line_count, next = 0;
    struct tutti_connection *own = tutti_arena_array(&system->arena, added, sizeof *own);
    struct tutti_connection *all = tutti_arena_array(&system->arena, (size_t)count + added, sizeof *all);
    if (!own || !all)
        return tutti_fail_memory();
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

static enum tutti_err keep(struct joiner *joiner)
{
    struct tutti_system *system = joiner->system;
    struct tutti_arena *arena = &system->arena;
    TRY(keep_array(arena, &joiner->fed, sizeof *system->fed, &system->fed, &system->fed_count));
    TRY(keep_array(arena, &joiner->read, sizeof *system->read, &system->read, &system->read_count));
    TRY(keep_array(arena, &joiner->lines, sizeof *system->lines, &system->lines, &system->line_count));
    TRY(keep_array(arena, &joiner->constraints, sizeof *system->constraints, &system->constraints,
                   &system->constraint_count));
    return system->line_count > 0 ? connect_lines(system) : TUTTI_OK;
}

static enum tutti_err join(struct joiner *joiner, const struct tutti_system_source *source,
                           struct tutti_findings *findings)
{
    joiner->option = "--tlm";
    TRY(read_words(joiner, "tlm", findings));
    for (size_t i = 0; i < source->tlm_count; i++)
        TRY(read_all(joiner, source->tlms[i], findings));
    joiner->option = "--constrain";
    TRY(read_words(joiner, "constrain", findings));
    for (size_t i = 0; i < source->constrain_count; i++)
        TRY(read_all(joiner, source->constrains[i], findings));
    TRY(check_redundant(joiner, findings));
    return keep(joiner);
}

enum tutti_err tutti_joints_make(struct flat *flat)
{
    struct joiner joiner = {.system = flat->system};
    enum tutti_err err = join(&joiner, flat->source, flat->findings);
    struct tutti_vector *const lists[] = {&joiner.fed, &joiner.read, &joiner.lines, &joiner.constraints,
                                          &joiner.origins};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        tutti_vector_fini(lists[i]);
    return err;
}
