/* SPDX-License-Identifier: MIT */
/* From text to a program, by recursive descent: each rule of the grammar is a function that leaves the code of one value. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/str.h"
#include "expression/program.h"

struct compiler {
    const char *text, *at; /* at: what is not read yet */
    const struct tutti_expression_names *names;
    const char *const *reductions;
    struct tutti_expression *whole,
        *target;   /* target: the expression that code goes to: the whole, or a reduction's argument */
    size_t height; /* of the target's stack, after the code so far */
    int depth;     /* of the rules that are being read */
    char word[TUTTI_EXPRESSION_MAX_TEXT]; /* the name that was read last */
};

static const struct {
    const char *name;
    enum tutti_op op;
    int operands;
    bool smooth;
} functions[] = {
#define UNARY(NAME, name, smooth, value, derivative) {name, TUTTI_OP_##NAME, 1, smooth},
#define BINARY(NAME, name, smooth, value, derivative) {name, TUTTI_OP_##NAME, 2, smooth},
#include "expression/functions.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static unsigned position_of(const struct compiler *c, const char *place)
{
    return (unsigned)(place - c->text) + 1;
}

/* Puts the place in front of this thread's message. */
static enum tutti_err at_place(const struct compiler *c, const char *place, enum tutti_err err)
{
    return tutti_fail_context(err, "'%s', character %u", tutti_str_show(c->text).text, position_of(c, place));
}

#define FAIL_AT(c, place, ...) at_place(c, place, tutti_fail(TUTTI_ERR_ARGUMENT, __VA_ARGS__))

static void skip_space(struct compiler *c)
{
    while (isspace((unsigned char)*c->at))
        c->at++;
}

/* Reads `symbol` if it is next. */
static bool take(struct compiler *c, const char *symbol)
{
    skip_space(c);
    size_t n = strlen(symbol);
    if (strncmp(c->at, symbol, n) != 0)
        return false;
    c->at += n;
    return true;
}

/* One instruction more, which changes the height of the stack by `change`. */
static enum tutti_err emit(struct compiler *c, const char *place, enum tutti_op op, int change,
                           struct tutti_instruction **out)
{
    if (c->target->code.count >= TUTTI_EXPRESSION_MAX_CODE)
        return (void)at_place(
                   c, place,
                   tutti_fail(TUTTI_ERR_LIMIT, "the expression has more than %d parts", TUTTI_EXPRESSION_MAX_CODE)),
               TUTTI_ERR_LIMIT;
    c->height += (size_t)change;
    if (c->height > TUTTI_EXPRESSION_MAX_DEPTH)
        return (void)at_place(c, place,
                              tutti_fail(TUTTI_ERR_LIMIT, "the expression is nested more than %d deep",
                                         TUTTI_EXPRESSION_MAX_DEPTH)),
               TUTTI_ERR_LIMIT;
    struct tutti_instruction *instruction = tutti_vector_push(&c->target->code, sizeof *instruction);
    if (!instruction)
        return (void)tutti_fail_memory(), TUTTI_ERR_MEMORY;
    instruction->op = op;
    instruction->position = position_of(c, place);
    if (out)
        *out = instruction;
    return TUTTI_OK;
}

static enum tutti_err emit_number(struct compiler *c, const char *place, double number)
{
    struct tutti_instruction *instruction;
    TRY(emit(c, place, TUTTI_OP_NUMBER, 1, &instruction));
    instruction->u.number = number;
    return TUTTI_OK;
}

/* A jump, whose target land() tells later; *jump is its index. */
static enum tutti_err emit_jump(struct compiler *c, const char *place, enum tutti_op op, size_t *jump)
{
    *jump = c->target->code.count;
    return emit(c, place, op, op == TUTTI_OP_UNLESS ? -1 : 0, NULL);
}

static void land(struct compiler *c, size_t jump)
{
    struct tutti_instruction *code = c->target->code.items;
    code[jump].u.index = c->target->code.count;
}

static enum tutti_err read_choice(struct compiler *c);
static enum tutti_err read_factor(struct compiler *c);

/* A rule inside of another one. */
static enum tutti_err nested(struct compiler *c, enum tutti_err (*rule)(struct compiler *))
{
    if (++c->depth > TUTTI_EXPRESSION_MAX_DEPTH)
        return at_place(
            c, c->at,
            tutti_fail(TUTTI_ERR_LIMIT, "the expression is nested more than %d deep", TUTTI_EXPRESSION_MAX_DEPTH));
    TRY(rule(c));
    c->depth--;
    return TUTTI_OK;
}

static enum tutti_err read_number(struct compiler *c)
{
    const char *begin = c->at, *end = begin;
    while (isdigit((unsigned char)*end) || *end == '.')
        end++;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        if (isdigit((unsigned char)*exponent))
            for (end = exponent; isdigit((unsigned char)*end);)
                end++;
    }
    double number;
    if (!tutti_number_read_double(begin, (size_t)(end - begin), &number))
        return FAIL_AT(c, begin, "'%.*s' is not a number", (int)(end - begin), begin);
    c->at = end;
    return emit_number(c, begin, number);
}

