// expect: SC202 action=stalled kind=pageable certainty=observed event=cuMemcpyHtoD_v2
// expect: SC201 action=stalled kind=pageable certainty=observed event=cuMemcpyDtoH_v2
// sim: pageable_access=1
// needs: sim
// not-by: ranges
//
// A device that reads and writes pageable memory in place does so late: what one stream is to bring
// to it is sent on, and what another is to send is overwritten.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *sent = device_block(SMALL, 0);
    void *between = filled_block(SMALL, FOREIGN);
    void *source = filled_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));
    busy(stream);
    CHECK(cudaMemcpyAsync(sent, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(source, from, SMALL, cudaMemcpyDeviceToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && device_holds(sent, SMALL, WANTED));
}
