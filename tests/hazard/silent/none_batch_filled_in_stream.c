// expect: none
// sim: late_batch=1
//
// A source in stream order may be filled by a host function that comes before the copy in the
// stream: it is not read when the call is made.
#include "batch.h"

enum { BYTES = 5000 };

static void fill_source(void *source)
{
    fill(source, BYTES, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    void *source = filled_block(BYTES, FOREIGN);

    busy(stream);
    CHECK(cudaLaunchHostFunc(stream, fill_source, source));
    batch_copy(device, source, BYTES, cudaMemcpySrcAccessOrderStream, stream);
    CHECK(cudaStreamSynchronize(stream));
    bool right = holds(source, BYTES, WANTED);
    free(source);
    return finish(right && device_holds(device, BYTES, WANTED));
}
