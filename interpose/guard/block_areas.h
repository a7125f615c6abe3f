/* By which mechanism the areas of large pinned blocks are guarded (interpose/memory/areas.h).
 *
 * A block has huge pages, which mprotect keeps off at little cost, by one thread at a time. Where
 * threads wait for each other there, since the program cuts their buffers out of blocks or has
 * large ones, userfaultfd serves better (interpose/guard/map_waits.h). An area in which a buffer
 * is guarded becomes userfaultfd's then, as soon as nothing in it is guarded, and stays so. So does
 * one in which small buffers are guarded often. With guard=uffd it does so at once.
 *
 * Thread safe, not signal safe; errno is kept. Locks: those of interpose/guard/protect.h.
 */
#ifndef SC_INTERPOSE_GUARD_BLOCK_AREAS_H
#define SC_INTERPOSE_GUARD_BLOCK_AREAS_H

struct sc_pages;

/* The calling thread is about to guard these pages. */
void sc_block_areas_choose(const struct sc_pages *pages);

#endif
