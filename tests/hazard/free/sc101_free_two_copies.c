// expect: SC101 action=deferred kind=registered certainty=observed
//
// Two streams read one source and only the first is waited for.
#include "twin.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *one = device_block(SMALL, 0);
    void *two = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(second);
    CHECK(cudaMemcpyAsync(one, source, SMALL, cudaMemcpyHostToDevice, first));
    CHECK(cudaMemcpyAsync(two, source, SMALL, cudaMemcpyHostToDevice, second));
    CHECK(cudaStreamSynchronize(first));
    if (fixed) {
        CHECK(cudaStreamSynchronize(second));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(one, SMALL, WANTED) && device_holds(two, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
