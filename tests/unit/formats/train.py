import numpy
import upload


def step(batch, stream):
    staging = numpy.frombuffer(batch.pinned, dtype=numpy.float32)
    upload.copy_async(batch.on_device, staging, stream)
    staging[:] = 0
    return batch.on_device


def main():
    for batch in upload.batches():
        step(batch, upload.stream)
