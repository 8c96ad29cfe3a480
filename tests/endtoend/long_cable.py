"""A cable on which every frame takes its time: two network cards (taps), and what is written to one is read from the other
some milliseconds later. These kernels have no netem.

long_cable.py --possible             exits with 0 where such cards can be made
long_cable.py PID CARD PORT MS       CARD is made in the network namespace of process PID, PORT in this one
"""
import ctypes
import fcntl
import os
import queue
import struct
import sys
import threading
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0002, 0x1000, 0x40000000


def tap(name):
    descriptor = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return descriptor


def enter_network_of(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/proc/{pid}/ns/net", "rb") as namespace:
        if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def carry(source, target, delay_s):
    """Reads and writes in threads of their own, so that frames on their way do not hold up one another."""
    under_way = queue.Queue()

    def read():
        while True:
            frame = os.read(source, 65536)
            under_way.put((time.monotonic() + delay_s, frame))

    def write():
        while True:
            due, frame = under_way.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                os.write(target, frame)
            except OSError:
                pass  # a card that is down drops frames

    for thread in (read, write):
        threading.Thread(target=thread, daemon=True).start()


if __name__ == "__main__":
    if sys.argv[1] == "--possible":
        try:
            tap("possible")
        except OSError as error:
            sys.exit(str(error))
        sys.exit(0)
    pid, card, port, milliseconds = sys.argv[1:]
    here = tap(port)
    enter_network_of(pid)
    there = tap(card)
    carry(here, there, float(milliseconds) / 1000)
    carry(there, here, float(milliseconds) / 1000)
    threading.Event().wait()
