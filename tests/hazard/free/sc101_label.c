// expect: SC101 action=deferred certainty=observed label=second
// summary: suppressed=1
//
// One of two frees in flight is ignored by the program itself, and the other one comes under a
// label of the thread's, which hides that of the process.
#include "twin.h"

#include "include/safecopy.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(2 * SMALL, 0);
    void *first = registered_block(SMALL, WANTED), *second = registered_block(SMALL, WANTED);

    safecopy_set_label("first");
    safecopy_set_thread_label("second");
    busy(stream);
    CHECK(cudaMemcpyAsync(device, first, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync((char *)device + SMALL, second, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(first));
        CHECK(cudaHostUnregister(second));
    }
    safecopy_ignore_begin("kept elsewhere");
    safecopy_ignore_begin("within");
    safecopy_ignore_end();
    free(first);
    safecopy_ignore_end();
    free(second);

    CHECK(cudaDeviceSynchronize());
    struct safecopy_counts counts;
    uint64_t hazards = safecopy_get_counts(&counts, sizeof counts);
    bool counted = hazards == !fixed && counts.hazards == hazards && counts.operations == 2 &&
                   counts.suppressed == !fixed;
    if (safecopy_version() == 0) /* not preloaded, but loaded by the driver */
        counted = true;
    return finish(counted && device_holds(device, 2 * SMALL, WANTED));
}
