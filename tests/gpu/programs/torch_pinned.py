"""PyTorch's caching host allocator, used as it should be: tensors are pinned, uploaded without
blocking and dropped, so that their blocks go round by the allocator's own events."""

from support.common import require

torch = require("torch")


def main():
    torch.manual_seed(0)
    side = torch.cuda.Stream()
    total = torch.zeros((), dtype=torch.float64, device="cuda")
    for step in range(60):
        batch = torch.randn(1 << (10 + step % 12)).pin_memory()
        with torch.cuda.stream(side):
            uploaded = batch.to("cuda", non_blocking=True)
            part = uploaded.double().sum()
        del batch
        torch.cuda.current_stream().wait_stream(side)
        total += part
        uploaded.record_stream(torch.cuda.current_stream())
    host = torch.empty(1, dtype=torch.float64, pin_memory=True)
    done = torch.cuda.Event()
    host.copy_(total, non_blocking=True)
    done.record()
    done.synchronize()
    print(f"total {host.item():.6f} {total.item():.6f}")


if __name__ == "__main__":
    main()
