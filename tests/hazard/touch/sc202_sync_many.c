// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyHtoD_v2
// options: stall_limit=60s
//
// A synchronous copy sends what twenty copies on as many streams are still to bring.
#include "twin.h"

enum { STREAMS = 20 };

int main(void)
{
    const size_t part = SMALL;
    cudaStream_t streams[STREAMS];
    char *from = (char *)device_block(STREAMS * part, WANTED);
    void *to = device_block(STREAMS * part, 0);
    char *between = (char *)pinned_block(STREAMS * part, FOREIGN);

    for (int i = 0; i < STREAMS; i++) {
        streams[i] = new_stream();
        busy(streams[i]);
        CHECK(cudaMemcpyAsync(between + i * part, from + i * part, part, cudaMemcpyDeviceToHost,
                              streams[i]));
    }
    for (int i = 0; fixed && i < STREAMS; i++)
        CHECK(cudaStreamSynchronize(streams[i]));
    CHECK(cudaMemcpy(to, between, STREAMS * part, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, STREAMS * part, WANTED));
}
