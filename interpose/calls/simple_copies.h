/* The quick way of simple copies: between the device and pinned memory, on simple streams
 * (sc_streams_find_simple), small ones to the device in mode=fix, and those to the host. A few
 * looks tell that a copy is one, and one function makes the call and records it. Other copies go
 * the way of issue.h.
 *
 * Thread-safe. Locks: none may be held. Calls the driver: not for a signal handler. errno is kept.
 */
#ifndef SC_INTERPOSE_CALLS_SIMPLE_COPIES_H
#define SC_INTERPOSE_CALLS_SIMPLE_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"

/* Makes the call and records the copy. False: the copy is not a simple one, and nothing was done.
 * `host`, `device`: its two sides. `api`, `site`, `per_thread`: of its call
 * (interpose/driver/call.h). */
bool sc_simple_copies_make(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                           CUresult *result, bool to_host, const void *host, CUdeviceptr device,
                           size_t size_bytes, CUstream handle);

/* As wrappers ask (SC_SIMPLE_PAIR). */
SC_INLINED bool cuMemcpyHtoDAsync_v2_simply(enum sc_simplicity least, const char *api, void *site,
                                            bool per_thread, CUresult *result, CUdeviceptr target,
                                            const void *source, size_t size_bytes, CUstream handle)
{
    return sc_simple_copies_make(least, api, site, per_thread, result, false, source, target,
                                 size_bytes, handle);
}

SC_INLINED bool cuMemcpyDtoHAsync_v2_simply(enum sc_simplicity least, const char *api, void *site,
                                            bool per_thread, CUresult *result, void *target,
                                            CUdeviceptr source, size_t size_bytes, CUstream handle)
{
    return sc_simple_copies_make(least, api, site, per_thread, result, true, target, source,
                                 size_bytes, handle);
}

#endif
