/* Binds the references of objects that a program opens with RTLD_DEEPBIND (PHP its extensions,
 * Julia every library) to our hooks and wrappers.
 *
 * The loader looks for what such an object calls first in the object itself and in what that is
 * linked with, and only then in what was preloaded. So the object's calls reach libc and the
 * driver, and not our hooks and wrappers. Such references are bound anew: if dlsym, through a
 * handle of the object, answers a name with a function of ours, the object's reference to that name
 * is set to that function. An object's own function of such a name stays.
 *
 * dlopen has to be left by a tail call (dlsym.c). So references are bound when the thread that
 * opened the object looks up a function in it. Constructors have run by then; an object in which
 * nothing is looked up stays as it is.
 *
 * Thread-safe, not for signal handlers. Locks: the loader's, and those of sc_driver_attach. */
#ifndef SC_INTERPOSE_ENTRY_DEEP_BOUND_H
#define SC_INTERPOSE_ENTRY_DEEP_BOUND_H

#include <stdbool.h>

#include "interpose/base/compiler.h"

/* Has the calling thread opened such an object, or begun to, whose references are still to be
 * bound? */
extern __thread bool sc_deep_bound_is_due
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Binds the references of objects that have come since the last time. */
void sc_deep_bound_bind(void);

/* Called before the thread looks something up: binds references if that is due. errno is kept,
 * dlerror() is not. */
static inline void sc_deep_bound_settle(void)
{
    if (sc_unlikely(sc_deep_bound_is_due))
        sc_deep_bound_bind();
}

#endif
