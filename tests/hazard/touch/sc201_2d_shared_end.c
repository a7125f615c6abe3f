// expect: SC201 action=reported kind=registered certainty=latent
// sim: late=0
//
// The first and the last rows of a matrix in heap memory lie on pages with other blocks, and
// are not guarded for their sake. That one was changed is found by what it was.
#include "volumes.h"

static const struct volume matrix = {400, 1000, 100, 100, 1};

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(packed_bytes(&matrix), 0);
    unsigned char *source = heap_volume(&matrix);

    upload_volume(device, source, &matrix, stream);
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke_volume(source, &matrix, 3);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, packed_bytes(&matrix), WANTED));
}
