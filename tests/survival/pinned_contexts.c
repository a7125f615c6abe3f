// expect-exit: 0
// link: cuda
//
// Pinned memory used from a second context, and after its own was destroyed: by then it is
// nobody's, and new memory may lie where it was.
#include "survival.h"

#include <cuda.h>

static CUcontext make_context(void)
{
    CUcontext made = NULL;
    CHECK(cuCtxCreate(&made, NULL, 0, 0));
    return made;
}

static void copy_from(void *host, size_t bytes, CUcontext context)
{
    CUdeviceptr device = 0;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&device, bytes));
    SHOW(cuMemcpyHtoD(device, host, bytes));
    CHECK(cuMemFree(device));
}

static void outlive(size_t bytes, unsigned flags, CUcontext other)
{
    CUcontext own = make_context();
    CUcontext found = NULL;
    void *host = NULL;
    CUmemorytype type;
    printf("%zu bytes, flags %u\n", bytes, flags);
    SHOW(cuMemHostAlloc(&host, bytes, flags));
    memset(host, 1, bytes);
    copy_from(host, bytes, own);
    copy_from(host, bytes, other);
    CHECK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)host));
    printf("of its context: %d\n", found == own);
    CHECK(cuCtxDestroy(own));
    CHECK(cuCtxSetCurrent(other));
    SHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)host));
    SHOW(cuMemFreeHost(host));
    for (unsigned i = 0; i < 4; i++) {
        void *more = NULL;
        CHECK(cuMemHostAlloc(&more, bytes, flags));
        memset(more, 2, bytes);
        CHECK(cuMemFreeHost(more));
    }
}

int main(void)
{
    CUdevice device = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CUcontext other = make_context();
    for (unsigned flags = 0; flags < 4; flags++) {
        outlive(8, flags, other);
        outlive(5 << 20, flags, other);
    }
    void *host = NULL;
    CHECK(cuCtxSetCurrent(other));
    CHECK(cuMemHostAlloc(&host, 4 << 20, 0));
    CUcontext last = make_context();
    printf("freed with another context current: %d\n", (int)cuMemFreeHost(host));
    CHECK(cuCtxDestroy(last));
    CHECK(cuCtxDestroy(other));
    return 0;
}
