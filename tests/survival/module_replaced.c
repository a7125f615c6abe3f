// expect-exit: 0
//
// Two plugins that are opened and closed in turn, so that the loader maps them at the same address,
// with a copy below a call into each: the code is the same and the frames are not, and what an
// unwinder remembers of the one leads it out of the stack in the other.
#include "survival.h"

#include <dlfcn.h>
#include <pthread.h>

struct copy {
    void *device, *pinned;
    cudaStream_t stream;
};

static SURVIVAL_HELPER int issue(void *argument)
{
    const struct copy *copy = argument;
    return (int)cudaMemcpyAsync(copy->device, copy->pinned, 64 << 10, cudaMemcpyHostToDevice,
                                copy->stream);
}

static SURVIVAL_HELPER void copy_in(const char *plugin, struct copy *copy)
{
    void *library = dlopen(plugin, RTLD_NOW);
    if (!library)
        puts(dlerror());
    int (*call)(int (*)(void *), void *) =
        (int (*)(int (*)(void *), void *))dlsym(library, "sc_in_frame");
    for (int i = 0; i < 4; i++)
        CHECK(call(issue, copy));
    CHECK(cudaStreamSynchronize(copy->stream));
    CHECK(dlclose(library));
}

static void *copy_in_turn(void *argument)
{
    for (int i = 0; i < 4; i++) {
        copy_in("libframe_large.so", argument);
        copy_in("libframe_small.so", argument);
    }
    return NULL;
}

int main(void)
{
    struct copy copy;
    pthread_t thread;
    CHECK(cudaStreamCreate(&copy.stream));
    CHECK(cudaMallocHost(&copy.pinned, 64 << 10));
    CHECK(cudaMalloc(&copy.device, 64 << 10));
    copy_in_turn(&copy);
    puts("main has come through");
    CHECK(pthread_create(&thread, NULL, copy_in_turn, &copy));
    CHECK(pthread_join(thread, NULL));
    puts("a thread has come through");
    return 0;
}
