// expect: SC201 action=stalled kind=registered direction=H2D certainty=observed
//
// The same of rows of registered memory.
#include "managed.h"
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = registered_page_block(SMALL, WANTED), *to = managed_block(SMALL, FOREIGN);

    busy(stream);
    copy_rows(to, from, SMALL, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(from, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, SMALL, WANTED));
}
