/* The objects that are loaded, as dl_iterate_phdr visits them.
 *
 * The loader has a lock for its list of objects, and unwinding a stack takes it. libunwind unwinds
 * with all signals blocked, so that a thread waits for the lock where no handler can stop it. While
 * a thread of the program has the lock for us, the lock counts as one of ours (library_lock.h). So
 * a handler that stops the thread, as a garbage collector's does, runs after the lock was given
 * back.
 *
 * Thread-safe. In a signal handler only if all signals are blocked. Locks: the loader's for its
 * list. */
#ifndef SC_TOOLS_OBJECTS_H
#define SC_TOOLS_OBJECTS_H

#include <link.h>
#include <stddef.h>

#include "common/library_lock.h"

typedef int sc_objects_visitor(struct dl_phdr_info *object, size_t size, void *context);

static inline int sc_objects_visit(sc_objects_visitor *visit, void *context)
{
    sc_library_lock_enter();
    int result = dl_iterate_phdr(visit, context);
    sc_library_lock_leave();
    return result;
}

#endif
