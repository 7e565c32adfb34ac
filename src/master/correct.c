/* SPDX-License-Identifier: MIT */
#include "master/correct.h"

enum tutti_err tutti_correction_open(struct run *run, bool correct, bool smooth)
{
    (void)run;
    (void)correct;
    (void)smooth;
    return tutti_fail(TUTTI_ERR_UNSUPPORTED, "placeholder");
}
void tutti_correction_close(struct run *run)
{
    (void)run;
}
enum tutti_err tutti_correction_before(struct run *run, double target)
{
    (void)run;
    (void)target;
    return TUTTI_OK;
}
enum tutti_err tutti_correction_after(struct run *run, double target)
{
    (void)run;
    (void)target;
    return TUTTI_OK;
}
