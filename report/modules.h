/* The loaded modules: names for return addresses, build ids for the `run` line.
 * Both functions take the loader's lock, so neither may be called with a lock of ours held.
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

/* Calls `visit` for every module, in the loader's order, the program first; stops when it returns
 * false. The module is valid during the visit only. */
typedef int sc_modules_visit(const struct sc_module *module, void *context);
void sc_modules_each(sc_modules_visit *visit, void *context);

/* Says what the program itself is called in frames (the loader knows only argv[0]). Copied. */
void sc_modules_name_program(const char *path);

#endif
