#!/usr/bin/env python3
"""Executes chapters of the tutorial, as a reader would, in one folder.

    tutorial.py FOLDER CHAPTER.md ...

A fenced block after a line that ends in "`NAME`:" is a file of that name. In a block `console`, lines with "$ " are commands
("> " continues one) and the lines below are what they print, none if they print nothing: a line "…" stands for any lines, "…" in
a line for any text. Words are compared, and numbers only where the block says `console exact`: times differ from machine to
machine. A command ends with exit code 0 unless its last output line is "[exit code N]". Every block with a language is executed
or written, but for `text`.
"""
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\w+)?( exact)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w./-]+)`:\s*\Z")
EXIT = re.compile(r"\[exit code (\d+)\]")
# A number with its unit, or a mark of a table beside one.
NUMBER = re.compile(r"^[-+−≥]?[\d][\d.,–eE+−-]*(%|x|×)?$")
MARKS = {"|", "*", "×", "%"} | set("abcdefghij")


def words(line, exact):
    found = line.split()
    return found if exact else [w for w in found if w not in MARKS and not NUMBER.match(w) and not re.match(r"^\*?[a-j]{1,2}$", w)]


def fits(expected, line, exact):
    if "…" not in expected:
        return words(expected, exact) == words(line, exact)
    pattern = ".*".join(r"\s+".join(map(re.escape, words(part, exact))) for part in expected.split("…"))
    return re.search("^" + pattern + "$", " ".join(words(line, exact))) is not None


def differs(expected, printed, exact):
    """The first expected line that does not come where it should; None if all do."""
    at, skips = 0, False
    for line in expected:
        if line.strip() == "…":
            skips = True
            continue
        if not line.strip():
            continue
        while at < len(printed) and not printed[at].strip():
            at += 1
        while skips and at < len(printed) and not fits(line, printed[at], exact):
            at += 1
        if at == len(printed) or not fits(line, printed[at], exact):
            return line
        at, skips = at + 1, False
    rest = [line for line in printed[at:] if line.strip()]
    return None if skips or not rest else f"nothing more, but there is: {rest[0]}"


class Shell:
    """One shell for all commands, whose folder and variables stay."""

    def __init__(self, folder):
        self.shell = subprocess.Popen(["bash", "--norc"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        mark = "--- end of a command ---"
        # Its standard input is not what this shell reads its commands from.
        self.shell.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n%s %s\\n' '{mark}' $?\n")
        self.shell.stdin.flush()
        printed = []
        for line in self.shell.stdout:
            if line.startswith(mark):
                return printed, int(line.rsplit(" ", 1)[1])
            printed.append(line.rstrip("\n"))
        return printed, -1


def commands(block):
    """(command, lines that it prints) in turn."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        else:
            found[-1][1].append(line)
    return found


def execute(folder, chapter):
    shell, text, executed = Shell(folder), chapter.read_text(), 0
    for fence in FENCE.finditer(text):
        language, exact, block = fence[1], bool(fence[2]), fence[3]
        before = text[: fence.start()].rstrip()
        if language == "console":
            for command, expected in commands(block):
                wanted = EXIT.fullmatch(expected[-1].strip()) if expected else None
                printed, code = shell.run(command)
                if wanted:
                    expected = expected[:-1]
                wrong = None
                if code != (int(wanted[1]) if wanted else 0):
                    wrong = f"exit code {code}"
                else:
                    wrong = differs(expected, printed, exact)
                    wrong = wrong and f"expected: {wrong}"
                if wrong:
                    sys.exit("\n".join([f"{chapter}: $ {command}", *printed, f"{chapter}: $ {command}: {wrong}"]))
                executed += 1
        elif language != "text":
            name = FILE.search(before)
            if not name:
                sys.exit(f"{chapter}: a block of {language or 'no language'} is neither a file nor executed:\n{block}")
            path = folder / name[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block)
    if executed == 0:
        sys.exit(f"{chapter}: no command")
    print(f"{chapter.name}: {executed} commands as they are printed")


def main():
    folder = pathlib.Path(sys.argv[1])
    for chapter in sys.argv[2:]:
        execute(folder, pathlib.Path(chapter).resolve())


if __name__ == "__main__":
    main()
