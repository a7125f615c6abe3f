// run: strict=1 -> run:unreached=True operations=0 hazards=0
// run: mode=report -> run:unreached=True #run=1 #summary=1
// run: strict=1 HOW=loaded -> #run=0
// run: strict=1 HOW=links -> run:unreached=None operations=1
/* A process that goes around all doors, from cuInit on: the report says that nothing was seen. One
 * that only has the driver loaded says nothing. */
#include "around.h"

static void go_unseen(void)
{
    CUcontext context;
    CUdeviceptr memory;
    CUresult (*init)(unsigned) = (CUresult(*)(unsigned))around("cuInit");
    CUresult (*retain)(CUcontext *, CUdevice) =
        (CUresult(*)(CUcontext *, CUdevice))around("cuDevicePrimaryCtxRetain");
    CUresult (*set)(CUcontext) = (CUresult(*)(CUcontext))around("cuCtxSetCurrent");
    CUresult (*allocate)(CUdeviceptr *, size_t) =
        (CUresult(*)(CUdeviceptr *, size_t))around("cuMemAlloc_v2");
    go_around();
    CUDA(init(0));
    CUDA(retain(&context, 0));
    CUDA(set(context));
    CUDA(allocate(&memory, BYTES));
    CUDA(direct.allocate_host(&pinned, BYTES, 0));
    CUDA(direct.copy(memory, pinned, BYTES, NULL));
}

int main(void)
{
    const char *how = getenv("HOW");
    if (!how)
        go_unseen();
    else if (strcmp(how, "loaded") == 0)
        CHECK(dlopen("libcuda.so.1", RTLD_NOW));
    else
        set_up(), copy();
    return 0;
}
