// expect: SC101 action=deferred kind=registered certainty=observed
//
// An nvcc program: a kernel keeps the stream busy, the copy waits behind it, and its registered
// source is freed and overwritten. A second kernel reads what arrived.
#include "twin.h"

static const long long BUSY_CYCLES = 200000000; // about 100 ms

__global__ void spin(long long cycles)
{
    long long begun = clock64();
    while (clock64() - begun < cycles)
        continue;
}

__global__ void copy_bytes(unsigned char *to, const unsigned char *from, size_t size_bytes)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size_bytes)
        to[i] = from[i];
}

int main(void)
{
    cudaStream_t stream = new_stream();
    unsigned char *device = (unsigned char *)device_block(SMALL, 0);
    unsigned char *result = (unsigned char *)device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    spin<<<1, 1, 0, stream>>>(BUSY_CYCLES);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);

    copy_bytes<<<(unsigned)(SMALL / 256), 256, 0, stream>>>(result, device, SMALL);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
