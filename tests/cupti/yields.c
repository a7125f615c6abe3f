// run: -> cupti.state=unused
// run: strict=1 -> cupti:state=yielded cupti.state=yielded coverage.missed=0 #cupti=1
// run: cupti=require -> cupti.state=yielded coverage.wrapped=3 exit=66
/* A profiler comes, goes and comes back: it always has CUPTI, and hears what it asked for. */
#include "profiler.h"

int main(void)
{
    set_up();
    copy();
    profiler_load();
    for (int i = 0; i < 3; i++) {
        profiler_begin();
        copy();
        CHECK(profiler.heard == 2);
        profiler_end();
        copy();
        CHECK(profiler.heard == 2);
    }
    return 0;
}
