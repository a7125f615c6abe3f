/* Wrappers of what programs ask the driver about addresses. The library may defer a free of pinned
 * memory, or the end of a registration, until the device is done with the memory. To the program
 * that memory is given back already, and the driver would tell of it all the same. So the driver is
 * asked about memory that was never registered instead. */
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "track/hold_kind.h"
#include "track/track_holds.h"
#include "track/track_presence.h"

#include "common/poison.h"

/* A byte of memory of which the driver knows nothing. */
static char never_registered;

/* Returns the address to ask the driver about: the program's, or that of never_registered if the
 * program has freed or unregistered the memory there and the library still keeps it (a hold). */
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

/* Called if the driver was asked about never_registered instead of the program's address. For
 * memory that the driver does not know, it answers that the host pointer is the address asked
 * about: there the program's address is put back. */
static CUresult restore(CUresult result, unsigned count, const CUpointer_attribute *attributes,
                        void **data, CUdeviceptr address)
{
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER &&
            *(uintptr_t *)data[i] == (uintptr_t)&never_registered)
            *(uintptr_t *)data[i] = (uintptr_t)address;
    return result;
}

/* Asks the driver several questions about one address. For memory that the program has given back,
 * the answers are those for memory that was never registered. */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr address)
{
    SC_WRAPPER(cuPointerGetAttributes);
    CUdeviceptr about = ABOUT(address);
    CUresult result = real(count, attributes, data, about);
    return about == address ? result : restore(result, count, attributes, data, address);
}