static bool begins_name(char character)
{
    return isalpha((unsigned char)character) || character == '_' || (unsigned char)character >= 0x80;
}

/* The end of a group that begins at `begin` with `open` and has no other in it; NULL: it does not end. */
static const char *end_of_group(const char *begin, char open, char close)
{
    int level = 0;
    for (const char *at = begin; *at; at++) {
        level += (*at == open) - (*at == close);
        if (level == 0)
            return at + 1;
    }
    return NULL;
}

/* A name without quotes, to c->word: letters, digits, dots, indices; der(...) is a name as a whole. */
static enum tutti_err read_plain_name(struct compiler *c)
{
    const char *begin = c->at;
    while (begins_name(*c->at) || isdigit((unsigned char)*c->at) || *c->at == '.' || *c->at == '[') {
        const char *end = *c->at == '[' ? end_of_group(c->at, '[', ']') : c->at + 1;
        if (!end)
            return FAIL_AT(c, c->at, "'[' has no ']'");
        c->at = end;
    }
    if (c->at - begin == 3 && strncmp(begin, "der", 3) == 0 && *c->at == '(') {
        const char *end = end_of_group(c->at, '(', ')');
        if (!end)
            return FAIL_AT(c, c->at, "'(' has no ')'");
        c->at = end;
    }
    memcpy(c->word, begin, (size_t)(c->at - begin));
    c->word[c->at - begin] = '\0';
    return TUTTI_OK;
}

static enum tutti_err read_quoted_name(struct compiler *c)
{
    const char *begin = c->at++;
    size_t n = 0;
    while (*c->at != '"') {
        if (*c->at == '\\' && (c->at[1] == '"' || c->at[1] == '\\'))
            c->at++;
        if (!*c->at)
            return FAIL_AT(c, begin, "the name that begins here has no second \"");
        c->word[n++] = *c->at++;
    }
    c->at++;
    c->word[n] = '\0';
    return TUTTI_OK;
}

/* The name in c->word as a value. */
static enum tutti_err use_name(struct compiler *c, const char *place)
{
    if (c->reductions && c->target == c->whole)
        return FAIL_AT(c, place, "'%s' has many values in a run: say of which one you want, as in %s(%s)",
                       tutti_str_show(c->word).text, c->reductions[0], tutti_str_show(c->word).text);
    size_t index = 0;
    enum tutti_err err = c->names->find(c->names->context, c->word, &index);
    if (err)
        return at_place(c, place, err);
    struct tutti_instruction *instruction;
    TRY(emit(c, place, TUTTI_OP_NAME, 1, &instruction));
    instruction->u.index = index;
    return TUTTI_OK;
}

/* The argument of a reduction becomes an expression of its own, and the reduction a name in the whole. */
static enum tutti_err read_reduction(struct compiler *c, const char *place, size_t kind)
{
    if (c->target != c->whole)
        return FAIL_AT(c, place, "'%s' stands inside of another function of the whole run; that is not possible",
                       c->reductions[kind]);
    size_t index = c->whole->reductions.count;
    struct tutti_reduction *reduction = tutti_vector_push(&c->whole->reductions, sizeof *reduction);
    struct tutti_expression *argument = reduction ? calloc(1, sizeof *argument) : NULL;
    if (!argument)
        return tutti_fail_memory();
    *reduction = (struct tutti_reduction){kind, argument};
    argument->smooth = true;
    argument->text = tutti_str_copy(c->text);
    if (!argument->text)
        return tutti_fail_memory();
    size_t height = c->height;
    c->target = argument;
    c->height = 0;
    TRY(nested(c, read_choice));
    c->target = c->whole;
    c->height = height;
    struct tutti_instruction *instruction;
    TRY(emit(c, place, TUTTI_OP_NAME, 1, &instruction));
    instruction->u.index = index;
    return TUTTI_OK;
}

