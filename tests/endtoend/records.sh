#!/usr/bin/env bash
# Journal lines of real trials are what schemas/worker-record.schema.json says; a validator of JSON Schema reads it, so that
# other programs may. Skipped (77) where Python's jsonschema is not installed.
# usage: records.sh BIN_FOLDER SCHEMA
schema="$(readlink -f -- "$2")"
if ! python3 -c 'import jsonschema' 2>/dev/null; then
    echo "skipped: there is no Python with the module jsonschema (Debian: python3-jsonschema)"
    exit 77
fi
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"

# A launcher that keeps the journal as it is when a trial ends; it is gone once the host has read it.
real="${GNNBENCH_TEST_MPIEXEC:-$(command -v mpiexec)}"
cat >"$work/launcher" <<SH
#!/bin/sh
"$real" "\$@"
code=\$?
for last; do :; done
case \$last in *.json)
    cat "\$(sed -n 's/^ *"journal": *"\([^"]*\)".*/\1/p' "\$last")" >>"$work/journal" ;;
esac
exit \$code
SH
chmod +x "$work/launcher"
export GNNBENCH_MPIEXEC="$work/launcher"

tiny_experiment tiny.yaml
gnnbench run tiny.yaml --set trials=1 --set train.evaluate_every=1 --trace
expect_code 0 "a run with verifications, evaluations and a timeline"
gnnbench run tiny.yaml --set trials=1 --set name=broken --set train.lr=1e30 --set scheme=serial --set gpus=1 --no-verify
gnnbench run tiny.yaml --set trials=1 --set name=workers --set 'scheme={name: gossip-gcn, clusters: 4}' --set gpus=2 --trace
expect_code 0 "a run of independent workers"
[[ -s journal ]] || fail "the launcher kept no journal"

python3 - "$schema" journal <<'PYTHON' || fail "the journal's lines (above)"
import copy, json, sys
import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
workers = schema["properties"]["type"]["enum"]
hosts = ["trial", "outcome"]
seen, wrong = {}, []
for text in open(sys.argv[2]):
    if text == "\n":  # a writer met another's line in the making
        continue
    line = json.loads(text)
    if line["type"] in hosts:
        continue
    seen.setdefault(line["type"], line)
    wrong += ["%s: %s in %s" % (line["type"], e.message, text[:200]) for e in validator.iter_errors(line)]
wrong += ["no line of type " + t for t in workers if t not in seen]

# What is broken is refused, or the schema says nothing.
def refused(what, type, change):
    line = copy.deepcopy(seen.get(type, {"type": type}))
    change(line)
    if validator.is_valid(line):
        wrong.append("accepted: " + what)

refused("a type that is none", "end", lambda l: l.update(type="finish"))
refused("a line of no trial", "end", lambda l: l.pop("trial"))
refused("an end without a status", "end", lambda l: l.pop("status"))
refused("an epoch without a loss", "epoch", lambda l: l.pop("loss"))
refused("an epoch without ranks", "epoch", lambda l: l.update(ranks=[]))
refused("a negative time", "epoch", lambda l: l["ranks"][0].update(wall_s=-1))
refused("a worker's epoch without its rank", "worker", lambda l: l.pop("rank"))
refused("an averaging with nobody", "worker", lambda l: l.update(averagings=[{"staleness": 1}]))
refused("an unknown operation", "spans", lambda l: l["ranks"][0][0].update(phase="thinking"))
refused("an accuracy above one", "evaluation", lambda l: l.update(train=1.5))
refused("a score of luck", "evaluation", lambda l: l.update(metric="luck"))
refused("a verification without a status", "verification", lambda l: l.pop("status"))
refused("a set-up without a dataset", "setup", lambda l: l.pop("dataset"))
refused("a start of no ranks", "start", lambda l: l.update(ranks=0))
print("\n".join(wrong[:20]))
sys.exit(1 if wrong else 0)
PYTHON
echo ok
