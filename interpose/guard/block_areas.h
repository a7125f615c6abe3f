/* Chooses by which mechanism, mprotect or userfaultfd, the areas of large pinned blocks are guarded
 * (protected while a copy uses them): whichever is faster for how the program uses them. An area is
 * 2 MB of the library's pinned memory, a block an allocation of several areas
 * (interpose/memory/areas.h).
 *
 * A block consists of huge pages. mprotect guards those cheaply, but only one thread of a process
 * at a time can be in mprotect. If threads wait for each other to enter it
 * (interpose/guard/map_waits.h), userfaultfd is faster. The area of a buffer that is to be guarded
 * then changes to userfaultfd for good, as soon as nothing in it is guarded. So does an area in
 * which small buffers are guarded often. With guard=uffd an area changes at once.
 *
 * Thread-safe, not signal-safe; errno is kept. Locks: those of interpose/guard/protect.h. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 */

#ifndef SC_INTERPOSE_GUARD_BLOCK_AREAS_H
#define SC_INTERPOSE_GUARD_BLOCK_AREAS_H

struct sc_pages;

/* Chooses the mechanism of the areas in which these pages lie. To be called before the pages are
 * guarded. */
void sc_block_areas_choose(const struct sc_pages *pages);

#endif
