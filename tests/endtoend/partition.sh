#!/usr/bin/env bash
# What partitioners make of a dataset, on a path of eight vertices that one can count by hand.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"
seq 0 6 | awk '{ print $1, $1 + 1 }' >path.txt
gnnbench dataset import path.txt --format edge-list --name path --set directed=false
expect_code 0 "a path of eight vertices"

refused() {
    gnnbench partition "${@:3}"
    expect_code 2 "$2"
    expect_text err "$1" "$2"
    expect_plain_error "$2"
}
refused "did you mean 'path'?" "a dataset that is not there" pathh
refused "--parts" "no parts" path --parts 0
refused "belongs to one partitioner" "a parameter of whom?" path --set seed=3
refused "did you mean 'imbalance'?" "a misspelt parameter" path --with metis --set inbalance=1
refused "expects one partition" "several partitions for one file" path --parts 2,4 --with block --output parts.npy
refused "cannot make 9 parts of 8" "more parts than METIS makes" path --parts 9 --with metis --output parts.npy
gnnbench partition path --with metiss
expect_code 5 "a partitioner that is not there"
expect_text err "did you mean 'metis'?" "a partitioner that is not there"

# The middle edge is cut, both ways; either end of it is needed on the other side.
gnnbench partition path --parts 2 --with block --output parts.npy
expect_code 0 "two halves"
expect_text out "path, 8 vertices, 14 edges, seed 0" "what was partitioned"
grep -qE '^block +2 +2 +14\.3% +2 +0\.250 +1\.000 +1\.000 ' out || fail "two halves: expected 2 entries cut, 2 rows needed, even parts"
[[ "$(tail -c 32 parts.npy | od -An -v -t d4 | xargs)" == "0 0 0 0 1 1 1 1" ]] || fail "two halves: parts.npy holds other parts"

# Both products, forward and backward: each half sends its end of the cut edge, twice.
gnnbench partition path --parts 2 --with block --volume
expect_code 0 "what parts send"
grep -qE '^block +2 +2\.0 +2 +2\.0 +2$' out || fail "what parts send: expected 2 rows and 2 messages of each part"
gnnbench partition path --parts 4 --with block,random --csv-for demirci/table-2 --row "amazon0601 GP"
expect_code 0 "lines for a table"
expect_text out "table,row,column,value,unit,dataset,gpus,of,command,date,commit" "lines for a table"
expect_text out "table-2,amazon0601 GP,volume avg," "lines for a table"
expect_text out ",path,4,\"path, 8 vertices, 14 edges, block over random, 4 parts, seed 0:" "lines for a table"
refused "--csv-for expects" "lines without what they are set against" path --parts 2 --with block --csv-for demirci/table-2 --row x

# All that there are, compared; what one cannot do is said in its place.
gnnbench partition path --parts 2 8,9
expect_code 0 "all partitioners"
for name in block random metis; do
    [[ "$(grep -c "^$name " out)" == 3 ]] || fail "all partitioners: expected three rows of $name"
done
expect_text out "cannot make 9 parts of 8 vertices" "what METIS cannot do"
gnnbench partition path --parts 9 --with block,metis --json
expect_code 0 "as JSON"
expect_text out '"empty_parts": 1' "eight vertices in nine blocks"
expect_text out '"skipped": "cannot make 9 parts of 8 vertices"' "what METIS cannot do, as JSON"
echo ok
