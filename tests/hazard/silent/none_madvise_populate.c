// expect: none
//
// MADV_POPULATE_READ and _WRITE of buffers in flight: the kernel touches every page, and what is in
// them matters to nobody. Linux has them from 5.14 on.
#include "mapping.h"

#include "touch.h"

#include <errno.h>

enum { POPULATE_READ = 22, POPULATE_WRITE = 23 };

static bool populates(void *address, int advice)
{
    void *page = mapped_pages(NULL, SMALL, 0);
    bool knows = madvise(page, SMALL, advice) == 0;
    return !knows || madvise(address, SMALL, advice) == 0;
}

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *device_too = device_block(SMALL, 0);
    void *target = registered_pages(SMALL, 0);
    void *source = registered_pages(SMALL, WANTED);

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(device_too, source, SMALL, cudaMemcpyHostToDevice, stream));
    bool right = populates(target, POPULATE_READ) && populates(target, POPULATE_WRITE) &&
                 populates(source, POPULATE_READ) && populates(source, POPULATE_WRITE);
    open_gate(&gate);
    CHECK(cudaStreamSynchronize(stream));
    right = right && holds(target, SMALL, WANTED) && device_holds(device_too, SMALL, WANTED);
    return finish(right && !gate.gave_up);
}
