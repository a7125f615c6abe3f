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

/* Calls `visit` for every module that it has not taken before, in the loader's order, the program
 * first. `visit` returns 0 where it does not take the module, and is called no more then. The
 * module is valid during the visit only. A module is the same if it has the same path and build id;
 * of 2,048 of them the first are visited. Pre: one caller at a time. */
typedef int sc_modules_visit(const struct sc_module *module, void *context);
void sc_modules_each_new(sc_modules_visit *visit, void *context);

/* Whether modules were loaded since all were visited. */
bool sc_modules_have_come(void);

/* In a forked child: none was visited. */
void sc_modules_forget(void);

/* Says what the program itself is called in frames, since the loader knows only argv[0]. `path` is
 * copied. */
void sc_modules_name_program(const char *path);

#endif
