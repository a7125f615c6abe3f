/* The quick way for simple copies (track/track_copies.h): between the device and pinned memory on a
 * simple stream (sc_streams_find_simple), to the device only small ones and in mode=fix. A few
 * loads show that a copy is simple, and one function makes the call and records it. Other copies go
 * the way of issue.h.
 *
 * Thread-safe. Locks: none may be held. Calls the driver: not for a signal handler. errno is kept.
 */

/* Terms (docs/glossary.md):
 *   simple copy: a copy between device and pinned memory, on a stream without ties, with no
 *       conflict
 *   site: the address to which a hook or wrapper returns: the program's call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_SIMPLE_COPIES_H
#define SC_INTERPOSE_CALLS_SIMPLE_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"

/* Make the call, store its result, and record the copy. Return false, having done nothing, if the
 * copy is not a simple one. `api`, `site`, `per_thread`: the members of its struct sc_call
 * (interpose/driver/call.h). */
bool sc_simple_copies_upload(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                             CUresult *result, CUdeviceptr target, const void *source,
                             size_t size_bytes, CUstream stream);
bool sc_simple_copies_download(enum sc_simplicity least, const char *api, void *site,
                               bool per_thread, CUresult *result, void *target, CUdeviceptr source,
                               size_t size_bytes, CUstream stream);

/* The names by which wrappers call them (SC_SIMPLE_PAIR). */
#define cuMemcpyHtoDAsync_v2_simply sc_simple_copies_upload
#define cuMemcpyDtoHAsync_v2_simply sc_simple_copies_download

#endif
