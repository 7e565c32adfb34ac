#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the Debian packages of a build, lets lintian look at them, looks at what is in them, and runs what it unpacked. Usage: tools/check_package.sh BUILD
# BUILD is a plain build, on Debian. tools/try_package.sh installs packages on a clean Debian; this needs neither root nor network.
set -euo pipefail
build=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "check_package: $*" >&2
    exit 1
}

cd "$scratch"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >log 2>&1 ||
    { cat log && fail "cpack failed"; }
tutti=$(echo tutti_*.deb) dev=$(echo libtutti-dev_*.deb) python=$(echo python3-tutti_*.deb)
packages=("$tutti" "$dev" "$python")
keeper32=
if [ -e "$build/tutti_keeper32" ]; then
    keeper32=$(echo tutti-keeper32_*.deb)
    packages+=("$keeper32")
fi

# As `./dev package` does.
if command -v lintian >/dev/null; then
    lintian --fail-on error,warning --allow-root "${packages[@]}" || fail "see what lintian says"
else
    echo "check_package: lintian is not installed"
    [ -z "${CI:-}" ] || exit 1
fi

# What they say of themselves. MPI is loaded when it is asked for, and no package that Tutti depends on may bring it in.
field() {
    dpkg-deb -f "$1" "$2"
}
for package in "${packages[@]}"; do
    for name in Package Version Architecture Maintainer Section Description Depends; do
        [ -n "$(field "$package" "$name")" ] || fail "$package has no $name"
    done
done
field "$tutti" Depends | grep -q libzip || fail "dependencies on libraries are missing"
if field "$tutti" Depends,Recommends | grep -iE 'mpi|petsc|sunlinsol'; then fail "MPI comes with the package"; fi
if [ -e "$build/tutti_mpi.so" ]; then field "$tutti" Suggests | grep -q libmpich || fail "MPI is not suggested"; fi
if [ -e "$build/tutti_hdf5.so" ]; then field "$tutti" Recommends | grep -q libhdf5 || fail "HDF5 is not recommended"; fi
field "$tutti" Recommends | grep -q gnuplot || fail "gnuplot is not recommended"
field "$dev" Depends | grep -qF "tutti (= $(field "$tutti" Version))" || fail "$dev does not need its own tutti"
[ "$(field "$python" Architecture)" = all ] || fail "$python is for one kind of processor"
field "$python" Depends | grep -q "tutti (>= .*python3-numpy" || fail "$python does not need Tutti and NumPy"
dpkg-deb --ctrl-tarfile "$tutti" | tar -xO ./triggers | grep -q ldconfig || fail "no trigger for the loader's cache"

# What is in them: nothing in both, nothing outside of /usr, all of root, readable for all.
for package in "${packages[@]}"; do
    dpkg-deb -c "$package" >"$package.list"
    if grep -vE '^(d|l|-)[rwx-]+ (root.){2}.* \./(usr/.*)?$' "$package.list"; then fail "$package: these are not as they should be"; fi
    if grep -E '^[d-](.{4}w|.{7}w|.{6}[^r])' "$package.list"; then fail "$package: not all may read these, or others write"; fi
    awk '!/^d/ { print $6 }' "$package.list" | sort >"$package.files"
done
if cat "${packages[@]/%/.files}" | sort | uniq -d | grep .; then fail "these are in more than one package"; fi
libdir=usr/$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
has() { # PACKAGE FILE...
    local package=$1 file
    shift
    for file in "$@"; do grep -qxF "./$file" "$package.files" || fail "$package has no $file"; done
}
has "$tutti" usr/bin/tutti "$libdir/libtutti.so.0" "$libdir/tutti/tutti_keeper" usr/share/man/man1/tutti{,-run}.1.gz usr/share/doc/tutti/{copyright,README.md} \
    usr/share/doc/tutti/{changelog,changelog.Debian}.gz usr/share/doc/tutti/docs/README.md usr/share/doc/tutti/examples \
    usr/share/bash-completion/completions/tutti usr/share/zsh/vendor-completions/_tutti \
    usr/share/fish/vendor_completions.d/tutti.fish \
    "$libdir"/tutti/examples/{README.md,fmus/BouncingBall_fmi3.fmu,quarter_car/quarter_car.ssp}
