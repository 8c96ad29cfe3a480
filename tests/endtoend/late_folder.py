"""A copy of a folder in which files appear late, each after a time of its own, so not in the order in which they were
written: what a host may see of a shared file system.

late_folder.py FROM TO SECONDS       a file is copied SECONDS to 2 * SECONDS after its last change
"""
import os
import shutil
import sys
import time
import zlib

source, target, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
seen = {}    # path: (what the system says of it, since when)
copied = {}  # path: what the system said of it then
while True:
    now = time.monotonic()
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), source)
            try:
                info = os.lstat(os.path.join(source, path))
                state = (info.st_size, info.st_mtime_ns, info.st_ino)
                if seen.get(path, (None,))[0] != state:
                    seen[path] = (state, now)
                late = seconds * (1 + zlib.crc32(path.encode()) % 100 / 100)
                if copied.get(path) == state or now - seen[path][1] < late or not os.path.isfile(os.path.join(source, path)):
                    continue
                os.makedirs(os.path.join(target, os.path.dirname(path)), exist_ok=True)
                draft = os.path.join(target, path + ".late")
                shutil.copy2(os.path.join(source, path), draft)
                os.rename(draft, os.path.join(target, path))
                copied[path] = state
            except FileNotFoundError:
                pass  # removed since
    time.sleep(0.1)
