/* Host functions that wait for a semaphore, and ones that post it. */
#ifndef SC_TESTS_HAZARD_SEMAPHORES_H
#define SC_TESTS_HAZARD_SEMAPHORES_H

#include "twin.h"

#include <semaphore.h>

static TWIN_HELPER void wait_for_post(void *semaphore)
{
    while (sem_wait((sem_t *)semaphore) != 0)
        continue;
}

static TWIN_HELPER void post(void *semaphore)
{
    sem_post((sem_t *)semaphore);
}

#endif
