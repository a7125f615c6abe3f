/* The exported symbols of the wrappers: a jump each, through a pointer.
 *
 * A program that is linked with the driver, or asks dlsym for everybody's function, calls the
 * exported symbol. It leads to our wrapper, and in mode=off, once the driver is found, to the
 * driver's own function: nothing of ours stands between but the jump. What cuGetProcAddress and
 * dlsym hand out otherwise is the wrapper itself, or the driver's function.
 *
 * The jump leaves stack, registers and return address alone. No lock; set once.
 */
#ifndef SC_INTERPOSE_DRIVER_EXPORTED_DOORS_H
#define SC_INTERPOSE_DRIVER_EXPORTED_DOORS_H

/* Where each leads, and where it is. */
#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    extern _Atomic(void *) sc_door_##symbol __attribute__((visibility("hidden")));                 \
    extern const char sc_exported_##symbol[] __attribute__((visibility("hidden")));
#include "interpose/driver/api.def"

#endif
