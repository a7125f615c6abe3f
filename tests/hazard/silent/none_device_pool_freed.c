// expect: none
// options: device=1
//
// Memory of cudaMallocAsync that cudaFree gives back: unused, used and waited for in several ways,
// also where the wait does not cover the allocation by its own stream.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t done = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    bool right = true;

    for (unsigned i = 0; i < 4; i++) {
        void *device = NULL;
        void *unused = NULL;
        CHECK(cudaMallocAsync(&unused, SMALL, stream));
        CHECK(cudaFree(unused));
        CHECK(cudaMallocAsync(&device, SMALL, stream));
        CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
        CHECK(cudaEventRecord(done, stream));
        CHECK(cudaStreamWaitEvent(other, done, 0));
        if (i == 1)
            busy(other);
        CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, other));
        CHECK(cudaEventRecord(done, other));
        if (i == 0)
            CHECK(cudaStreamSynchronize(other));
        if (i == 1)
            CHECK(cudaEventSynchronize(done));
        if (i == 2)
            while (cudaEventQuery(done) != cudaSuccess)
                usleep(100);
        if (i == 3)
            CHECK(cudaDeviceSynchronize());
        right = right && holds(target, SMALL, WANTED);
        CHECK(cudaFree(device));
        memset(target, 0, SMALL);
    }

    return finish(right);
}
