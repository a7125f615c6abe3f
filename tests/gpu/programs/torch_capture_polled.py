# expect: SC303 action=rerouted certainty=observed
"""While a graph is captured, another thread polls an event and pins memory."""

import threading

from support.common import finish, require

torch = require("torch")


def poll(event, begun, done, problems):
    begun.wait()
    try:
        event.query()
        torch.empty(1 << 20).pin_memory()
    except RuntimeError as error:
        problems.append(str(error))
    done.set()


def main():
    event = torch.cuda.Event()
    event.record()
    torch.cuda.synchronize()
    static = torch.ones(4096, device="cuda")
    result = torch.zeros(4096, device="cuda")
    graph = torch.cuda.CUDAGraph()
    begun, done, problems = threading.Event(), threading.Event(), []
    thread = threading.Thread(target=poll, args=(event, begun, done, problems))
    thread.start()
    try:
        with torch.cuda.graph(graph):
            result.add_(static)
            begun.set()
            done.wait()
            result.add_(static)
    except RuntimeError as error:
        problems.append(str(error))
    thread.join()
    if problems:
        print("failed", flush=True)
        finish(False)
        return
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    finish(bool((result == 6).all()))


if __name__ == "__main__":
    main()
