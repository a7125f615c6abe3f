/* The loaded modules: their names for return addresses, and their build ids for `run` and `modules`
 * lines.
 *
 * Locks: every function takes the loader's lock, so no lock of the library's may be held. */
#ifndef SC_REPORT_MODULES_H
#define SC_REPORT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded module: a program or a library. */
struct sc_module {
    const char *name; /* as the loader has it; "" for the program itself */
    uintptr_t base;   /* where its mapping starts, from which offsets of frames count */
    const unsigned char *build_id; /* NULL if it has none */
    size_t build_id_length;
};

/* Calls `visit` for every module that was not visited before, in the loader's order, the program
 * first. If `visit` returns 0, the module counts as not visited, and the walk ends. The module is
 * valid only during the call. Two modules are the same if path and build id are; at most 2,048 are
 * visited. Pre: one caller at a time. */
typedef int sc_modules_visit(const struct sc_module *module, void *context);
void sc_modules_each_new(sc_modules_visit *visit, void *context);

/* Returns true if modules were loaded since sc_modules_each_new has visited all: a line about them
 * is due. Cheap. */
bool sc_modules_have_come(void);

/* Forgets, in a forked child, which modules were visited. */
void sc_modules_forget(void);

/* Sets the path by which frames name the program itself, since the loader knows only argv[0].
 * `path` is copied. */
void sc_modules_name_program(const char *path);

#endif
