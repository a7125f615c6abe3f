/*
 * Memory at addresses outside of the arenas: what cuMemCreate makes and cuMemMap maps, and what
 * other processes and pools share, which is mapped where it is opened. All of it is a file of
 * shared memory (memfd), which the program's addresses map.
 */
#ifndef SIM_VIRTUAL_H
#define SIM_VIRTUAL_H

#include "memory.h"

#define SIM_GRANULE ((size_t)2 << 20)

/* A handle of physical memory, and the memory's file. It lives for as long as somebody refers to it
 * or maps it, and the memory for as long as any handle of it does: each import makes one. */
struct sim_physical {
    struct sim_physical *next;
    CUmemAllocationProp prop;
    size_t size;
    unsigned references, mappings;
    int file;
    unsigned *handles; /* of the memory, in this process; NULL: another one accounts for it */
    bool multicast;    /* it stands for other memory, and is none */
    unsigned devices, missing; /* of multicast: bits, and how many have still to be added */
};

/* NULL: the handle names none. It does as long as the memory is mapped, referred to or not. */
struct sim_physical *sim_physical_of_locked(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle sim_physical_handle(const struct sim_physical *physical);

/* Of the first of so many devices; NULL without memory. */
struct sim_physical *sim_physical_multicast_locked(size_t size, unsigned devices);

/* Maps a part of a file at addresses of its own, and of nobody else's memory; 0 without memory. The
 * file may be closed then. `like`: device, context, pool and what becomes of it. */
uintptr_t sim_virtual_share_locked(int file, size_t offset, size_t size,
                                   const struct sim_range *like);
/* Such memory is given back. */
void sim_virtual_drop_locked(uintptr_t base);
/* A new handle of the physical memory whose file this is; NULL: the file is none of cuMemCreate's,
 * of whatever process. */
struct sim_physical *sim_physical_import_locked(int file);

/* Is it reserved, and nothing there for the device? Call it without the lock. */
bool sim_virtual_is_lost(uintptr_t address);
/* False: the address is in no reservation. */
bool sim_virtual_find_locked(uintptr_t address, struct sim_range *range);

#endif
