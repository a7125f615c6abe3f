// expect: none
// reported: wrong
// summary: driver_late=1
//
// A small source with order DURING_API_CALL is the program's again when the call returns. On its
// way to managed memory the driver reads it later all the same.
#include "batch.h"
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = managed_block(SMALL, 0), *source = filled_block(SMALL, WANTED);

    busy(stream);
    batch_copy(to, source, SMALL, cudaMemcpySrcAccessOrderDuringApiCall, stream);
    fill(source, SMALL, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    return finish(holds(to, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
