// expect: SC201 action=snapshotted kind=pinned event=cuMemcpyDtoH_v2
//
// The same of a page, which the device takes from a snapshot.
#include "twin.h"

enum { PARAMETERS = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(PARAMETERS, 0);
    void *next = device_block(PARAMETERS, FOREIGN);
    void *source = pinned_block(PARAMETERS, WANTED);

    CHECK(cudaMemcpyAsync(to, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(source, next, PARAMETERS, cudaMemcpyDeviceToHost));

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(to, PARAMETERS, WANTED) && holds(source, PARAMETERS, FOREIGN));
}
