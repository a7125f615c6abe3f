/* Chooses by which mechanism pinned memory that the driver has allocated, and shared memory that
 * the program has registered, is guarded. It lies in areas that are added to the library's own
 * (sc_spans_add_area): 2 MB of address space with a stripe and page states.
 *
 * mprotect guards such memory until threads wait for each other in it
 * (interpose/guard/map_waits.h). A buffer that is to be guarded then changes to userfaultfd, with
 * all of its range that lies in the same area. With guard=uffd a buffer changes at once. What stays
 * with mprotect:
 * - private memory, of which UFFDIO_CONTINUE maps nothing, and MADV_DONTNEED would destroy the
 *   bytes. Write-protection would serve sources alone, and where threads wait for each other, small
 *   ones of those have snapshots;
 * - memory of files and of System V segments, write-combined memory, and huge pages;
 * - a range that is several mappings in one area, and what another userfaultfd has;
 * - buffers of more than 512 KB.
 *
 * Thread-safe, not signal-safe; errno is kept. Locks: those of interpose/guard/protect.h. */
#ifndef SC_INTERPOSE_GUARD_ADDED_AREAS_H
#define SC_INTERPOSE_GUARD_ADDED_AREAS_H

#include <stdbool.h>

struct sc_pages;

/* May userfaultfd be wanted for these pages of a pinned or registered range? A few loads. */
bool sc_added_areas_may_want(const struct sc_pages *pages);

/* Chooses the mechanism of the pages. `own`: the pages that have nothing but their range. To be
 * called before the pages are guarded. */
void sc_added_areas_choose(const struct sc_pages *own, const struct sc_pages *pages);

#endif
