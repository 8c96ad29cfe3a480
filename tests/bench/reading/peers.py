"""peers.py READER FILE LARGEST: reads an edge list "u<tab>v" of numbers 1 to LARGEST, and prints the seconds that took,
without the imports."""
import sys
import time


def reading(reader, path, largest):
    if reader == "pandas":
        import pandas

        return lambda: pandas.read_csv(path, sep="\t", header=None, dtype="int64")
    if reader == "numpy":
        import numpy

        return lambda: numpy.loadtxt(path, dtype="int64", delimiter="\t")
    import io

    import scipy.io

    # The same lines as Matrix Market, in memory.
    with open(path, "rb") as file:
        body = file.read()
    head = f"%%MatrixMarket matrix coordinate pattern general\n{largest} {largest} {body.count(bytes([10]))}\n"
    text = head.encode() + body
    return lambda: scipy.io.mmread(io.BytesIO(text))


read = reading(sys.argv[1], sys.argv[2], sys.argv[3])
begin = time.perf_counter()
read()
print("seconds", time.perf_counter() - begin)
