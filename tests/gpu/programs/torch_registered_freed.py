# expect: SC101 action=deferred kind=registered certainty=observed
"""A tensor of PyTorch's CPU allocator, registered by hand, is dropped while its copy waits; the
next tensor gets its memory and overwrites it."""

from support.common import finish, hold, require

torch = require("torch")

COUNT = 1 << 16  # bytes; below glibc's threshold for a mapping of its own


def main():
    runtime = torch.cuda.cudart()
    stream = torch.cuda.Stream()
    device = torch.zeros(COUNT, dtype=torch.uint8, device="cuda")
    wanted = torch.full((COUNT,), 17, dtype=torch.uint8, device="cuda")
    source = torch.full((COUNT,), 17, dtype=torch.uint8)
    torch.cuda.synchronize()
    if int(runtime.cudaHostRegister(source.data_ptr(), COUNT, 0)) != 0:
        raise SystemExit("cudaHostRegister failed")

    hold(stream.cuda_stream)
    with torch.cuda.stream(stream):
        device.copy_(source, non_blocking=True)
    del source
    owners = [torch.full((COUNT,), 99, dtype=torch.uint8) for _ in range(8)]

    torch.cuda.synchronize()
    finish(torch.equal(device, wanted) and all(int(owner[-1]) == 99 for owner in owners))


if __name__ == "__main__":
    main()
