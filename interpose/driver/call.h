/* One call of a driver function, as the program has called its wrapper: reports of hazards, detours
 * and permits name it. It is passed by pointer, and lives on the wrapper's stack until the wrapper
 * returns. Plain data; no lock; safe in a signal handler. */

/* Terms (docs/glossary.md):
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   permit: leave for a call that no capture allows: it is made under the relaxed capture mode
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_DRIVER_CALL_H
#define SC_INTERPOSE_DRIVER_CALL_H

#include <stdbool.h>

struct sc_call {
    const char *api; /* the exported symbol; a string that lives for ever */
    void *site;      /* the return address of the call */
    /* the variant of the function whose default stream is the calling thread's (_ptsz, _ptds) */
    bool per_thread;
};

#endif
