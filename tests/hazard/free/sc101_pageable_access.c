// expect: SC101 action=deferred kind=pageable
// expect: SC102 action=deferred kind=pageable certainty=observed
// sim: pageable_access=1
// needs: sim
//
// Where the device itself reads and writes pageable memory, what batches use is freed too early.
#include "batch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    void *target = filled_block(SMALL, 0);

    batch_copy(to, source, SMALL, cudaMemcpySrcAccessOrderAny, stream);
    batch_copy(target, from, SMALL, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    free(source);
    free(target);
    void *owners[] = {filled_block(SMALL, FOREIGN), filled_block(SMALL, FOREIGN)};

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(owners[0], SMALL, FOREIGN) &&
                  holds(owners[1], SMALL, FOREIGN));
}
