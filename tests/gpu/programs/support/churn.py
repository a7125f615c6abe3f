"""Tensors of many sizes, made, used on several streams, and forgotten: what an allocator of PyTorch's
has to bear. Ordered by events throughout."""

from support.common import checksum

ROUNDS, STREAMS = 60, 3


def sizes():
    """Always the same ones, from a few bytes to some megabytes."""
    state = 12345
    while True:
        state = (state * 1103515245 + 12345) % (1 << 31)
        yield 1 << (4 + state % 17)


def use(torch, tensor, stream, after):
    """Doubles it on another stream; the result may be used after the event."""
    stream.wait_event(after)
    with torch.cuda.stream(stream):
        result = tensor * 2
        tensor.record_stream(stream)
        done = torch.cuda.Event()
        done.record(stream)
    return result, done


def churn(torch):
    streams = [torch.cuda.Stream() for _ in range(STREAMS)]
    kept = []
    for index, size in zip(range(ROUNDS), sizes()):
        source = torch.arange(size, dtype=torch.float32).pin_memory()
        first = streams[index % STREAMS]
        with torch.cuda.stream(first):
            tensor = source.to("cuda", non_blocking=True) + index
            ready = torch.cuda.Event()
            ready.record(first)
        result, done = use(torch, tensor, streams[(index + 1) % STREAMS], ready)
        host = torch.empty(size, pin_memory=True)
        with torch.cuda.stream(streams[(index + 2) % STREAMS]) as _:
            torch.cuda.current_stream().wait_event(done)
            host.copy_(result, non_blocking=True)
            result.record_stream(torch.cuda.current_stream())
            arrived = torch.cuda.Event()
            arrived.record()
        kept.append((host, arrived))
        del tensor, result, source
        if index % 20 == 19:
            torch.cuda.empty_cache()
    for index, (host, arrived) in enumerate(kept):
        arrived.synchronize()
        if index % 6 == 0:
            print(index, host.numel(), checksum(host.numpy()))
    torch.cuda.synchronize()
