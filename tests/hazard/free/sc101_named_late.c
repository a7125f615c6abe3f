// expect: SC101 action=deferred kind=registered certainty=observed event=free
// preload-also: slow_names
//
// The process ends while the library still finds the names of the functions that it has to tell of,
// which takes it longer than a second. The report is as complete as any.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, FOREIGN);
    unsigned char *block = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, block, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(block));
    }
    free(block);
    sleep_patiently(BUSY_US); /* the verdict is the library's thread's to tell of */

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, SMALL, WANTED));
}
