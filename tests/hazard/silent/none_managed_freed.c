// expect: none
//
// cudaFree of managed memory waits for the device, as that of device memory does: it is freed while
// copies are still to read and write it, and its address goes to the next allocation. What was read
// of a small source for a snapshot is compared before its memory is gone.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *first = managed_block(SMALL, WANTED), *second = managed_block(SMALL, FOREIGN);
    void *to = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(second, first, SMALL, cudaMemcpyDefault, stream));
    CHECK(cudaMemcpyAsync(to, second, SMALL, cudaMemcpyDefault, stream));
    CHECK(cudaFree(first));
    CHECK(cudaFree(second));
    void *next = managed_block(SMALL, FOREIGN);
    bool right = holds(to, SMALL, WANTED);
    fill(to, SMALL, FOREIGN);
    CHECK(cudaFree(next));

    void *small = managed_block(ROW_BYTES, WANTED), *device = device_block(ROW_BYTES, 0);
    CHECK(cudaMemcpyAsync(device, small, ROW_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaFree(small));
    return finish(right && device_holds(device, ROW_BYTES, WANTED));
}
