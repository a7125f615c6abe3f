# env: CUBLAS_WORKSPACE_CONFIG=:4096:8
"""Training with its activations and its optimizer in host memory: what the backward pass needs goes
to pinned memory and comes back, gradients come down, new parameters go up, each on a stream of its
own and ordered by events."""

from support.common import require

torch = require("torch")

WIDTH, LAYERS, STEPS = 512, 4, 12


class HostOptimizer:
    """Plain gradient descent with momentum on pinned copies of the parameters."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.hosts = [p.detach().cpu().pin_memory() for p in self.parameters]
        self.gradients = [torch.empty_like(host).pin_memory() for host in self.hosts]
        self.momenta = [torch.zeros_like(host) for host in self.hosts]
        self.down, self.up = torch.cuda.Stream(), torch.cuda.Stream()

    def bring_gradients(self):
        self.down.wait_stream(torch.cuda.current_stream())
        arrived = []
        with torch.cuda.stream(self.down):
            for parameter, gradient in zip(self.parameters, self.gradients):
                gradient.copy_(parameter.grad, non_blocking=True)
                parameter.grad.record_stream(self.down)
                arrived.append(torch.cuda.Event())
                arrived[-1].record(self.down)
        return arrived

    def step(self):
        arrived = self.bring_gradients()
        self.up.wait_stream(torch.cuda.current_stream())
        for index, parameter in enumerate(self.parameters):
            arrived[index].synchronize()
            self.momenta[index].mul_(0.9).add_(self.gradients[index])
            self.hosts[index].sub_(self.momenta[index], alpha=0.05)
            with torch.cuda.stream(self.up), torch.no_grad():
                parameter.copy_(self.hosts[index], non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.up)
        self.up.synchronize()  # the next step writes the hosts


def main():
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    layers = [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())
              for _ in range(LAYERS)]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 10)).cuda()
    optimizer = HostOptimizer(model.parameters())
    inputs = torch.randn(STEPS, 256, WIDTH)
    labels = (inputs[..., :10]).argmax(dim=2)
    for step in range(STEPS):
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            loss = torch.nn.functional.cross_entropy(model(inputs[step].cuda()),
                                                     labels[step].cuda())
        loss.backward()
        optimizer.step()
        model.zero_grad()
        print(f"step {step}: loss {loss.item():.4f}")
    print(f"parameters {sum(host.double().abs().sum().item() for host in optimizer.hosts):.2f}")


if __name__ == "__main__":
    main()
