/* Images of a device's modules (cubins), as far as their names go: ELF with a table of symbols.
 *
 * Nothing of the image is believed: what lies outside of it is not read. No state, no lock.
 */
#ifndef SC_LEDGER_CUBIN_H
#define SC_LEDGER_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

/* Does the image call a function of the device's own, which it does not have itself? The name of
 * the first function that does is written, cut to the room; "" where it is not known. */
bool sc_cubin_imports(const void *image, size_t size_bytes, const char *function, char *caller,
                      size_t room);

#endif
