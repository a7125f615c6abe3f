/* Small copies to the device out of pinned memory, in mode=fix on simple streams
 * (sc_streams_find_simple). A few looks tell such a copy, and one function makes the call and notes
 * it. Other copies go the way of issue.h.
 *
 * Thread-safe. Locks: none may be held. Calls the driver: not for a signal handler. errno is kept.
 */
#ifndef SC_INTERPOSE_CALLS_UPLOADS_H
#define SC_INTERPOSE_CALLS_UPLOADS_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

enum sc_simplicity;

/* Makes the upload if it is such a copy. False: it is not, and nothing was done. `least`: how
 * simple the process must be. `api`, `site`, `per_thread`: of the call (interpose/driver/call.h).
 */
bool sc_uploads_make(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                     CUresult *result, CUdeviceptr target, const void *source, size_t size_bytes,
                     CUstream stream);

#endif
