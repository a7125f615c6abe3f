# timeout: 150
"""torch.compile with CUDA graph trees: it captures while it compiles, and replays with inputs that
were copied from pinned memory on another stream."""

import os
import tempfile

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR",
                      os.path.join(tempfile.gettempdir(), "check-gpu-inductor"))

from support.common import checksum, require, skip  # noqa: E402

torch = require("torch")

BATCH, WIDTH = 128, 64


def main():
    try:
        import triton  # noqa: F401
    except ImportError:
        skip("no Triton, which torch.compile needs, here")
    torch.manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU(),
                                torch.nn.Linear(WIDTH, 8)).cuda()
    compiled = torch.compile(model, mode="reduce-overhead")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    copies = torch.cuda.Stream()
    sources = [torch.full((BATCH, WIDTH), float(index)).pin_memory() for index in range(3)]
    results = torch.zeros(BATCH, 8).pin_memory()
    for number in range(12):
        with torch.cuda.stream(copies):
            values = sources[number % 3].to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(copies)
        values.record_stream(torch.cuda.current_stream())
        torch.compiler.cudagraph_mark_step_begin()
        output = compiled(values)
        loss = output.square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if number % 4 == 3:
            results.copy_(output.detach(), non_blocking=True)
            torch.cuda.current_stream().synchronize()
            print(number, checksum(results.numpy()))


if __name__ == "__main__":
    main()
