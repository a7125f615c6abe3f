/* The exported symbols of the wrappers. Each is a jump through a pointer of its own.
 *
 * A program that is linked with the driver, or that looks up the global symbol by dlsym, calls the
 * exported symbol. The jump leads to the wrapper. In mode=off, once the driver is found, it leads
 * to the driver's function, so that nothing of the library but the jump is executed.
 * cuGetProcAddress and other look-ups by dlsym return the wrapper itself, or the driver's function.
 *
 * The jump changes neither stack nor registers nor the return address. No lock; each pointer is set
 * once. */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_DRIVER_EXPORTED_DOORS_H
#define SC_INTERPOSE_DRIVER_EXPORTED_DOORS_H

/* For each symbol: the pointer that it jumps through, and its own address. */
#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    extern _Atomic(void *) sc_door_##symbol __attribute__((visibility("hidden")));                 \
    extern const char sc_exported_##symbol[] __attribute__((visibility("hidden")));
#include "interpose/driver/api.def"

#endif
