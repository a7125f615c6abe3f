/* A call of a driver function, as its wrapper was called. Hazards, detours and permits tell of it.
 * It is handed down by pointer, and lives on the wrapper's stack until the wrapper returns. Plain
 * data: no lock, safe in a signal handler. */
#ifndef SC_INTERPOSE_DRIVER_CALL_H
#define SC_INTERPOSE_DRIVER_CALL_H

#include <stdbool.h>

struct sc_call {
    const char *api; /* the exported symbol; a string that lives for ever */
    void *site;      /* where the call returns to */
    bool per_thread; /* the variant whose default stream is the thread's own (_ptsz, _ptds) */
};

#endif
