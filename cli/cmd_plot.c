/* SPDX-License-Identifier: MIT */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands.h"
#include "console.h"
#include "display.h"
#include "output.h"
#include "plot_characters.h"
#include "apps/plot/picture.h"
#include "told_options.h"

/* Returns "svg" for "a.svg"; "" without an extension. */
static const char *form_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && dot > path ? dot + 1 : "";
}

/* The window's size, or that of a usual one. */
static void fit_terminal(struct tt_plot_options *options)
{
    struct winsize window;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0;
    options->width = options->width ? options->width : known ? window.ws_col : 80;
    options->height = options->height ? options->height : known ? window.ws_row - 1 : 24;
    options->colour = display_of(stdout).colour;
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    options->unicode = locale != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    if (locale != (locale_t)0)
        freelocale(locale);
}

static enum tutti_err print_characters(const struct arguments *arguments, const struct tt_display_options *given,
                                       const struct tutti_log *log)
{
    struct tt_plot_options options;
    struct tt_plot plot = {0};
    enum tutti_err err = tt_plot_options_read(&options, given);
    options.terminal = true;
    if (!err) {
        fit_terminal(&options);
        err = tt_plot_create(&plot, arguments->operands, arguments->operand_count, &options, log);
    }
    if (!err)
        err = plot_print_characters(stdout, &plot);
    tt_plot_fini(&plot);
    tt_plot_options_fini(&options);
    return err;
}

/* The exit status. */
static int write_picture(const char *output, const char *picture, size_t size)
{
    FILE *content = fmemopen((void *)picture, size, "r");
    if (!content)
        console_error("out of memory");
    bool good = content && output_replace(output, content);
    if (content)
        fclose(content);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int plot(const struct arguments *arguments, const struct tt_display_options *given, const char *output)
{
    const struct tutti_log log = {.level = TUTTI_LOG_INFO, .write = console_log};
    char *picture = NULL;
    size_t size = 0;
    enum tutti_err err = output ? tutti_tell_plot(&picture, &size, form_of(output), arguments->operands,
                                                  arguments->operand_count, given->options, given->count, &log)
                                : print_characters(arguments, given, &log);
    int status = err ? told_options_fail(arguments, err) : output ? write_picture(output, picture, size) : EXIT_DONE;
    tutti_tell_free(picture);
    return status;
}

int command_plot(const struct arguments *arguments)
{
    static const char *const own[] = {"--output", "--terminal", NULL};
    const char *output = arguments_value(arguments, "--output");
    struct tt_display_options given;
    if (arguments->operand_count == 0 && !arguments_value(arguments, "--steps")) {
        fputs("tutti plot: RESULT is missing; usage: tutti plot RESULT [RESULT2] [-o OUT.svg] [options]\n", stderr);
        return EXIT_USAGE;
    }
    if (output && !tt_plot_can_draw(form_of(output))) {
        fputs("tutti plot: -o takes OUT.svg, OUT.png or OUT.pdf, the picture to write; without it the terminal shows "
              "it\n",
              stderr);
        return EXIT_USAGE;
    }
    if (output && arguments_value(arguments, "--terminal")) {
        fputs("tutti plot: --terminal and -o exclude each other\n", stderr);
        return EXIT_USAGE;
    }
    if (output && !output_can_be_written(output)) /* before any work */
        return EXIT_FAILED;
    enum tutti_err err = told_options_read(&given, arguments, own);
    int status = err ? told_options_fail(arguments, err) : plot(arguments, &given, output);
    free((void *)given.options);
    return status;
}
