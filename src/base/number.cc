/* SPDX-License-Identifier: MIT */
/* The one C++ file: <charconv> of the standard library has the shortest-digits and correctly rounding conversions (Ryu
 * and fast_float inside), locale-free and without allocation; C has nothing like it. */
#include "base/number.h"

#include <charconv>
#include <cmath>

namespace {

template <typename Float> size_t write_float(char *out, Float value)
{
    if (std::isnan(value)) /* no sign, no payload: one text for all */
        return out[0] = 'n', out[1] = 'a', out[2] = 'n', 3;
    return static_cast<size_t>(std::to_chars(out, out + TUTTI_NUMBER_MAX, value).ptr - out);
}

template <typename Int> size_t write_integer(char *out, Int value)
{
    return static_cast<size_t>(std::to_chars(out, out + TUTTI_NUMBER_MAX, value).ptr - out);
}

bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

template <typename Number> bool read(const char *text, size_t n, Number *value)
{
    const char *end = text + n;
    while (text < end && is_space(*text))
        text++;
    while (end > text && is_space(end[-1]))
        end--;
    if (end - text > 1 && text[0] == '+' && text[1] != '-')
        text++;
    Number number;
    auto result = std::from_chars(text, end, number);
    if (result.ec != std::errc() || result.ptr != end)
        return false;
    *value = number;
    return true;
}

} // namespace

size_t tt_number_write_double(char *out, double value)
{
    return write_float(out, value);
}

struct tt_number_text tt_number_show(double value)
{
    struct tt_number_text result;
    result.text[write_float(result.text, value)] = '\0';
    return result;
}

struct tt_number_text tt_number_show_time(double t)
{
    struct tt_number_text shown = {};
    if (std::isfinite(t))
        *std::to_chars(shown.text, shown.text + TUTTI_NUMBER_MAX, t, std::chars_format::general, 10).ptr = 0;
    else
        shown = tt_number_show(t);
    return shown;
}

size_t tt_number_write_float(char *out, float value)
{
    return write_float(out, value);
}

size_t tt_number_write_int(char *out, int64_t value)
{
    return write_integer(out, value);
}

size_t tt_number_write_uint(char *out, uint64_t value)
{
    return write_integer(out, value);
}

bool tt_number_read_double(const char *text, size_t n, double *value)
{
    return read(text, n, value);
}

bool tt_number_read_int(const char *text, size_t n, int64_t *value)
{
    return read(text, n, value);
}

bool tt_number_read_uint(const char *text, size_t n, uint64_t *value)
{
    return read(text, n, value);
}
