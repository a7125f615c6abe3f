// cflags: -Wl,-z,now -Wl,-z,relro
//
// Opened with RTLD_DEEPBIND, as PHP opens its FFI: it opens the driver in the same way, and looks
// its functions up by libc's dlsym. Its calls are bound when it is opened, and their table is
// read-only then.
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>

typedef CUresult copying(CUdeviceptr device, const void *block, size_t size_bytes, CUstream stream);

int sc_deep_copy(CUdeviceptr device, const void *block, size_t size_bytes, CUstream stream);
void sc_deep_free(void *block);

int sc_deep_copy(CUdeviceptr device, const void *block, size_t size_bytes, CUstream stream)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_DEEPBIND);
    copying *copy = driver ? (copying *)dlsym(driver, "cuMemcpyHtoDAsync_v2") : NULL;
    volatile int result = copy ? copy(device, block, size_bytes, stream) : CUDA_ERROR_NOT_FOUND;
    return result;
}

void sc_deep_free(void *block)
{
    free(block);
}
