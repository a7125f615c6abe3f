// run: strict=1 -> cupti.state=yielded coverage.wrapped=3
// run: -> cupti.state=unused
// cflags: -fuse-ld=bfd
/* A library that was not linked with libcupti, and whose reference the preloaded library satisfies:
 * the real function is that of the libcupti which the process has, whoever may see its symbols.
 * mold would say at once that there is none. */
#include "profiler.h"

#pragma weak cuptiSubscribe

int main(void)
{
    set_up();
    copy();
    profiler_load();
    CHECK(cuptiSubscribe != NULL);
    profiler.subscribe = cuptiSubscribe;
    profiler_begin();
    copy();
    CHECK(profiler.heard == 2);
    profiler_end();
    return 0;
}
