/* The loader and the C library as they are without us.
 *
 * dlsym of this object is ours, so the real one is found by version with dlvsym, whose success path
 * neither allocates nor takes a lock that a caller of dlsym could hold. Look-ups with RTLD_NEXT
 * start behind this object. Safe before any constructor has run, from any thread.
 */
#ifndef SC_INTERPOSE_LOADER_H
#define SC_INTERPOSE_LOADER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* NULL if there is no such symbol; leaves dlerror() set then, as dlsym does. */
void *sc_loader_symbol(void *handle, const char *name);

/* The next definition of a libc function behind this object; never NULL for what libc has. */
void *sc_loader_next(const char *name);

/* A program that is not position-independent and takes a function's address has it be that of a
 * jump of its own, and dlsym says so too. Where the jump leads is not known. */
bool sc_loader_is_stub(const void *function);

/* A libc function that we stand before. All of them are looked up by our constructor, since a
 * look-up takes the loader's lock, and nobody expects munmap or _exit to wait for a constructor in
 * another thread; one that is called before is looked up by that call, and two threads find the
 * same. */
struct sc_next {
    const char *name;
    _Atomic(void *) found;
} __attribute__((aligned(2 * sizeof(void *)))); /* they lie one behind the other */

void *sc_loader_find(struct sc_next *next);

/* The next function of this name (a string), of the type `pointer`. */
#define SC_NEXT(pointer, symbol_name)                                                              \
    __extension__({                                                                                \
        static struct sc_next next_ __attribute__((section("sc_nexts"))) = {symbol_name, NULL};    \
        void *found_ = atomic_load_explicit(&next_.found, memory_order_relaxed);                   \
        (pointer)(__builtin_expect(!found_, 0) ? sc_loader_find(&next_) : found_);                 \
    })

#endif
