/* cuInit and cuGetProcAddress, the doors that the CUDA runtime comes through.
 *
 * The real driver chooses by name, version and flags; whatever exact variant it returns is looked
 * up among our wrappers by its address. What we do not wrap passes through untouched.
 */
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "common/poison.h"

static CUresult answered(CUresult result, void **function, int version)
{
    sc_driver_note_version(version);
    if (result == CUDA_SUCCESS && function && *function)
        *function = sc_driver_wrapper_of(*function);
    return result;
}

CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags)
{
    SC_WRAPPER(cuGetProcAddress);
    return answered(real(name, function, version, flags), function, version);
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    SC_WRAPPER(cuGetProcAddress_v2);
    return answered(real(name, function, version, flags, status), function, version);
}

CUresult cuInit(unsigned flags)
{
    SC_WRAPPER(cuInit);
    CUresult result = real(flags);
    if (result == CUDA_SUCCESS)
        sc_life_cuda_is_up();
    return result;
}
