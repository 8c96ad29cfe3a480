# What the words of ./dev share: packages, building, messages. To be sourced.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

root="$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)"
jobs="${GNNBENCH_JOBS:-$(nproc)}"

packages=(
    g++ cmake ninja-build ccache
    openmpi-bin libopenmpi-dev
    libboost1.81-dev libboost-context1.81-dev libyaml-cpp-dev libfmt-dev libsqlite3-dev libcli11-dev nlohmann-json3-dev catch2
    libmetis-dev libopenblas-openmp-dev libxsmm-dev libhwy-dev libhwloc-dev librandom123-dev libxxhash-dev
    libzstd-dev zlib1g-dev libarchive-dev
    gnuplot-nox
)

# For the test of the launchers srun and sbatch; they register system services, so only CI asks for them.
slurm_packages=(slurmctld slurmd slurm-client)

# For the tests over several hosts, which say what they leave out without them.
hosts_packages=(iproute2 faketime)

# For the models of tests/protocol/spin.
spin_packages=(spin)

say() { printf 'gnnbench: %s\n' "$*" >&2; }

# fail CODE MESSAGE: 2 is bad usage, 5 the environment, as for gnnbench itself.
fail() {
    local code="$1"
    shift
    say "$*"
    exit "$code"
}

as_root() {
    if [[ $EUID -eq 0 ]]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

# install_packages PACKAGE …: what is missing of them, with apt-get. Costs one dpkg-query where nothing is.
install_packages() {
    [[ -z "${GNNBENCH_SKIP_SETUP:-}" ]] || return 0
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        fail 5 "this system has no apt-get. Install what these Debian packages hold: $*. Then set GNNBENCH_SKIP_SETUP=1."
    fi
    local installed missing=() package
    # dpkg-query fails where it does not know a package at all, and still tells about the others.
    installed=" $({ dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true; } |
        sed -n 's/^\([^: ]*\)[^ ]* installed$/\1/p' | tr '\n' ' ')"
    for package in "$@"; do
        [[ "$installed" == *" $package "* ]] || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0

    if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
        fail 5 "packages are missing and there is no sudo. As root: apt-get install --no-install-recommends ${missing[*]}"
    fi
    say "installing ${#missing[@]} Debian packages with apt-get: ${missing[*]}"
    local log
    log="$(mktemp)"
    # Lists that do not know a package, or whose files are gone from the mirror, are renewed once.
    if ! { apt-cache show "${missing[@]}" >/dev/null 2>&1 && apt_install "$log" "${missing[@]}"; }; then
        as_root apt-get -qq -o DPkg::Lock::Timeout=300 update >>"$log" 2>&1 || true
        if ! apt_install "$log" "${missing[@]}"; then
            tail -n 20 "$log" >&2
            rm -f "$log"
            fail 5 "apt-get could not install them (above). Where another package is in the way, decide that yourself:" \
                "apt-get install --no-install-recommends ${missing[*]}"
        fi
    fi
    rm -f "$log"
}

# apt_install LOG PACKAGE …: never removes a package that is there.
apt_install() {
    local log="$1"
    shift
    as_root apt-get -qq -y --no-install-recommends --no-remove -o DPkg::Lock::Timeout=300 install "$@" \
        >>"$log" 2>&1 </dev/null
}

setup() { install_packages "${packages[@]}"; }

# The linters of today, and what makes the site, from PyPI, in build/tools: Debian 12's clang-tidy misreads GCC 12's ranges.
tools=(clang-tidy==23.1.4 clang-format==23.1.5 codespell==2.4.3 mkdocs==1.6.1 mkdocs-material==9.8.2 mdx-truly-sane-lists==1.3)

# python_tools NAME VERSION …: packages from PyPI in an environment of their own, build/NAME; installs them where that has not
# been done for these versions, and prints the folder of their programs.
python_tools() {
    local folder="$root/build/$1"
    shift
    if [[ "$(cat "$folder/versions" 2>/dev/null)" != "$*" ]]; then
        rm -rf "$folder"
        # Without ensurepip (Debian's python3-venv) there is no pip in the environment.
        python3 -c 'import ensurepip' 2>/dev/null || install_packages python3 python3-venv
        mkdir -p "$root/build"
        if ! { python3 -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check "$@"; } >&2; then
            rm -rf "$folder"
            fail 5 "these could not be installed from PyPI (above): $*"
        fi
        printf '%s' "$*" >"$folder/versions"
    fi
    printf '%s' "$folder/bin"
}

