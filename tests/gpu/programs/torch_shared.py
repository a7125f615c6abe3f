# timeout: 120
"""A tensor on the GPU that a spawned process shares (CUDA IPC), and pinned memory in shared memory
that it fills: it is the parent that copies it, after a queue has said so."""

from support.common import checksum, require

torch = require("torch")

COUNT, ROUNDS = 1 << 16, 6


def child(on_device, host, ask, answer):
    for _ in iter(ask.get, None):
        host.copy_(torch.arange(COUNT, dtype=torch.float32) + on_device[0].item())
        on_device.add_(1)
        torch.cuda.synchronize()
        answer.put(True)
    del on_device


def main():
    context = torch.multiprocessing.get_context("spawn")
    ask, answer = context.SimpleQueue(), context.SimpleQueue()
    on_device = torch.zeros(COUNT, device="cuda")
    host = torch.zeros(COUNT).share_memory_()
    result = torch.cuda.cudart().cudaHostRegister(host.data_ptr(), host.nbytes, 0)
    print("registered", int(result) == 0)
    process = context.Process(target=child, args=(on_device, host, ask, answer))
    process.start()
    stream = torch.cuda.Stream()
    for index in range(ROUNDS):
        ask.put(index)
        answer.get()
        with torch.cuda.stream(stream):
            copied = host.to("cuda", non_blocking=True)
        stream.synchronize()
        print(index, on_device[7].item(), checksum(copied.cpu().numpy()))
    ask.put(None)
    process.join()
    torch.cuda.cudart().cudaHostUnregister(host.data_ptr())
    print("child ended with", process.exitcode)


if __name__ == "__main__":
    main()
