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
refused "did you mean 'imbalance'?" "a misspelt parameter" path --partitioner metis --set inbalance=1
refused "expects one partition" "several partitions for one file" path --parts 2,4 --partitioner block --output parts.npy
refused "cannot make 9 parts of 8" "more parts than METIS makes" path --parts 9 --partitioner metis --output parts.npy
gnnbench partition path --partitioner metiss
expect_code 5 "a partitioner that is not there"
expect_text err "did you mean 'metis'?" "a partitioner that is not there"

# The middle edge is cut, both ways; either end of it is needed on the other side.
gnnbench partition path --parts 2 --partitioner block --output parts.npy
expect_code 0 "two halves"
expect_text out "path, 8 vertices, 14 edges, seed 0" "what was partitioned"
grep -qE '^block +2 +2 +14\.3% +2 +2 ' out || fail "two halves: expected 2 entries cut, 2 nets, 2 rows needed"
grep -qE '^block +2 +1\.0 +1 +1\.000 +1 +1\.000$' out || fail "two halves: expected a row sent by each"
grep -qE '^block +2 +1\.0 +1 +4 +1\.000 +11 +1\.000$' out || fail "two halves: expected a message of each, even parts"
[[ "$(wc -L <out)" -le 80 ]] || fail "two halves: wider than 80 columns"
[[ "$(tail -c 32 parts.npy | od -An -v -t d4 | xargs)" == "0 0 0 0 1 1 1 1" ]] || fail "two halves: parts.npy holds other parts"

# Over ranks, which each read their rows and write their parts: the same as in one process.
seq 0 599 | awk '{ if ($1 % 20 < 19) print $1, $1 + 1; if ($1 < 580) print $1, $1 + 20 }' >mesh.txt
gnnbench dataset import mesh.txt --format edge-list --name mesh --set directed=false
for ranks in 1 3; do
    gnnbench partition mesh --parts 4 --partitioner distributed-hypergraph --ranks "$ranks" --output "mesh.$ranks"
    expect_code 0 "a mesh over $ranks ranks"
done
expect_text out "distributed-hypergraph, 4 parts: by 3 ranks" "a mesh over 3 ranks"
cmp mesh.1 mesh.3 || fail "a mesh over ranks: other parts than in one process"
[[ "$(sort mesh.3 | uniq -c | awk '{ print $2 }' | xargs)" == "0 1 2 3" ]] || fail "a mesh over ranks: expected parts 0 to 3"
gnnbench partition mesh --parts 4 --partitioner distributed-hypergraph,block --ranks 2 --set distributed-hypergraph.order=rcm --json
expect_code 0 "ranks, and a partitioner without"
expect_text out '"ranks": 2' "ranks, and a partitioner without"
gnnbench partition path --parts 2 --partitioner distributed-hypergraph --ranks 2 --set weights=nonzeros --set imbalance=0
expect_code 0 "two vertices a rank"
refused "--ranks 2 is for partitioners that run over ranks" "ranks of a partitioner without" path --partitioner metis --ranks 2
refused "--ranks" "no ranks" path --ranks 0

# As lines, which the partitioner `file` reads again.
gnnbench partition path --parts 2 --partitioner block --output halves.part
[[ "$(xargs <halves.part)" == "0 0 0 0 1 1 1 1" ]] || fail "two halves: halves.part holds $(xargs <halves.part)"
gnnbench partition path --parts 2 --partitioner file --set path=halves.part
expect_code 0 "what was written, read again"
grep -qE '^file +2 +2 +14\.3% +2 +2 ' out || fail "what was written, read again: expected the two halves"

# Both products, forward and backward: each half sends its end of the cut edge, twice.
gnnbench partition path --parts 2 --partitioner block --volume
expect_code 0 "what parts send"
grep -qE '^block +2 +2\.0 +2 +2\.0 +2$' out || fail "what parts send: expected 2 rows and 2 messages of each part"
# 64, 16 and 8 wide: products of 64 and 16 columns forward, of 8 and 16 backward, for each of which a half sends one row,
# and all-reduces of 64 × 16 + 16 and 16 × 8 + 8 gradients, of which each of two ranks sends all: 4 × (104 + 1176) bytes.
gnnbench partition path --parts 2 --partitioner block --scheme sa-1d --hidden 16 --json
expect_code 0 "what a scheme states"
expect_text out '"total_bytes": 10240' "what a scheme states"
gnnbench partition path --parts 2 --partitioner block --scheme cagnet-1.5d
expect_text out "nothing stated: " "a scheme that needs another number of parts"
gnnbench partition path --parts 2 --partitioner block --scheme-set overlap=true
expect_code 2 "a parameter of no scheme"

