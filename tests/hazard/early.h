/* Sources that the driver takes in the call: plain copies of up to 24 KB out of registered memory,
 * in a stream that has nothing queued. What fills them here is half of BUSY_US away. */
#ifndef SC_TESTS_HAZARD_EARLY_H
#define SC_TESTS_HAZARD_EARLY_H

#include "twin.h"

static const size_t EARLY TWIN_UNUSED = 4096;

static TWIN_HELPER void fill_late(void *source)
{
    sleep_patiently(BUSY_US / 2);
    fill(source, EARLY, WANTED);
}

#endif
