/* Objects that a program opens with RTLD_DEEPBIND (PHP its extensions, Julia every library).
 *
 * The loader looks for what such an object calls in the object itself and in what it is linked
 * with, before it looks in what was preloaded. So the object's calls reach libc and the driver, and
 * not our hooks and wrappers. They are bound anew: each of its references to what dlsym would
 * answer with a function of ours, through a handle of the object, becomes a reference to that
 * function. An object's own function of such a name stays what it was.
 *
 * dlopen has to be left by a tail call (dlsym.c). So that is done when the thread that opened the
 * object looks up what it is to call there. Constructors have run by then; an object in which
 * nobody looks anything up stays as it is.
 *
 * Thread-safe, not for signal handlers. Locks: the loader's, and those of sc_driver_attach.
 */
#ifndef SC_INTERPOSE_ENTRY_DEEP_BOUND_H
#define SC_INTERPOSE_ENTRY_DEEP_BOUND_H

#include <stdbool.h>

#include "interpose/base/compiler.h"

/* Has the calling thread begun to open such an object? */
extern __thread bool sc_deep_bound_is_due
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

void sc_deep_bound_bind(void);

/* The calling thread is about to look something up. errno is kept, dlerror() is not. */
static inline void sc_deep_bound_settle(void)
{
    if (sc_unlikely(sc_deep_bound_is_due))
        sc_deep_bound_bind();
}

#endif
