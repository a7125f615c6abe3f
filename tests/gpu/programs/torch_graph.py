"""A captured CUDA graph, fed and read through pinned memory between its replays."""

from support.common import checksum, require

torch = require("torch")

COUNT = 4096


def main():
    static_in = torch.zeros(COUNT, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            warm = (static_in * 2 + 1).clamp(max=5000)
    torch.cuda.current_stream().wait_stream(side)
    del warm

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        static_out = (static_in * 2 + 1).clamp(max=5000)

    source = torch.empty(COUNT, pin_memory=True)
    host = torch.empty(COUNT, pin_memory=True)
    for step in range(20):
        source.copy_(torch.arange(COUNT, dtype=torch.float32) + step)
        static_in.copy_(source, non_blocking=True)
        graph.replay()
        host.copy_(static_out, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        if step % 5 == 0:
            print(step, checksum(host.numpy()))


if __name__ == "__main__":
    main()
