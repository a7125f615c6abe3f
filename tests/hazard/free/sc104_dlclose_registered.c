// expect: SC104 action=stalled kind=registered certainty=observed event=dlclose
//
// The static data is registered, and guarded when the plugin is closed. What is mapped in its place
// is not protected for it.
#include "plugin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *plugin = open_plugin();
    void *data = plugin_data(plugin, 0);
    void *target = (void *)(((uintptr_t)data + SMALL - 1) & ~(SMALL - 1));
    CHECK(cudaHostRegister(target, SMALL, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    CHECK(dlclose(plugin));
    void *owner = mapped_pages(target, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}
