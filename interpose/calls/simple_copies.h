/* The quick way for the simple copies, which programs make most (track/track_copies.h):
 * between the device and pinned memory, on a stream that waits for no other stream
 * (sc_streams_find_simple). Copies to the device are among them only if they are small and in
 * mode=fix, since the device then reads a snapshot of the source. A few loads show that it is a
 * simple copy; one function makes the call and records it. Other copies go the way of issue.h.
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

#include "interpose/base/process.h"
#include "interpose/driver/driver.h"

/* Called first by the wrappers of the two copies. Make the driver's call, store its answer in
 * `*result`, and record the copy. Return false, having done nothing, if the copy is not a simple
 * one: the wrapper then goes the general way. `least`: which states of the process count as simple
 * (interpose/base/process.h). `api`, `site`, `per_thread`: the members of the call's struct sc_call
 * (interpose/driver/call.h). */
bool sc_simple_copies_upload(enum sc_simplicity least, const char *api, void *site, bool per_thread,
                             CUresult *result, CUdeviceptr target, const void *source,
                             size_t size_bytes, CUstream stream);
bool sc_simple_copies_download(enum sc_simplicity least, const char *api, void *site,
                               bool per_thread, CUresult *result, void *target, CUdeviceptr source,
                               size_t size_bytes, CUstream stream);

/* The names by which the macro SC_SIMPLE_PAIR, which makes the wrappers, calls these functions. */
#define cuMemcpyHtoDAsync_v2_simply sc_simple_copies_upload
#define cuMemcpyDtoHAsync_v2_simply sc_simple_copies_download

#endif
