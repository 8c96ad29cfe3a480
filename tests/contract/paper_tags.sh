#!/usr/bin/env bash
# Every algorithm, equation or section tag ([Alg 1, line 6], [Eq 4], [Sec 4.3]) that a strategy's README lists stands in
# its code, or in core, where what strategies share is. usage: paper_tags.sh SOURCE_DIR
set -u
root=$1
status=0 tags=0
for readme in "$root"/plugins/strategies/*/README.md; do
    folder=$(dirname "$readme")
    while IFS= read -r tag; do
        tags=$((tags + 1))
        if ! grep -rqF --include='*.cpp' --include='*.hpp' -- "$tag" "$folder" "$root/host/core" "$root/host/include"; then
            echo "$readme lists $tag, which no code there carries"
            status=1
        fi
    done < <(grep -oE '\[(Alg|Eq|Sec)[^]]*\]' "$readme" | sort -u)
done
if [ "$tags" -eq 0 ]; then
    echo "no tag was found in any README: nothing was checked"
    status=1
fi
echo "$tags tags looked up"
exit $status
