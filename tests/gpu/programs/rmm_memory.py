"""RMM's own statistics say what it has of the device: the ledger agrees."""

from support.common import require, shipped
from support.ledger import compare, held

shipped("rmm")
rmm = require("rmm")


def take(resource, sizes):
    rmm.mr.set_current_device_resource(resource)
    return [rmm.DeviceBuffer(size=size) for size in sizes]


def main():
    counted = rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaMemoryResource())
    kept = take(counted, [1 << size for size in range(8, 26)])
    compare("18 buffers", counted.allocation_counts.current_bytes, held("RMM", "device"))
    del kept[10:]
    compare("kept", counted.allocation_counts.current_bytes, held("RMM", "device"))
    compare("peak", counted.allocation_counts.peak_bytes, held("RMM", "device", peak=True))
    kept.clear()
    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=64 << 20)
    kept = take(pool, [3 << 20])
    compare("pool", pool.pool_size(), held("RMM", "device"))
    kept.clear()
    in_order = rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaAsyncMemoryResource())
    kept = take(in_order, [3 << 20, 5 << 20])
    compare("pool of the driver's", in_order.allocation_counts.current_bytes, held("RMM", "pooled"))


if __name__ == "__main__":
    main()
