// expect: none
//
// Parameters are sent, and filled anew by a copy from host memory behind that on the same stream,
// which the driver completes in the call: nobody has overwritten them.
#include "twin.h"

enum { PARAMETERS = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, WANTED);
    void *next = filled_block(PARAMETERS, FOREIGN);

    CHECK(cudaMemcpyAsync(to, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(source, next, PARAMETERS, cudaMemcpyHostToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(to, PARAMETERS, WANTED) && holds(source, PARAMETERS, FOREIGN));
}
