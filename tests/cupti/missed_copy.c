// run: strict=1 -> coverage.missed=1 coverage:api=cuMemcpyHtoDAsync_v2 hazard:code=SC105 exit=66
// run: mode=report -> coverage.missed=1 hazard:copy.api=cuMemcpyHtoDAsync_v2 hazard:action=reported
// run: cupti=require -> coverage.missed=1 hazard:code=SC105
// run: strict=1:stacks=site -> coverage.missed=1 hazard:code=SC105 exit=66
// run: strict=1:cupti=off -> coverage.missed=0 hazards=0
// run: -> coverage.missed=0 cupti.state=unused
/* A copy passes every wrapper by, and its source is freed while it is in flight. CUPTI tells of it:
 * it is reported as missed, and the hazard is found all the same. */
#include "around.h"

int main(void)
{
    set_up();
    go_around();
    CUDA(direct.copy(on_device(), pinned, BYTES, stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}
