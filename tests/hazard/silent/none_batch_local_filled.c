// expect: none
//
// A local that a batch fills is the source of the next batch on the stream: it is not read before
// the first has written it, whatever its size. Nothing else is on the stream: behind a host
// function no source is read early.
#include "batch.h"

enum { BYTES = 100000 };

static bool passes_through(size_t size_bytes, void *device, void *target, cudaStream_t stream)
{
    unsigned char local[BYTES];
    memset(local, FOREIGN, sizeof local);
    batch_copy(local, device, size_bytes, cudaMemcpySrcAccessOrderStream, stream);
    batch_copy(target, local, size_bytes, cudaMemcpySrcAccessOrderStream, stream);
    CHECK(cudaStreamSynchronize(stream));
    return holds(local, size_bytes, WANTED) && device_holds(target, size_bytes, WANTED);
}

int main(void)
{
    static const size_t sizes[] = {1, 4000, 40000, BYTES};
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, WANTED);
    void *target = device_block(BYTES, FOREIGN);
    bool right = true;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        right = passes_through(sizes[i], device, target, stream) && right;
    return finish(right);
}
