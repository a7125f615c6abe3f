// expect: SC502 action=ordered kind=device origin=cuMemAllocAsync certainty=observed
// options: device=1
//
// docs/wild-bugs.md, row 39: a finalizer frees an array in the order of the stream of the task that
// it runs on. Another task's stream still reads the array.
#include "twin.h"

int main(void)
{
    cudaStream_t task = new_stream(), collector = new_stream();
    cudaEvent_t used = new_event();
    void *content = pinned_block(LARGE, WANTED);
    void *result = device_block(LARGE, 0);
    void *array = NULL, *next = NULL;

    CHECK(cudaMallocAsync(&array, LARGE, task));
    CHECK(cudaMemcpyAsync(array, content, LARGE, cudaMemcpyHostToDevice, task));
    CHECK(cudaStreamSynchronize(task));
    busy(task);
    CHECK(cudaMemcpyAsync(result, array, LARGE, cudaMemcpyDeviceToDevice, task));
    CHECK(cudaEventRecord(used, task));
    if (fixed)
        CHECK(cudaStreamWaitEvent(collector, used, 0));
    CHECK(cudaFreeAsync(array, collector));
    CHECK(cudaMallocAsync(&next, LARGE, collector));
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, collector));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, LARGE, WANTED));
}
