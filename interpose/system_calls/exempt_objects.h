/* Exempts from protection the pages of objects that Linux may touch at any time, without a system
 * call of the program: a mutex that other threads sleep on, or a buffer that glibc's threads read
 * into.
 *
 * glibc aborts the process when Linux finds a futex inaccessible. So pages on which such an object
 * was seen are never guarded (track/exempt_pages.h), as long as their range (registered or pinned
 * memory) lasts. An object is seen when it is passed to a hooked function that may sleep or wake on
 * it. If the set of exempt pages is full, the object's whole range is no longer guarded.
 *
 * A thread that exempts a page first stores that, and then checks whether the page is protected.
 * The guard first records what it is about to protect, and then checks the exempt pages. So at
 * least one of the two sees the other, as with loans (interpose/guard/loans.h).
 *
 * Thread-safe and signal-safe; errno is kept; no cancellation point. Locks: takes the guard's and
 * the tracker's the first time that a page is seen, and none later. */

/* Terms (docs/glossary.md):
 *   exempt: of a page: never protected, since Linux uses it at times that nobody foresees
 *   guard: page protection of the memory of operations in flight
 *   loan: memory that a system call uses, unprotected until the call returns
 *   range: host memory that the driver knows: one allocation or one registration
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_SYSTEM_CALLS_EXEMPT_OBJECTS_H
#define SC_INTERPOSE_SYSTEM_CALLS_EXEMPT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "track/track_presence.h"
#include "track/track_views.h"

/* Is there any range (memory that the driver knows), so that pages can be guarded? One load. */
static inline bool sc_exempt_objects_may_be_needed(void)
{
    return sc_unlikely(sc_track_has_any(&sc_track, SC_HAS_RANGES));
}

/* Objects (mutexes and the like) that the calling thread used lately and that lie on no page of a
 * range (memory that the driver knows), so that no look-up is needed. An entry is valid for one
 * version of the set of ranges, a number that changes with each allocation and registration.
 * Frameworks and the runtime lock the same few mutexes thousands of times between two copies, and
 * some of these lie near a range. */
enum { SC_FAR_OBJECTS = 16, SC_FAR_OBJECT_BYTES = 64 };

extern __thread struct sc_far_object {
    uintptr_t address;
    uint64_t version;
} sc_far_objects[SC_FAR_OBJECTS] __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns the entry of sc_far_objects in which the object is if it is known to be far. */
static inline struct sc_far_object *sc_exempt_objects_far_entry(const void *object)
{
    return &sc_far_objects[(uintptr_t)object / sizeof(int) % SC_FAR_OBJECTS];
}

/* Returns the version of the set of ranges; odd while that changes. */
static inline uint64_t sc_exempt_objects_ranges_version(void)
{
    return sc_track_ranges_version(&sc_track);
}

/* Was the object found to lie on no page of a range (memory that the driver knows), and has the set
 * of ranges not changed since? Then it need not be exempted. For objects of at most
 * SC_FAR_OBJECT_BYTES. Three loads. */
static inline bool sc_exempt_objects_is_known_far(const void *object)
{
    const struct sc_far_object *far = sc_exempt_objects_far_entry(object);
    return far->address == (uintptr_t)object && far->version == sc_exempt_objects_ranges_version();
}

/* Records that the object lies on no page of a range (memory that the driver knows), so that the
 * next call with it is fast. `version`: of the set of ranges, loaded before that was searched. */
void sc_exempt_objects_note_far(const void *object, uint64_t version);

/* Exempts the object's pages from protection: they are unprotected, and never protected again.
 * Linux may touch the object at any time from now on. */
void sc_exempt_objects_add(const void *object, size_t size_bytes);

/* Unprotects the page of the object once, for a system call that is about to touch it; its size is
 * unknown. */
void sc_exempt_objects_unprotect_once(const void *object);

#endif
