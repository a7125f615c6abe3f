// expect: none
//
// A capture is open when the device is reset: its graph goes with it, and names no memory any more.
#include "mapping.h"

#include "graphs.h"

#include <errno.h>

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = mapped_pages(NULL, SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaDeviceReset());

    CHECK(munmap(source, SMALL));
    return finish(msync(source, SMALL, MS_ASYNC) != 0 && errno == ENOMEM);
}
