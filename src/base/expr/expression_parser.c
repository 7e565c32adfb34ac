/* SPDX-License-Identifier: MIT */
/* From text to a program, by recursive descent: each rule of the grammar is a function that leaves the code of one value. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/number.h"
#include "base/expr/bytecode.h"

struct expression_compiler {
    const char *text, *at; /* at: what is not read yet */
    const struct tt_expression_names *names;
    const char *const *reductions;
    struct tt_expression *whole,
        *target;   /* target: the expression that code goes to: the whole, or a reduction's argument */
    size_t height; /* of the target's stack, after the code so far */
    int depth;     /* of the rules that are being read */
    char word[TUTTI_EXPRESSION_MAX_TEXT]; /* the name that was read last */
};

static const struct {
    const char *name;
    enum tt_op op;
    int operands;
    bool smooth;
} functions[] = {
#define UNARY(NAME, name, smooth, value, derivative) {name, TUTTI_OP_##NAME, 1, smooth},
#define BINARY(NAME, name, smooth, value, derivative) {name, TUTTI_OP_##NAME, 2, smooth},
#include "base/expr/functions.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static unsigned expression_position(const struct expression_compiler *c, const char *place)
{
    return (unsigned)(place - c->text) + 1;
}

/* Puts the place in front of this thread's message. */
static enum tutti_err add_place_to_message(const struct expression_compiler *c, const char *place, enum tutti_err err)
{
    return tt_fail_context(err, "'%s', character %u", tt_text_excerpt(c->text).text, expression_position(c, place));
}

#define FAIL_AT(c, place, ...) add_place_to_message(c, place, tt_fail(TUTTI_ERR_ARGUMENT, __VA_ARGS__))

static void skip_space(struct expression_compiler *c)
{
    while (isspace((unsigned char)*c->at))
        c->at++;
}

static bool accept_symbol(struct expression_compiler *c, const char *symbol)
{
    skip_space(c);
    size_t n = strlen(symbol);
    if (strncmp(c->at, symbol, n) != 0)
        return false;
    c->at += n;
    return true;
}

/* One instruction more, which changes the height of the stack by `change`. */
static enum tutti_err emit_instruction(struct expression_compiler *c, const char *place, enum tt_op op, int change,
                                       struct tt_instruction **out)
{
    if (c->target->code.count >= TUTTI_EXPRESSION_MAX_CODE)
        return (void)add_place_to_message(
                   c, place,
                   tt_fail(TUTTI_ERR_LIMIT, "the expression has more than %d parts", TUTTI_EXPRESSION_MAX_CODE)),
               TUTTI_ERR_LIMIT;
    c->height += (size_t)change;
    if (c->height > TUTTI_EXPRESSION_MAX_DEPTH)
        return (void)add_place_to_message(
                   c, place,
                   tt_fail(TUTTI_ERR_LIMIT, "the expression is nested more than %d deep", TUTTI_EXPRESSION_MAX_DEPTH)),
               TUTTI_ERR_LIMIT;
    struct tt_instruction *instruction = tt_vector_push(&c->target->code, sizeof *instruction);
    if (!instruction)
        return (void)tt_fail_memory(), TUTTI_ERR_MEMORY;
    instruction->op = op;
    instruction->position = expression_position(c, place);
    if (out)
        *out = instruction;
    return TUTTI_OK;
}

static enum tutti_err emit_number(struct expression_compiler *c, const char *place, double number)
{
    struct tt_instruction *instruction;
    TRY(emit_instruction(c, place, TUTTI_OP_NUMBER, 1, &instruction));
    instruction->u.number = number;
    return TUTTI_OK;
}

/* Emits a jump; *jump is its index. set_jump_target() sets the target later. */
static enum tutti_err emit_jump(struct expression_compiler *c, const char *place, enum tt_op op, size_t *jump)
{
    *jump = c->target->code.count;
    return emit_instruction(c, place, op, op == TUTTI_OP_UNLESS ? -1 : 0, NULL);
}

static void set_jump_target(struct expression_compiler *c, size_t jump)
{
    struct tt_instruction *code = c->target->code.items;
    code[jump].u.index = c->target->code.count;
}

static enum tutti_err parse_conditional(struct expression_compiler *c);
static enum tutti_err parse_factor(struct expression_compiler *c);

static enum tutti_err parse_nested(struct expression_compiler *c, enum tutti_err (*rule)(struct expression_compiler *))
{
    if (++c->depth > TUTTI_EXPRESSION_MAX_DEPTH)
        return add_place_to_message(
            c, c->at,
            tt_fail(TUTTI_ERR_LIMIT, "the expression is nested more than %d deep", TUTTI_EXPRESSION_MAX_DEPTH));
    TRY(rule(c));
    c->depth--;
    return TUTTI_OK;
}

static enum tutti_err expression_parse_number(struct expression_compiler *c)
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
    if (!tt_number_read_double(begin, (size_t)(end - begin), &number))
        return FAIL_AT(c, begin, "'%.*s' is not a number", (int)(end - begin), begin);
    c->at = end;
    return emit_number(c, begin, number);
}

