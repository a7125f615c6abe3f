"""CuPy's pools say what they have of the device and of page-locked memory: the ledger agrees."""

from support.common import require
from support.ledger import compare, held

cp, cupyx = require("cupy", "cupyx")


def main():
    pool = cp.get_default_memory_pool()
    kept = [cp.zeros(1 << size, dtype=cp.uint8) for size in range(4, 26)]
    compare("22 arrays", pool.total_bytes(), held("CuPy", "device"))
    del kept[10:]
    cp.cuda.Device().synchronize()
    compare("kept", pool.total_bytes(), held("CuPy", "device"))
    pool.free_all_blocks()
    compare("freed", pool.total_bytes(), held("CuPy", "device"))
    cp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)
    array = cp.zeros(3 << 20, dtype=cp.uint8)
    compare("pool of the driver's", array.nbytes, held("CuPy", "pooled"))


if __name__ == "__main__":
    main()
