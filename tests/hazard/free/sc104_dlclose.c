// expect: SC104 action=stalled kind=pageable certainty=observed event=dlclose
//
// A plugin is closed while the driver is still to read its static data.
#include "plugin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *plugin = open_plugin();
    void *source = plugin_data(plugin, WANTED);

    busy(stream);
    late_copy(device, source, LARGE, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(dlclose(plugin));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED));
}
