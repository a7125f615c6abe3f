/* What hooks do before a call by which the program loses memory or its contents otherwise than by
 * free: unmapping, detaching, dropping pages, the end of a thread.
 *
 * The hook first looks whether the call could matter, which is one relaxed load if nothing is in
 * flight. It settles the memory: waits for what is in flight. It has pages that become something
 * else guarded and compared no more. Then it makes the real call. For a call that the kernel would
 * refuse it only does the last step.
 *
 * Nothing here calls CUDA or changes errno. Thread safe, not signal safe. Locks: no lock of the
 * library may be held; the guard's, the tracker's, the reaper's and the report's are taken, one
 * after the other. */
#ifndef SC_INTERPOSE_LOSSES_LOSSES_H
#define SC_INTERPOSE_LOSSES_LOSSES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/base/process.h"
#include "track/track_front.h"
#include "track/track_presence.h"

enum sc_snapshots;
struct sc_culprit;
struct sc_op_info;

/* The size in whole pages, as the kernel takes it. A size that cannot be rounded stays as it is,
 * and the kernel refuses it. */
size_t sc_losses_whole_pages(size_t size_bytes);

/* Does the interval start on a page, and lie where a process has memory? It may be empty. */
bool sc_losses_are_pages(const void *address, size_t size_bytes);

/* Can any loss matter: must libc's calls be watched, or is there any range? Some relaxed loads. */
static inline bool sc_losses_are_watched(void)
{
    return __builtin_expect(
               sc_track_watches_libc(&sc_track) || sc_track_has_any(&sc_track, SC_HAS_RANGES), 0) &&
           sc_active() && !sc_is_inside();
}

/* May there be something in flight in the interval, or held, or named by a graph, that libc can
 * take away? Lock-free; true if that is not sure. Always false where hooks only pass calls on, and
 * where the thread could not wait for the reaper: within one of the library's own locks, and on the
 * reaper itself. */
bool sc_losses_may_matter(const void *address, size_t size_bytes);

/* The same, or could memory be registered there? */
bool sc_losses_may_be_of_ours(const void *address, size_t size_bytes);

/* Reports what is in flight in the interval (SC104). In mode=fix waits for that, and for what is
 * held there, at most stall_limit. */
void sc_losses_settle(const void *address, size_t size_bytes, const struct sc_culprit *culprit);

/* The same for the operations of which `hurts` is true; the memory stays the program's. */
void sc_losses_settle_some(const void *address, size_t size_bytes,
                           bool (*hurts)(const struct sc_op_info *op),
                           const struct sc_culprit *culprit);

/* Limits how sources in the interval are read for snapshots from now on, since its pages become
 * others while the driver goes on reading registered ones. True: ranges may lie there. */
bool sc_losses_limit_snapshots(const void *address, size_t size_bytes, enum sc_snapshots snapshots);

/* The mapping is about to become something else: has its pages guarded no more. To let them go
 * later would undo what the program does with them. */
void sc_losses_forbid_guarding(const void *address, size_t size_bytes);

/* Limits snapshots and forbids guarding in the interval, if ranges or guarded pages may lie
 * there. */
void sc_losses_leave_alone(const void *address, size_t size_bytes, enum sc_snapshots snapshots);

#endif
