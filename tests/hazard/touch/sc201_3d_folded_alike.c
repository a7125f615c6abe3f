// expect: SC201 action=stalled kind=pinned certainty=observed
//
// Two boxes of one volume have slices from the same first byte to the same last one, and rows of
// their own. Both are in flight in one stream, and a row of the first is overwritten, where the
// second has a gap.
#include "volumes.h"

static const struct volume fine = {64, 128, 16, 48, 8}, coarse = {64, 384, 6, 16, 8};

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *other = device_block(SMALL, 0);
    unsigned char *source = pinned_volume(&fine);

    busy(stream);
    upload_volume(device, source, &fine, stream);
    upload_volume(other, source, &coarse, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke_volume(source, &fine, 64 + 5);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, packed_bytes(&fine), WANTED));
}
