/* Hooks of System V shared memory: shmat and shmdt.
 *
 * shmdt of memory in flight waits and is never deferred: other processes see how many have a
 * segment attached, and may wait for that. Only Linux knows what shmdt unmaps, so /proc/self/maps
 * is read. No size is stored, since parts may have been unmapped, moved or replaced meanwhile.
 * Nothing is read if nothing is registered or in flight. */

/* Terms (docs/glossary.md):
 *   deferred: of a free: done later, when the hold on the memory has ended
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/mappings.h"
#include "interpose/guard/door.h"
#include "interpose/losses/losses.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "track/track_ranges.h"

#include "common/poison.h"

typedef void *shmat_function(int segment, const void *address, int flags);
typedef int shmdt_function(const void *address);

#define NEXT(name) SC_NEXT(name##_function *, #name)

enum { FILE_BYTES = 128 };

/* ---- shmdt ---- */

/* The mappings of the segment that was attached at the address, from the first to the last. */
struct attached {
    uintptr_t address;
    uintptr_t start, end;
    char file[FILE_BYTES]; /* device, inode and path, which all of them share */
};

/* Is it the file of a shared memory segment, as /proc/self/maps names it? Its path begins with
 * /SYSV, where no program can have put a file. */
static bool is_segment(const char *file)
{
    const char *path = strchr(file, '/');
    return path && strncmp(path, "/SYSV", 5) == 0;
}

/* Called for each mapping of the process, in order: chooses those that Linux's shmdt would detach,
 * and extends `attached` to them. A mapping counts if its offset in the segment equals its distance
 * from the address. The first one shows which segment it is. Returns true: the walk goes on. */
static bool note_mapping(void *context, uintptr_t start, uintptr_t end, const char *access,
                         const char *rest)
{
    struct attached *attached = context;
    char *file;
    (void)access;
    uintptr_t offset = strtoul(rest, &file, 16);
    if (start < attached->address || start - attached->address != offset || !is_segment(file) ||
        strlen(file) >= sizeof attached->file)
        return true;
    if (attached->start == attached->end) {
        attached->start = start;
        strcpy(attached->file, file);
    }
    if (strcmp(file, attached->file) == 0)
        attached->end = end;
    return true;
}

/* Finds which memory shmdt of this address would unmap; empty if no segment is attached there. If
 * /proc/self/maps cannot be opened, takes the memory registered there for all of it. */
static struct attached find_attached(const void *address)
{
    struct attached attached = {.address = (uintptr_t)address};
    if (sc_mappings_each(note_mapping, &attached))
        return attached;
    struct sc_range_info range = sc_track_find_range(&sc_track, attached.address);
    attached.start = attached.address;
    attached.end = range.range ? range.address + range.size_bytes : attached.address;
    return attached;
}

/* Called before shmdt: reports operations in flight in the segment, and waits for them in mode=fix.
 * Does nothing if Linux will refuse the call. */
static void before_detaching(const void *address, const struct sc_culprit *culprit)
{
    if (!sc_losses_are_pages(address, 0))
        return;
    struct attached attached = find_attached(address);
    size_t size_bytes = attached.end - attached.start;
    const void *start = (const void *)attached.start;
    if (size_bytes == 0)
        return;
    /* Later launches of graphs are reported, unless a segment is attached there again by then. */
    if (sc_losses_settle(start, size_bytes, culprit))
        sc_deallocation_note_for_graphs(attached.start, size_bytes, false, /*detached=*/true,
                                        culprit);
}

/* The hook of shmdt, which unmaps a segment: reports and waits before, if anything is in flight or
 * registered. */
SC_EXPORT int shmdt(const void *address)
{
    if (sc_losses_are_watched())
        before_detaching(address, &(struct sc_culprit){"shmdt", SC_SITE(), NULL});
    return NEXT(shmdt)(address);
}

/* ---- shmat ---- */

/* Returns the segment's size in whole pages; 0: its size cannot be had, so Linux would not attach
 * it either. */
static size_t segment_bytes(int segment)
{
    int saved = errno;
    struct shmid_ds about;
    size_t size_bytes = shmctl(segment, IPC_STAT, &about) == 0 ? about.shm_segsz : 0;
    errno = saved;
    return sc_losses_whole_pages(size_bytes);
}

/* Called before shmat with SHM_REMAP, which replaces whatever lies at the address, as
 * mmap(MAP_FIXED) does: reports and waits for operations in flight there. Without an address (0)
 * Linux refuses. */
static void before_attaching(int segment, const void *address, int flags,
                             const struct sc_culprit *culprit)
{
    uintptr_t place = (uintptr_t)address;
    if (flags & SHM_RND)
        place &= ~((uintptr_t)SHMLBA - 1);
    size_t size_bytes = place ? segment_bytes(segment) : 0;
    const void *start = (const void *)place;
    if (size_bytes && sc_losses_are_pages(start, size_bytes))
        sc_losses_settle(start, size_bytes, culprit);
}

/* Forgets what was known of memory where a segment was attached. Operations and registrations still
 * known there are of memory that was unmapped in a way that no hook sees. Memory there that a graph
 * names exists again. */
static void after_attaching(int segment, const void *place)
{
    uintptr_t start = (uintptr_t)place;
    size_t size_bytes = segment_bytes(segment);
    if (sc_losses_may_matter(place, size_bytes)) {
        sc_track_note_allocated(&sc_track, start, size_bytes);
        sc_losses_note_mapped(place, size_bytes);
        sc_guard_apply(SC_GUARD_ALL);
    }
    sc_losses_stop_watching(place, size_bytes, SC_SNAPSHOTS_NONE);
}

/* The hook of shmat, which maps a segment, with SHM_REMAP in place of what lies there. */
SC_EXPORT void *shmat(int segment, const void *address, int flags)
{
    if ((flags & SHM_REMAP) && sc_losses_are_watched())
        before_attaching(segment, address, flags, &(struct sc_culprit){"shmat", SC_SITE(), NULL});
    void *place = NEXT(shmat)(segment, address, flags);
    if (place != (void *)-1 && sc_losses_are_watched())
        after_attaching(segment, place);
    return place;
}
