/* System V segments, for the twins of shmat and shmdt. */
#ifndef SC_TESTS_HAZARD_SEGMENT_H
#define SC_TESTS_HAZARD_SEGMENT_H

#include "mapping.h"

#include <sys/ipc.h>
#include <sys/shm.h>

static TWIN_HELPER int new_segment(size_t size_bytes)
{
    int segment = shmget(IPC_PRIVATE, size_bytes, IPC_CREAT | 0600);
    if (segment < 0)
        exit(3);
    return segment;
}

/* At `address`, unless that is NULL, in place of what may lie there. */
static TWIN_HELPER void *attached(int segment, void *address)
{
    void *place = shmat(segment, address, address ? SHM_REMAP : 0);
    if (place == (void *)-1)
        exit(3);
    return place;
}

/* It goes when nobody has it attached any more. */
static TWIN_HELPER void forget_segment(int segment)
{
    if (shmctl(segment, IPC_RMID, NULL) != 0)
        exit(3);
}

static TWIN_HELPER void *registered_segment(int segment, size_t size_bytes, unsigned seed)
{
    void *place = attached(segment, NULL);
    fill(place, size_bytes, seed);
    CHECK(cudaHostRegister(place, size_bytes, cudaHostRegisterDefault));
    return place;
}

#endif
