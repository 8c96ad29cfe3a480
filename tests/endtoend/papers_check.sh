#!/usr/bin/env bash
# ./dev papers --check on a repository of its own: a page is stale when code that its trials used has changed since their commits,
# or its paper's settings since it was written, or when Table 2's counts are of other code; not when anything else has changed.
# And --list on this repository: which profiles run.
root="$(cd "$(dirname "$0")/../.." && pwd)"
source "$root/tests/endtoend/lib.sh"

command -v git >/dev/null || { echo "skipped: there is no git" && exit 77; }
mkdir -p tree/{host/core,host/worker/verify,host/report,plugins/strategies/used,plugins/strategies/other,experiments/p,results/p}
cp -r "$root/.ci" tree/.ci
cd tree || exit 1
for file in host/core/a host/worker/verify/e host/report/b plugins/strategies/used/{c,README.md} plugins/strategies/other/d experiments/p/{claims.yaml,README.md}; do echo 1 >"$file"; done
git_here() { git -c user.name=test -c user.email=test@localhost "$@" >/dev/null; }
git_here init -q .
git_here add -A
git_here commit -q -m first
commit="$(git rev-parse --short=12 HEAD)"
settings="$(git ls-files -z -- experiments/p | grep -zv '\.md$' | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)"
page=results/p/claims.md paper=p
printf '# P\n\nText.\n\n<!-- computed by\nsettings %s\ncommit %s\nplugin plugins/strategies/used\n-->\n' "$settings" "$commit" >"$page"
cp "$page" fresh.md

# check CODE WHAT TEXT: what `--check` ends with, and what the page's head then says; empty: that it is not stale.
check() {
    local code=0
    GNNBENCH_SKIP_SETUP=1 .ci/papers --check "$paper" 2>err || code=$?
    [[ $code == "$1" ]] || fail "$2: exit code $code, expected $1: $(cat err)"
    if [[ -z "$3" ]]; then
        cmp -s "$page" fresh.md || fail "$2: the page is not as it was: $(cat "$page")"
    else
        sed -n 3p "$page" | grep -qF "**STALE**: $3" || fail "$2: the page says $(sed -n 3p "$page")"
    fi
}

check 0 "nothing has changed" ""
echo 2 >host/report/b
echo 2 >host/worker/verify/e
echo 2 >plugins/strategies/other/d
echo 2 >plugins/strategies/used/README.md
echo 2 >experiments/p/README.md
check 0 "code that computes none of it has changed" ""
echo 2 >plugins/strategies/used/c
check 3 "a plugin has changed" "code has changed since $commit"
check 3 "checked again" "code has changed since $commit"
[[ "$(grep -c STALE "$page")" == 1 ]] || fail "a page says twice that it is stale"
echo 1 >plugins/strategies/used/c
check 0 "the plugin is as it was" ""
echo 2 >host/core/a
git_here commit -q -a -m second
check 3 "the core has changed, and was committed" "code has changed since $commit"
echo 1 >host/core/a
check 0 "the core is as it was" ""
echo 2 >experiments/p/claims.yaml
check 3 "a claim has changed" "experiments/p has changed"
echo 1 >experiments/p/claims.yaml
sed -i "s/commit $commit/commit 0123456789ab/" "$page"
check 3 "a commit that is not here" "commit 0123456789ab is not here"
sed -i '/^<!-- computed by$/,/^-->$/d' "$page"
check 3 "a page without marks" "it does not say, as pages now do, what its numbers are of"

# Demirci et al.'s page has counts, too, which are of other code or of this.
mkdir -p experiments/demirci results/demirci
echo 1 >experiments/demirci/measured.csv
git_here add experiments/demirci
settings="$(sha256sum experiments/demirci/measured.csv | sha256sum | cut -c1-16)"
printf '# D\n\nText.\n\n<!-- computed by\nsettings %s\ncommit %s\nplugin plugins/strategies/used\n-->\n' "$settings" "$commit" >results/demirci/claims.md
cp results/demirci/claims.md fresh.md
page=results/demirci/claims.md paper=demirci
check 3 "nobody has counted" "what Table 2 counts in 512 parts is of other code"
{ sha256sum .ci/count_partitions .ci/count_ratios.py && sha256sum experiments/demirci/measured.csv; } | sha256sum | cut -c1-16 >results/demirci/counted
check 0 "counted" ""
echo 2 >>.ci/count_ratios.py
check 3 "it is counted otherwise" "what Table 2 counts in 512 parts is of other code"

# Every table that a claim names has what it is of among the runs; what goes beyond a paper is not.
cd "$root" || exit 1
.ci/papers --list >"$work/runs" || fail "--list ends with $?"
for run in 'plexus/properties.yaml --profile small --trace' 'plexus/balance.yaml --trace' 'mg-gcn/timeline.yaml --profile simulated --trace' \
    'gossip/variants.yaml --profile simulated' 'demirci/partitioners.yaml --profile simulated'; do
    grep -qE "/experiments/$run\$" "$work/runs" || fail "--list lacks $run"
done
grep -qE '/(clusters|partners|many-workers)\.yaml' "$work/runs" && fail "--list has experiments beyond the thesis"
exit 0
