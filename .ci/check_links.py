#!/usr/bin/env python3
"""Links between the tree's Markdown files: the file and, after '#', the heading must exist. Links to the web are not tried."""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^()\s]+)\)")
CODE = re.compile(r"^(```.*?^```|    .*?$)|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(text):
    """GitHub's names for headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def broken(root, page):
    text = CODE.sub("", (root / page).read_text())
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (root / page).parent / path if path else root / page
        if not file.exists():
            yield f"{page}: {target}: there is no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
            yield f"{page}: {target}: {file.name} has no heading #{anchor}"


def main(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "*.md"], check=True, capture_output=True, text=True)
    pages = [page for page in listed.stdout.split("\0") if page and (root / page).exists()]
    findings = [finding for page in pages for finding in broken(root, page)]
    print("\n".join(findings + [f"{len(pages)} pages, {len(findings)} broken links"]))
    return bool(findings) or not pages


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
