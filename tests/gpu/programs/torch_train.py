# env: CUBLAS_WORKSPACE_CONFIG=:4096:8
"""A small network, trained out of a pinned DataLoader whose workers fork."""

from support.common import require

torch = require("torch")

STEPS_PER_EPOCH = 25


def loader():
    numbers = torch.Generator().manual_seed(1)
    inputs = torch.randn(STEPS_PER_EPOCH * 64, 256, generator=numbers)
    labels = (inputs[:, :10] * 3).argmax(dim=1)
    return torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(inputs, labels), batch_size=64, shuffle=True,
        generator=numbers, num_workers=2, multiprocessing_context="fork", pin_memory=True)


def main():
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batches = loader()
    step = 0
    for _ in range(2):
        for inputs, labels in batches:
            inputs = inputs.to("cuda", non_blocking=True)
            labels = labels.to("cuda", non_blocking=True)
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                print(f"step {step}: loss {loss.item():.4f}")
    total = sum(parameter.double().abs().sum().item() for parameter in model.parameters())
    print(f"parameters {total:.2f}")


if __name__ == "__main__":
    main()
