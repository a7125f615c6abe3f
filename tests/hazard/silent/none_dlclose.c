// expect: none
//
// A plugin that is open twice is closed once: it stays, and so does what is in flight of it.
#include "plugin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *plugin = open_plugin();
    void *again = open_plugin();
    void *other = dlopen("libm.so.6", RTLD_NOW);
    void *source = plugin_data(plugin, WANTED);

    busy(stream);
    late_copy(device, source, LARGE, stream);
    CHECK(dlclose(plugin));
    CHECK(dlclose(other));
    CHECK(cudaStreamSynchronize(stream));
    bool right = holds(source, LARGE, WANTED);
    CHECK(dlclose(again));
    return finish(right && device_holds(device, LARGE, WANTED));
}
