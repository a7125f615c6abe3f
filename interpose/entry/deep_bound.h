/* Binds the references of objects that a program opens with RTLD_DEEPBIND (PHP its extensions,
 * Julia every library) to the library's hooks and wrappers.
 *
 * The loader looks for the functions that such an object calls first in the object itself and in
 * its dependencies, and only then in preloaded libraries. So the object would call libc and the
 * driver past our hooks and wrappers. Such references are bound anew: if dlsym, with a handle of
 * the object, finds a function of ours for a name, the object's reference to that name is set to
 * that function. If the object itself has a function of that name, its reference stays.
 *
 * dlopen has to be left by a tail call (dlsym.c), so references are bound later: when the thread
 * that has opened the object looks up a function in it. By then its constructors have run.
 * References of an object in which nothing is looked up are not bound anew.
 *
 * Thread-safe, not for signal handlers. Locks: the loader's, and those of sc_driver_attach. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_ENTRY_DEEP_BOUND_H
#define SC_INTERPOSE_ENTRY_DEEP_BOUND_H

#include <stdbool.h>

#include "interpose/base/compiler.h"

/* The calling thread has opened such an object, or is opening it, whose references have still to be
 * bound. */
extern __thread bool sc_deep_bound_is_due
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Binds the references of objects that were opened since the last call. */
void sc_deep_bound_bind(void);

/* Called before the thread looks something up: binds references if sc_deep_bound_is_due. errno is
 * kept, dlerror() is not. */
static inline void sc_deep_bound_settle(void)
{
    if (sc_unlikely(sc_deep_bound_is_due))
        sc_deep_bound_bind();
}

#endif
