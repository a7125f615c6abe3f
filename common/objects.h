/* The objects that are loaded, as dl_iterate_phdr visits them.
 *
 * The loader has a lock for its list of them, and whoever unwinds a stack wants it: libunwind does
 * with all signals blocked, so that it waits where no handler can stop it. The lock counts as one
 * of ours (own_lock.h) while a thread of the program's has it for us. So a handler that stops the
 * thread, as a garbage collector's does, comes when the lock has been given back.
 *
 * Thread-safe. In a signal handler only where all signals are blocked. Locks: the loader's for its
 * list.
 */
#ifndef SC_TOOLS_OBJECTS_H
#define SC_TOOLS_OBJECTS_H

#include <link.h>
#include <stddef.h>

#include "common/own_lock.h"

typedef int sc_objects_visitor(struct dl_phdr_info *object, size_t size, void *context);

static inline int sc_objects_visit(sc_objects_visitor *visit, void *context)
{
    sc_own_lock_enter();
    int result = dl_iterate_phdr(visit, context);
    sc_own_lock_leave();
    return result;
}

#endif
