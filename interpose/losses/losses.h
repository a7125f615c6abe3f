/* Reports and waits before a call by which the program loses memory or its contents otherwise than
 * by free: unmapping, detaching, dropping pages, the end of a thread.
 *
 * A hook does three things. It checks whether the call can matter, which is one relaxed load if
 * nothing is in flight. It reports what is in flight in the memory, and in mode=fix waits for it.
 * If the pages will be replaced, it ends their guarding and comparing. Then it makes the real call.
 * If Linux would refuse the call, the hook only makes it.
 *
 * No function calls CUDA or changes errno. Thread-safe, not signal-safe. Locks: no lock of the
 * library may be held; the guard's, the tracker's, the reaper's and the report's are taken, one
 * after the other. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   loss: memory that goes otherwise than by a free: munmap, shmdt, dlclose, the end of a thread
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

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

/* Rounds the size up to whole pages, as Linux does. A size that would overflow is returned
 * unchanged, and Linux refuses it. */
size_t sc_losses_whole_pages(size_t size_bytes);

/* Returns true if the interval, which may be empty, starts on a page and lies where a process can
 * have memory. If not, Linux refuses the call, and the hook only passes it on. */
bool sc_losses_are_pages(const void *address, size_t size_bytes);

/* Returns true if a loss of any memory can matter now: libc's calls have to be watched, or there is
 * registered or pinned memory. Asked first in each hook; some relaxed loads. */
static inline bool sc_losses_are_watched(void)
{
    return __builtin_expect(
               sc_track_watches_libc(&sc_track) || sc_track_has_any(&sc_track, SC_HAS_RANGES), 0) &&
           sc_active() && !sc_is_inside();
}

/* Returns true if the interval may have memory that libc can take away while it is in flight, held
 * after a free, or named by a graph; true if that is not certain. Lock-free. Always false where
 * hooks only pass calls on, and on threads that must not wait for the reaper: within a lock of the
 * library, and the reaper itself. */
bool sc_losses_may_matter(const void *address, size_t size_bytes);

/* Returns true if the interval may have memory that is registered, in flight, held after a free, or
 * named by a graph: a hook then has something to do before the call. */
bool sc_losses_may_be_of_ours(const void *address, size_t size_bytes);

/* Reports what is in flight in the interval (SC104). In mode=fix waits for that, and for memory
 * held back there after a free, at most stall_limit. `hurts`, unless it is NULL: does so only for
 * the operations for which it returns true, and the memory stays the program's. */
void sc_losses_report_and_wait(const void *address, size_t size_bytes,
                               bool (*hurts)(const struct sc_op_info *op),
                               const struct sc_culprit *culprit);

/* Does what must be done before memory is lost or replaced: reports and waits as that does for the
 * whole interval, if anything may matter there, and stops watching it. Returns whether it may. */
bool sc_losses_settle(const void *address, size_t size_bytes, const struct sc_culprit *culprit);
/* Notes that the program maps memory there, at a place of its choice: nodes of graphs whose memory
 * there was unmapped are valid again. */
void sc_losses_note_mapped(const void *address, size_t size_bytes);

/* Called before pages are replaced: limits how the library reads sources there for snapshots
 * (copies that the device reads instead) from now on, since the driver goes on to read the old
 * pages of registered memory. True: ranges may lie there. */
bool sc_losses_limit_snapshots(const void *address, size_t size_bytes, enum sc_snapshots snapshots);

/* Ends the guarding of the interval for good, before its mapping is replaced. Unprotecting the
 * pages later would undo what the program does with the new ones. */
void sc_losses_forbid_guarding(const void *address, size_t size_bytes);

/* Called before pages are lost or replaced: limits how they are read (sc_losses_limit_snapshots)
 * and ends their protection for good, if registered or protected pages may lie there. */
void sc_losses_stop_watching(const void *address, size_t size_bytes, enum sc_snapshots snapshots);

#endif
