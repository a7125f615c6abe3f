// expect: SC101 action=deferred kind=registered certainty=observed
//
// Registered heap memory is freed while a copy to the device waits to read it, by the free that is
// found through a handle of libc, as by ctypes, JNA or P/Invoke.
#include "twin.h"

#include <dlfcn.h>

int main(void)
{
    void (*free_found)(void *) = NULL;
    *(void **)&free_found = dlsym(dlopen("libc.so.6", RTLD_NOW), "free");
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free_found(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
