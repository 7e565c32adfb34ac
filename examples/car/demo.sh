#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: demo.sh TUTTI CAR.ssp FOLDER
# What Tutti is for, on a car of five FMUs: each command is shown, then run. Leaves results and a page, car.html, in FOLDER.
set -euo pipefail
tutti=$(realpath "$1") car=$(realpath "$2") here=$(dirname "$(realpath "$0")")
mkdir -p "$3"
cd "$3"
cp "$car" car.ssp

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\033[1m' plain=$'\033[0m'; else bold='' plain=''; fi

say() {
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

# try ARGS...: shows the command and runs it.
try() {
    local shown
    printf -v shown ' %s' "$@"
    printf '$ tutti%s\n' "$shown"
    "$tutti" "$@"
}

say "1. A car of five FMUs: front wheels FMI 1.0, rear wheels 2.0, body 3.0."
try graph car.ssp -o graph.svg

say "2. A simple coupling, all inputs held for 10 ms, explodes; Tutti says so."
try run car.ssp --coupling jacobi --step 0.01 -o naive.mat --quiet 2>&1 | fold -s -w 78
try plot naive.mat -v front_left.x --size 78x14

say "3. Left to Tutti, it holds, and the summary says why."
try run car.ssp -o auto.mat --step-log steps.csv >run.log 2>&1 || { cat run.log; exit 1; }
grep -E '^([$]|coupling|control|steps|error|took)' run.log
try plot auto.mat -v front_left.x --size 78x14

say "4. The same on two processes: the same bytes."
try run car.ssp --processes 2 -o two.mat --quiet
echo "\$ cmp auto.mat two.mat"
cmp auto.mat two.mat
echo "identical"

"$tutti" plot naive.mat auto.mat -v front_left.x -v body.roll --stop 1 -o curves.svg
"$tutti" plot auto.mat -v '*.x' -v body.pitch,body.roll --steps steps.csv -o steps.svg
python3 -B "$here/page.py" car.html graph.svg curves.svg steps.svg run.log
say "5. All of it on one page: $PWD/car.html"
say "6. Look at it: ${tutti#"$OLDPWD"/} web ${PWD#"$OLDPWD"/}/car.ssp"
