// expect: SC104 action=stalled kind=pageable certainty=observed event=dlclose
//
// A plugin that has no destructor is closed while the driver is still to read its static data, in a
// process for which the kernel reads no memory (a filter refuses process_vm_readv): whose handle it
// is, is found another way.
#include "plugin.h"

#include <errno.h>

#include "tests/sealed_reads.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *plugin = open_beside("libbare_data.so");
    void *source = plugin_data(plugin, WANTED);
    if (!seal_reads(EPERM))
        return 1;

    busy(stream);
    late_copy(device, source, LARGE, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(dlclose(plugin));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED));
}
