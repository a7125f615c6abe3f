// run: strict=1 -> cupti:state=held cupti.state=held coverage.calls=0
// run: cupti=require -> cupti.state=held exit=66
/* A tool that subscribed before CUDA came up keeps CUPTI, and hears all it asked for. */
#include "profiler.h"

int main(void)
{
    profiler_load();
    profiler_begin();
    set_up();
    copy();
    copy();
    CHECK(profiler.heard == 4);
    profiler_end();
    return 0;
}
