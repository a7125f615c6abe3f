// expect-exit: 0
// link: cuda
//
// The driver API linked directly. Through a handle and through the link the program reaches the
// same driver: what one allocates, the other frees.
#include "lookup.h"

typedef CUresult free_host_function(void *host);

int main(void)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    void *host = NULL;
    void *driver = open_or_exit("libcuda.so.1", RTLD_NOW);
    void *free_host = dlsym(driver, "cuMemFreeHost");
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    SHOW(cuMemHostAlloc(&host, 4096, 0));
    SHOW(AS(free_host_function, free_host)(host));
    SHOW(cuMemFreeHost(host));
    SHOW(dlsym(RTLD_DEFAULT, "cuMemFreeHost") != NULL);
    SHOW(dlsym(RTLD_NEXT, "cuMemFreeHost") != NULL);
    SHOW(cuDevicePrimaryCtxRelease(device));
    return 0;
}
