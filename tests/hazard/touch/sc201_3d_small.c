// expect: SC201 action=snapshotted kind=pinned
// expect: SC201 action=snapshotted kind=registered
//
// Small boxes with gaps between their rows and between their slices, in pinned memory and in heap
// memory.
#include "volumes.h"

static const struct volume box = {40, 100, 7, 9, 5};

int main(void)
{
    bool right = upload_and_poke(pinned_volume(&box), &box, 40 * 7 * 3);
    right = upload_and_poke(heap_volume(&box), &box, packed_bytes(&box) - 1) && right;
    return finish(right);
}
