// expect: SC101 action=deferred kind=registered certainty=observed
//
// A guarded source is freed; the next owners of the heap around it write all they have.
#include "touch.h"

enum { OWNERS = 32 };

int main(void)
{
    void *owners[OWNERS];
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);
    for (int i = 0; i < OWNERS; i++)
        owners[i] = filled_block(4000, FOREIGN + i);

    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED);
    for (int i = 0; i < OWNERS; i++) {
        right = right && holds(owners[i], 4000, FOREIGN + i);
        free(owners[i]);
    }
    return finish(right);
}
