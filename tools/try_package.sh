#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages on a clean, minimal Debian 12 (made by debootstrap, in a folder), uses them as a person would who is
# not root, and removes them again. Usage: tools/try_package.sh FOLDER-OF-PACKAGES [ROOT]
# Root, and the Debian mirror that apt is configured for, are needed. ROOT is kept and used again, if it is named.
set -euo pipefail
debs=$(realpath "$1")
root=${2:-}
release=bookworm

say() {
    echo "try_package: $*"
}

fail() {
    say "$*" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "only root can do this"
if [ -z "${TUTTI_TRY_MOUNTS:-}" ]; then # mounts of its own, which end with it
    TUTTI_TRY_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
fi
if [ -z "$root" ]; then
    root=$(mktemp -d /var/tmp/tutti-try-XXXXXX)
    chmod 755 "$root" # others are to use it, too
    trap 'umount "$root/proc" && rm -rf --one-file-system "$root"' EXIT
fi
if [ ! -e "$root/etc/debian_version" ]; then
    # shellcheck disable=SC2016 # the $ is for apt-get
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $release" | sort -u | head -n 1)
    say "debootstrap $release"
    debootstrap --variant=minbase "$release" "$root" "$mirror" >"$debs/debootstrap.log" 2>&1 || fail "see $debs/debootstrap.log"
fi
mount -t proc proc "$root/proc"
rm -rf "$root/debs" "$root/try"
mkdir "$root/debs" "$root/try"
cp "$debs"/*.deb "$root/debs"
chmod a+rwx "$root/try"

inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}
apt() {
    inside apt-get -q -o APT::Sandbox::User=root "$@" >>"$debs/apt.log" 2>&1 || fail "apt-get $*: see $debs/apt.log"
}
# The commands of the standard input, as nobody, in a folder that may be written to, up to the first error.
use() {
    inside setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all env -C /try sh -ex
}
ours() {
    inside find / -xdev -path /debs -prune -o -path /try -prune -o -iname '*tutti*' -print
}

apt update
if inside dpkg -s tutti >/dev/null 2>&1; then apt purge -y '?name(tutti)'; fi # a try before this one failed
before=$(inside dpkg-query -W | wc -l)
[ -z "$(ours)" ] || fail "it is not clean: $(ours)"

say "apt install ./tutti_*.deb"
apt install -y "$(cd "$root" && echo ./debs/tutti_*.deb)"
say "$(($(inside dpkg-query -W | wc -l) - before)) packages more"
if inside dpkg-query -W | grep -iE 'openmpi|mpich|petsc'; then fail "MPI came with it"; fi
use <<'END'
tutti --version
examples=/usr/share/doc/tutti/examples
tutti info $examples/fmus/BouncingBall_fmi3.fmu
tutti check $examples/fmus/BouncingBall_fmi3.fmu
tutti run $examples/fmus/BouncingBall_fmi3.fmu -o ball.csv
tutti run $examples/fmus/VanDerPol_fmi2.fmu --solver radau5 -o oscillator.mat
tutti run $examples/quarter_car/quarter_car.ssp -o car.h5
tutti run $examples/quarter_car/quarter_car.ssp --quiet -o car.mat
tutti run $examples/four_rooms/four_rooms.ssp --threads 2 --stop 3600 --quiet -o rooms.csv
tutti plot car.h5 -o car.svg
grep -q "<svg" car.svg
tutti compare car.h5 car.mat
tutti graph $examples/quarter_car/quarter_car.ssp -o graph.svg
grep -q "<svg" graph.svg
tutti linearize $examples/fmus/VanDerPol_fmi3.fmu -o linear.mat
for file in *; do test -s $file; done
ls /usr/share/man/man1/tutti-run.1.gz /usr/share/bash-completion/completions/tutti
END

say "apt install ./libtutti-dev_*.deb, with a compiler"
apt install -y --no-install-recommends gcc libc6-dev pkgconf "$(cd "$root" && echo ./debs/libtutti-dev_*.deb)"
use <<'END'
printf "#include <stdio.h>\n#include <tutti/tutti.h>\nint main(void) { return puts(tutti_version()) < 0; }\n" >use.c
cc use.c -o use $(pkg-config --cflags --libs tutti)
test "$(./use)" = "$(pkg-config --modversion tutti)"
END

if [ -e "$(echo "$root"/debs/tutti-keeper32_*.deb)" ]; then
    say "apt install ./tutti-keeper32_*.deb"
    apt install -y --no-install-recommends "$(cd "$root" && echo ./debs/tutti-keeper32_*.deb)"
    use <<'END'
"$(find /usr/lib -name tutti_keeper32)" || test $? -eq 2 # started by hand
END
fi

say "apt install ./python3-tutti_*.deb"
apt install -y --no-install-recommends "$(cd "$root" && echo ./debs/python3-tutti_*.deb)"
use <<'END'
python3 -c "import tutti; print(tutti.simulate('/usr/share/doc/tutti/examples/fmus/BouncingBall_fmi3.fmu'))"
END

say "apt purge"
apt purge -y '?name(tutti)'
left=$(ours)
[ -z "$left" ] || fail "left behind: $left"
say "ok"
