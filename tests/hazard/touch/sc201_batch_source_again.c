// expect: SC201 action=stalled kind=pageable
// in-place: none
// in-place: wrong
// sim: late_batch=1
// needs: sim
//
// A large pageable source is read by a second batch that has more of it, while the first, which
// waits for nothing else, is in flight. Behind the first one's bytes it is refilled. Driver 580 has
// read it when the call returns.
#include "batch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[] = {device_block(LARGE, 0), device_block(LARGE, 0)};
    char *source = filled_block(LARGE, WANTED);

    batch_copy(targets[0], source, LARGE / 2, cudaMemcpySrcAccessOrderStream, stream);
    batch_copy(targets[1], source, LARGE, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    memset(source + LARGE / 2 + 2 * 4096, 0, LARGE / 4);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(targets[0], LARGE / 2, WANTED) &&
                  device_holds(targets[1], LARGE, WANTED));
}
