# shellcheck shell=bash
# Sourced by run.sh and bare.sh: plain Debian systems in folders, and programs in them as a user without root. Needs root itself,
# and debootstrap.
set -euo pipefail
here="$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)"

# make_root RELEASE FOLDER PACKAGES: FOLDER/root, once; packages with commas.
make_root() {
    local release="$1" folder="$2" mirror
    [[ ! -e "$folder/made" ]] || return 0
    rm -rf "$folder/root"
    mkdir -p "$folder/root"
    # shellcheck disable=SC2016
    mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sort -u | head -n 1)"
    debootstrap --variant=minbase --include="$3" "$release" "$folder/root" "$mirror" >"$folder/debootstrap.log" ||
        { tail -n 20 "$folder/debootstrap.log" && exit 5; }
    chroot "$folder/root" useradd --create-home newcomer
    touch "$folder/made"
}

# enter FOLDER SCRIPT FILE …: the script of this folder, as a new user whose home is empty, with copies of the files as arguments.
enter() {
    local base="$1/root" script="$2" file names=()
    shift 2
    rm -rf "$base/home/newcomer" "$base/tmp/given"
    install -d -o 1000 -g 1000 "$base/home/newcomer"
    install -d "$base/tmp/given"
    install -m 755 "$here/$script" "$base/tmp/$script"
    for file in "$@"; do
        install -m 644 "$file" "$base/tmp/given/"
        names+=("/tmp/given/$(basename "$file")")
    done
    # shellcheck disable=SC2016
    unshare --mount --pid --fork bash -c '
        set -euo pipefail
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        exec chroot --userspec=1000:1000 "$0" env -i HOME=/home/newcomer USER=newcomer PATH=/usr/bin:/bin LANG=C.UTF-8 \
            OMPI_MCA_rmaps_base_oversubscribe=1 "$@"' "$base" "/tmp/$script" "${names[@]}"
}
