#include "interpose/unreached.h"

#include <dlfcn.h>

#include "interpose/driver.h"
#include "interpose/loader.h"

#include "track/poison.h"

/* A driver that has been torn down answers that it was (docs/driver.md). */
bool sc_unreached_was_used(void)
{
    CUcontext context = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    __typeof__(&cuCtxGetCurrent) current =
        driver ? (__typeof__(&cuCtxGetCurrent))sc_loader_symbol(driver, "cuCtxGetCurrent") : NULL;
    CUresult result = current ? current(&context) : CUDA_ERROR_NOT_INITIALIZED;
    if (driver)
        dlclose(driver);
    dlerror();
    return result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_CONTEXT ||
           result == CUDA_ERROR_DEINITIALIZED;
}