static bool is_name_start(char character)
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
static enum tutti_err parse_plain_name(struct expression_compiler *c)
{
    const char *begin = c->at;
    while (is_name_start(*c->at) || isdigit((unsigned char)*c->at) || *c->at == '.' || *c->at == '[') {
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

static enum tutti_err parse_quoted_name(struct expression_compiler *c)
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
static enum tutti_err emit_name(struct expression_compiler *c, const char *place)
{
    if (c->reductions && c->target == c->whole)
        return FAIL_AT(c, place, "'%s' has many values in a run: say of which one you want, as in %s(%s)",
                       tt_text_excerpt(c->word).text, c->reductions[0], tt_text_excerpt(c->word).text);
    size_t index = 0;
    enum tutti_err err = c->names->find(c->names->context, c->word, &index);
    if (err)
        return add_place_to_message(c, place, err);
    struct tt_instruction *instruction;
    TRY(emit_instruction(c, place, TUTTI_OP_NAME, 1, &instruction));
    instruction->u.index = index;
    return TUTTI_OK;
}

/* Compiles the argument of a reduction as a separate expression; the reduction becomes a name in the outer expression. */
static enum tutti_err parse_reduction(struct expression_compiler *c, const char *place, size_t kind)
{
    if (c->target != c->whole)
        return FAIL_AT(c, place, "'%s' stands inside of another function of the whole run; that is not possible",
                       c->reductions[kind]);
    size_t index = c->whole->reductions.count;
    struct tt_reduction *reduction = tt_vector_push(&c->whole->reductions, sizeof *reduction);
    struct tt_expression *argument = reduction ? calloc(1, sizeof *argument) : NULL;
    if (!argument)
        return tt_fail_memory();
    *reduction = (struct tt_reduction){kind, argument};
    argument->smooth = true;
    argument->text = tt_text_copy(c->text);
    if (!argument->text)
        return tt_fail_memory();
    size_t height = c->height;
    c->target = argument;
    c->height = 0;
    TRY(parse_nested(c, parse_conditional));
    c->target = c->whole;
    c->height = height;
    struct tt_instruction *instruction;
    TRY(emit_instruction(c, place, TUTTI_OP_NAME, 1, &instruction));
    instruction->u.index = index;
    return TUTTI_OK;
}

/* Counts the arguments of the function whose '(' was just read, by the commas outside nested brackets and quotes. */
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
static enum tutti_err parse_arguments(struct expression_compiler *c, const char *place, size_t f)
{
    bool joins = functions[f].op == TUTTI_OP_MIN || functions[f].op == TUTTI_OP_MAX;
    int count = 0;
    do {
        TRY(parse_nested(c, parse_conditional));
        if (++count > 1 && (joins || count == functions[f].operands))
            TRY(emit_instruction(c, place, functions[f].op, -1, NULL));
    } while ((joins || count < functions[f].operands) && accept_symbol(c, ","));
    if (count < functions[f].operands)
        return FAIL_AT(c, place, "%s takes %d arguments%s", functions[f].name, functions[f].operands,
                       joins ? " or more" : "");
    if (functions[f].operands == 1)
        TRY(emit_instruction(c, place, functions[f].op, 0, NULL));
    skip_space(c);
    if (*c->at == ',')
        return FAIL_AT(c, c->at, "%s takes %d argument%s", functions[f].name, functions[f].operands,
                       functions[f].operands == 1 ? "" : "s");
    c->target->smooth = c->target->smooth && functions[f].smooth;
    return TUTTI_OK;
}

/* The name in c->word, with '(' after it: read. */
static enum tutti_err parse_call(struct expression_compiler *c, const char *place)
{
    size_t f = 0, kind = 0;
    while (f < FUNCTIONS && strcmp(functions[f].name, c->word) != 0)
        f++;
    while (c->reductions && c->reductions[kind] && strcmp(c->reductions[kind], c->word) != 0)
        kind++;
    bool reduces = c->reductions && c->reductions[kind];
    if (reduces && (f == FUNCTIONS || count_arguments(c->at) == 1))
        TRY(parse_reduction(c, place, kind));
    else if (f < FUNCTIONS)
        TRY(parse_arguments(c, place, f));
    else {
        struct tt_text_nearest nearest = {.wanted = c->word};
        for (f = 0; f < FUNCTIONS; f++)
            tt_text_nearest_offer(&nearest, functions[f].name);
        for (size_t i = 0; c->reductions && c->reductions[i]; i++)
            tt_text_nearest_offer(&nearest, c->reductions[i]);
        return FAIL_AT(c, place, "there is no function '%s'%s", tt_text_excerpt(c->word).text,
                       tt_text_suggest(nearest.best).text);
    }
    if (!accept_symbol(c, ")"))
        return FAIL_AT(c, c->at, "')' is missing here");
    return TUTTI_OK;
}

static enum tutti_err parse_primary(struct expression_compiler *c)
{
    skip_space(c);
    const char *place = c->at;
    if (accept_symbol(c, "(")) {
        TRY(parse_nested(c, parse_conditional));
        return accept_symbol(c, ")")
                   ? TUTTI_OK
                   : FAIL_AT(c, c->at, "')' is missing here: '(' is character %u", expression_position(c, place));
    }
    if (*c->at == '"') {
        TRY(parse_quoted_name(c));
        return emit_name(c, place);
    }
    if (is_name_start(*c->at)) {
        TRY(parse_plain_name(c));
        if (accept_symbol(c, "("))
            return parse_call(c, place);
        if (strcmp(c->word, "pi") == 0)
            return emit_number(c, place, 3.14159265358979323846);
        return emit_name(c, place);
    }
    if (isdigit((unsigned char)*c->at) || *c->at == '.')
        return expression_parse_number(c);
    return *c->at ? FAIL_AT(c, c->at, "a number, a name or '(' is wanted here, not '%.*s'",
                            (int)tt_text_utf8_length(c->at), c->at)
                  : FAIL_AT(c, c->at, "the expression ends where a number, a name or '(' is wanted");
}

static enum tutti_err parse_factor(struct expression_compiler *c)
{
    skip_space(c);
    const char *place = c->at;
    if (accept_symbol(c, "+"))
        return parse_nested(c, parse_factor);
    bool negates = accept_symbol(c, "-");
    if (!negates && !(strncmp(c->at, "!=", 2) != 0 && accept_symbol(c, "!"))) {
        TRY(parse_primary(c));
        skip_space(c);
        place = c->at;
        if (!accept_symbol(c, "^"))
            return TUTTI_OK;
        TRY(parse_nested(c, parse_factor));
        return emit_instruction(c, place, TUTTI_OP_POW, -1, NULL);
    }
    TRY(parse_nested(c, parse_factor));
    c->target->smooth = c->target->smooth && negates;
    return emit_instruction(c, place, negates ? TUTTI_OP_NEGATE : TUTTI_OP_NOT, 0, NULL);
}

static enum tutti_err parse_product(struct expression_compiler *c)
{
    TRY(parse_factor(c));
    for (;;) {
        skip_space(c);
        const char *place = c->at;
        bool multiplies = accept_symbol(c, "*");
        if (!multiplies && !accept_symbol(c, "/"))
            return TUTTI_OK;
        TRY(parse_factor(c));
        TRY(emit_instruction(c, place, multiplies ? TUTTI_OP_MULTIPLY : TUTTI_OP_DIVIDE, -1, NULL));
    }
}

static enum tutti_err parse_sum(struct expression_compiler *c)
{
    TRY(parse_product(c));
    for (;;) {
        skip_space(c);
        const char *place = c->at;
        bool adds = accept_symbol(c, "+");
        if (!adds && !accept_symbol(c, "-"))
            return TUTTI_OK;
        TRY(parse_product(c));
        TRY(emit_instruction(c, place, adds ? TUTTI_OP_ADD : TUTTI_OP_SUBTRACT, -1, NULL));
    }
}

static bool accept_relation(struct expression_compiler *c, enum tt_op *op)
{
    static const struct {
        const char *symbol;
        enum tt_op op;
    } relations[] = {{"<=", TUTTI_OP_AT_MOST},   {">=", TUTTI_OP_AT_LEAST}, {"==", TUTTI_OP_EQUAL},
                     {"!=", TUTTI_OP_DIFFERENT}, {"<", TUTTI_OP_LESS},      {">", TUTTI_OP_MORE}};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (accept_symbol(c, relations[i].symbol)) {
            *op = relations[i].op;
            return true;
        }
    return false;
}

static enum tutti_err parse_relation(struct expression_compiler *c)
{
    TRY(parse_sum(c));
    skip_space(c);
    const char *place = c->at;
    enum tt_op op, second;
    if (!accept_relation(c, &op))
        return TUTTI_OK;
    TRY(parse_sum(c));
    c->target->smooth = false;
    TRY(emit_instruction(c, place, op, -1, NULL));
    skip_space(c);
    place = c->at;
    return accept_relation(c, &second) ? FAIL_AT(c, place, "comparisons do not chain: write a < b && b < c") : TUTTI_OK;
}

/* a && b is `a ? b != 0 : 0`, a || b is `a ? 1 : b != 0`: the second operand is evaluated only if it matters. */
static enum tutti_err parse_conjunction(struct expression_compiler *c)
{
    TRY(parse_relation(c));
    for (;;) {
        skip_space(c);
        const char *place = c->at;
        if (!accept_symbol(c, "&&"))
            return TUTTI_OK;
        c->target->smooth = false;
        size_t unless, over;
        TRY(emit_jump(c, place, TUTTI_OP_UNLESS, &unless));
        TRY(parse_relation(c));
        TRY(emit_instruction(c, place, TUTTI_OP_TRUTH, 0, NULL));
        TRY(emit_jump(c, place, TUTTI_OP_GO, &over));
        set_jump_target(c, unless);
        c->height--;
        TRY(emit_number(c, place, 0));
        set_jump_target(c, over);
    }
}

static enum tutti_err parse_disjunction(struct expression_compiler *c)
{
    TRY(parse_conjunction(c));
    for (;;) {
        skip_space(c);
        const char *place = c->at;
        if (!accept_symbol(c, "||"))
            return TUTTI_OK;
        c->target->smooth = false;
        size_t unless, over;
        TRY(emit_jump(c, place, TUTTI_OP_UNLESS, &unless));
        TRY(emit_number(c, place, 1));
        TRY(emit_jump(c, place, TUTTI_OP_GO, &over));
        set_jump_target(c, unless);
        c->height--;
        TRY(parse_conjunction(c));
        TRY(emit_instruction(c, place, TUTTI_OP_TRUTH, 0, NULL));
        set_jump_target(c, over);
    }
}

static enum tutti_err parse_conditional(struct expression_compiler *c)
{
    TRY(parse_disjunction(c));
    skip_space(c);
    const char *place = c->at;
    if (!accept_symbol(c, "?"))
        return TUTTI_OK;
    c->target->smooth = false;
    size_t unless, over;
    TRY(emit_jump(c, place, TUTTI_OP_UNLESS, &unless));
    TRY(parse_nested(c, parse_conditional));
    if (!accept_symbol(c, ":"))
        return FAIL_AT(c, c->at, "':' is missing here: '?' is character %u", expression_position(c, place));
    TRY(emit_jump(c, place, TUTTI_OP_GO, &over));
    set_jump_target(c, unless);
    c->height--;
    TRY(parse_nested(c, parse_conditional));
    set_jump_target(c, over);
    return TUTTI_OK;
}

enum tutti_err tt_expression_new(struct tt_expression **out, const char *text, const struct tt_expression_names *names,
                                 const char *const *reductions)
{
    if (strlen(text) >= TUTTI_EXPRESSION_MAX_TEXT)
        return tt_fail(TUTTI_ERR_LIMIT, "'%s': an expression has at most %d characters", tt_text_excerpt(text).text,
                       TUTTI_EXPRESSION_MAX_TEXT - 1);
    struct expression_compiler *c = calloc(1, sizeof *c);
    struct tt_expression *whole = calloc(1, sizeof *whole);
    char *copy = tt_text_copy(text);
    if (!c || !whole || !copy) {
        free(c);
        free(whole);
        free(copy);
        return tt_fail_memory();
    }
    *whole = (struct tt_expression){.text = copy, .smooth = true};
    *c = (struct expression_compiler){
        .text = copy, .at = copy, .names = names, .reductions = reductions, .whole = whole, .target = whole};
    enum tutti_err err = parse_conditional(c);
    if (!err) {
        skip_space(c);
        if (*c->at)
            err = FAIL_AT(c, c->at, *c->at == ')' ? "')' without '('" : "an operator is wanted here, or the end");
    }
    free(c);
    if (err) {
        tt_expression_free(whole);
        return err;
    }
    *out = whole;
    return TUTTI_OK;
}

void tt_expression_free(struct tt_expression *expression)
{
    if (!expression)
        return;
    struct tt_reduction *reductions = expression->reductions.items;
    for (size_t i = 0; i < expression->reductions.count; i++)
        tt_expression_free(reductions[i].argument); /* NOLINT(misc-no-recursion): reductions have none in them */
    tt_vector_fini(&expression->reductions);
    tt_vector_fini(&expression->code);
    free(expression->text);
    free(expression);
}

const char *tt_expression_text(const struct tt_expression *expression)
{
    return expression->text;
}

bool tt_expression_is_smooth(const struct tt_expression *expression)
{
    return expression->smooth;
}

size_t tt_expression_reductions(const struct tt_expression *expression)
{
    return expression->reductions.count;
}

const struct tt_expression *tt_expression_reduction(const struct tt_expression *expression, size_t i, size_t *kind)
{
    const struct tt_reduction *reductions = expression->reductions.items;
    *kind = reductions[i].kind;
    return reductions[i].argument;
}

const char *tt_expression_functions(void)
{
    return ""
#define UNARY(NAME, name, smooth, value, derivative) name "(x) "
#define BINARY(NAME, name, smooth, value, derivative) name "(x, y) "
#include "base/expr/functions.def"
        ;
}
