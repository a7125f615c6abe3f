// expect: SC201 action=reported kind=registered certainty=latent
// sim: late=0
//
// The last row of a box in heap memory lies on a page with other blocks, which is not guarded
// for their sake. That it was changed is found by what it was.
#include "volumes.h"

static const struct volume box = {500, 1100, 10, 11, 9};

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(packed_bytes(&box), 0);
    unsigned char *source = heap_volume(&box);

    upload_volume(device, source, &box, stream);
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke_volume(source, &box, packed_bytes(&box) - 1);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, packed_bytes(&box), WANTED));
}
