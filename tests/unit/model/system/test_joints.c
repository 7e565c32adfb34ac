/* SPDX-License-Identifier: MIT */
/* Lines and constraints between units: what is made of their texts, what is refused and why; also without enough memory. */
#include "system_test.h"

#include "failing.h"

/* Two units of the FMU, joined by a text of --tlm or of --constrain. */
static enum tutti_err join(struct fixture *f, const char *tlm, const char *constrain)
{
    static char paths[2][300];
    const char *files[] = {paths[0], paths[1]}, *tlms[] = {tlm}, *constrains[] = {constrain};
    snprintf(paths[0], sizeof paths[0], "a=%s/m.fmu", f->scratch.path);
    snprintf(paths[1], sizeof paths[1], "b=%s/m.fmu", f->scratch.path);
    const struct tt_system_source source = {.files = files,
                                            .file_count = 2,
                                            .tlms = tlms,
                                            .tlm_count = tlm != NULL,
                                            .constrains = constrains,
                                            .constrain_count = constrain != NULL,
                                            .connect = f->connect,
                                            .connect_count = count_texts(f->connect)};
    tt_system_free(f->system);
    return tt_system_load(&f->system, &source, &f->findings);
}

#define REST "; delay=0.1; impedance=2"

static void test_line(void **state)
{
    struct fixture *f = *state;
    f->connect[0] = "b.y2=a.u2";
    assert_ok(join(f, " a.u , -a.y = b.u*3, 2*b.y ;delay=0.1; impedance=2", NULL));
    assert_int_equal(f->system->line_count, 1);
    const struct tt_tlm_line *line = f->system->lines;
    assert_same_double(line->delay, 0.1);
    assert_same_double(line->impedance, 2);
    assert_same_double(line->ends[0].force_factor, 1);
    assert_same_double(line->ends[0].velocity_factor, -1);
    assert_same_double(line->ends[1].force_factor, 3);
    assert_same_double(line->ends[1].velocity_factor, 2);
    /* Each end feels its own velocity: -force factor * velocity factor * impedance. */
    assert_string_equal(connections(f), "a.y->a.u*2+0 b.y2->a.u2 b.y->b.u*-12+0");
    assert_true(f->system->connections[0].of_line && f->system->connections[0].adds &&
                !f->system->connections[1].of_line);
    assert_ok(join(f, "a.u,a.y=b.u,b.y" REST "|a.u_m,a.y2=b.u_m,b.y2" REST, NULL));
    assert_int_equal(f->system->line_count, 2);
    assert_int_equal(f->system->fed_count, 4);
    assert_int_equal(f->system->connection_count, 5);
}

static void test_constraint(void **state)
{
    struct fixture *f = *state;
    assert_ok(join(f, NULL, "a.y+1=2*b.y-3; a.y2=2*b.y2; a.u,b.u; compliance=0.5"));
    assert_int_equal(f->system->constraint_count, 1);
    const struct tt_constraint *made = f->system->constraints;
    assert_int_equal(made->end_count, 2);
    assert_int_equal(made->row_count, 1);
    assert_same_double(made->ratios[0], 1);
    assert_same_double(made->ratios[1], -2);
    assert_same_double(made->offsets[0], 4);
    assert_same_double(made->compliance, 0.5);
    assert_non_null(made->positions);
    /* Three sides are two rows; a sum on a side; no positions; a local variable is as good as an output. */
    assert_ok(join(f, NULL, "a.y=b.y=a.loc+b.y2; a.u,b.u,a.u2,b.u2"));
    made = f->system->constraints;
    assert_int_equal(made->end_count, 4);
    assert_int_equal(made->row_count, 2);
    assert_null(made->positions);
    static const double ratios[] = {1, -1, 0, 0, 0, 1, -1, -1};
    for (int i = 0; i < 8; i++)
        assert_same_double(made->ratios[i], ratios[i]);
    assert_int_equal(f->system->read_count, 4);
}

struct refusal {
    const char *text, *words;
};

