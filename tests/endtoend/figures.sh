#!/usr/bin/env bash
# Every figure of the papers is drawn as SVG, each fourth as PNG, too; each fourth table prints, in one format after another, the
# first in all of them, without a database (unit.report renders them all). With GNNBENCH_TEST_WHOLE: each.
root="$(cd "$(dirname "$0")/../.." && pwd)"
source "$root/tests/endtoend/lib.sh"

export GNNBENCH_DATABASE="$PWD/none.sqlite"

formats=(text markdown latex html csv json)
tables=0 printed=0
for name in $("$bin/gnnbench" table --list); do
    tables=$((tables + 1))
    if [[ -z "${GNNBENCH_TEST_WHOLE:-}" && $((tables % 4)) -ne 1 ]]; then continue; fi
    these=("${formats[printed % ${#formats[@]}]}")
    [[ $printed -gt 0 ]] || these=("${formats[@]}")
    for format in "${these[@]}"; do
        gnnbench table "$name" --format "$format"
        expect_code 0 "table $name --format $format"
    done
    printed=$((printed + 1))
done
[[ $tables -gt 100 ]] || fail "$tables tables are listed"
gnnbench table plexus/tabel-5-1
expect_code 2 "a table that is not there"
expect_text err "did you mean 'plexus/table-5-1'?" "a table that is not there"
[[ ! -e none.sqlite ]] || fail "a table made a database"

gnnbench validate plexus/table-5-1
expect_code 0 "validate a table"
expect_text out "3 rows and 1 columns, 3 published numbers" "validate a table"

if ! command -v gnuplot >/dev/null && [[ -z "${GNNBENCH_GNUPLOT:-}" ]]; then
    echo "skipped: there is no gnuplot (Debian: gnuplot-nox), so no figure is drawn"
    exit 0
fi
drawn=0
for file in "$root"/experiments/*/figure-*.yaml; do
    gnnbench figure "$file" --output drawn.svg
    expect_code 0 "figure $file"
    grep -q '</svg>' drawn.svg || fail "$file: the SVG is not whole"
    ! grep -q '<title>Gnuplot</title>' drawn.svg || fail "$file: the SVG has no title of its own"
    ! grep -qi 'warning' err || fail "$file: $(cat err)"
    if [[ -z "${GNNBENCH_TEST_WHOLE:-}" && $((drawn++ % 4)) -ne 0 ]]; then continue; fi
    gnnbench figure "$file" --output drawn.png
    expect_code 0 "figure $file as PNG"
    [[ "$(head -c 4 drawn.png | tail -c 3)" == PNG ]] || fail "$file: not a PNG"
done
gnnbench figure plexus/figure-7-1 --output drawn.pdf
expect_code 0 "a figure as PDF"
[[ "$(head -c 5 drawn.pdf)" == %PDF- ]] || fail "not a PDF"
gnnbench figure plexus/figure-7-1 --output column.pdf --width 88mm --font-size 7 --no-footer --data tidy.csv --script drawn.gp
expect_code 0 "a figure of a column's width, its data and its script"
[[ "$(head -n 1 tidy.csv)" == row,column,metric,unit,ours* ]] || fail "the figure's data begin with $(head -n 1 tidy.csv)"
grep -q '^plot ' drawn.gp || fail "the script plots nothing"
grep -aq 'MediaBox \[ 0 0 249' column.pdf || fail "the PDF is not 88 mm wide: $(grep -a MediaBox column.pdf)"
gnnbench figure plexus/figure-7-1 --width 88
expect_code 2 "a width without a unit"
expect_text err "such as 88mm, 8.8cm or 3.5in; found '88'" "a width without a unit"
gnnbench figure plexus/figure-7-1 --efficiency
expect_code 2 "the efficiency of a paper's figure"
gnnbench figure plexus/table-5-1
expect_code 2 "a table drawn"
GNNBENCH_GNUPLOT=/nonexistent/gnuplot gnnbench figure plexus/figure-7-1
expect_code 5 "no gnuplot"

# A path is no part of gnuplot's script, whatever is in it.
for name in "it's" "'; system('touch stolen'); set output '" $'two\nlines'; do
    mkdir -p "$work/$name"
    TMPDIR="$work/$name" gnnbench figure plexus/figure-7-1 --output drawn.svg
    expect_code 0 "a figure with TMPDIR=$name"
    [[ ! -e stolen && -z "$(ls -A "$work/$name")" ]] || fail "TMPDIR=$name was executed, or something was left in it"
done
