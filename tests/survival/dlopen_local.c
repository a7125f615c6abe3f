// expect-exit: 0
// link: none
//
// libcuda opened RTLD_LOCAL and used through dlsym alone, as ctypes and many loaders do: a copy on
// registered memory, with everything looked up by its versioned name.
#include "lookup.h"

enum { SIZE = 64 << 10 };

static void *driver;

static void *need(const char *name)
{
    void *function = dlsym(driver, name);
    if (!function)
        printf("%s not found\n", name);
    return function;
}

#define CALL(name, ...)                                                                            \
    do {                                                                                           \
        void *function_ = need(#name);                                                             \
        printf(#name " -> %d\n", (int)AS(__typeof__(name), function_)(__VA_ARGS__));               \
    } while (0)

int main(void)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    CUstream stream = NULL;
    CUdeviceptr memory = 0;
    unsigned char *host = (unsigned char *)malloc(SIZE);
    if (!host)
        return 3;
    driver = open_or_exit("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    memset(host, 0x33, SIZE);
    CALL(cuInit, 0);
    CALL(cuDeviceGet, &device, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    CALL(cuMemAlloc_v2, &memory, SIZE);
    CALL(cuMemHostRegister_v2, host, SIZE, 0);
    CALL(cuMemcpyHtoDAsync_v2, memory, host, SIZE, stream);
    CALL(cuStreamSynchronize, stream);
    memset(host, 0, SIZE);
    CALL(cuMemcpyDtoHAsync_v2, host, memory, SIZE, stream);
    CALL(cuStreamSynchronize, stream);
    printf("data %s\n", host[0] == 0x33 && host[SIZE - 1] == 0x33 ? "right" : "wrong");
    CALL(cuMemHostUnregister, host);
    free(host);
    CALL(cuMemFree_v2, memory);
    CALL(cuStreamDestroy_v2, stream);
    SHOW(dlclose(driver));
    return 0;
}
