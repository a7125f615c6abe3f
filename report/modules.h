/* The loaded modules: names for return addresses, build ids for the `run` line.
 *
 * Locks: sc_modules_each takes the loader's lock, so no lock of ours may be held.
 */
#ifndef SC_REPORT_MODULES_H
#define SC_REPORT_MODULES_H

#include <stddef.h>
#include <stdint.h>

struct sc_module {
    const char *name;              /* as the loader has it; "" for the program itself */
    uintptr_t base;                /* where its mapping starts: what frames' offsets count from */
    const unsigned char *build_id; /* NULL if it has none */
    size_t build_id_length;
};

/* Calls `visit` for every module in the loader's order, the program first. Stops when `visit`
 * returns 0. The module is valid during the visit only. */
typedef int sc_modules_visit(const struct sc_module *module, void *context);
void sc_modules_each(sc_modules_visit *visit, void *context);

/* Says what the program itself is called in frames, since the loader knows only argv[0]. `path` is
 * copied. */
void sc_modules_name_program(const char *path);

#endif
