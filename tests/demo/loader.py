"""A data loader that spoils its own batches: the third program of `make demo`.

There is one pinned staging buffer. Each batch is written into it and uploaded without blocking,
behind a large upload on the same stream. The mistake is in fill(): it writes the next batch while
the upload of the last one may not have read the buffer yet.

It needs Python alone: the driver is called by ctypes. Exit status 0: every batch arrived as it was
made; 1: some did not; 3: a call failed.
"""

import ctypes
import sys

BATCHES = 4
BATCH_BYTES = 1 << 20
WEIGHTS_BYTES = 256 << 20

driver = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        print(f"CUDA error {status}", file=sys.stderr)
        sys.exit(3)


def make(function, *arguments):
    """What the driver hands out: a context, a stream, memory."""
    made = ctypes.c_void_p()
    check(function(ctypes.byref(made), *arguments))
    return made


def sample(batch):
    return bytes((batch * 31 + at) % 251 for at in range(4096)) * (BATCH_BYTES // 4096)


class Loader:
    def __init__(self):
        check(driver.cuInit(0))
        check(driver.cuCtxSetCurrent(make(driver.cuDevicePrimaryCtxRetain, 0)))
        self.stream = make(driver.cuStreamCreate, 1)
        self.staging = make(driver.cuMemAllocHost_v2, ctypes.c_size_t(BATCH_BYTES))
        self.weights = make(driver.cuMemAllocHost_v2, ctypes.c_size_t(WEIGHTS_BYTES))
        self.model = make(driver.cuMemAlloc_v2, ctypes.c_size_t(WEIGHTS_BYTES))
        self.batches = [make(driver.cuMemAlloc_v2, ctypes.c_size_t(BATCH_BYTES)) for _ in range(BATCHES)]

    def fill(self, batch):
        ctypes.memmove(self.staging, sample(batch), BATCH_BYTES)

    def upload(self, target, source, size):
        size = ctypes.c_size_t(size)
        check(driver.cuMemcpyHtoDAsync_v2(target, source, size, self.stream))

    def run(self):
        self.upload(self.model, self.weights, WEIGHTS_BYTES)
        for number, batch in enumerate(self.batches):
            self.fill(number)
            self.upload(batch, self.staging, BATCH_BYTES)
        check(driver.cuStreamSynchronize(self.stream))

    def arrived(self, number):
        batch = ctypes.create_string_buffer(BATCH_BYTES)
        size = ctypes.c_size_t(BATCH_BYTES)
        check(driver.cuMemcpyDtoH_v2(batch, self.batches[number], size))
        return batch.raw == sample(number)


def main():
    loader = Loader()
    loader.run()
    right = sum(loader.arrived(number) for number in range(BATCHES))
    print(f"  {right} of {BATCHES} batches arrived as they were made")
    return 0 if right == BATCHES else 1


if __name__ == "__main__":
    sys.exit(main())