/* How many arguments the function whose '(' was just read has: commas outside of further brackets and of quotes, and one. */
static int count_arguments(const char *at)
{
    int level = 0, count = 1;
    bool quoted = false;
    for (; *at && level >= 0; at++) {
        if (quoted && *at == '\\' && at[1])
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted) {
            level += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
            count += *at == ',' && level == 0;
        }
    }
    return count;
}

/* The arguments and the ')' of functions[f], whose '(' is read. */
static enum tutti_err read_arguments(struct compiler *c, const char *place, size_t f)
{
    bool joins = functions[f].op == TUTTI_OP_MIN || functions[f].op == TUTTI_OP_MAX;
    int count = 0;
    do {
        TRY(nested(c, read_choice));
        if (++count > 1 && (joins || count == functions[f].operands))
            TRY(emit(c, place, functions[f].op, -1, NULL));
    } while ((joins || count < functions[f].operands) && take(c, ","));
    if (count < functions[f].operands)
        return FAIL_AT(c, place, "%s takes %d arguments%s", functions[f].name, functions[f].operands,
                       joins ? " or more" : "");
    if (functions[f].operands == 1)
        TRY(emit(c, place, functions[f].op, 0, NULL));
    skip_space(c);
    if (*c->at == ',')
        return FAIL_AT(c, c->at, "%s takes %d argument%s", functions[f].name, functions[f].operands,
                       functions[f].operands == 1 ? "" : "s");
    c->target->smooth = c->target->smooth && functions[f].smooth;
    return TUTTI_OK;
}

static enum tutti_err fail_no_function(struct compiler *c, const char *place)
{
    struct tutti_nearest nearest = {.wanted = c->word};
    for (size_t f = 0; f < FUNCTIONS; f++)
        tutti_nearest_offer(&nearest, functions[f].name);
    for (size_t i = 0; c->reductions && c->reductions[i]; i++)
        tutti_nearest_offer(&nearest, c->reductions[i]);
    return FAIL_AT(c, place, "there is no function '%s'%s", tutti_str_show(c->word).text,
                   tutti_nearest_hint(nearest.best).text);
}

/* The name in c->word, with '(' after it: read. */
static enum tutti_err read_call(struct compiler *c, const char *place)
{
    size_t f = 0, kind = 0;
    while (f < FUNCTIONS && strcmp(functions[f].name, c->word) != 0)
        f++;
    while (c->reductions && c->reductions[kind] && strcmp(c->reductions[kind], c->word) != 0)
        kind++;
    bool reduces = c->reductions && c->reductions[kind];
    if (reduces && (f == FUNCTIONS || count_arguments(c->at) == 1))
        TRY(read_reduction(c, place, kind));
    else if (f < FUNCTIONS)
        TRY(read_arguments(c, place, f));
    else
        return fail_no_function(c, place);
    if (!take(c, ")"))
        return FAIL_AT(c, c->at, "')' is missing here");
    return TUTTI_OK;
}

static enum tutti_err read_primary(struct compiler *c)
{
    skip_space(c);
    const char *place = c->at;
    if (take(c, "(")) {
        TRY(nested(c, read_choice));
        return take(c, ")") ? TUTTI_OK
                            : FAIL_AT(c, c->at, "')' is missing here: '(' is character %u", position_of(c, place));
    }
    if (*c->at == '"') {
        TRY(read_quoted_name(c));
        return use_name(c, place);
    }
    if (begins_name(*c->at)) {
        TRY(read_plain_name(c));
        if (take(c, "("))
            return read_call(c, place);
        if (strcmp(c->word, "pi") == 0)
            return emit_number(c, place, 3.14159265358979323846);
        return use_name(c, place);
    }
    if (isdigit((unsigned char)*c->at) || *c->at == '.')
        return read_number(c);
    return *c->at ? FAIL_AT(c, c->at, "a number, a name or '(' is wanted here, not '%.*s'",
                            (int)tutti_str_utf8_length(c->at), c->at)
                  : FAIL_AT(c, c->at, "the expression ends where a number, a name or '(' is wanted");
}

