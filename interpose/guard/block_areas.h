/* Chooses by which mechanism, mprotect or userfaultfd, the parts of large pinned blocks are guarded
 * (areas: interpose/memory/areas.h).
 *
 * A block has huge pages. mprotect guards them cheaply, but only for one thread of the process at a
 * time. Where threads wait for each other for that (interpose/guard/map_waits.h), as in programs
 * that cut their buffers out of blocks, userfaultfd is better. Then an area in which a buffer is to
 * be guarded changes to userfaultfd for good, as soon as nothing in it is guarded. So does an area
 * in which small buffers are guarded often. With guard=uffd an area changes at once.
 *
 * Thread-safe, not signal-safe; errno is kept. Locks: those of interpose/guard/protect.h. */
#ifndef SC_INTERPOSE_GUARD_BLOCK_AREAS_H
#define SC_INTERPOSE_GUARD_BLOCK_AREAS_H

struct sc_pages;

/* The calling thread is about to guard these pages. */
void sc_block_areas_choose(const struct sc_pages *pages);

#endif
