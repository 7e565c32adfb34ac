/* SPDX-License-Identifier: MIT */
#include "sim/job/source.h"

struct tt_system_source tt_job_system_source(const struct tutti_run_options *options)
{
    return (struct tt_system_source){
        .files = options->files,
        .file_count = options->file_count,
        .connect = options->connects,
        .connect_count = options->connect_count,
        .tlms = options->tlms,
        .tlm_count = options->tlm_count,
        .constrains = options->constrains,
        .constrain_count = options->constrain_count,
        .convert = options->convert,
        .compile = options->compile,
        .set = options->sets,
        .set_count = options->set_count,
        .record = options->records,
        .record_count = options->record_count,
        .aliases = options->aliases,
        .alias_count = options->alias_count,
        .within = options->within,
        .log = options->log,
    };
}
