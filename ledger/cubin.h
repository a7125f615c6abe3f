/* Reads images of device modules (cubins, which are ELF files): which functions they call without
 * having them.
 *
 * An image may be broken: nothing outside of its bytes is read. No state, no lock. */
#ifndef SC_LEDGER_CUBIN_H
#define SC_LEDGER_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

/* Does the image call the device function `function` (such as malloc) without having it itself?
 * Writes the name of the first function of the image that calls it to `caller`, cut to `room`
 * bytes; "" if that name is not known. */
bool sc_cubin_imports(const void *image, size_t size_bytes, const char *function, char *caller,
                      size_t room);

#endif
