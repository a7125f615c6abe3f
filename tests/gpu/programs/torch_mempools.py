# env: CUBLAS_WORKSPACE_CONFIG=:4096:8
"""Private pools of PyTorch's allocator: two that are used in turn on streams of their own, one that
is given up while its work is under way, and one that a graph shares with what runs beside it."""

from support.common import checksum, require

torch = require("torch")

ROUNDS, COUNT = 20, 1 << 15


def in_turn(pools, streams):
    kept = []
    for index in range(ROUNDS):
        pool, stream = pools[index % 2], streams[index % 2]
        source = torch.full((COUNT,), float(index)).pin_memory()
        host = torch.empty(COUNT, pin_memory=True)
        with torch.cuda.stream(stream), torch.cuda.use_mem_pool(pool):
            values = source.to("cuda", non_blocking=True)
            values = (values * 3 + 1).cumsum(0)
            host.copy_(values, non_blocking=True)
            done = torch.cuda.Event()
            done.record()
        kept.append((source, host, done))
        del values
    for index, (_, host, done) in enumerate(kept):
        done.synchronize()
        if index % 5 == 0:
            print(index, checksum(host.numpy()))


def given_up(stream):
    pool = torch.cuda.MemPool()
    with torch.cuda.stream(stream), torch.cuda.use_mem_pool(pool):
        values = torch.ones(1 << 22, device="cuda")
        for _ in range(50):
            values = values + 1
        total = values.sum()
    del values, pool
    torch.cuda.empty_cache()
    stream.synchronize()
    print("given up", total.item())


def with_graph(pool, stream):
    static = torch.zeros(COUNT, device="cuda")
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, pool=pool.id, stream=stream):
        result = (static * 2).cumsum(0)
    source = torch.arange(COUNT, dtype=torch.float32).pin_memory()
    host = torch.empty(COUNT, pin_memory=True)
    with torch.cuda.stream(stream):
        for _ in range(3):
            static.copy_(source, non_blocking=True)
            graph.replay()
            host.copy_(result, non_blocking=True)
        stream.synchronize()
    print("graph", checksum(host.numpy()))


def main():
    pools = [torch.cuda.MemPool() for _ in range(2)]
    streams = [torch.cuda.Stream() for _ in range(2)]
    in_turn(pools, streams)
    given_up(streams[0])
    with_graph(torch.cuda.MemPool(), streams[1])
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
