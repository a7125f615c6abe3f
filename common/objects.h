/* Visits the objects that are loaded, as dl_iterate_phdr does.
 *
 * The loader locks its list of objects for that, and unwinding a stack takes the same lock.
 * libunwind unwinds with all signals blocked, so a thread may wait for the lock where no signal
 * handler can run. So while a thread of the program holds the lock for the library, the thread
 * counts as within a lock of the library (library_lock.h): a handler that stops the thread, as a
 * garbage collector's does, runs after the lock was released.
 *
 * Thread-safe. In a signal handler only if all signals are blocked. Locks: the loader's for its
 * list. */
#ifndef SC_TOOLS_OBJECTS_H
#define SC_TOOLS_OBJECTS_H

#include <link.h>
#include <stddef.h>

#include "common/library_lock.h"

typedef int sc_objects_visitor(struct dl_phdr_info *object, size_t size, void *context);

/* Calls `visit` for each loaded object until it returns another value than 0, and returns that
 * value. Meanwhile the thread counts as within a lock of the library. */
static inline int sc_objects_visit(sc_objects_visitor *visit, void *context)
{
    sc_library_lock_enter();
    int result = dl_iterate_phdr(visit, context);
    sc_library_lock_leave();
    return result;
}

#endif
