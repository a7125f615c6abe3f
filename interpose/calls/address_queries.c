/* What the driver says about addresses. Pinned memory whose free is held back, and memory that
 * stays registered for a graph, are gone for the program: in their place the driver is asked about
 * memory that was never registered. */
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "track/hold_kind.h"
#include "track/track_holds.h"
#include "track/track_presence.h"

#include "common/poison.h"

static char pageable;

static uintptr_t as_the_program_has_it(uintptr_t address)
{
    bool held = sc_track_has(&sc_track, SC_HAS_HOLDS) && sc_active() &&
                sc_track_is_held(&sc_track, address, 1, SC_HOLDS_DRIVERS);
    return held ? (uintptr_t)&pageable : address;
}

#define ABOUT(address) ((__typeof__(address))as_the_program_has_it((uintptr_t)(address)))

#define SC_ASKS(name, suffix, version, arguments, address)                                         \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        address = ABOUT(address);                                                                  \
        return real arguments;                                                                     \
    }
#include "interpose/driver/api.def"

/* The driver says that the host pointer of memory which it does not know is the one that was asked
 * about. */
static CUresult told(CUresult result, unsigned count, const CUpointer_attribute *attributes,
                     void **data, CUdeviceptr address)
{
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER &&
            *(uintptr_t *)data[i] == (uintptr_t)&pageable)
            *(uintptr_t *)data[i] = (uintptr_t)address;
    return result;
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr address)
{
    SC_WRAPPER(cuPointerGetAttributes);
    CUdeviceptr about = ABOUT(address);
    CUresult result = real(count, attributes, data, about);
    return about == address ? result : told(result, count, attributes, data, address);
}
