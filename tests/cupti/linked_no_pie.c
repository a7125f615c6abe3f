// cflags: -fno-pie -no-pie -Wl,--no-as-needed out/sim/libcupti.so.13 -Wl,--as-needed
// run: -> cupti.state=unused
// run: strict=1 -> cupti.state=yielded
/* A profiler that is not position-independent and takes the address of cuptiSubscribe: dlsym, too,
 * answers with a jump of the program's own, which leads to the preloaded library. */
#include "profiler.h"

int main(void)
{
    __typeof__(&cuptiSubscribe) volatile linked = cuptiSubscribe;
    void *program = dlsym(dlopen(NULL, RTLD_LAZY), "cuptiSubscribe");
    CHECK(program);
    profiler_load();
    *(void **)&profiler.subscribe = program;
    set_up();
    copy();
    profiler_begin();
    copy();
    CHECK(profiler.heard == 2);
    profiler_end();
    CHECK(linked(&profiler.handle, profiler_hear, &profiler) == CUPTI_SUCCESS);
    profiler_end();
    return 0;
}
