// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A large fread goes straight into a source whose copy has not run.
#include "files.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = pinned_block(SMALL, WANTED);
    FILE *file = fdopen(filled_file(SMALL, FOREIGN), "r");
    if (!file)
        return 3;

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(fread(source, 1, SMALL, file), SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
