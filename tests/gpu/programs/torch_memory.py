"""PyTorch's allocator says what it has of the device and of page-locked memory: the ledger agrees."""

from support.common import require
from support.ledger import compare, held

torch = require("torch")


def main():
    torch.zeros(1, device="cuda")
    compare("first", torch.cuda.memory_reserved(), held("PyTorch", "device"))
    kept = [torch.zeros(1 << size, device="cuda") for size in range(4, 26)]
    compare("22 tensors", torch.cuda.memory_reserved(), held("PyTorch", "device"))
    pinned = [torch.zeros(1 << size).pin_memory() for size in range(4, 22)]
    stats = torch.cuda.host_memory_stats()
    reserved = stats.get("reserved_bytes.current", stats.get("allocated_bytes.current"))
    compare("pinned", reserved, held("PyTorch", "pinned"))
    del kept[10:], pinned
    torch.cuda.synchronize()
    compare("cached", torch.cuda.memory_reserved(), held("PyTorch", "device"))
    torch.cuda.empty_cache()
    compare("emptied", torch.cuda.memory_reserved(), held("PyTorch", "device"))
    compare("peak", torch.cuda.max_memory_reserved(), held("PyTorch", "device", peak=True))


if __name__ == "__main__":
    main()
