// expect: SC501 action=ordered kind=device direction=H2D certainty=observed
// options: device=1
//
// Behind a graph whose host node is at work, one stream fills device memory that another one
// downloads. The racy build forgets the event: the node orders nothing, since it waits for nobody.
#include "graphs.h"

int main(void)
{
    cudaStream_t upload = new_stream();
    cudaStream_t download = new_stream();
    cudaEvent_t filled = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *result = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);
    begin_capture(upload);
    busy(upload);
    cudaGraphExec_t works = instantiate_only(end_capture(upload));

    CHECK(cudaGraphLaunch(works, upload));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, upload));
    CHECK(cudaEventRecord(filled, upload));
    if (fixed)
        CHECK(cudaStreamWaitEvent(download, filled, 0));
    CHECK(cudaMemcpyAsync(result, device, SMALL, cudaMemcpyDeviceToHost, download));
    CHECK(cudaDeviceSynchronize());

    return finish(holds(result, SMALL, WANTED));
}
