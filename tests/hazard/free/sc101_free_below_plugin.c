// expect: SC101 action=deferred kind=registered certainty=observed
//
// Both sides lie below a library that is opened when the report has begun.
// tests/unit/test_symbols.py has its frames named where the library lies elsewhere.
#include "plugin.h"

struct upload {
    void *device, *source;
    cudaStream_t stream;
};

typedef int in_frame(int (*call)(void *), void *argument);

static TWIN_HELPER int copy_in(void *argument)
{
    struct upload *upload = argument;
    return (int)cudaMemcpyAsync(upload->device, upload->source, SMALL, cudaMemcpyHostToDevice,
                                upload->stream);
}

static TWIN_HELPER int free_source(void *argument)
{
    struct upload *upload = argument;
    if (fixed) {
        CHECK(cudaStreamSynchronize(upload->stream));
        CHECK(cudaHostUnregister(upload->source));
    }
    free(upload->source);
    return 0;
}

int main(void)
{
    struct upload upload = {.stream = new_stream(), .device = device_block(SMALL, 0)};
    upload.source = registered_block(SMALL, WANTED);
    in_frame *in_plugin = NULL;
    *(void **)&in_plugin = dlsym(open_beside("libframe_small.so"), "sc_in_frame");

    busy(upload.stream);
    CHECK(in_plugin(copy_in, &upload));
    CHECK(in_plugin(free_source, &upload));

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(upload.device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
