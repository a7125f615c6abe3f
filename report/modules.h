/* The loaded modules: names for return addresses, build ids for `run` and `modules` lines.
 *
 * Locks: all take the loader's lock, so no lock of ours may be held.
 */
#ifndef SC_REPORT_MODULES_H
#define SC_REPORT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_module {
    const char *name;              /* as the loader has it; "" for the program itself */
    uintptr_t base;                /* where its mapping starts: what frames' offsets count from */
    const unsigned char *build_id; /* NULL if it has none */
    size_t build_id_length;
};

/* Calls `visit` for every module that no visit has taken before, in the loader's order, the program
 * first. A `visit` that returns 0 does not take the module, and ends the walk. The module is valid
 * during the visit only. Two modules are the same if path and build id are; 2,048 modules are
 * visited at most. Pre: one caller at a time. */
typedef int sc_modules_visit(const struct sc_module *module, void *context);
void sc_modules_each_new(sc_modules_visit *visit, void *context);

/* Were modules loaded since all had been visited? */
bool sc_modules_have_come(void);

/* In a forked child: forgets which modules were visited. */
void sc_modules_forget(void);

/* Sets the path by which frames name the program itself, since the loader knows only argv[0].
 * `path` is copied. */
void sc_modules_name_program(const char *path);

#endif
