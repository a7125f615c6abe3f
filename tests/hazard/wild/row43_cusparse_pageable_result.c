// expect: none
// in-place: SC203 action=reported kind=stack event=return
// in-place: SC102 action=deferred kind=pageable
// in-place: SC105 action=deferred kind=pinned
// in-place: wrong
//
// https://github.com/lupinemachines/lupine/pull/631 and
// https://github.com/microsoft/onnxruntime/issues/26512: a library (cuSPARSE) copies a count into a
// local, asynchronously, and reads it with no wait; so do ONNX Runtime's kernels. A device that
// does not read pageable memory in place has completed such a copy when the call returns, behind
// whatever the stream was busy with, and its host has waited for all of that. (Where
// pageableMemoryAccess is set it would be a hazard.)
#include "twin.h"

static TWIN_HELPER unsigned count_of(const void *counter, cudaStream_t stream)
{
    unsigned count = 0;
    CHECK(cudaMemcpyAsync(&count, counter, sizeof count, cudaMemcpyDeviceToHost, stream));
    return count; /* and the stack is the next function's */
}

static TWIN_HELPER void *table_of(const void *device, size_t size_bytes, cudaStream_t stream)
{
    void *table = filled_block(size_bytes, FOREIGN);
    CHECK(cudaMemcpyAsync(table, device, size_bytes, cudaMemcpyDeviceToHost, stream));
    return table;
}

int main(void)
{
    static const size_t sizes[] = {4, 4096, 64 << 10, 1 << 20};
    cudaStream_t stream = new_stream();
    unsigned value = 4711;
    void *counter = NULL;
    CHECK(cudaMalloc(&counter, sizeof value));
    CHECK(cudaMemcpy(counter, &value, sizeof value, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

    busy(stream);
    bool right = count_of(counter, stream) == 4711;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *device = device_block(sizes[i], WANTED);
        void *staging = pinned_block(sizes[i], 0);
        busy(stream);
        CHECK(cudaMemcpyAsync(staging, device, sizes[i], cudaMemcpyDeviceToHost, stream));
        void *table = table_of(device, sizes[i], stream);
        right = right && holds(table, sizes[i], WANTED);
        right = right && holds(staging, sizes[i], WANTED); /* the same wait covers it */
        free(table);
        CHECK(cudaFreeHost(staging));
    }
    return finish(right);
}
