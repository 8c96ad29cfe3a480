#!/usr/bin/env bash
# A report: one HTML file that holds what it shows, that a browser reads without a complaint and without the network, and
# that fits a phone. What needs Chromium is skipped where there is none.
# shellcheck source=tests/endtoend/lib.sh
source "$(dirname "$0")/lib.sh"

# --- what it refuses --------------------------------------------------------------------------------------------
gnnbench report
expect_code 2 "a report of nothing"
expect_text err "gnnbench run" "a report of nothing"
expect_plain_error "a report of nothing"
[[ ! -e gnnbench.sqlite ]] || fail "a report made a database"
gnnbench report plexus/tabel-5-1
expect_code 2 "a table that is not there"
expect_text err "did you mean 'plexus/table-5-1'?" "a table that is not there"

tiny_experiment tiny.yaml
gnnbench report tiny.yaml
expect_code 2 "an experiment that never ran"
expect_text err "gnnbench run" "an experiment that never ran"

# --- published numbers alone ------------------------------------------------------------------------------------
gnnbench report plexus --output published.html
expect_code 0 "a report without a database"
[[ ! -s out ]] || fail "--output leaves stdout empty"
[[ ! -e gnnbench.sqlite ]] || fail "a report made a database"
grep -q 'Table 6.1' published.html || fail "no table of the folder in its report"

# --- a run with numbers, a skipped cell, a traced epoch and a failure with a log that is no HTML ------------------
gnnbench run tiny.yaml --trace
expect_code 0 "a tiny run"
# Another experiment has one of its traced cells, too.
sed 's/^name: tiny/name: sharing/; s/\[serial, mg-gcn\]/[mg-gcn]/; s/\[1, 2\]/[2]/' tiny.yaml >sharing.yaml
gnnbench run sharing.yaml --trace
expect_text err "nothing to run; 2 trials there already" "an experiment that shares a cell"
sed 's/^name: tiny/name: "slow \& <b>"/; s/^epochs: .*/epochs: 100000000/; s/\[serial, mg-gcn\]/[serial]/; s/\[1, 2\]/[1]/
    s/^trials: 2/trials: 1/' tiny.yaml >slow.yaml
gnnbench run slow.yaml --no-verify --timeout 1
expect_code 1 "a trial that takes too long"
gnnbench plan slow.yaml
expect_text out "0 present, 1 failed (--failed reruns them)" "the plan of a trial that took too long"
expect_text out "1 timeout earlier" "the plan of a trial that took too long"
gnnbench report --where "gpus = 77" --output none.html
expect_code 2 "a report of no cell"
expect_text err 'no cell fits "gpus = 77"' "a report of no cell"
gnnbench report --where "gpus = 2" --output some.html
expect_code 0 "a report of some cells"
gnnbench report tiny --output nowhere/report.html
expect_code 2 "a folder that is not there"
expect_text err "mkdir -p nowhere" "a folder that is not there"
gnnbench report tiny --profile small
expect_code 0 "a report on stdout"
expect_text out "</html>" "a report on stdout"
gnnbench report --output report.html
expect_code 0 "a report of everything"

# shellcheck disable=SC2154 # from lib.sh
page="$work/report.html"
for text in '<h2>Experiments</h2>' '<h2>Timelines</h2>' '<h2>Failures</h2>' '<h2>Environment</h2>' \
    '<h2>How to reproduce each number</h2>' 'trains on one device; 2 ranks given' 'timeout' 'slow &amp; &lt;b&gt;' \
    'gnnbench run tiny.yaml --where' 'The experiment sharing has this cell, too.'; do
    grep -qF -- "$text" "$page" || fail "expected '$text' in the report"
done
! grep -qF 'slow & <b>' "$page" || fail "a name is markup in the report"
# Each cell's number leads to its digest and to a command; the command runs that cell and no other.
digest="$(ask "SELECT cell FROM latest WHERE scheme = 'mg-gcn' AND gpus = 2 AND status = 'ok'")"
grep -q "href=\"#cell-${digest:0:16}\">" "$page" || fail "no number leads to the cell $digest"
grep -q "id=\"cell-${digest:0:16}\"" "$page" || fail "the cell $digest is not in the report"
again="$(sed -n "/id=\"cell-${digest:0:16}\"/,/<\/li>/s/.*<code>gnnbench \(run .*\)<\/code>.*/\1/p" "$page" |
    sed 's/&quot;/"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g')"
