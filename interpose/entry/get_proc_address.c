/* cuInit and cuGetProcAddress, the doors that the CUDA runtime comes through.
 *
 * The real driver chooses by name, version and flags; whatever exact variant it returns is looked
 * up among our wrappers by its address. What we do not wrap passes through untouched.
 */
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "track/poison.h"

static CUresult answered(CUresult result, void **function, int version)
{
    sc_driver_note_version(version);
    if (result == CUDA_SUCCESS && function && *function)
        *function = sc_driver_wrapper_of(*function);
    return result;
}

SC_DEFINE(cuGetProcAddress, (const char *name, void **function, int version, cuuint64_t flags),
          return answered(REAL(name, function, version, flags), function, version);)

SC_DEFINE(cuGetProcAddress_v2,
          (const char *name, void **function, int version, cuuint64_t flags,
           CUdriverProcAddressQueryResult *status),
          return answered(REAL(name, function, version, flags, status), function, version);)

SC_DEFINE(cuInit, (unsigned flags), CUresult result = REAL(flags);
          if (result == CUDA_SUCCESS) sc_life_cuda_is_up(); return result;)
