#!/usr/bin/env bash
# run.sh ARCHIVE FOLDER: runs inside.sh on ARCHIVE (of `./dev bundle cpu`) in a plain Debian of this machine's release, which
# FOLDER gets once, as a user without root.
# shellcheck source=tests/container/roots.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/roots.sh"
# A compiler, CMake and MPI are what README.md asks of those who write plugins; gnuplot draws figures.
make_root "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$2" g++,make,cmake,openmpi-bin,gnuplot-nox
enter "$2" inside.sh "$1"
