#!/usr/bin/env bash
# ./dev papers on a paper of one's own, in a repository of its own, with programs that are built already: it runs what is missing
# and writes the pages, all of one commit; a second time it runs nothing and writes the same.
root="$(cd "$(dirname "$0")/../.." && pwd)"
source "$root/tests/endtoend/lib.sh"

command -v git >/dev/null || { echo "skipped: there is no git" && exit 77; }
mkdir -p tree/build/release tree/results plugins
cp -r "$root/.ci" tree/.ci
ln -s "$bin" tree/build/release/bin
cd tree || exit 1
# Its own build is of no use here.
printf 'setup() { :; }\nbuild() { :; }\n' >>.ci/common.sh
printf 'build\nresults\n*.sqlite*\n' >.gitignore
for plugin in strategies/serial strategies/mg-gcn partitioners/random kernels/cpu; do
    mkdir -p "plugins/$plugin" && echo 1 >"plugins/$plugin/code"
done
git -c init.defaultBranch=main init -q .
gnnbench init --paper mine
expect_code 0 "init --paper"
[[ -f experiments/mine/README.md ]] || echo "# Mine" >experiments/mine/README.md
git add -A
git -c user.name=test -c user.email=test@localhost commit -q -m first

# papers WHAT: makes the paper's pages, to which the rest is compared.
papers() {
    .ci/papers --small mine >"$work/out" 2>"$work/err" || fail "$1: exit code $?"
    [[ -f results/mine/README.md && -f results/mine/claims.md ]] || fail "$1: no pages"
}
papers "the first run"
trials="$(ask "SELECT count(*) FROM trials")"
[[ "$trials" -gt 0 ]] || fail "the first run ran nothing"
cp -r results first
papers "the second run"
expect_text err "nothing to run" "the second run"
expect_value "SELECT count(*) FROM trials" "$trials" "trials after the second run"
diff -r first results >"$work/out" || fail "the second run wrote other pages"
expect_value "SELECT count(DISTINCT json_extract(provenance, '\$.commit')) FROM trials" 1 "commits of one run"
commit="$(sed -n 's/^commit //p' results/mine/README.md)"
[[ -n "$commit" && "$commit" == "$(sed -n 's/^commit //p' results/mine/claims.md)" ]] || fail "pages of other commits: $commit"
echo ok
