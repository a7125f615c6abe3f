#!/usr/bin/env python3
"""A PyTorch training loop out of a pinned DataLoader, as a benchmark: prints the median time of a
step behind the warm-up, and the last loss, which must be the same whatever is preloaded.

Ends with 77 where PyTorch or a GPU is missing. tests/bench/run.py --suite guard runs it.
"""

import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(77)

STEPS, WARM_UP, BATCH = 300, 50, 256


class Images(torch.utils.data.Dataset):
    """Made anew from their number, so that the workers have something to do."""

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, number):
        generator = torch.Generator().manual_seed(number)
        return torch.randn(3, 32, 32, generator=generator), number % 10


def network():
    layers = [torch.nn.Conv2d(3, 64, 3, padding=1), torch.nn.ReLU()]
    for _ in range(6):
        layers += [torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(64, 10))


def train(batches, model, optimizer):
    times = []
    for inputs, labels in batches:
        begin = time.perf_counter()
        inputs = inputs.to("cuda", non_blocking=True)
        labels = labels.to("cuda", non_blocking=True)
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
    return times, loss.item()


def main():
    if not torch.cuda.is_available():
        sys.exit(77)
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    batches = torch.utils.data.DataLoader(Images(), batch_size=BATCH, num_workers=8,
                                          pin_memory=True, persistent_workers=True)
    model = network().cuda()
    times, loss = train(batches, model, torch.optim.SGD(model.parameters(), lr=0.01))
    print(f"training_step {statistics.median(times[WARM_UP:]):.2f} us")
    print(f"# training_step: last loss {loss:.6f}")


if __name__ == "__main__":
    main()
