// expect: SC102 action=deferred kind=pageable certainty=observed
// expect: SC203 action=reported kind=stack event=return
// sim: pageable_access=1
// needs: sim
//
// docs/wild-bugs.md, row 43, on a device that writes pageable memory in place: a plain copy brings
// a count into a local, and another a table into a block, and neither is there yet when the local's
// function returns and the block is freed.
#include "twin.h"

enum { ROOM = 4096 };

/* In the midst of the frame, where the next one keeps nothing. */
static TWIN_HELPER void ask_count(const void *counter, cudaStream_t stream)
{
    unsigned counts[ROOM];
    CHECK(cudaMemcpyAsync(&counts[ROOM / 2], counter, sizeof *counts, cudaMemcpyDeviceToHost,
                          stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static TWIN_HELPER void wait_deeper(cudaStream_t stream)
{
    unsigned char room[ROOM * sizeof(unsigned)];
    fill(room, sizeof room, FOREIGN);
    CHECK(cudaStreamSynchronize(stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *table = filled_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(table, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    free(table);
    void *owner = filled_block(SMALL, FOREIGN);

    busy(stream);
    ask_count(device, stream);
    wait_deeper(stream);
    return finish(holds(owner, SMALL, FOREIGN) && device_holds(device, SMALL, WANTED));
}
