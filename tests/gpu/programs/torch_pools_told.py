"""A program that imports libsafecopy: what PyTorch's allocator says of its segments and of what is in
use of them stands below PyTorch in the ledger, to the byte, and it is part of what the ledger has."""

from support.common import require
from support.ledger import compare, held, of_own_pool

torch = require("torch")


def agree(what):
    stats = torch.cuda.memory_stats()
    reserved, used = stats["reserved_bytes.all.current"], stats["allocated_bytes.all.current"]
    compare(what, (reserved, used), of_own_pool("PyTorch"))
    compare("of the ledger", reserved, held("PyTorch", "device"))


def main():
    kept = [torch.zeros(1 << size, device="cuda") for size in range(4, 26)]
    agree("22 tensors")
    del kept[3:20]
    agree("17 dropped")
    torch.cuda.empty_cache()
    agree("emptied")
    del kept
    torch.cuda.empty_cache()
    agree("all dropped")


if __name__ == "__main__":
    main()
