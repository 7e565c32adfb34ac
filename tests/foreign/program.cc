// SPDX-License-Identifier: MIT
// A program in C++ that uses libtutti, as somebody might write it. It has streams of its own, so that the linker gives it a copy
// of std::cout: an FMU with C++ inside must print to that one. It then runs FMUs that bring functions with names of libraries that
// libtutti needs.
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tutti/tutti.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ // names cannot be kept apart there
constexpr bool names_are_apart = false;
#else
constexpr bool names_are_apart = true;
#endif

struct last_row {
    std::vector<std::string> names;
    std::map<std::string, double> values;
};

static tutti_err take_columns(void *context, const tutti_recorded *shown, size_t count)
{
    for (size_t i = 0; i < count; i++)
        static_cast<last_row *>(context)->names.emplace_back(shown[i].name);
    return TUTTI_OK;
}

static tutti_err take_row(void *context, double, const double *values)
{
    auto *last = static_cast<last_row *>(context);
    for (size_t i = 0; i < last->names.size(); i++)
        last->values[last->names[i]] = values[i];
    return TUTTI_OK;
}

// Runs the FMUs; 0 if the last value of each of `expected` is what it should be.
static int run(const std::vector<std::string> &paths, const char *solver, const std::map<std::string, double> &expected)
{
    last_row last;
    tutti_watcher watcher = {};
    watcher.context = &last;
    watcher.columns = take_columns;
    watcher.row = take_row;
    tutti_run_options *made = nullptr;
    tutti_err err = tutti_options_make(&made);
    const std::unique_ptr<tutti_run_options, decltype(&tutti_options_free)> options(made, tutti_options_free);
    std::vector<std::pair<const char *, const char *>> given = {{"interface", solver ? "me" : "cs"}};
    for (const std::string &path : paths)
        given.emplace_back("file", path.c_str());
    if (solver) {
        given.emplace_back("solver", solver);
        given.emplace_back("rtol", "1e-6");
    }
    for (const auto &[name, value] : given)
        err = err ? err : tutti_options_set(made, name, value);
    tutti_options_set_watcher(made, &watcher);
    if (err || tutti_run(made, nullptr)) {
        std::cout << paths[0] << ": " << tutti_err_message() << std::endl;
        return 1;
    }
    for (const auto &[name, value] : expected)
        if (!(std::fabs(last.values[name] - value) < 1e-4)) {
            std::cout << paths[0] << ": " << name << " = " << last.values[name] << ", not " << value << std::endl;
            return 1;
        }
    return 0;
}

int main(int, char **arguments)
{
    const std::string fmus = std::string(arguments[1]) + "/";
    const double decay = std::exp(-1.0);
    int failures = 0;
    std::cout << "first the program prints" << std::endl;
    for (const std::string version : {"2", "3"}) {
        const auto fmu = [&](const char *model) {
            return (fmus + model).append("_fmi").append(version).append(".fmu");
        };
        failures += run({fmu("Streams")}, nullptr, {{"y", decay}});
        if (!names_are_apart)
            continue;
        failures += run({fmu("Namesake1")}, nullptr, {{"x", decay}, {"own", 8}});
        failures += run({fmu("Namesake2")}, "cvode", {{"x", decay}, {"own", 16}});
        failures += run({"a=" + fmu("Namesake1"), "b=" + fmu("Namesake2")}, "bdf",
                        {{"a.x", decay}, {"a.own", 8}, {"b.x", decay}, {"b.own", 16}});
    }
    return failures;
}
