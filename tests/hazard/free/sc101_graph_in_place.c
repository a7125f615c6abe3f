// expect: SC101 action=deferred kind=registered certainty=observed
// sim: pageable_access=1
// needs: sim
//
// A launch that downloads into pageable memory returns at once where the device works with that in
// place, and says nothing of what came before it on its stream.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0), *from = device_block(SMALL, WANTED);
    void *source = registered_block(SMALL, WANTED), *kept = filled_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(kept, from, SMALL, cudaMemcpyDeviceToHost, stream);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(kept, SMALL, WANTED) &&
                  holds(owner, SMALL, FOREIGN));
}
