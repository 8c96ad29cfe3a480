#!/usr/bin/env python3
"""What ptxas makes of each kernel for each architecture that a build has: registers, bytes of stack, spills, shared memory.
Compiles the .cu files by the build's own commands, with -Xptxas -v, and fails where a kernel spills more than its limit.
usage: registers.py BUILD_FOLDER PAGE.md [FLAG …]: the table is written to the page; flags are nvcc's"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

# Bytes that ptxas may store to local memory and load from there because registers are short, by kernel: what CUDA 13.0's
# needs for one of its types on sm_80 or sm_90. Of a kernel that is not here, none.
SPILL_LIMITS = {"attend_backward_kernel": 64, "shard_kernel": 16}
# The kernels of sparse products, which have no other limit than 0 and no arrays in local memory either.
SPMM = {"spmm_kernel", "combine_kernel", "unused_rows_kernel"}

entry = re.compile(r"Compiling entry function '(\w+)' for '(sm_\d+\w?)'")
properties = re.compile(r"Function properties for '?(\w+)'?")
memory = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
used = re.compile(r"Used (\d+) registers")
shared = re.compile(r"(\d+) bytes smem")


def compile_commands(build):
    """[(file, words, folder)] of the plugin's device code."""
    entries = json.loads((build / "compile_commands.json").read_text())
    found = [(pathlib.Path(e["file"]), shlex.split(e["command"]), e["directory"]) for e in entries if e["file"].endswith(".cu")]
    if not found:
        sys.exit(f"registers: {build} compiles no .cu file; is the kernel `cuda` left out?")
    return found


def report_of(command, flags):
    """What nvcc says with -Xptxas -v; an object is written nowhere."""
    file, words, folder = command
    words[words.index("-o") + 1] = os.devnull
    run = subprocess.run([*words, "-Xptxas=-v", *flags], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 0:
        sys.exit(f"registers: {file} does not compile:\n{run.stdout}")
    return file, run.stdout


def kernels_in(file, report):
    """{(file, kernel, architecture): numbers}. Functions that are no kernels have properties, too, and are part of one."""
    found, current, described = {}, None, None
    for line in report.splitlines():
        if m := entry.search(line):
            current = (file.name, *m.groups())
            found[current] = {}
        elif m := properties.search(line):
            described = m.group(1)
        elif current and described == current[1] and (m := memory.search(line)):
            found[current].update(zip(("stack", "stores", "loads"), map(int, m.groups())))
        elif current and (m := used.search(line)):
            smem = shared.search(line)
            found[current].update(registers=int(m.group(1)), shared=int(smem.group(1)) if smem else 0)
    return found


def readable(mangled):
    """`spmm_kernel<float, 4, 8, 1, true>`, by mangled name."""
    text = subprocess.run(["c++filt"], input="\n".join(mangled), text=True, capture_output=True, check=True).stdout
    names = {}
    for name, full in zip(mangled, text.splitlines()):
        full = re.sub(r"\(anonymous namespace\)::|gnnbench::cuda::", "", full).removeprefix("void ")
        names[name] = full.split("(")[0]
    return names


def numbers(k):
    return f"{k['registers']} / {k['stack']} / {k['stores'] + k['loads']} / {k['shared']}"


def page_of(found, names, nvcc):
    architectures = sorted({key[2] for key in found})
    rows = {}
    for (file, kernel, architecture), k in found.items():
        rows.setdefault((file, names[kernel]), {})[architecture] = numbers(k)
    lines = [
        "# What kernels take of a multiprocessor",
        "",
        f"By ptxas, {nvcc}; written by `./dev nightly registers`, which fails where a kernel spills more than",
        "`tests/gpu/registers.py` allows: nothing in sparse products, what is listed there elsewhere. For each kernel and",
        "architecture: registers of a thread / bytes of its stack / bytes of spills, stored and loaded / bytes of shared memory of",
        "a block.",
        "",
        "| file | kernel | " + " | ".join(architectures) + " |",
        "| --- | --- |" + " --- |" * len(architectures),
    ]
    for (file, kernel), by in sorted(rows.items()):
        lines.append(f"| {file} | `{kernel}` | " + " | ".join(by.get(a, "") for a in architectures) + " |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    commands = compile_commands(pathlib.Path(sys.argv[1]))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        reports = list(pool.map(lambda c: report_of(c, sys.argv[3:]), commands))
    found = {}
    for file, report in reports:
        kernels = kernels_in(file, report)
        if not kernels:
            sys.exit(f"registers: ptxas says nothing of {file}:\n{report}")
        found.update(kernels)
    names = readable(sorted({key[1] for key in found}))
    faults = []
    for (file, kernel, architecture), k in sorted(found.items()):
        if len(k) != 5:
            sys.exit(f"registers: ptxas does not say all of {names[kernel]} for {architecture}: {k}")
        base = names[kernel].split("<")[0]
        spilled, allowed = k["stores"] + k["loads"], SPILL_LIMITS.get(base, 0)
        if spilled > allowed:
            faults.append(f"{file}: {names[kernel]} spills {spilled} bytes on {architecture}; {allowed} are allowed")
        if base in SPMM and k["stack"] > 0:
            faults.append(f"{file}: {names[kernel]} has {k['stack']} bytes of stack on {architecture}; none are allowed")
    missing = SPMM - {n.split("<")[0] for n in names.values()}
    if missing:
        faults.append(f"there are no kernels {', '.join(sorted(missing))}, of which no spills are allowed")
    version = subprocess.run([commands[0][1][0], "--version"], text=True, capture_output=True, check=True).stdout
    nvcc = "CUDA " + re.search(r"release ([\d.]+)", version).group(1)
    page = page_of(found, names, nvcc)
    pathlib.Path(sys.argv[2]).write_text(page)
    most = max(found.values(), key=lambda k: k["registers"])["registers"]
    print(f"registers: {len({k[:2] for k in found})} kernels for {len({k[2] for k in found})} architectures, {most} registers at "
          f"most; {sum(k['stores'] + k['loads'] > 0 for k in found.values())} of these {len(found)} spill")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
