#!/usr/bin/env python3
"""Whole programs as their users write them: prints `NAME VALUE us`, what a step takes when nothing
disturbs it (the lower decile behind the warm-up), and a checksum that must be the same whatever is
preloaded. tests/bench/run.py --suite programs runs it.

    programs.py [--list] [--quick] [PROGRAM]...

Each program runs in a process of its own. One whose framework or GPU is missing prints a remark.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time
import zlib

WARM_UP = 30


def decile(times):
    return statistics.quantiles(times, n=10)[0] if len(times) > 1 else times[0]


def measured(step, steps):
    """In us; step(i) ends when its result is on the host."""
    times = []
    for i in range(WARM_UP + steps):
        begin = time.perf_counter_ns()
        step(i)
        times.append((time.perf_counter_ns() - begin) / 1e3)
    return decile(times[WARM_UP:])


def checksum(array):
    return f"{zlib.crc32(memoryview(array).cast('B')):08x}"


# --- PyTorch --------------------------------------------------------------------------------------


def pytorch():
    import torch
    if not torch.cuda.is_available():
        raise ImportError("a GPU")
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    return torch


def torch_train(steps):
    """Batches out of a pinned DataLoader, copied without waiting."""
    torch = pytorch()
    batch = 128
    images = torch.utils.data.TensorDataset(torch.randn(2048, 3, 32, 32),
                                            torch.arange(2048) % 10)
    loader = torch.utils.data.DataLoader(images, batch_size=batch, pin_memory=True)
    layers = [torch.nn.Conv2d(3, 64, 3, padding=1), torch.nn.ReLU()]
    for _ in range(4):
        layers += [torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                                torch.nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches, last = iter(()), []

    def step(_):
        nonlocal batches
        found = next(batches, None)
        if found is None:
            batches = iter(loader)
            found = next(batches)
        inputs, labels = (each.to("cuda", non_blocking=True) for each in found)
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        last[:] = [loss.item()]

    return measured(step, steps), f"loss {last[0]:.4f}" if last else ""


def torch_generate(steps):
    """A transformer generates token by token: a small upload and a download each."""
    torch = pytorch()
    width, context, words = 512, 64, 1000
    layer = torch.nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0, batch_first=True)
    model = torch.nn.Sequential(torch.nn.Embedding(words, width),
                                torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False),
                                torch.nn.Linear(width, words)).cuda().eval()
    tokens = torch.zeros(1, context, dtype=torch.long, pin_memory=True)
    answer = torch.zeros(1, dtype=torch.long, pin_memory=True)
    window = torch.zeros(1, context, dtype=torch.long, device="cuda")
    done, said = torch.cuda.Event(), []

    def step(_):
        with torch.no_grad():
            window.copy_(tokens, non_blocking=True)
            answer.copy_(model(window)[:, -1].argmax(-1), non_blocking=True)
        done.record()
        done.synchronize()
        said.append(int(answer[0]))
        tokens[0, :-1] = tokens[0, 1:].clone()
        tokens[0, -1] = said[-1]

    return measured(step, steps), f"tokens {checksum(bytes(str(said), 'ascii'))}"


def torch_graph(steps):
    """A network at batch size 1 as a CUDA graph; input and result in pinned memory."""
    torch = pytorch()
    import torchvision
    model = torchvision.models.resnet50(weights=None).cuda().eval()
    given = torch.randn(1, 3, 224, 224).pin_memory()
    result = torch.zeros(1, 1000, pin_memory=True)
    inputs = torch.zeros(1, 3, 224, 224, device="cuda")
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(3):
            model(inputs)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            outputs = model(inputs)

        def step(i):
            given[0, 0, 0, 0] = i
            inputs.copy_(given, non_blocking=True)
            graph.replay()
            result.copy_(outputs, non_blocking=True)
            stream.synchronize()

        return measured(step, steps), f"class {int(result.argmax())}"


# --- CuPy, JAX ------------------------------------------------------------------------------------


def cupy_pipeline(steps):
    """Upload of 256 KB, a product, download."""
    import cupy
    import cupyx
    import numpy
    source = cupyx.empty_pinned((256, 256), dtype=numpy.float32)
    target = cupyx.empty_pinned((256, 256), dtype=numpy.float32)
    weights = cupy.full((256, 256), 0.5, dtype=cupy.float32)
    inputs = cupy.empty_like(weights)
    stream = cupy.cuda.Stream(non_blocking=True)

    def step(i):
        source.fill(i % 7)
        with stream:
            inputs.set(source, stream=stream)
            cupy.matmul(inputs, weights).get(stream=stream, out=target, blocking=False)
        stream.synchronize()

    return measured(step, steps), f"sum {checksum(target)}"


def jax_pipeline(steps):
    """Arrays of NumPy's in, a compiled function, an array of NumPy's out."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import numpy
    weights = jax.device_put(numpy.full((256, 256), 0.5, dtype=numpy.float32))
    work = jax.jit(lambda array: jax.numpy.tanh(array @ weights).sum(axis=0))
    source = numpy.empty((256, 256), dtype=numpy.float32)
    result = [None]

    def step(i):
        source.fill(i % 7)
        result[0] = numpy.asarray(work(jax.device_put(source)))

    return measured(step, steps), f"sum {checksum(numpy.ascontiguousarray(result[0]))}"


# --- C++ ------------------------------------------------------------------------------------------


def cpp_stages(steps):
    """Blocks of a file up, through a kernel and down, by three threads (stages.cpp)."""
    program = pathlib.Path(__file__).resolve().parents[2] / "out" / "bench" / "stages"
    if not program.exists():
        raise ImportError("out/bench/stages, which make bench builds")
    run = subprocess.run([program, str(steps)], text=True, check=True, capture_output=True)
    value, _, remark = run.stdout.strip().partition(" us, ")
    return float(value), remark


# --- the command ----------------------------------------------------------------------------------

PROGRAMS = {program.__name__: (program, steps) for program, steps in (
    (torch_train, 150), (torch_generate, 300), (torch_graph, 300), (cupy_pipeline, 3000),
    (jax_pipeline, 1000), (cpp_stages, 10000))}


def run_here(name, quick):
    program, steps = PROGRAMS[name]
    try:
        value, remark = program(max(steps // 5, 20) if quick else steps)
    except ImportError as missing:
        print(f"# {name}: needs {missing.name or missing}")
        return 0
    print(f"{name} {value:.2f} us\n# {name}: {remark}")
    return 0


def main(arguments):
    if "--list" in arguments:
        print("\n".join(PROGRAMS))
        return 0
    quick = "--quick" in arguments
    names = [argument for argument in arguments if argument != "--quick"] or list(PROGRAMS)
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        print(f"no program {unknown[0]}; there are {', '.join(PROGRAMS)}", file=sys.stderr)
        return 2
    if len(names) == 1:
        return run_here(names[0], quick)
    return max(subprocess.run([sys.executable, __file__, *(["--quick"] if quick else []), name],
                              check=False).returncode for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
