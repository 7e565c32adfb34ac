#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The checks that need no run of the program. Usage: tools/lint.sh BUILD [CHECK...]; tools/lint.sh BUILD --format
# All checks run, also after one has failed; exit status 1 if any has. BUILD holds compile_commands.json.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-}
if [ ! -f "$build/compile_commands.json" ]; then
    echo "lint: '$build' is not a build folder: no compile_commands.json in it; usage: tools/lint.sh BUILD [CHECK...]" >&2
    exit 2
fi
shift
jobs=${JOBS:-$(nproc)}
log=$build/lint/log
mkdir -p "$build/lint"

# Files of the project, tracked or not yet, that exist and match a pattern of file names.
files() {
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -co --exclude-standard
    else
        find . -path ./build -prune -o -type f -print | sed 's|^\./||'
    fi | grep -E "$1" | sort -u | while IFS= read -r file; do
        if [ -f "$file" ]; then printf '%s\n' "$file"; fi
    done
}

c_files() {
    files '^(src|include|cli|kit|tests|bench|examples)/.*\.(c|h|cc)$' | grep -v '^tests/fuzz/corpus/'
}

check_format() {
    local wrong
    wrong=$(c_files | xargs -r clang-format-14 --dry-run -Werror 2>&1 | grep -oE '^[^ :]+:[0-9]+' | awk -F: '!seen[$1]++')
    if [ -n "$wrong" ]; then
        printf '%s\n' "$wrong" | sed "s/$/: not formatted; '.\/dev format' does it/"
        return 1
    fi
}

check_tidy() {
    tools/tidy.py "$build" "$jobs"
}

# Where cppcheck is wrong: tools/cppcheck.suppress.
check_cppcheck() {
    mkdir -p "$build/lint/cppcheck"
    c_files | grep -E '^(src|cli|kit|examples)/.*\.(c|cc)$' >"$build/lint/cppcheck.files"
    cppcheck --quiet -j "$jobs" --std=c11 --std=c++17 --enable=warning,performance,portability --inline-suppr \
        --error-exitcode=1 --suppressions-list=tools/cppcheck.suppress --library=posix --library=gnu \
        --cppcheck-build-dir="$build/lint/cppcheck" -D__GNUC__ -D__linux__ -D__x86_64__ \
        -Isrc -Iinclude -Ikit -Icli --file-list="$build/lint/cppcheck.files"
}

check_layers() {
    tools/layers.py --self-test && tools/layers.py
}

# How the code reads: no figure may get worse. After an improvement: tools/house.py --lower
check_house() {
    tools/house.py --self-test && tools/house.py
}

check_comments() {
    tools/comments.py --self-test && tools/comments.py
}

# Not the tests: they misspell names on purpose, to see which one is suggested.
check_spelling() {
    files '.' | grep -vE '^(tests/|LICENSE$)|\.(svg|png|fmu|csv|ipynb)$' | xargs -r codespell
}

check_types() {
    mypy --no-error-summary --cache-dir "$build/lint/mypy" --python-executable /usr/bin/python3
}

check_shell() {
    {
        files '\.sh$'
        files '.' | grep -vE '\.[a-z0-9]+$|^tests/fuzz/corpus/' | while IFS= read -r file; do
            if head -c 64 "$file" | head -n 1 | grep -aqE '^#!.*\b(ba|da)?sh$'; then printf '%s\n' "$file"; fi
        done
    } | sort -u | xargs -r shellcheck
}

check_waiting() {
    tools/waiting.py --self-test && tools/waiting.py
}

# A clone works anywhere: no file names a folder of one machine, nor the host that packages come from.
check_paths() {
    local pattern='(^|[^[:alnum:]_.~-])/([w]ork|[r]oot|[h]ome)/|[d]eb\.debian\.org|[s]ecurity\.debian\.org'
    pattern+='|[p]ypi\.org|[p]ythonhosted\.org|[r]egistry\.npmjs|[c]onda\.anaconda'
    ! files '.' | tr '\n' '\0' | xargs -0 -r grep -InE "$pattern"
}

# A long file is a hint, not a fault.
hint_length() {
    c_files | grep -E '^(src|cli|kit|examples)/' | xargs -r wc -l |
        awk '$2 != "total" && $1 > 600 { print "hint: " $2 " has " $1 " lines: is there a second idea in it?" }'
}

if [ "${1:-}" = --format ]; then
    c_files | xargs -r clang-format-14 -i
    exit
fi
checks=("$@")
if [ ${#checks[@]} -eq 0 ]; then checks=(format layers house comments paths waiting spelling shell types cppcheck tidy); fi
failed=()
for check in "${checks[@]}"; do
    if ! declare -F "check_$check" >/dev/null; then
        echo "lint: unknown check '$check' (format layers house comments paths waiting spelling shell types cppcheck tidy)" >&2
        exit 2
    fi
    start=$SECONDS
    if "check_$check" >"$log" 2>&1; then
        echo "ok    $check ($((SECONDS - start)) s)"
    else
        failed+=("$check")
        sed 's/^/    /' "$log"
        echo "FAIL  $check ($((SECONDS - start)) s)"
    fi
done
hint_length
if [ ${#failed[@]} -gt 0 ]; then
    echo "lint: failed: ${failed[*]}" >&2
    exit 1
fi
