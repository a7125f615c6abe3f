# expect: SC403 action=stalled certainty=observed
"""The pinned input of a captured step is filled again while a replay is in flight."""

from support.common import finish, hold, require

torch = require("torch")

COUNT = 1 << 20


def main():
    source = torch.full((COUNT,), 17.0).pin_memory()
    static = torch.zeros(COUNT, device="cuda")
    result = torch.zeros(COUNT, device="cuda")
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        static.copy_(source, non_blocking=True)
        torch.add(static, 1, out=result)
    hold(torch.cuda.current_stream().cuda_stream)
    graph.replay()
    source.fill_(99)
    torch.cuda.synchronize()
    finish(bool((result == 18).all()))


if __name__ == "__main__":
    main()
