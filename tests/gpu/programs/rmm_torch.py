"""RAPIDS' memory manager as PyTorch's allocator: a model is trained with pinned batches that a side
stream uploads."""

from support.common import require, shipped

shipped("rmm")
rmm, torch = require("rmm", "torch")

STEPS, BATCH, WIDTH = 30, 64, 128


def batches():
    generator = torch.Generator().manual_seed(3)
    for _ in range(STEPS):
        yield torch.randn(BATCH, WIDTH, generator=generator).pin_memory()


def main():
    from rmm.allocators.torch import rmm_torch_allocator
    rmm.mr.set_current_device_resource(
        rmm.mr.PoolMemoryResource(rmm.mr.CudaAsyncMemoryResource(), initial_pool_size=64 << 20))
    torch.cuda.memory.change_current_allocator(rmm_torch_allocator)
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(),
                                torch.nn.Linear(WIDTH, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    main_stream, side = torch.cuda.current_stream(), torch.cuda.Stream()
    losses = torch.empty(STEPS, pin_memory=True)
    for step, batch in enumerate(batches()):
        device = torch.empty(BATCH, WIDTH, device="cuda")
        side.wait_stream(main_stream)
        with torch.cuda.stream(side):
            device.copy_(batch, non_blocking=True)
        main_stream.wait_stream(side)
        loss = (model(device) - device.mean(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[step:step + 1].copy_(loss.detach().reshape(1), non_blocking=True)
        side.synchronize()
    torch.cuda.synchronize()
    print(*(f"{loss:.4f}" for loss in losses.tolist()))


if __name__ == "__main__":
    main()