static void test_lines_refused(void **state)
{
    struct fixture *f = *state;
    static const struct refusal refusals[] = {
        {"a.u,a.y=b.u,b.y; delay=0.1", "impedance=Z is missing"},
        {"a.u,a.y=b.u,b.y; impedance=1", "delay=D is missing"},
        {"a.u,a.y=b.u,b.y; delay=0; impedance=1", "delay takes a number greater than 0, not '0'"},
        {"a.u,a.y=b.u,b.y; delay=; impedance=1", "delay takes a number greater than 0, not ''"},
        {"a.u,a.y=b.u,b.y; delay; impedance=1", "delay takes a number"},
        {"a.u,a.y=b.u,b.y; delay=inf; impedance=1", "not 'inf'"},
        {"a.u,a.y=b.u,b.y" REST "; more", "nothing else than delay=D and impedance=Z; not 'more'"},
        {"a.u,a.y" REST, "it takes A.f,A.v=B.f,B.v"},
        {"a.u,a.y=b.u,b.y=a.u2,a.y2" REST, "it takes A.f,A.v=B.f,B.v"},
        {"a.u=b.u,b.y" REST, "each end is a force and a velocity"},
        {"a.u,a.y,a.y2=b.u,b.y" REST, "each end is a force and a velocity"},
        {"a.none,a.y=b.u,b.y" REST, "there is no variable named '"},
        {"a.u,a.y=b.u," REST, "a name is missing"},
        {"a.u,a.y=b.u,2*b.none" REST, "'2*b.none'"},
        {"a.y,a.y=b.u,b.y" REST, "'a.y' cannot be a force: it is an output, and an input is needed"},
        {"a.u,a.u2=b.u,b.y" REST, "'a.u2' cannot be a velocity: it is an input, and an output is needed"},
        {"a.u,a.p=b.u,b.y" REST, "'a.p' cannot be a velocity: it is not a continuous Real"},
        {"a.u,a.iy=b.u,b.y" REST, "it is not a continuous Real"},
        {"a.u,a.ay=b.u,b.y" REST, "it is an array"},
        {"a.u,b.y=b.u,a.y" REST, "the force 'a.u' and the velocity 'b.y' of an end are of different units"},
        {"a.u,a.y=b.u,b.y" REST "|a.u,a.y2=b.u2,b.y2" REST, "'a.u' is joined twice"},
        {"a.u_m,a.y=b.u_K,b.y" REST, "have different units, which are not converted here"},
        {"a.u,a.y_K=b.u,b.y_degC" REST, "have different units, which are not converted here"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        assert_fails(join(f, refusals[i].text, NULL), TUTTI_ERR_ARGUMENT, refusals[i].words);
    f->connect[0] = "b.y2=a.u";
    assert_fails(join(f, "a.u,a.y=b.u,b.y" REST, NULL), TUTTI_ERR_ARGUMENT, "'a.u' has two sources, this and 'b.y2'");
}

static void test_constraints_refused(void **state)
{
    struct fixture *f = *state;
    static const struct refusal refusals[] = {
        {"a.u,b.u", "what is to be equal is missing"},
        {"a.y=b.y", "forces are missing"},
        {"a.y=b.y; a.y2=b.y2; a.y=b.y; a.u,b.u", "positions (or none), velocities, forces"},
        {"a.y=b.y; a.u,b.u; a.u2,b.u2", "positions (or none), velocities, forces"},
        {"a.y=b.y; a.u,b.u; a.y2=b.y2", "positions (or none), velocities, forces"},
        {"a.y=b.y;; a.u,b.u", "positions (or none), velocities, forces"},
        {"a.y=; a.u", "a side of an equation is missing"},
        {"a.y=b.none; a.u,b.u", "there is no variable named"},
        {"a.y=b.y+2*; a.u,b.u", "2*"},
        {"1=2; a.u", "there is nothing to constrain in it"},
        {"a.y=b.y+1; a.u,b.u", "only positions may be apart by a number, not velocities"},
        {"a.y=b.y; a.y2=2*b.y2; a.u,b.u", "positions and velocities are not constrained alike"},
        {"a.y=b.y=b.loc; a.y2=b.y2; a.u,b.u", "positions and velocities are not constrained alike"},
        {"a.y=b.y; a.u", "it has 2 ends and the force 'a.u': one per end is needed"},
        {"a.y=b.y; a.u,b.u,b.u2", "it has 2 ends and the forces 'a.u,b.u,b.u2': one per end is needed"},
        {"a.y=b.y; a.u,a.u2", "are of different units"},
        {"a.y=b.y; a.u,b.none", "there is no variable named '"},
        {"a.y=b.y; a.u,b.u; compliance=-1", "compliance takes a number greater than 0, not '-1'"},
        {"a.y=b.p; a.u,b.u", "'b.p' cannot be a velocity"},
        {"a.y_K=b.y_degC; a.u,b.u", "have different units"},
        {"a.y=b.y; a.u,b.u|2*a.y=2*b.y; a.u2,b.u2", "it is redundant: what it says of velocities follows from others"},
        {"a.y=a.y; a.u", "it is redundant"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        assert_fails(join(f, NULL, refusals[i].text), TUTTI_ERR_ARGUMENT, refusals[i].words);
    char many[1000] = "a.y";
    for (int i = 0; i < 64; i++)
        strcat(many, "=b.y");
    strcat(many, "; a.u,b.u");
    assert_fails(join(f, NULL, many), TUTTI_ERR_ARGUMENT, "more than 64 sides of an equation");
}

/* In an annotation what is wrong is a finding, and the rest counts. */
static void test_annotation(void **state)
{
    struct fixture *f = *state;
#define WITH(words)                                                                                                    \
    "<s n='s'><E><M n='a'/><M n='b'/></E><ssd:Annotations><ssc:Annotation type='org.tutti'><tutti:settings "           \
    "xmlns:tutti='x' " words "/></ssc:Annotation></ssd:Annotations></s>"
    assert_ok(load_text(f, WITH("tlm='a.u,a.y=b.u,b.y" REST "|a.none,a.y=b.u2,b.y2" REST "' "
                                "constrain='a.y=b.y; a.u2,b.u2|a.y2=b.y2; a.u_m|a.y=b.y; a.u_K,b.u_K'")));
    assert_found(f, 3, 0, "there is no variable named '");
    assert_found(f, 3, 0, "one per end is needed");
    assert_found(f, 3, 0, "it is redundant");
    assert_int_equal(f->system->line_count, 1);
}

static enum tutti_err join_all(void *context)
{
    struct fixture *f = context;
    TRY(join(f, "a.u,-a.y=b.u*3,2*b.y" REST, "a.y+1=2*b.y-3; a.y2=2*b.y2; a.u2,b.u2|a.y_mm=b.y_mm; a.u_m,b.u_m"));
    const struct tt_system *system = f->system;
    assert_true(system->line_count == 1 && system->constraint_count == 2 && system->connection_count == 3);
    return TUTTI_OK;
}

static void test_memory(void **state)
{
    struct fixture *f = *state;
    f->connect[0] = "b.y2=a.u_K";
    fail_each_call(FAILING_MEMORY, ENOMEM, join_all, f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_constraint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_constraints_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_annotation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
