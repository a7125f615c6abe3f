// run: strict=1 -> coverage.missed=100 coverage.wrapped=1 coverage:count=64 #coverage=7 hazards=0
// run: strict=1:report_path=none -> #coverage=0
/* Many equal misses are a few lines. */
#include "around.h"

int main(void)
{
    set_up();
    go_around();
    for (int i = 0; i < 100; i++)
        CUDA(direct.copy(on_device(), pinned, BYTES, stream));
    CUDA(cudaStreamSynchronize(stream));
    return 0;
}
