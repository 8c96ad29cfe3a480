#!/usr/bin/env bash
# run.sh ARCHIVE FOLDER: runs inside.sh on ARCHIVE (of `./dev bundle cpu`) in a plain Debian of this machine's release, which
# FOLDER gets once, as a user without root. Needs root itself, and debootstrap.
set -euo pipefail
archive="$(readlink -f -- "$1")" folder="$2"
here="$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)"
base="$folder/root"

# A compiler, CMake and MPI are what README.md asks of those who write plugins; gnuplot draws figures.
if [[ ! -e "$folder/made" ]]; then
    rm -rf "$base"
    mkdir -p "$base"
    mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sort -u | head -n 1)"
    debootstrap --variant=minbase --include=g++,make,cmake,openmpi-bin,gnuplot-nox \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$base" "$mirror" >"$folder/debootstrap.log" ||
        { tail -n 20 "$folder/debootstrap.log" && exit 5; }
    chroot "$base" useradd --create-home newcomer
    touch "$folder/made"
fi
rm -rf "$base/home/newcomer"
install -d -o 1000 -g 1000 "$base/home/newcomer"
install -m 644 "$archive" "$base/tmp/archive.tar.gz"
install -m 755 "$here/inside.sh" "$base/tmp/inside.sh"
# shellcheck disable=SC2016
exec unshare --mount --pid --fork bash -c '
    set -euo pipefail
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    exec chroot --userspec=1000:1000 "$0" env -i HOME=/home/newcomer USER=newcomer PATH=/usr/bin:/bin LANG=C.UTF-8 \
        OMPI_MCA_rmaps_base_oversubscribe=1 /tmp/inside.sh /tmp/archive.tar.gz' "$base"
