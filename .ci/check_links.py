#!/usr/bin/env python3
"""Links between the tree's Markdown files, and the form of decisions.

A link's file and, after '#', its heading must exist; links to the web are not tried. A page in docs/decisions is linked
from docs/README.md, has a line with date and status under its title, and is short.
"""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^()\s]+)\)")
CODE = re.compile(r"^(```.*?^```|    .*?$)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
STATUS = re.compile(r"\A# [^\n]+\n\n\d{4}-\d\d-\d\d\. (Accepted|Superseded by \[[^\]]+\]\([^)]+\))\.\n\n")
DECISION_WORDS = 400


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


def malformed(root, page, index):
    """What a decision lacks; `index` is the set of link targets in docs/README.md."""
    text = (root / page).read_text()
    if f"decisions/{pathlib.PurePosixPath(page).name}" not in index:
        yield f"{page}: not linked from docs/README.md"
    if not STATUS.match(text):
        yield f"{page}: lacks a line such as '2026-11-25. Accepted.' between blank lines under its title"
    for part in ("Context", "Choice", "Consequence"):
        if f"\n**{part}.**" not in text:
            yield f"{page}: lacks the paragraph **{part}.**"
    if (words := len(text.split())) > DECISION_WORDS:
        yield f"{page}: has {words} words, more than {DECISION_WORDS}; documentation belongs in docs/ or a folder's README"


def main(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "*.md"], check=True, capture_output=True, text=True)
    pages = [page for page in listed.stdout.split("\0") if page and (root / page).exists()]
    decisions = [page for page in pages if page.startswith("docs/decisions/")]
    index = set(LINK.findall(CODE.sub("", (root / "docs/README.md").read_text())))
    links = [finding for page in pages for finding in broken(root, page)]
    forms = [finding for page in decisions for finding in malformed(root, page, index)]
    summary = f"{len(pages)} pages, {len(links)} broken links; {len(decisions)} decisions, {len(forms)} faults in their form"
    print("\n".join(links + forms + [summary]))
    return bool(links or forms) or not pages or not decisions


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
