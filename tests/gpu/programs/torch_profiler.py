"""PyTorch's profiler holds the process's one CUPTI subscription while copies run."""

from support.common import checksum, require

torch = require("torch")


def main():
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    source = torch.arange(1 << 16, dtype=torch.float32).pin_memory()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(5):
            result = source.to("cuda", non_blocking=True) + 1
        torch.cuda.synchronize()
    names = [event.name for event in profile.events()]
    print("copies seen", sum("Memcpy HtoD" in name for name in names))
    print(checksum(result.cpu().numpy()))


if __name__ == "__main__":
    main()
