// expect: none
//
// A buffer that a copy fills and the next copy of the same stream sends on. The second is small,
// but what it sends is not there when it is issued.
#include "touch.h"

enum { PARAMETERS = 1024 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(PARAMETERS, WANTED);
    void *to = device_block(PARAMETERS, 0);
    void *part = device_block(100, 0);
    char *between = (char *)pinned_block(PARAMETERS, FOREIGN);

    CHECK(cudaMemcpyAsync(between, from, PARAMETERS, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(to, between, PARAMETERS, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(part, between, 100, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(to, PARAMETERS, WANTED) && device_holds(part, 100, WANTED));
}
