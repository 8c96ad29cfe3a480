#!/usr/bin/env python3
"""Gathers what the site is made of: every tracked page of Markdown, and the files that these link to, each in its place.

    site.py ROOT FOLDER
"""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_links import CODE, LINK  # noqa: E402


def linked(root, page):
    """Files that a page links to. A folder's link leads to its page."""
    for target in LINK.findall(CODE.sub("", (root / page).read_text())):
        path = target.partition("#")[0]
        if path and ":" not in path:
            file = ((root / page).parent / path).resolve()
            if file.is_file() and file.is_relative_to(root):
                yield file.relative_to(root)


def main(root, folder):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
                            check=True, capture_output=True, text=True)
    pages = {pathlib.Path(page) for page in listed.stdout.split("\0") if page and (root / page).exists()}
    shutil.rmtree(folder, ignore_errors=True)
    for file in sorted(pages | {f for page in pages for f in linked(root, page)}):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / file, folder / file)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
