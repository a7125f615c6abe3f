// expect: SC202 action=stalled certainty=observed
//
// Established by a host function behind the copy that has run.
#include "twin.h"

#include <stdatomic.h>

static atomic_bool arrived;

static void arrive(void *unused)
{
    (void)unused;
    atomic_store(&arrived, true);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, arrive, NULL));
    while (fixed && !atomic_load(&arrived))
        usleep(100);
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
