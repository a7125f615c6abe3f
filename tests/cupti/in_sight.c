// run: -> cupti.state=unused
// run: strict=1 -> cupti.state=yielded
/* A tool looks for CUPTI where every name of the process is looked for. It finds it where it would
 * without us, and not because we have loaded it for ourselves. */
#include "profiler.h"

static void expect_none(void)
{
    CHECK(!dlsym(RTLD_DEFAULT, "cuptiSubscribe"));
    CHECK(dlerror());
    CHECK(!dlsym(RTLD_DEFAULT, "cuptiFinalize"));
    CHECK(!dlsym(RTLD_DEFAULT, "cuptiUnsubscribe"));
}

int main(void)
{
    set_up();
    copy();
    expect_none();
    CHECK(dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL));
    expect_none();
    CHECK(dlopen("libcupti.so.13", RTLD_NOW | RTLD_GLOBAL));
    *(void **)&profiler.subscribe = dlsym(RTLD_DEFAULT, "cuptiSubscribe");
    *(void **)&profiler.unsubscribe = dlsym(RTLD_DEFAULT, "cuptiUnsubscribe");
    *(void **)&profiler.enable = dlsym(RTLD_DEFAULT, "cuptiEnableCallback");
    CHECK(profiler.subscribe && profiler.unsubscribe && profiler.enable);
    profiler_begin();
    copy();
    CHECK(profiler.heard == 2);
    profiler_end();
    return 0;
}
