#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One build folder, configured for one prefix after another, as `./dev install` and `./dev package` do: libraries stay in the same folder
# below it. Usage: tools/check_folders.sh
set -euo pipefail
folders=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../cmake/tutti_folders.cmake
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(folders C)
include("$folders")
message(STATUS "libraries: \${CMAKE_INSTALL_LIBDIR}")
END
libraries() { # PREFIX [OPTION...]
    local prefix=$1
    shift
    cmake -S "$scratch" -B "$scratch/build" -DCMAKE_INSTALL_PREFIX="$prefix" "$@" | sed -n 's/^-- libraries: //p'
}
first=$(libraries "$scratch/first")
for prefix in /usr "$scratch/second" /usr/local "$scratch/first"; do
    now=$(libraries "$prefix")
    if [ "$now" != "$first" ]; then
        echo "check_folders: libraries go to $now below $prefix, and went to $first before" >&2
        exit 1
    fi
done
chosen=$(libraries "$scratch/first" -DCMAKE_INSTALL_LIBDIR=lib32)
if [ "$chosen" != lib32 ]; then
    echo "check_folders: libraries go to $chosen, and lib32 was asked for" >&2
    exit 1
fi
