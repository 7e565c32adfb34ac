/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/tutti.h>

#include "base/number.h"
#include "commands.h"
#include "console.h"
#include "hla/fedpro/payload.h"
#include "hla/fedpro/fedpro_server.h"
#include "hla/fedpro/fedpro_service.h"
#include "rti_status.h"
#include "service.h"

/* The options of the RTI. */
struct wishes {
    struct tt_fedpro_server_options server;
    struct tt_fedpro_service_options service;
    struct tutti_log log;
    const char **modules;
    char key[200];
    struct tt_tls *tls;
    bool allows; /* federates need a certificate */
};

static bool read_seconds(const struct arguments *arguments, const char *name, double *seconds)
{
    bool given = false;
    double value = 0;
    if (!arguments_number(arguments, name, &given, &value))
        return false;
    if (given && !(value >= 0)) {
        fprintf(stderr, "tutti rti: %s: a number of seconds from 0 on is wanted\n", name);
        return false;
    }
    if (given)
        *seconds = value;
    return true;
}

static bool read_queue(const struct arguments *arguments, size_t *count)
{
    uint64_t value = 0;
    const char *text = arguments_value(arguments, "--queue");
    if (text && (!tt_number_read_uint(text, strlen(text), &value) || value == 0)) {
        fprintf(stderr, "tutti rti: --queue: '%s' is no number from 1 on\n", text);
        return false;
    }
    if (text)
        *count = (size_t)value;
    return true;
}

/* The first line of the file. */
static bool read_key(const struct arguments *arguments, struct wishes *wishes)
{
    const char *path = arguments_value(arguments, "--key");
    if (!path)
        return true;
    struct stat st;
    FILE *file = fopen(path, "re");
    bool open_to_others = file && fstat(fileno(file), &st) == 0 && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    bool good = file && fgets(wishes->key, sizeof wishes->key, file);
    wishes->key[strcspn(wishes->key, "\r\n")] = '\0';
    if (!file)
        fprintf(stderr, "tutti rti: --key: %s cannot be opened: %s\n", path, strerror(errno));
    else if (open_to_others)
        fprintf(stderr, "tutti rti: --key: others may read %s; chmod 600 keeps them out\n", path);
    else if (!good || !wishes->key[0])
        fprintf(stderr, "tutti rti: --key: the first line of %s is empty\n", path);
    if (file)
        fclose(file);
    wishes->service.key = wishes->key;
    return good && wishes->key[0] && !open_to_others;
}

/* False after a message. `log` of the options points into `wishes`. */
static bool read_wishes(const struct arguments *arguments, struct wishes *wishes)
{
    bool json = false;
    const char *listen = arguments_value(arguments, "--listen");
    *wishes = (struct wishes){
        .server = {.listen = listen ? listen : "127.0.0.1:15164", .rules = tt_sessions_default_rules},
        .service = {.longest_message = TUTTI_FEDPRO_LONGEST_MESSAGE,
                    .patience = 30,
                    .limits = {.callbacks = 1000000, .bytes = (size_t)1 << 30}},
        .log = {.write = console_log, .level = TUTTI_LOG_INFO},
    };
    if (arguments_value(arguments, "--quiet"))
        wishes->log.level = TUTTI_LOG_WARNING;
    if (arguments_value(arguments, "--verbose"))
        wishes->log.level = TUTTI_LOG_DEBUG;
    if (!console_wants_json(arguments, &json) || !read_seconds(arguments, "--silence", &wishes->server.rules.silence) ||
        !read_seconds(arguments, "--grace", &wishes->server.rules.grace) ||
        !read_seconds(arguments, "--stall", &wishes->service.patience) ||
        !read_queue(arguments, &wishes->server.rules.limits.waiting) || !read_key(arguments, wishes))
        return false;
    if (json)
        console_use_json(NULL);
    wishes->modules = calloc(arguments->given_count + 1, sizeof *wishes->modules);
    if (!wishes->modules) {
        console_error("out of memory");
        return false;
    }
    wishes->service.shelf.count = arguments_values(arguments, "--fom", wishes->modules);
    wishes->service.shelf.paths = wishes->modules;
    wishes->server.log = wishes->service.log = &wishes->log;
    return true;
}

