/* A flag that a host function of a stream or graph raises for the program. */
#ifndef SC_TESTS_HAZARD_FLAG_H
#define SC_TESTS_HAZARD_FLAG_H

#include <stdatomic.h>

/* The flag is an atomic_int. */
static void raise_flag(void *flag)
{
    atomic_store((atomic_int *)flag, 1);
}

#endif
