#!/usr/bin/env bash
# The tutorial (docs/tutorial): every command of one chapter, and what it prints.
# usage: tutorial.sh BIN_FOLDER CHAPTER.md
here="$(cd -- "$(dirname -- "$0")" && pwd)"
# shellcheck source=tests/endtoend/lib.sh
source "$here/lib.sh"
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
chapter="$2"
mkdir hour
PATH="$bin:$PATH" python3 "$here/tutorial.py" hour "$chapter"