static enum tutti_err read_certificates(const struct arguments *arguments, struct wishes *wishes)
{
    const char *certificate = arguments_value(arguments, "--tls-cert"), *key = arguments_value(arguments, "--tls-key");
    const char *allow = arguments_value(arguments, "--allow");
    if (!certificate != !key || (allow && !certificate))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--tls-cert and --tls-key belong together, and --allow needs both");
    if (certificate)
        TRY(tt_tls_open_server(&wishes->tls, certificate, key, allow));
    wishes->server.tls = wishes->tls;
    wishes->allows = allow != NULL;
    return TUTTI_OK;
}

/* Reports unusable files at the start, not when a federate names them. */
static enum tutti_err try_modules(const struct tt_module_files *shelf)
{
    for (size_t i = 0; i < shelf->count; i++) {
        struct tt_module_set modules = {0};
        Fedpro__Module module = FEDPRO__MODULE__INIT;
        module.form_case = FEDPRO__MODULE__FORM_URL;
        module.url = tt_payload_make_text(shelf->paths[i]);
        enum tt_hla hla = tt_module_set_add(&modules, &module, shelf);
        tt_module_set_fini(&modules);
        if (hla)
            return TUTTI_ERR_FORMAT;
    }
    return TUTTI_OK;
}

static enum tutti_err serve(const struct wishes *wishes)
{
    struct tt_fedpro_service service;
    struct tt_fedpro_server *server = NULL;
    service_raise_limit_of_files();
    TRY(try_modules(&wishes->service.shelf));
    TRY(tt_fedpro_service_init(&service, &wishes->service));
    struct tt_fedpro_server_handler served = {.handler = tt_fedpro_service_session_handler(&service),
                                              .settle = tt_fedpro_service_send_callbacks,
                                              .tick = tt_fedpro_service_tick};
    enum tutti_err err = tt_fedpro_server_open(&server, &wishes->server, &served);
    if (!err && !tt_fedpro_server_is_local(server) && !(wishes->tls && (wishes->service.key || wishes->allows))) {
        err = tt_fail(TUTTI_ERR_ARGUMENT,
                      "%s can be reached from other machines: it needs --tls-cert and --tls-key, and --key or --allow, "
                      "so that not all who reach it can join",
                      tt_fedpro_server_address(server));
        tt_fedpro_server_close(server);
    }
    if (!err) {
        service_heed_signals();
        tt_log(&wishes->log, TUTTI_LOG_INFO, NULL, "listening at %s", tt_fedpro_server_address(server));
        err = tt_fedpro_server_run(server, &service_ended_by);
        tt_fedpro_server_close(server);
    }
    tt_fedpro_service_fini(&service);
    return err;
}

static enum tutti_err serve_and_record(struct wishes *wishes, const char *path)
{
    struct tt_failure failure;
    if (path)
        TRY(tt_fedpro_journal_open(&wishes->service.journal, path, &wishes->log));
    tt_fail_save(&failure, serve(wishes));
    enum tutti_err err = tt_fedpro_journal_close(wishes->service.journal);
    return failure.err ? tt_fail_restore(&failure) : err;
}

/* tutti rti status HOST:PORT */
static int ask(const struct arguments *arguments, const struct wishes *wishes)
{
    if (strcmp(arguments->operands[0], "status") != 0 || arguments->operand_count != 2) {
        fputs("tutti rti: to ask an RTI how it stands, write: tutti rti status HOST:PORT\n", stderr);
        return EXIT_USAGE;
    }
    return rti_status(arguments, arguments->operands[1], wishes->service.key);
}

int command_rti(const struct arguments *arguments)
{
    struct wishes wishes;
    if (!read_wishes(arguments, &wishes))
        return EXIT_USAGE;
    if (arguments->operand_count > 0) {
        free(wishes.modules);
        return ask(arguments, &wishes);
    }
    enum tutti_err err = read_certificates(arguments, &wishes);
    err = err ? err : serve_and_record(&wishes, arguments_value(arguments, "--record"));
    tt_tls_free(wishes.tls);
    free(wishes.modules);
    if (err)
        console_error(tutti_err_message());
    return err == TUTTI_ERR_ARGUMENT ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_DONE;
}
