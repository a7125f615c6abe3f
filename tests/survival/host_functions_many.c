// expect-exit: 0
//
// Host functions are launched again and again, a few at a time: what the library remembers of them
// stops growing.
#include "survival.h"
#include "tests/process_memory.h"

enum { FIRST = 10000, MORE = 100000, AT_ONCE = 100, GROWTH_MAX_KB = 4 << 10 };

static void do_nothing(void *data)
{
    (void)data;
}

static void launch_often(cudaStream_t stream, int times)
{
    for (int i = 1; i <= times; i++) {
        CHECK(cudaLaunchHostFunc(stream, do_nothing, NULL));
        if (i % AT_ONCE == 0)
            CHECK(cudaStreamSynchronize(stream));
    }
}

int main(void)
{
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreate(&stream));
    launch_often(stream, FIRST);
    long before_kb = resident_kb();
    launch_often(stream, MORE);
    puts(resident_kb() - before_kb > GROWTH_MAX_KB ? "it grows" : "it grows no more");
    return 0;
}
