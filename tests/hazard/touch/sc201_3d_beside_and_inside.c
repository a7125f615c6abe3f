// expect: SC201 action=reported kind=pinned certainty=latent
// sim: late=0
//
// Rows beside a box are written, as is right, and their page has to be let go for that. The write
// into the box that follows is found by what the page held.
#include "volumes.h"

static const struct volume box = {700, 1000, 20, 24, 20};

int main(void)
{
    const size_t slice = box.pitch * box.slice_rows;
    cudaStream_t stream = new_stream();
    void *device = device_block(packed_bytes(&box), 0);
    unsigned char *source = pinned_volume(&box);

    upload_volume(device, source, &box, stream);
    memset(source + 5 * slice - 4 * box.pitch, 0xee, 4 * box.pitch);
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke_volume(source, &box, box.width * box.rows * 5);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, packed_bytes(&box), WANTED));
}
