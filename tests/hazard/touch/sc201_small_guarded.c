// expect: SC201 action=stalled kind=pinned certainty=observed
// options: snapshot_max=0
//
// A small copy where snapshots are switched off.
#include "touch.h"

enum { PARAMETERS = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, PARAMETERS, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, PARAMETERS, WANTED));
}
