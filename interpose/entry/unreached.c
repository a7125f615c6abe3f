#include "interpose/entry/unreached.h"

#include <dlfcn.h>

#include "interpose/base/loader.h"
#include "interpose/base/mappings.h"
#include "interpose/driver/driver.h"

#include "common/poison.h"

/* Has the process used the driver past the library? The current context is asked for, which fails
 * if the driver was never initialised. A driver that was torn down gives the same answer whether it
 * was used or not; but the files of a device are mapped only in a process that has used one. */
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
           (result == CUDA_ERROR_DEINITIALIZED && sc_mappings_have("/dev/nvidia"));
}
