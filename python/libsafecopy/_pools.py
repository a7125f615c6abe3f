"""What pools of frameworks that are loaded have taken of the devices, and how much of it they use: by
their own word, and without making a context anywhere."""

import sys
from typing import Any, Iterator, NamedTuple, Optional, Tuple


class Pool(NamedTuple):
    owner: str  # as the report names it
    device: int
    reserved: int
    used: int
    given_back_by: Optional[str]


def _of_torch(torch: Any) -> Iterator[Pool]:
    if torch.cuda.is_initialized():
        for device in range(torch.cuda.device_count()):
            yield Pool("PyTorch", device, torch.cuda.memory_reserved(device),
                       torch.cuda.memory_allocated(device), "torch.cuda.empty_cache()")


def _of_cupy(cupy: Any) -> Iterator[Pool]:
    """Of the current device: to ask for another one's would make it current."""
    pool = cupy.get_default_memory_pool()
    yield Pool("CuPy", cupy.cuda.runtime.getDevice(), pool.total_bytes(), pool.used_bytes(),
               "cupy.get_default_memory_pool().free_all_blocks()")


def _sizes_of_rmm(resource: Any) -> Tuple[Optional[int], Optional[int]]:
    """What the resource, or one below it, has reserved, and what one above that has given out."""
    used = None
    while resource is not None:
        counts = getattr(resource, "allocation_counts", None)
        used = counts.current_bytes if counts is not None and used is None else used
        if hasattr(resource, "pool_size"):
            return resource.pool_size(), used
        resource = getattr(resource, "upstream_mr", None)
    return None, used


def _of_rmm(rmm: Any) -> Iterator[Pool]:
    """It counts what is used where a StatisticsResourceAdaptor stands above the pool."""
    for device, resource in getattr(rmm.mr, "_per_device_resources", {}).items():
        reserved, used = _sizes_of_rmm(resource)
        if reserved is not None and used is not None:
            yield Pool("RMM", int(device), reserved, used, None)


_FRAMEWORKS = (("torch", _of_torch), ("cupy", _of_cupy), ("rmm", _of_rmm))


def found() -> Iterator[Pool]:
    """What does not answer, or answers otherwise in some version, has none."""
    for name, pools_of in _FRAMEWORKS:
        module = sys.modules.get(name)
        try:
            pools = list(pools_of(module)) if module is not None else []
        except Exception:  # pylint: disable=broad-except
            continue
        yield from pools
