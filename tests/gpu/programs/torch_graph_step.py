"""A whole training step as one graph, its pinned input filled again after each replay is done; and
allocations beside the capture of another graph."""

import threading

from support.common import checksum, require

torch = require("torch")

BATCH, WIDTH = 256, 64


def warm_up(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)


def main():
    torch.manual_seed(3)
    model = torch.nn.Linear(WIDTH, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    source = torch.zeros(BATCH, WIDTH).pin_memory()
    static = torch.zeros(BATCH, WIDTH, device="cuda")
    loss_host = torch.zeros(1).pin_memory()

    def step():
        static.copy_(source, non_blocking=True)
        optimizer.zero_grad(set_to_none=False)
        loss = model(static).square().mean()
        loss.backward()
        optimizer.step()
        loss_host.copy_(loss.detach().reshape(1), non_blocking=True)

    warm_up(step)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        beside = threading.Thread(target=lambda: torch.empty(1 << 20).pin_memory())
        beside.start()
        step()
        beside.join()
    for number in range(20):
        source.copy_(torch.full((BATCH, WIDTH), float(number % 5)))
        graph.replay()
        torch.cuda.current_stream().synchronize()
        if number % 5 == 4:
            print(number, checksum(loss_host.numpy()))


if __name__ == "__main__":
    main()
