/* The exported symbols of the wrappers: each is a jump through a pointer.
 *
 * A program that is linked with the driver, or asks dlsym for the function that everybody sees,
 * calls the exported symbol. The jump leads to our wrapper. In mode=off, once the driver is found,
 * it leads to the driver's own function, and nothing of ours but the jump is in between. Otherwise
 * cuGetProcAddress and dlsym return the wrapper itself, or the driver's function.
 *
 * The jump leaves stack, registers and return address alone. No lock; each pointer is set once.
 */
#ifndef SC_INTERPOSE_DRIVER_EXPORTED_DOORS_H
#define SC_INTERPOSE_DRIVER_EXPORTED_DOORS_H

/* For each symbol the pointer that it jumps through, and its own address. */
#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    extern _Atomic(void *) sc_door_##symbol __attribute__((visibility("hidden")));                 \
    extern const char sc_exported_##symbol[] __attribute__((visibility("hidden")));
#include "interpose/driver/api.def"

#endif
