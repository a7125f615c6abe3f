#!/usr/bin/env python3
"""Work of several GPUs, by a process for each: prints `NAME VALUE us`, what a step takes when nothing
disturbs it (the lower decile behind the warm-up), and a checksum that must be the same whatever is
preloaded. tests/bench/run.py --suite gpus runs it.

    gpus.py [--list] [--quick] [PROGRAM]...

A processor's clock may move by 1.8 between two runs and within one. So a spin loop is timed beside
the steps, and `@ NAME SPEED:VALUE:STEPS ...` says what the median step took, in us, and of how many,
by what the loop took: steps of two runs are compared where their loops took as long (tables.py).

NCCL's multicast stays off: a program that uses it can put GPUs that others share out of service.
"""

import collections
import importlib.util
import math
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARM_UP = 20
SPIN_EVERY, SPINS, SPEEDS_PER_E = 10, 1000, 25  # a speed is 4 % of what the loop takes
WITHOUT_MULTICAST = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
                     "NVSHMEM_DISABLE_NVLS": "1"}


def spin():
    total = 0
    for i in range(SPINS):
        total += i


def us_of(call):
    begin = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - begin) / 1e3


def measured(step, steps):
    """Pairs of what the spin loop and the step took, in us; step() ends when its result is there."""
    pairs = []
    for i in range(WARM_UP + steps):
        if i % SPIN_EVERY == 0:
            beside = us_of(spin)
        pairs.append((beside, us_of(step)))
    return pairs[WARM_UP:]


def by_speed(pairs):
    """{speed of the spin loop: (the median step, how many)}."""
    found = collections.defaultdict(list)
    for beside, us in pairs:
        found[round(SPEEDS_PER_E * math.log(beside))].append(us)
    return {speed: (statistics.median(steps), len(steps)) for speed, steps in sorted(found.items())}


def tell(figure, pairs, remark):
    decile = statistics.quantiles([us for _, us in pairs], n=10)[0]
    speeds = " ".join(f"{speed}:{us:.2f}:{steps}" for speed, (us, steps) in by_speed(pairs).items())
    print(f"{figure} {decile:.2f} us\n@ {figure} {speeds}\n# {figure}: {remark}", flush=True)


# --- PyTorch: each program is run by every rank, and returns ((figure, pairs, remark), ...) -------


def all_reduce(torch, steps):
    found = []
    for name, count, times in (("4k", 1 << 10, 30), ("1m", 1 << 18, 30), ("64m", 1 << 24, 3)):
        ones = torch.ones(count, device="cuda")

        def step():
            torch.distributed.all_reduce(ones, torch.distributed.ReduceOp.AVG)
            torch.cuda.synchronize()
        found.append((f"all_reduce_{name}", measured(step, steps * times), f"mean {ones.mean().item():g}"))
    return found


def network(torch):
    torch.manual_seed(0)
    width = 1024
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 10)).cuda(), width


def train(torch, name, model, width, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    rank = torch.distributed.get_rank()
    numbers = torch.Generator().manual_seed(rank)
    inputs = torch.randn(256, width, generator=numbers).pin_memory()
    labels = (torch.arange(256) % 10).pin_memory()
    last = []

    def step():
        loss = torch.nn.functional.cross_entropy(model(inputs.cuda(non_blocking=True)),
                                                 labels.cuda(non_blocking=True))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        last[:] = [loss.item()]
        torch.cuda.synchronize()
    pairs = measured(step, steps)
    return [(name, pairs, f"loss {last[0]:.3f}")]


def ddp(torch, steps):
    model, width = network(torch)
    parallel = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=4)
    return train(torch, "ddp_step", parallel, width, steps)


def fsdp(torch, steps):
    from torch.distributed.fsdp import fully_shard
    model, width = network(torch)
    for layer in model:
        if isinstance(layer, torch.nn.Linear):
            fully_shard(layer)
    fully_shard(model)
    return train(torch, "fsdp_step", model, width, steps)


TORCH = {"all_reduce": all_reduce, "ddp": ddp, "fsdp": fsdp}


def rank_main(rank, ranks, names, steps, folder):
    import torch
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.distributed.init_process_group("nccl", init_method=f"file://{folder}/meet", rank=rank,
                                         world_size=ranks, device_id=torch.device("cuda", rank))
    for name in names:
        for figure, pairs, remark in TORCH[name](torch, steps):
            if rank == 0:
                tell(figure, pairs, remark)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def count_gpus():
    """Without a framework, which takes seconds to be there."""
    answer = subprocess.run([ROOT / "scripts" / "gpus"], capture_output=True, text=True,
                            env=os.environ | {"LD_PRELOAD": ""})
    return int(answer.stdout or 0)


def of_torch(names, steps):
    ranks = count_gpus()
    if ranks < 2 or not importlib.util.find_spec("torch"):
        raise ImportError("PyTorch and several GPUs")
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        processes = [spawn.Process(target=rank_main, args=(rank, ranks, names, steps, folder))
                     for rank in range(ranks)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    return max(abs(process.exitcode) for process in processes)


# --- JAX: one process has all devices, or one of them ----------------------------------------------


def jax_step(jax, devices):
    """Rows of a host's array to each device, a product of all with all, and its sum back."""
    import numpy as np
    mesh = jax.sharding.Mesh(np.array(devices), ("row",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("row"))
    host = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024) % 7
    total = jax.jit(lambda a: (a @ a.T).sum())
    last = []

    def step():
        last[:] = [float(total(jax.device_put(host, rows)))]
    return step, last


def of_jax(_, steps):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    devices = jax.devices()
    if jax.default_backend() != "gpu" or len(devices) < 2:
        raise ImportError("several GPUs")
    for name, used in (("jax_sharded", devices), ("jax_alone", devices[:1])):
        step, last = jax_step(jax, used)
        pairs = measured(step, steps)
        tell(name, pairs, f"sum {last[0]:g}")
    return 0


# --- the command ----------------------------------------------------------------------------------


PROGRAMS = {**dict.fromkeys(TORCH, of_torch), "jax": of_jax}


def run_here(names, quick):
    try:
        return PROGRAMS[names[0]](names, 40 if quick else 120)
    except ImportError as missing:
        print(f"# {names[0]}: needs {missing.name or missing}")
    return 0


def main(arguments):
    if "--list" in arguments:
        print("\n".join(PROGRAMS))
        return 0
    os.environ.update(WITHOUT_MULTICAST)
    quick = "--quick" in arguments
    names = [argument for argument in arguments if argument != "--quick"] or list(PROGRAMS)
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        print(f"no program {unknown[0]}; there are {', '.join(PROGRAMS)}", file=sys.stderr)
        return 2
    of_one = [[name for name in names if PROGRAMS[name] is kind] for kind in (of_torch, of_jax)]
    of_one = [chosen for chosen in of_one if chosen]
    if len(of_one) == 1:
        return run_here(of_one[0], quick)
    return max(subprocess.run([sys.executable, __file__, *(["--quick"] if quick else []), *chosen],
                              check=False).returncode for chosen in of_one)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
