/* Host functions, and when they have returned. A part of random_program.h.
 *
 * A function says that it was called before it returns. For the library it goes on until then, and
 * may be what puts operations in order that come meanwhile: programs let it return first.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_FUNCTIONS_H
#define SC_TESTS_FUZZ_RANDOM_FUNCTIONS_H

#include "tests/patience.h"

static atomic_long function_thread;

/* In the function, before it says so. */
static void note_function(void)
{
    atomic_store(&function_thread, syscall(SYS_gettid));
}

/* The driver's thread sleeps then, or has ended: it runs one function at a time. */
static void let_function_return(void)
{
    for (int asleep = 0; asleep < 3; usleep(20))
        asleep = strchr("SXZ", thread_state(atomic_load(&function_thread))) ? asleep + 1 : 0;
}

#endif