# Nine rows in eight parts of one or two: the balance printed is the one kept, nonzeros with their diagonal, no part is
# empty, and the rows that force it are named.
{ printf '0 8\n'; seq 0 7 | awk '{ print $1, $1 + 1 }'; } >ring.txt
gnnbench dataset import ring.txt --format edge-list --name ring --set directed=false
for with in hypergraph metis; do
    gnnbench partition ring --parts 8 --partitioner "$with" --set weights=nonzeros --set imbalance=0.01
    expect_code 0 "an imbalance that $with cannot keep"
    grep -qE "^$with +8 +[0-9.]+ +[0-9]+ +2 +1\.778 +6 +1\.778$" out || fail "$with: expected parts of at most 2 rows, 6 nonzeros"
    expect_text out "no partition can have less than 6" "the least that $with can reach"
    expect_text out "2 rows as heavy as rows " "the rows that force it"
    gnnbench partition ring --parts 8 --partitioner "$with" --set weights=nonzeros --json
    expect_text out '"empty_parts": 0' "$with leaves no part empty"
done
# The hub of a star weighs as much as four parts: refused, with the row and what would do.
seq 1 40 | awk '{ print 0, $1 }' >star.txt
gnnbench dataset import star.txt --format edge-list --name star --set directed=false
refused "row 0 has 41 of" "a row heavier than a part may be" star --parts 8 --partitioner hypergraph --output star.npy
expect_text err "mean part 16" "the mean part"
gnnbench partition star --parts 8 --partitioner hypergraph --set imbalance=1.6 --json
expect_code 0 "an imbalance that admits the hub"
expect_text out '"empty_parts": 0' "parts that the imbalance would let be empty"
expect_text out '"vertices"' "the parts"

