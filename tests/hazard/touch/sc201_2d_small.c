// expect: SC201 action=snapshotted kind=registered
//
// Small matrices in heap memory, with gaps of any size between their rows, on pages that they share
// with other blocks.
#include "volumes.h"

static const struct volume narrow = {64, 128, 16, 16, 1}, wide = {100, 20000, 12, 12, 1},
                           dense = {3, 8, 2000, 2000, 1};

int main(void)
{
    bool right = upload_and_poke(heap_volume(&narrow), &narrow, 5);
    right = upload_and_poke(heap_volume(&wide), &wide, packed_bytes(&wide) - 1) && right;
    right = upload_and_poke(heap_volume(&dense), &dense, 777) && right;
    return finish(right);
}
