/* How often a test of random or repeated steps takes them: the fewer where each is slow, which
 * tests/memcheck.py says by SAFECOPY_FEW_ROUNDS. */
#ifndef SC_TESTS_UNIT_ROUNDS_H
#define SC_TESTS_UNIT_ROUNDS_H

#include <stdlib.h>

static inline unsigned rounds(unsigned many)
{
    return getenv("SAFECOPY_FEW_ROUNDS") ? many / 20 : many;
}

#endif
