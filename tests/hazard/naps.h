/* A host function that sleeps and does nothing else: it can wait for nobody, as its code shows.
 * busy() of twin.h looks at other threads again and again, as functions do that wait for them. */
#ifndef SC_TESTS_HAZARD_NAPS_H
#define SC_TESTS_HAZARD_NAPS_H

#include "twin.h"

enum { NAP_US = 4 * BUSY_US };

static TWIN_HELPER void nap(void *unused)
{
    (void)unused;
    usleep(NAP_US);
}

#endif
