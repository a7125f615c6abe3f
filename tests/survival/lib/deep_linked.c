// cflags: -Wl,-z,lazy
//
// Opened with RTLD_DEEPBIND: what it calls is looked for in the libraries that it is linked with,
// before any that was preloaded. Its calls are bound when they are made.
#include <cuda.h>
#include <stdlib.h>

int sc_deep_copy(CUdeviceptr device, const void *block, size_t size_bytes, CUstream stream);
void sc_deep_free(void *block);

int sc_deep_copy(CUdeviceptr device, const void *block, size_t size_bytes, CUstream stream)
{
    volatile int result = cuMemcpyHtoDAsync(device, block, size_bytes, stream);
    return result;
}

void sc_deep_free(void *block)
{
    free(block);
}
