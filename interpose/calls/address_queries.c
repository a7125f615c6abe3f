/* What the driver says about addresses. To the program, pinned memory whose free is held is gone,
 * and so is the registration that is kept for a graph. So the driver is asked about memory that was
 * never registered instead. */
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "track/hold_kind.h"
#include "track/track_holds.h"
#include "track/track_presence.h"

#include "common/poison.h"

static char never_registered;

/* Returns the address to ask the driver about: another one where the program has given the memory
 * back. */
static uintptr_t address_to_ask(uintptr_t address)
{
    bool is_gone = sc_track_has_any(&sc_track, SC_HAS_HOLDS) && sc_active() &&
                   sc_track_is_held(&sc_track, address, 1, SC_HOLDS_DRIVERS);
    return is_gone ? (uintptr_t)&never_registered : address;
}

#define ABOUT(address) ((__typeof__(address))address_to_ask((uintptr_t)(address)))

#define SC_ASKS(name, suffix, version, arguments, address)                                         \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        address = ABOUT(address);                                                                  \
        return real arguments;                                                                     \
    }
#include "interpose/driver/api.def"

/* Restores the program's address as the host pointer. For memory that the driver does not know it
 * answers that the host pointer is the address asked about. */
static CUresult restore(CUresult result, unsigned count, const CUpointer_attribute *attributes,
                        void **data, CUdeviceptr address)
{
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER &&
            *(uintptr_t *)data[i] == (uintptr_t)&never_registered)
            *(uintptr_t *)data[i] = (uintptr_t)address;
    return result;
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr address)
{
    SC_WRAPPER(cuPointerGetAttributes);
    CUdeviceptr about = ABOUT(address);
    CUresult result = real(count, attributes, data, about);
    return about == address ? result : restore(result, count, attributes, data, address);
}
