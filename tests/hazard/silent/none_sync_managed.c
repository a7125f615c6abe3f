// expect: none
//
// Synchronous copies and memsets of managed memory wait for the blocking streams, as those of the
// host's memory do: then the copies before them are done.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *managed = NULL;
    CHECK(cudaMallocManaged(&managed, SMALL, cudaMemAttachGlobal));
    fill(managed, SMALL, WANTED);
    bool right = true;

    for (int turn = 0; turn < 3; turn++) {
        void *result = registered_block(SMALL, 0);
        busy(stream);
        CHECK(cudaMemcpyAsync(result, from, SMALL, cudaMemcpyDeviceToHost, stream));
        if (turn == 0)
            CHECK(cudaMemcpy(to, managed, SMALL, cudaMemcpyDefault));
        else if (turn == 1)
            CHECK(cudaMemset(managed, 0, SMALL));
        else
            CHECK(cudaMemcpy(managed, to, SMALL, cudaMemcpyDefault));
        right = right && holds(result, SMALL, WANTED);
        CHECK(cudaHostUnregister(result));
        free(result);
    }

    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(managed, SMALL, WANTED) && device_holds(to, SMALL, WANTED));
}
