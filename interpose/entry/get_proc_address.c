/* Wrappers of cuInit and cuGetProcAddress, by which the CUDA runtime reaches the driver.
 *
 * The real driver chooses a function by name, version and flags. The wrapper of exactly that
 * function is found by its address. A function that we do not wrap is returned as it is.
 */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "common/poison.h"

/* Puts the wrapper in place of the driver's function that cuGetProcAddress has found, so that the
 * program's calls come to the library. `version`: the CUDA version that was asked for, which tells
 * the program's runtime. */
static CUresult answer_with_wrapper(CUresult result, void **function, int version)
{
    sc_driver_note_version(version);
    if (result == CUDA_SUCCESS && function && *function)
        *function = sc_driver_wrapper_of(*function);
    return result;
}

/* Wrapper of cuGetProcAddress, of CUDA 11.3: finds the driver's function, and returns its wrapper.
 */
CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags)
{
    SC_WRAPPER(cuGetProcAddress);
    return answer_with_wrapper(real(name, function, version, flags), function, version);
}

/* Wrapper of cuGetProcAddress as of CUDA 12, which also tells why it found nothing. */
CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    SC_WRAPPER(cuGetProcAddress_v2);
    return answer_with_wrapper(real(name, function, version, flags, status), function, version);
}

/* Wrapper of cuInit: when the driver has come up, the library does. */
CUresult cuInit(unsigned flags)
{
    SC_WRAPPER(cuInit);
    CUresult result = real(flags);
    if (result == CUDA_SUCCESS)
        sc_life_cuda_is_up();
    return result;
}
