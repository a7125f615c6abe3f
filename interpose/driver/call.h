/* One call of a driver function, as the program has called its wrapper: reports of hazards, detours
 * and permits name it. It is passed by pointer, and lives on the wrapper's stack until the wrapper
 * returns. Plain data; no lock; safe in a signal handler. */
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