static enum tutti_err read_power(struct compiler *c)
{
    TRY(read_primary(c));
    skip_space(c);
    const char *place = c->at;
    if (!take(c, "^"))
        return TUTTI_OK;
    TRY(nested(c, read_factor));
    return emit(c, place, TUTTI_OP_POW, -1, NULL);
}

static enum tutti_err read_factor(struct compiler *c)
{
    skip_space(c);
    const char *place = c->at;
    if (take(c, "+"))
        return nested(c, read_factor);
    bool negates = take(c, "-");
    if (!negates && !(strncmp(c->at, "!=", 2) != 0 && take(c, "!")))
        return read_power(c);
    TRY(nested(c, read_factor));
    c->target->smooth = c->target->smooth && negates;
    return emit(c, place, negates ? TUTTI_OP_NEGATE : TUTTI_OP_NOT, 0, NULL);
}

static enum tutti_err read_product(struct compiler *c)
{
    TRY(read_factor(c));
    for (;;) {
        skip_space(c);
        const char *place = c->at;
        bool multiplies = take(c, "*");
        if (!multiplies && !take(c, "/"))
            return TUTTI_OK;
        TRY(read_factor(c));
        TRY(emit(c, place, multiplies ? TUTTI_OP_MULTIPLY : TUTTI_OP_DIVIDE, -1, NULL));
    }
}

static enum tutti_err read_sum(struct compiler *c)
{
    TRY(read_product(c));
    for (;;) {
        skip_space(c);
        const char *place = c->at;
        bool adds = take(c, "+");
        if (!adds && !take(c, "-"))
            return TUTTI_OK;
        TRY(read_product(c));
        TRY(emit(c, place, adds ? TUTTI_OP_ADD : TUTTI_OP_SUBTRACT, -1, NULL));
    }
}

/* Reads a sign of comparison if one is next. */
static bool take_relation(struct compiler *c, enum tutti_op *op)
{
    static const struct {
        const char *symbol;
        enum tutti_op op;
    } relations[] = {{"<=", TUTTI_OP_AT_MOST},   {">=", TUTTI_OP_AT_LEAST}, {"==", TUTTI_OP_EQUAL},
                     {"!=", TUTTI_OP_DIFFERENT}, {"<", TUTTI_OP_LESS},      {">", TUTTI_OP_MORE}};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (take(c, relations[i].symbol)) {
            *op = relations[i].op;
            return true;
        }
    return false;
}

static enum tutti_err read_relation(struct compiler *c)
{
    TRY(read_sum(c));
    skip_space(c);
    const char *place = c->at;
    enum tutti_op op, second;
    if (!take_relation(c, &op))
        return TUTTI_OK;
    TRY(read_sum(c));
    c->target->smooth = false;
    TRY(emit(c, place, op, -1, NULL));
    skip_space(c);
    place = c->at;
    return take_relation(c, &second) ? FAIL_AT(c, place, "comparisons do not chain: write a < b && b < c") : TUTTI_OK;
}

/* a && b is `a ? b != 0 : 0`, a || b is `a ? 1 : b != 0`: the second is evaluated only where it counts. */
static enum tutti_err read_both(struct compiler *c)
{
    TRY(read_relation(c));
    for (;;) {
        skip_space(c);
        const char *place = c->at;
        if (!take(c, "&&"))
            return TUTTI_OK;
        c->target->smooth = false;
        size_t unless, over;
        TRY(emit_jump(c, place, TUTTI_OP_UNLESS, &unless));
        TRY(read_relation(c));
        TRY(emit(c, place, TUTTI_OP_TRUTH, 0, NULL));
        TRY(emit_jump(c, place, TUTTI_OP_GO, &over));
        land(c, unless);
        c->height--;
        TRY(emit_number(c, place, 0));
        land(c, over);
    }
}

