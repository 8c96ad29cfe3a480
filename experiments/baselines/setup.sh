#!/usr/bin/env bash
# Python environments for the frameworks that full_batch.py trains with, and for mtkahypar_partition.py; nothing else of
# gnnbench needs them.
# usage: setup.sh pyg|dgl|mtkahypar [--yes]      without --yes it says what it would do, and how much it is; 0: it is there
#
# They lie in $GNNBENCH_BASELINES, else in gnnbench/baselines of the user's cache, one folder each; delete a folder to be
# rid of it. The packages are PyPI's, whose builds of PyTorch for Linux bring the CUDA libraries along and run on CPUs too.
set -euo pipefail

say() { printf 'setup.sh: %s\n' "$*" >&2; }

case "${1:-}" in
    pyg)
        size="3 GB to download, 5 GB on disk"
        packages=(torch==2.13.0 torch_geometric==2.8.1 numpy)
        ;;
    dgl)
        # The last DGL on PyPI, and what it was built against.
        size="3 GB to download, 5.5 GB on disk"
        packages=(torch==2.2.1 dgl==2.1.0 'numpy<2' torchdata==0.7.1 pandas pyyaml pydantic)
        ;;
    mtkahypar)  # a partitioner, for mtkahypar_partition.py
        size="6 MB to download, 95 MB on disk"
        packages=(mtkahypar==1.7.post1)
        ;;
    *)
        sed -n 's/^# usage: /usage: /p' "$0" >&2
        exit 2
        ;;
esac
folder="${GNNBENCH_BASELINES:-${XDG_CACHE_HOME:-$HOME/.cache}/gnnbench/baselines}/$1"

if [[ -x "$folder/bin/python" && -e "$folder/complete" ]]; then
    say "$folder is there already"
    exit 0
fi
if [[ "${2:-}" != --yes ]]; then
    say "would make a Python environment in $folder with ${packages[*]} from PyPI: $size. To do so: $0 $1 --yes"
    exit 2
fi
python3 -c 'import ensurepip, venv' 2>/dev/null || {
    say "python3 cannot make environments; install it whole (Debian: python3-venv)"
    exit 5
}
if [[ "$1" == dgl ]] && ! python3 -c 'import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 12))'; then
    say "DGL 2.1 is there for Python 3.8 to 3.11; this one is $(python3 -V)"
    exit 5
fi
mkdir -p "$(dirname "$folder")"
say "making $folder: $size"
python3 -m venv --clear "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
touch "$folder/complete"
say "$folder is ready ($(du -sh "$folder" | cut -f1))"
