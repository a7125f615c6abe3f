/* Reads images of device modules (cubins, which are ELF files), to find device functions that they
 * call and do not contain.
 *
 * An image may be broken: nothing outside of its bytes is read. No state, no lock. */
#ifndef SC_LEDGER_CUBIN_H
#define SC_LEDGER_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the image calls the device function `function` (such as malloc) and does not
 * contain it. Writes the name of the image's first function that calls it to `caller`, cut to
 * `room` bytes; "" if that name is not known. */
bool sc_cubin_imports(const void *image, size_t size_bytes, const char *function, char *caller,
                      size_t room);

#endif
