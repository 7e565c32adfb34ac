// SPDX-License-Identifier: MIT
// The C++ of Streams.c: what breaks first where a library gets a C++ runtime of its own beside that of the program.
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {
struct parcel : std::runtime_error {
    explicit parcel(const std::string &text) : std::runtime_error(text)
    {
    }
};
} // namespace

extern "C" double streams_detour(double x)
{
    std::ostringstream out;
    out << std::setprecision(17) << x;
    try {
        throw parcel(out.str());
    } catch (const std::exception &caught) { // by its base: the types must be known to the runtime
        const auto *same = dynamic_cast<const parcel *>(&caught);
        return same ? std::stod(same->what()) : -1;
    }
}

extern "C" void streams_print(const char *text)
{
    std::cout << text << std::endl;
}