trials="SELECT count(*) FROM trials WHERE purpose = 'measure'"
before="$(ask "$trials")"
eval "gnnbench $again"
expect_code 0 "the command of the report: $again"
expect_value "$trials" $((before + 2)) "the command of the report measures its cell alone: $again"
expect_value "SELECT count(*) FROM trials WHERE purpose = 'measure' AND cell = '$digest'" 4 "$again"

# --- one file, well formed ----------------------------------------------------------------------------------------
for file in published.html report.html; do
    ! grep -oE '(src|srcset|action)="[^"]*"|@import|url\([^#)][^)]*\)|<script|<link|<img|<iframe' "$file" ||
        fail "$file needs something else (above)"
    grep -oE ' id="[^"]*"' "$file" | sort | uniq -d >twice
    [[ ! -s twice ]] || fail "$file has ids twice: $(head -n 3 twice)"
    grep -oE 'href="#[^"]*"' "$file" | sed 's/href="#//; s/"$//' | sort -u >wanted
    grep -oE ' id="[^"]*"' "$file" | sed 's/ id="//; s/"$//' | sort -u >there
    comm -23 wanted there >nowhere
    [[ ! -s nowhere ]] || fail "$file has links that lead nowhere: $(head -n 3 nowhere)"
    if command -v xmllint >/dev/null; then
        xmllint --noout "$file" 2>err || fail "$file is not well formed"
    fi
done

# --- in a browser -----------------------------------------------------------------------------------------------
chromium="$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)"
if [[ -z "$chromium" ]]; then
    echo "skipped: there is no Chromium (Debian: chromium), so no browser has read the report"
    exit 0
fi

# browse FILE: what the browser makes of it, as HTML, in out; its messages in err. No name resolves.
browse() {
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --user-data-dir="$work/browser" --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr \
        --virtual-time-budget=20000 --dump-dom "file://$1" >out 2>err || fail "Chromium cannot open $1"
    # Everything else that it logs is about its own surroundings.
    ! grep -F 'CONSOLE' err || fail "$1: messages on the console (above)"
}

# As XHTML the same bytes must be well formed, or the browser says where they are not.
for file in published report; do
    cp "$file.html" "$file.xhtml"
    browse "$work/$file.xhtml"
    refuse_text out 'parsererror' "$file.html as XHTML"
    expect_text out '</html>' "$file.html as XHTML"
done

# probe FILE WIDTH: in a frame of that width a copy with a script of ours tells what it measures: its width against
# the frame's, what it fetched, how many tables and pictures it shows and which of them reach beyond the page.
probe() {
    sed "s|<meta http-equiv=\"Content-Security-Policy\"[^>]*>||" "$1" | sed '$d' >framed.html
    cat >>framed.html <<'HTML'
<script>
addEventListener('load', () => {
  const page = document.documentElement, boxes = [...document.querySelectorAll('table, svg')];
  const loose = boxes.filter(b => b.getBoundingClientRect().right > innerWidth && !b.closest('.scroll'));
  parent.postMessage(['probed', innerWidth, page.scrollWidth, performance.getEntriesByType('resource').length,
    boxes.filter(b => b.getBoundingClientRect().height > 0).length, loose.length].join(' '), '*');
});
</script>
</html>
HTML
    printf '%s\n' '<!DOCTYPE html><title>probe</title><p id="told">nothing</p><script>' \
        "addEventListener('message', e => { document.getElementById('told').textContent = e.data; });" \
        "</script><iframe src=\"framed.html\" width=\"$2\" height=\"900\" style=\"border:0\"></iframe>" >probe.html
    browse "$work/probe.html"
    local told width scroll fetched shown loose
    told="$(sed -n 's/.*<p id="told">probed \([^<]*\)<.*/\1/p' out)"
    read -r width scroll fetched shown loose <<<"$told"
    [[ -n "$told" ]] || fail "$1 at $2 pixels: the page told nothing"
    [[ $width -eq $2 ]] || fail "$1: expected a frame of $2 pixels, found $width"
    [[ $scroll -le $2 ]] || fail "$1 at $2 pixels: the page is $scroll wide"
    [[ $fetched -eq 0 ]] || fail "$1 fetches $fetched things"
    [[ $shown -gt 0 ]] || fail "$1 at $2 pixels shows no table and no picture"
    [[ $loose -eq 0 ]] || fail "$1 at $2 pixels: $loose tables or pictures reach beyond the page"
}
for file in published report; do
    for width in 390 1280; do probe "$file.html" $width; done
done
