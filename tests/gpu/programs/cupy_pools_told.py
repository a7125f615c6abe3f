"""A program that imports libsafecopy: what CuPy's default pool says of what it has taken and of what
is in use stands below CuPy in the ledger, to the byte, and so does what a program tells of a pool of
its own."""

from support.common import require
from support.ledger import compare, held, of_own_pool, tell_pool

cp = require("cupy")


def agree(what):
    pool = cp.get_default_memory_pool()
    compare(what, (pool.total_bytes(), pool.used_bytes()), of_own_pool("CuPy"))
    compare("of the ledger", pool.total_bytes(), held("CuPy", "device"))


def tell():
    """Slices of one array are handed out by the program."""
    array = cp.zeros(64 << 20, dtype=cp.uint8)
    slices = [array[start:start + (1 << 20)] for start in range(0, 8 << 20, 1 << 20)]
    used = sum(part.nbytes for part in slices)
    tell_pool("slices", array.nbytes, used)
    compare("slices", (array.nbytes, used), of_own_pool("slices"))


def main():
    kept = [cp.zeros(1 << size, dtype=cp.uint8) for size in range(4, 26)]
    agree("22 arrays")
    del kept[3:20]
    agree("17 dropped")
    cp.get_default_memory_pool().free_all_blocks()
    agree("freed")
    tell()


if __name__ == "__main__":
    main()
