#!/usr/bin/env bash
# bare.sh FOLDER ARCHIVE WHEEL …: in bare Debian 12 and 13, which FOLDER gets once, runs first.sh on the archive (of `./dev bundle
# cpu`), the wheel (of `./dev wheel`) and the wheels that it needs, as a user without root.
# shellcheck source=tests/container/roots.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/roots.sh"
folder="$1"
shift
for release in bookworm trixie; do
    mkdir -p "$folder/$release"
    # Python is for the wheel alone. No MPI, no compiler, no library of ours.
    make_root "$release" "$folder/$release" python3-venv
    printf '== Debian %s\n' "$(cat "$folder/$release/root/etc/debian_version")"
    enter "$folder/$release" first.sh "$@"
done