# README and tutorial can be followed with the package alone.
manual=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
grep -ohE 'build/(fmus|examples)/[A-Za-z0-9_/]+\.(fmu|ssp)' "$manual/README.md" "$manual/docs/tutorial.md" | sort -u >used
[ -s used ] || fail "README and tutorial use nothing"
while read -r file; do
    file=${file#build/}
    has "$tutti" "$libdir/tutti/examples/${file#examples/}"
done <used
has "$dev" usr/include/tutti/tutti.h "$libdir"/libtutti.{a,so} "$libdir/pkgconfig/tutti.pc" "$libdir/cmake/tutti/tutti-config.cmake" \
    "$libdir/tutti/examples/programs/run_system.c" usr/share/tutti/kit/kit.cmake usr/share/doc/libtutti-dev/copyright
has "$python" usr/lib/python3/dist-packages/tutti/{__init__.py,py.typed} usr/share/doc/python3-tutti/copyright
if [ -n "$keeper32" ]; then
    has "$keeper32" "$libdir/tutti/tutti_keeper32" usr/share/doc/tutti-keeper32/copyright
    field "$keeper32" Depends | grep -q libc6-i386 || fail "$keeper32 does not need the C library for 32 bits"
fi
for module in "$build"/tutti_*.so; do
    if [ -e "$module" ]; then has "$tutti" "$libdir/tutti/$(basename "$module")"; fi
done

# What they hold runs from where it was unpacked, stripped, without a search path of its own.
for package in "${packages[@]}"; do dpkg-deb -x "$package" tree; done
count=0
while read -r file; do
    if [ "$(head -c 4 "$file" | od -An -tx1)" != " 7f 45 4c 46" ]; then continue; fi
    count=$((count + 1))
    # In an FMU, tutti_packed.so has its libraries beside it.
    if [ "${file##*/}" != tutti_packed.so ] && readelf -d "$file" | grep -E 'R(UN)?PATH'; then fail "$file has a search path"; fi
    if readelf -S "$file" | grep -E '\.debug_|\.symtab'; then fail "$file is not stripped"; fi
done < <(find tree -type f)
[ $count -gt 4 ] || fail "where are the programs?"
if grep -rlIF -e "$build" -e "$scratch" tree; then fail "these name a folder of this machine"; fi
export PATH=$scratch/tree/usr/bin:$PATH LD_LIBRARY_PATH=$scratch/tree/$libdir
[ -e tree/usr/share/doc/tutti/examples/README.md ] || fail "the link to the examples leads nowhere"
examples=tree/usr/share/doc/tutti/examples
[ "$(command -v tutti)" = "$scratch/tree/usr/bin/tutti" ]
tutti --version >/dev/null
for example in fmus/BouncingBall_fmi3.fmu quarter_car/quarter_car.ssp; do
    for ending in csv mat h5; do
        if [ $ending = h5 ] && [ ! -e "$build/tutti_hdf5.so" ]; then continue; fi
        tutti run "$examples/$example" --quiet -o result.$ending
        tutti plot result.$ending -o picture.svg
        [ "$(wc -c <result.$ending)" -gt 1000 ] || fail "$example gave no result.$ending"
    done
done
printf '#include <stdio.h>\n#include <tutti/tutti.h>\nint main(void) { return puts(tutti_version()) < 0; }\n' >use.c
# shellcheck disable=SC2046 # pkg-config gives several words
cc use.c -o use $(PKG_CONFIG_PATH=tree/$libdir/pkgconfig pkg-config --cflags --libs tutti)
[ "$(./use)" = "$(field "$tutti" Version | sed 's/-[^-]*$//')" ] || fail "a program does not find the library"
PYTHONPATH=$scratch/tree/usr/lib/python3/dist-packages /usr/bin/python3 -B - "$examples/fmus/BouncingBall_fmi3.fmu" <<'END' ||
import importlib.metadata, sys, tutti
assert "/tree/usr/lib/python3/dist-packages/" in tutti.__file__, tutti.__file__
assert len(tutti.simulate(sys.argv[1]).time) > 10
class Follower:
    inputs, outputs = ["u"], ["y"]
    def step(self, t, h):
        self.y = self.u
pair = tutti.simulate({"ball": sys.argv[1], "follower": Follower()}, connect={"ball.h": "follower.u"}, step=0.1, stop=1)
assert 0 < pair["follower.y"].max() <= 1
assert importlib.metadata.version("tutti") == tutti.__version__
END
    fail "the Python module does not work"
echo "check_package: ok ($(du -h "$tutti" | cut -f 1), $(du -h "$dev" | cut -f 1) and $(du -h "$python" | cut -f 1))"
