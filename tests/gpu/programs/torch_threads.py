"""Several Python threads, each with a stream of its own and on the default stream in turn, and a
queue of pinned batches between a reader and a worker."""

import queue
import threading

from support.common import checksum, require

torch = require("torch")

COUNT, BATCHES, WORKERS = 1 << 15, 24, 4


def reader(batches, free):
    for index in range(BATCHES):
        block, event = free.get()
        if event:
            event.synchronize()  # the copy out of it is done
        block.fill_(index)
        batches.put((index, block))
    for _ in range(WORKERS):
        batches.put(None)


def worker(batches, free, results):
    stream = torch.cuda.Stream()
    for index, block in iter(batches.get, None):
        here = stream if index % 3 else torch.cuda.default_stream()
        with torch.cuda.stream(here):
            values = block.to("cuda", non_blocking=True)
            read = torch.cuda.Event()
            read.record(here)
            free.put((block, read))
            answer = (values.double().sum() + torch.ones(8, device="cuda").sum()).cpu()
        results[index] = answer.item()


def main():
    torch.zeros(1, device="cuda")
    batches, free = queue.Queue(), queue.Queue()
    for _ in range(6):
        free.put((torch.zeros(COUNT, pin_memory=True), None))
    results = [None] * BATCHES
    threads = [threading.Thread(target=reader, args=(batches, free))]
    threads += [threading.Thread(target=worker, args=(batches, free, results))
                for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    print(results == [COUNT * index + 8 for index in range(BATCHES)],
          checksum(torch.tensor(results).numpy()))


if __name__ == "__main__":
    main()
