# timeout: 120
# env: CUBLAS_WORKSPACE_CONFIG=:4096:8
"""Data-parallel training by a process for each GPU, over NCCL: gradients are reduced on NCCL's own
streams while the backward pass runs, and tensors are handed from one process to the next."""

import os
import tempfile

from support.common import require

torch = require("torch")

STEPS = 10


def rank_main(rank, ranks, folder):
    os.environ.pop("NCCL_DEBUG", None)  # its lines come between those of the other processes
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", init_method=f"file://{folder}/meet", rank=rank,
                                         world_size=ranks, device_id=torch.device("cuda", rank))
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 10)).cuda()
    parallel = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank],
                                                         bucket_cap_mb=1)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05)
    numbers = torch.Generator().manual_seed(rank)
    for step in range(STEPS):
        inputs = torch.randn(64, 256, generator=numbers).pin_memory()
        labels = (inputs[:, :10]).argmax(dim=1).pin_memory()
        loss = torch.nn.functional.cross_entropy(parallel(inputs.cuda(non_blocking=True)),
                                                 labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    everybody = [torch.zeros(4, device="cuda") for _ in range(ranks)]
    work = torch.distributed.all_gather(everybody, torch.full((4,), float(rank), device="cuda"),
                                        async_op=True)
    work.wait()
    total = sum(parameter.double().abs().sum().item() for parameter in model.parameters())
    if rank == 0:
        print(f"parameters {total:.2f}, ranks {[int(one[0].item()) for one in everybody]}",
              flush=True)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def main():
    if not torch.distributed.is_nccl_available():
        raise SystemExit("PyTorch without NCCL")
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(rank_main, (torch.cuda.device_count(), folder),
                                    torch.cuda.device_count())


if __name__ == "__main__":
    main()