static enum tutti_err read_either(struct compiler *c)
{
    TRY(read_both(c));
    for (;;) {
        skip_space(c);
        const char *place = c->at;
        if (!take(c, "||"))
            return TUTTI_OK;
        c->target->smooth = false;
        size_t unless, over;
        TRY(emit_jump(c, place, TUTTI_OP_UNLESS, &unless));
        TRY(emit_number(c, place, 1));
        TRY(emit_jump(c, place, TUTTI_OP_GO, &over));
        land(c, unless);
        c->height--;
        TRY(read_both(c));
        TRY(emit(c, place, TUTTI_OP_TRUTH, 0, NULL));
        land(c, over);
    }
}

static enum tutti_err read_choice(struct compiler *c)
{
    TRY(read_either(c));
    skip_space(c);
    const char *place = c->at;
    if (!take(c, "?"))
        return TUTTI_OK;
    c->target->smooth = false;
    size_t unless, over;
    TRY(emit_jump(c, place, TUTTI_OP_UNLESS, &unless));
    TRY(nested(c, read_choice));
    if (!take(c, ":"))
        return FAIL_AT(c, c->at, "':' is missing here: '?' is character %u", position_of(c, place));
    TRY(emit_jump(c, place, TUTTI_OP_GO, &over));
    land(c, unless);
    c->height--;
    TRY(nested(c, read_choice));
    land(c, over);
    return TUTTI_OK;
}

static enum tutti_err compile(struct compiler *c)
{
    TRY(read_choice(c));
    skip_space(c);
    if (!*c->at)
        return TUTTI_OK;
    return FAIL_AT(c, c->at, *c->at == ')' ? "')' without '('" : "an operator is wanted here, or the end");
}

enum tutti_err tutti_expression_new(struct tutti_expression **out, const char *text,
                                    const struct tutti_expression_names *names, const char *const *reductions)
{
    if (strlen(text) >= TUTTI_EXPRESSION_MAX_TEXT)
        return tutti_fail(TUTTI_ERR_LIMIT, "'%s': an expression has at most %d characters", tutti_str_show(text).text,
                          TUTTI_EXPRESSION_MAX_TEXT - 1);
    struct compiler *c = calloc(1, sizeof *c);
    struct tutti_expression *whole = calloc(1, sizeof *whole);
    char *copy = tutti_str_copy(text);
    if (!c || !whole || !copy) {
        free(c);
        free(whole);
        free(copy);
        return tutti_fail_memory();
    }
    *whole = (struct tutti_expression){.text = copy, .smooth = true};
    *c = (struct compiler){
        .text = copy, .at = copy, .names = names, .reductions = reductions, .whole = whole, .target = whole};
    enum tutti_err err = compile(c);
    free(c);
    if (err) {
        tutti_expression_free(whole);
        return err;
    }
    *out = whole;
    return TUTTI_OK;
}

void tutti_expression_free(struct tutti_expression *expression)
{
    if (!expression)
        return;
    struct tutti_reduction *reductions = expression->reductions.items;
    for (size_t i = 0; i < expression->reductions.count; i++)
        tutti_expression_free(reductions[i].argument); /* NOLINT(misc-no-recursion): reductions have none in them */
    tutti_vector_fini(&expression->reductions);
    tutti_vector_fini(&expression->code);
    free(expression->text);
    free(expression);
}

const char *tutti_expression_text(const struct tutti_expression *expression)
{
    return expression->text;
}

bool tutti_expression_is_smooth(const struct tutti_expression *expression)
{
    return expression->smooth;
}

size_t tutti_expression_reductions(const struct tutti_expression *expression)
{
    return expression->reductions.count;
}

const struct tutti_expression *tutti_expression_reduction(const struct tutti_expression *expression, size_t i,
                                                          size_t *kind)
{
    const struct tutti_reduction *reductions = expression->reductions.items;
    *kind = reductions[i].kind;
    return reductions[i].argument;
}

const char *tutti_expression_functions(void)
{
    return ""
#define UNARY(NAME, name, smooth, value, derivative) name "(x) "
#define BINARY(NAME, name, smooth, value, derivative) name "(x, y) "
#include "expression/functions.def"
        ;
}
