"""Pinned copies both ways over several streams, ordered by events, with host blocks that PyTorch's
caching allocator hands out again."""

from support.common import checksum, require

torch = require("torch")

COUNT = 1 << 18


def round_trip(index, up, down):
    """Up on one stream, computed on the current one, down on another; the result is pinned."""
    source = torch.full((COUNT,), float(index), pin_memory=True)
    source += torch.arange(COUNT) % 7
    compute = torch.cuda.current_stream()
    with torch.cuda.stream(up):
        uploaded = source.to("cuda", non_blocking=True)
    compute.wait_stream(up)
    uploaded.record_stream(compute)
    result = uploaded * 2 + 1
    down.wait_stream(compute)
    host = torch.empty(COUNT, pin_memory=True)
    with torch.cuda.stream(down):
        host.copy_(result, non_blocking=True)
    result.record_stream(down)
    done = torch.cuda.Event()
    done.record(down)
    # `source` goes back to the caching allocator here, maybe before it was read.
    return host, done


def main():
    streams = [torch.cuda.Stream() for _ in range(4)]
    pending = [round_trip(index, streams[index % 2], streams[2 + index % 2])
               for index in range(16)]
    for index, (host, done) in enumerate(pending):
        done.synchronize()
        print(index, checksum(host.numpy()))
    del pending
    for index in range(16, 48):
        host, done = round_trip(index, streams[index % 4], streams[(index + 1) % 4])
        done.synchronize()
        if index % 8 == 0:
            print(index, checksum(host.numpy()))
    pageable = torch.arange(COUNT, dtype=torch.float32)
    print("pageable", checksum((pageable.cuda() + 1).cpu().numpy()))
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
