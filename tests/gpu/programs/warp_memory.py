"""Warp's arrays know what they have of the device: the ledger agrees."""

from support.common import require, shipped
from support.ledger import compare, held

shipped("warp")
wp = require("warp")


def main():
    wp.config.quiet = True
    wp.init()
    first = wp.empty(1, dtype=wp.uint8, device="cuda:0")
    for pooled in (False, True):
        wp.set_mempool_enabled("cuda:0", pooled)
        kind = "pooled" if pooled else "device"
        before = held("Warp", kind)
        kept = [wp.empty(1 << size, dtype=wp.uint8, device="cuda:0") for size in range(8, 26)]
        ours = held("Warp", kind)
        compare(f"18 arrays, {kind}", sum(array.capacity for array in kept), ours and ours - before)
        del kept[10:]
        ours = held("Warp", kind)
        compare(f"kept, {kind}", sum(array.capacity for array in kept), ours and ours - before)
    del first


if __name__ == "__main__":
    main()
