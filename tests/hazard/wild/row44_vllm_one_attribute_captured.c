// expect: SC304 action=rerouted certainty=observed event=cuMemcpyBatchAsync_v2
//
// The same in a capture, where each of the copies becomes a node: the order of all of them is that
// of the one set, and no more than one index may be read.
#include "capture.h"
#include "fenced.h"

enum { COPIES = 512, BYTES = 128 };

int main(void)
{
    cudaStream_t stream = new_stream();
    char *device = device_block(COPIES * BYTES, 0);
    char *pinned = pinned_block(COPIES * BYTES, WANTED);
    struct fenced_batch batch = fenced_batch(device, pinned, COPIES, BYTES);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (fixed)
        for (size_t i = 0; i < COPIES; i++)
            CHECK(cudaMemcpyAsync(batch.targets[i], batch.sources[i], BYTES, cudaMemcpyHostToDevice,
                                  stream));
    else
        TRY(issue_fenced(&batch, stream));
    replay(end_capture(stream, COPIES), stream);
    return finish(!broken && device_holds(device, COPIES * BYTES, WANTED));
}
