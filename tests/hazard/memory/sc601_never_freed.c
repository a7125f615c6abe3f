// expect: SC601 action=reported kind=device direction=allocation certainty=observed event=exit
// options: leaks=1
// needs: preload
//
// Each step allocates what it needs, and the racy build forgets it. One block lives for as long as
// the program does, and is none of these.
#include "twin.h"

enum { STEPS = 100 };

static TWIN_HELPER void step(size_t size_bytes)
{
    char *source = filled_block(size_bytes, WANTED);
    void *device = NULL;
    CHECK(cudaMalloc(&device, size_bytes));
    CHECK(cudaMemcpy(device, source, size_bytes, cudaMemcpyHostToDevice));
    if (fixed)
        CHECK(cudaFree(device));
    free(source);
}

int main(void)
{
    char *kept = device_block(SMALL, WANTED);
    for (unsigned i = 0; i < STEPS; i++)
        step(SMALL);
    return finish(device_holds(kept, SMALL, WANTED));
}
