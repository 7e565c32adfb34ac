#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs a build into a scratch folder, moves it, and builds and runs programs against it the ways that users have:
# pkg-config (shared, static), CMake (shared, static), C++, and an FMU with the kit. Usage: tools/check_install.sh BUILD
# BUILD is a plain build: one with sanitizers would need their flags here too.
set -euo pipefail
build=$(realpath "$1")
programs=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../examples/programs
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "check_install: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$scratch/first" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "install failed"; }
prefix=$scratch/moved
mv "$scratch/first" "$prefix" # nothing may remember where it was installed
pc=$(dirname "$(find "$prefix" -name tutti.pc)")
lib=$(dirname "$pc")
export PKG_CONFIG_PATH=$pc LD_LIBRARY_PATH=$lib

"$prefix/bin/tutti" --version >/dev/null || fail "the installed command does not run"
# What is installed is hardened, as far as the files tell: cmake/tutti_flags.cmake.
for file in "$prefix/bin/tutti" "$lib"/libtutti.so "$lib"/tutti/*.so; do
    [ -e "$file" ] || continue
    readelf -hldW "$file" >"$scratch/elf"
    grep -q "Type: *DYN" "$scratch/elf" || fail "$file is not position-independent"
    grep -q GNU_RELRO "$scratch/elf" || fail "$file: no RELRO"
    grep -Eq "BIND_NOW|FLAGS_1.*NOW" "$scratch/elf" || fail "$file: symbols are not bound at the start"
    grep -Eq "GNU_STACK.* RW +0x" "$scratch/elf" || fail "$file: its stack is executable"
    readelf --dyn-syms -W "$file" >"$scratch/symbols"
    grep -q __stack_chk_fail "$scratch/symbols" || fail "$file: no stack protector"
done
readelf --dyn-syms -W "$prefix/bin/tutti" >"$scratch/symbols"
grep -q "^CMAKE_BUILD_TYPE:.*=Debug$" "$build/CMakeCache.txt" || grep -Eq "__[a-z]+printf_chk@" "$scratch/symbols" || fail "the command is built without _FORTIFY_SOURCE"
for file in man/man1/tutti.1 man/man1/tutti-run.1 bash-completion/completions/tutti zsh/site-functions/_tutti \
    fish/vendor_completions.d/tutti.fish; do
    if [ -e "$build/share" ] && [ ! -s "$prefix/share/$file" ]; then fail "no share/$file"; fi
done
if grep -rIlF -e "$scratch/first" "$prefix" | grep .; then fail "these files name the folder of the install"; fi

cd "$scratch"
cat >use.c <<'END'
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>
int main(void)
{
    struct tutti_run_options *options = NULL;
    if (tutti_options_make(&options))
        return 2;
    puts(tutti_err_name(tutti_run(options, NULL)));
    int wrong = strcmp(tutti_err_message(), "no file to run") != 0;
    tutti_options_free(options);
    return wrong;
}
END
expected="wrong argument or option"
expect() {
    [ "$("$1")" = "$expected" ] || fail "$1 does not work"
}
# shellcheck disable=SC2046 # pkg-config gives several words
{
    cc -Werror -Wall use.c -o pc_shared $(pkg-config --cflags --libs tutti)
    cc -Werror -Wall use.c -o pc_static $(pkg-config --cflags tutti) "$lib/libtutti.a" \
        $(pkg-config --static --libs tutti | sed 's/-ltutti//')
    c++ -Werror -Wall -x c++ use.c -x none -o pc_cxx $(pkg-config --cflags --libs tutti)
}
expect ./pc_shared
expect ./pc_static
expect ./pc_cxx
ldd pc_static | grep -q libtutti && fail "pc_static uses the shared library"
/usr/bin/python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1]).tutti_version' "$lib/libtutti.so" || fail "libtutti.so cannot be loaded by name"

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(use C)
find_package(tutti 0.1 REQUIRED COMPONENTS static)
add_executable(cmake_shared use.c)
target_link_libraries(cmake_shared tutti::tutti)
add_executable(cmake_static use.c)
target_link_libraries(cmake_static tutti::static)
include(${tutti_KIT_DIR}/kit.cmake)
tutti_add_fmu(Dahlquist ${tutti_KIT_DIR}/models/Dahlquist.c VERSIONS 2 3)
END
{ cmake -G Ninja -B out -DCMAKE_PREFIX_PATH="$prefix" . && cmake --build out; } >log 2>&1 || { cat log && fail "CMake package"; }
expect out/cmake_shared
expect out/cmake_static
for fmu in Dahlquist_fmi2 Dahlquist_fmi3; do
    "$prefix/bin/tutti" run "out/fmus/$fmu.fmu" --stop 1 -o out/result.csv --quiet || fail "$fmu.fmu of the installed kit"
    [ "$(wc -l <out/result.csv)" -gt 2 ] || fail "$fmu.fmu gave no result"
done

# The example programs, as their first lines say.
for program in run_system step_control find_parameter; do
    # shellcheck disable=SC2046 # pkg-config gives several words
    cc -Werror -Wall -Wextra "$programs/$program.c" -o "$program" $(pkg-config --cflags --libs tutti)
    ./"$program" "$build/fmus/Heater_fmi3.fmu" >"$program.txt" || fail "$program does not run"
done
grep -q "^on 1386 s before the morning" find_parameter.txt || fail "find_parameter found: $(cat find_parameter.txt)"

# Every installed header stands alone, and the library exports what they declare: all of it, and nothing else.
for header in "$prefix"/include/tutti/*.h; do
    printf '#include <tutti/%s>\n' "$(basename "$header")" >header.c
    cc -std=c17 -Wall -Werror -fsyntax-only -I"$prefix/include" header.c || fail "$header does not stand alone"
    c++ -x c++ -Wall -Werror -fsyntax-only -I"$prefix/include" header.c || fail "$header is not for C++"
    cat header.c >>headers.c
done
exports() {
    nm -D --defined-only "$1" | awk '{ print $NF }' | sort
}
cc -std=c17 -E -P -I"$prefix/include" headers.c | tr '\n' ' ' |
    grep -oP 'visibility\("default"\)[^;]*?\K\btutti_\w+(?=\()' | sort -u >declared
exports "$lib/libtutti.so" >exported
[ -s declared ] || fail "no function is declared"
diff declared exported || fail "libtutti.so does not export what the headers declare (<), or more (>)"
for module in "$lib"/tutti/*.so; do
    name=$(basename "$module" .so)
    # tutti_program.so is an FMU's library as well, and tutti_packed.so nothing else.
    wanted=tt_${name#tutti_}_module
    if [ "$name" = tutti_packed ]; then wanted=""; fi
    [ "$(exports "$module" | grep -v '^fmi[23]')" = "$wanted" ] || fail "$module has to export '$wanted' only"
done
if exports "$prefix/bin/tutti" | grep -v '@'; then fail "the command exports these"; fi # those with @ are the C library's own
echo "check_install: ok"