# Every part's numbers, in three forms, and a picture.
gnnbench partition path --parts 2 --partitioner block --csv
cp out named
gnnbench partition path --parts 2 --with block --csv
expect_code 0 "--with, its name until now"
expect_text err "--with is now --partitioner" "--with, its name until now"
cmp -s <(cut -d, -f1-5 named) <(cut -d, -f1-5 out) || fail "--with and --partitioner differ"
expect_code 0 "as CSV"
[[ "$(cat out)" == "partitioner,parts,part,vertices,nonzeros,sent_rows,received_rows,sent_messages,received_messages
block,2,0,4,11,1,1,1,1
block,2,1,4,11,1,1,1,1" ]] || fail "as CSV: found $(cat out)"
gnnbench partition path --parts 2 --partitioner block --per-part
expect_code 0 "every part"
grep -qE '^block, 2 +1 +4 +11 +1 +1 +1 +1$' out || fail "every part: expected the second half"
gnnbench partition path --parts 4 --partitioner block --output path.svg
expect_code 0 "a picture"
grep -q "6 of 12 pairs of parts exchange any" path.svg || fail "a picture: expected neighbours on a path only"
xmllint --noout path.svg 2>/dev/null || ! command -v xmllint >/dev/null || fail "a picture: no XML"
refused "at most 2048 parts" "a picture of too many parts" path --parts 3000 --partitioner block --output path.svg

# What a partitioner cannot do in time is ended.
printf '#!/bin/sh\nexec sleep 100\n' >sleeps && chmod +x sleeps
gnnbench partition path --parts 2 --partitioner command --set program=sleeps --limit 0.5
expect_code 2 "a partitioner that takes too long"
expect_text err "partitioner command with 2 parts did not end within 0.5 s" "a partitioner that takes too long"
gnnbench partition path --parts 2 --partitioner block,command --set command.program=sleeps --limit 0.5
expect_code 1 "one of two that takes too long"
expect_text out "command, 2 parts: failed: partitioner command" "one of two that takes too long"
expect_text out "block" "one of two that takes too long"

# A partitioner's temporary files go when it is ended, at the latest with the next command; nothing else of the user's does.
mkdir tmp tmp/gnnbench-mine && touch tmp/gnnbench-mine/kept
TMPDIR="$work/tmp" gnnbench partition path --parts 2 --partitioner command --set program=sleeps --limit 0.5
[[ -n "$(compgen -G 'tmp/gnnbench-partition-*')" ]] || fail "an ended partitioner: expected what it leaves, a folder"
TMPDIR="$work/tmp" gnnbench partition path --parts 2 --partitioner block
[[ "$(ls tmp)" == gnnbench-mine && -e tmp/gnnbench-mine/kept ]] || fail "an ended partitioner left $(ls tmp)"

echo 0 1 >short.part
refused "short.part has the parts of 2 vertices; the graph has 8" "parts of another graph" path --parts 2 --partitioner file --set path=short.part
printf '%s\n' 0 0 0 0 1 1 1 1 >path.part
gnnbench partition path --parts 2 --partitioner file --set path=path.part
expect_code 0 "a part file"
grep -qE '^file +2 +2 +14\.3% +2 +2 ' out || fail "a part file: expected the two halves"

gnnbench partition path --parts 4 --partitioner block,random --csv-for demirci/table-2 --row "amazon0601 GP"
expect_code 0 "lines for a table"
expect_text out "table,row,column,value,unit,dataset,gpus,of,command,date,commit" "lines for a table"
expect_text out "table-2,amazon0601 GP,volume avg," "lines for a table"
expect_text out ",path,4,\"path, 8 vertices, 14 edges, block over random, 4 parts, seed 0:" "lines for a table"
refused "--csv-for expects" "lines without what they are set against" path --parts 2 --partitioner block --csv-for demirci/table-2 --row x

# All that there are, compared; what one cannot do is said in its place.
gnnbench partition path --parts 2 8,9
expect_code 0 "all partitioners"
for name in bfs block degree-balanced random; do
    [[ "$(grep -c "^$name " out)" == 9 ]] || fail "all partitioners: expected three rows of $name in three tables"
done
expect_text out "cannot make 9 parts of 8 vertices" "what METIS cannot do"
gnnbench partition path --parts 9 --partitioner block,metis --json
expect_code 0 "as JSON"
expect_text out '"empty_parts": 1' "eight vertices in nine blocks"
expect_text out '"skipped": "cannot make 9 parts of 8 vertices"' "what METIS cannot do, as JSON"

# An expected graph of a real one: the file is an experiment, whose parts have the imbalance that was reported.
gnnbench dataset generate bter --name blocks --set vertices=2000 --set average_degree=20 --set features=8 --set classes=4
gnnbench partition blocks --parts 4 8 16 --partitioner metis --set weights=nonzeros --export expected.yaml --json
expect_code 0 "an expected graph"
grep -oE '"nonzeros": *\{[^}]*\}' <(tr -d '\n' <out) | tail -1 >nonzeros
reported="$(grep -oE '"imbalance": *[0-9.]+' nonzeros | grep -oE '[0-9.]+$')"
grep -qE '^# Of: dataset blocks, digest [0-9a-f]{32}; partitioner metis; 4, 8, 16 parts; seed 0\.$' expected.yaml || fail "an expected graph: of what?"
gnnbench plan expected.yaml
expect_code 0 "a plan of the exported file"
expect_text out "metis(weights=nonzeros)" "a plan of the exported file"
mkdir deeper
printf 'imports: ../expected.yaml\nname: far\nmatrix: {scheme: [sa-1d], gpus: [16, 64]}\n' >deeper/far.yaml
gnnbench run deeper/far.yaml
expect_code 0 "an experiment that imports the exported file"
expect_text out "× the mean in nonzeros" "the imbalance is told"
expect_value "SELECT abs(nonzero_imbalance / $reported - 1) < 0.01 FROM trials WHERE experiment = 'far' AND gpus = 16" 1 "reported and expected imbalance"
expect_value "SELECT count(*) FROM trials WHERE experiment = 'far' AND status = 'ok' AND volume_as_stated = 1" 2 "trials on an exported graph"
refused "expected.yaml is already there" "an export onto a file" blocks --partitioner metis --export expected.yaml
rm expected.yaml
refused "expected.profile.json is already there" "an export onto a profile" blocks --partitioner metis --export expected.yaml
refused "at random has no locality" "an export of random parts" blocks --partitioner random --export a.yaml
refused "libra deals edges to parts" "an export of a vertex cut" blocks --partitioner libra --export a.yaml
refused "one partitioner in --partitioner" "an export of all partitioners" blocks --export a.yaml
refused "metis cannot make 3000 parts" "an export of parts that cannot be" blocks --partitioner metis --parts 3000 --export a.yaml
refused "'a.yml'" "an export to another ending" blocks --partitioner metis --export a.yml
[[ ! -e a.yaml && ! -e a.profile.json ]] || fail "a refused export left a file"
echo ok
