// expect: SC201 action=reported kind=pinned certainty=latent
// sim: late=0
//
// The padding behind a row of an image is written, as is right, and its page has to be let go for
// that. The write into the row that follows is found by what the page held.
#include "volumes.h"

static const struct volume image = {2048, 4096, 256, 256, 1};

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(packed_bytes(&image), 0);
    unsigned char *source = pinned_volume(&image);

    upload_volume(device, source, &image, stream);
    memset(source + 77 * image.pitch + image.width, 0xee, image.pitch - image.width);
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke_volume(source, &image, 78 * image.width - 1);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, packed_bytes(&image), WANTED));
}
