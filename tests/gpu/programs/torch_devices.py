"""Pinned copies to and from every GPU at once, and from one GPU to the next, ordered by events."""

from support.common import checksum, require, skip

torch = require("torch")

COUNT = 1 << 18
ROUNDS = 12


def upload(index, device, stream):
    source = (torch.arange(COUNT, dtype=torch.float32) + index).pin_memory()
    with torch.cuda.stream(stream):
        return source.to(device, non_blocking=True)
    # `source` goes back to the caching allocator here, maybe before it was read.


def download(tensor, stream, after):
    host = torch.empty(COUNT, pin_memory=True)
    done = torch.cuda.Event()
    with torch.cuda.stream(stream):
        stream.wait_event(after)
        host.copy_(tensor * 2, non_blocking=True)
        done.record(stream)
    tensor.record_stream(stream)
    return host, done


def one_round(index, devices, streams):
    """Up to one GPU, over to the next, and down from there."""
    here = index % len(devices)
    there = (index + 1) % len(devices)
    with torch.cuda.device(devices[here]):
        uploaded = upload(index, devices[here], streams[here])
        over = torch.cuda.Event()
        with torch.cuda.stream(streams[here]):
            copied = uploaded.to(devices[there], non_blocking=True)
            over.record(streams[here])
    with torch.cuda.device(devices[there]):
        return download(copied, streams[there], over)


def main():
    if torch.cuda.device_count() < 2:
        skip("needs several GPUs")
    devices = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
    streams = [torch.cuda.Stream(device) for device in devices]
    results = [one_round(index, devices, streams) for index in range(ROUNDS)]
    for index, (host, done) in enumerate(results):
        done.synchronize()
        print(index, checksum(host.numpy()))
    for device in devices:
        torch.cuda.synchronize(device)


if __name__ == "__main__":
    main()