# tool NAME: the path of a linter.
tool() {
    local folder
    folder="$(python_tools tools "${tools[@]}")" && printf '%s' "$folder/$1"
}

is_preset() { [[ "$1" =~ ^(release|debug|asan|tsan|mpich)$ ]]; }
require_preset() { is_preset "$1" || fail 2 "there is no preset \"$1\"; there are: release, debug, asan, tsan, mpich"; }

# The compiler itself tells ccache what a file includes; without this, each file is preprocessed once more to find out.
[[ -n "${CCACHE_NODEPEND:-}" ]] || export CCACHE_DEPEND=1
# What ccache asks for before it keeps files that use a precompiled header.
export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros}"

# configure PRESET [TARGET]: when there is no build tree, or it belongs to another folder (a copied or moved clone). Looking for
# CUDA takes seconds, so a first build of product_without_cuda leaves that to whoever builds more.
configure() {
    local tree="$root/build/$1" cuda_later="$root/build/$1/cuda-later" options=()
    if [[ ! -f "$tree/build.ninja" ]]; then
        [[ "${2:-}" != product_without_cuda ]] || options=(-DGNNBENCH_CUDA=OFF)
    elif ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$tree/CMakeCache.txt"; then
        options=(--fresh)
    elif [[ -e "$cuda_later" && "${2:-}" != product_without_cuda ]]; then
        options=(-DGNNBENCH_CUDA=AUTO)
    else
        return 0
    fi
    mkdir -p "$tree"
    [[ "$1" != mpich ]] || install_packages mpich libmpich-dev # beside Open MPI, which keeps the names without a suffix
    (cd -- "$root" && cmake --preset "$1" "${options[@]}") || return
    if [[ "${options[*]}" == -DGNNBENCH_CUDA=OFF ]]; then touch "$cuda_later"; else rm -f "$cuda_later"; fi
}

build() {
    local preset="$1"
    shift
    configure "$preset" "$@" && cmake --build "$root/build/$preset" -j "$jobs" --target "$@"
}

# product_target: the CUDA kernel, a large part of the product's compile time, only where a driver is or an earlier build made
# it; an old one beside a new core would be refused. ./dev build makes it anywhere.
product_target() {
    if [[ -e /dev/nvidiactl || -e "$root/build/release/lib/gnnbench/plugins/libkernel_cuda.so" ]]; then
        printf product
    else
        printf product_without_cuda
    fi
}

# fewer_jobs COUNT: waits until fewer than so many run in the background. all_jobs: until each has ended. Both keep the worst exit
# code in the caller's `worst`.
fewer_jobs() {
    while [[ "$(jobs -rp | wc -l)" -ge "$1" ]]; do one_job || break; done
}
all_jobs() {
    while [[ -n "$(jobs -p)" ]]; do one_job || break; done
}
one_job() {
    local ended=0
    wait -n || ended=$?
    [[ $ended -ne 127 ]] || return 1 # there is none
    [[ $ended -le $worst ]] || worst=$ended
}

# stages WORD STAGE …: each, whatever the others found, in a process of its own, since inside a condition `set -e` would not
# end a stage at its first error; says at the end which failed. A stage is a function WORD_STAGE of the calling script.
stages() {
    local word="$1" stage begin failed=()
    shift
    for stage in "$@"; do
        declare -F "${word}_${stage//-/_}" >/dev/null || fail 2 "./dev $word has no stage \"$stage\""
    done
    for stage in "$@"; do
        say "$word: $stage"
        begin=$SECONDS
        bash "$0" --stage "$stage" || failed+=("$stage")
        say "$word: $stage took $((SECONDS - begin)) s"
    done
    [[ ${#failed[@]} -eq 0 ]] || { say "$word: failed: ${failed[*]}" && return 1; }
    say "$word: clean: $*"
}

# build_quietly: the product in build/release, with one line of progress; the compiler's words only if it fails.
build_quietly() {
    local log="$root/build/dev-build.log" live=0
    mkdir -p "$root/build"
    [[ ! -t 2 ]] || live=1
    if ! build release "$(product_target)" 2>&1 | tee "$log" | awk -v live="$live" '
        /^\[[0-9]+\/[0-9]+\] (Building|Linking)/ {
            if (live) printf "\rgnnbench: building %s ", $1
            else if (!told) printf "gnnbench: building (build/dev-build.log)\n"
            told = 1
            fflush()
        }
        END { if (live && told) printf "\r\033[K" }' >&2; then
        grep -E -A 12 'FAILED|[Ee]rror' "$log" | head -n 60 >&2
        fail 5 "the build failed; all of it is in build/dev-build.log"
    fi
}
