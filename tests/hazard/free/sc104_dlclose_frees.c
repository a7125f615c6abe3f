// expect: SC101 action=deferred kind=pageable certainty=observed event=free
// expect: SC104 action=stalled kind=pageable certainty=observed event=dlclose
// options: stall_limit=60s
//
// A plugin's destructor frees a source in flight while the plugin's own data is in flight as well:
// the hazard of the free is written to the report while dlclose has the loader's lock.
#include "plugin.h"

static void *block;

static void close_down(void)
{
    free(block);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(2 * LARGE, 0);
    void *plugin = open_plugin();
    void *source = plugin_data(plugin, WANTED);
    void (**when_closed)(void) = (void (**)(void))dlsym(plugin, "sc_when_closed");
    block = malloc(LARGE);
    if (!when_closed || !block)
        exit(3);
    *when_closed = close_down;
    fill(block, LARGE, WANTED);

    busy(stream);
    late_copy(device, source, LARGE, stream);
    late_copy((char *)device + LARGE, block, LARGE, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(dlclose(plugin));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED) &&
                  device_holds((char *)device + LARGE, LARGE, WANTED));
}
