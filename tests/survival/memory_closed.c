// expect-exit: 0
// link: cuda
//
// Plugins allocate and are closed, the second one mapped where the first one was, and their memory
// stays: tests/unit/test_memory.py looks at whose it is.
#include <cuda.h>

#include <dlfcn.h>

#include "survival.h"

static void allocate_in(const char *plugin, int blocks)
{
    void *library = dlopen(plugin, RTLD_NOW);
    if (!library)
        puts(dlerror());
    int (*call)(CUresult(*)(CUdeviceptr *, size_t), int) =
        (int (*)(CUresult(*)(CUdeviceptr *, size_t), int))dlsym(library, "sc_allocate");
    CHECK(call(cuMemAlloc, blocks));
    CHECK(dlclose(library));
}

int main(void)
{
    CUcontext context = NULL;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    allocate_in("libowner_first.so", 3);
    allocate_in("libowner_second.so", 4);
    allocate_in("libowner_first.so", 5);
    return 0;
}
