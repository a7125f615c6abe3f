// expect: SC201 action=stalled kind=managed
//
// A synchronous memset clears managed memory that another stream is still to send. (An H200 has
// read it by then.)
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    unsigned char *source = NULL;
    CHECK(cudaMallocManaged((void **)&source, SMALL, cudaMemAttachGlobal));
    fill(source, SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemset(source, 0, SMALL));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && source[0] == 0 && source[SMALL - 1] == 0);
}
