/* Programs that are built with a sanitizer bring its run-time: in the executable (clang), or in a
 * library that the loader has behind us (gcc, clang -shared-libsan).
 *
 * AddressSanitizer's, where it is a library, ends a process in which it was not loaded first, since
 * others' hooks could hide its own. Ours call the next ones, so where it is next to us that check
 * is turned off.
 */
#ifndef SC_INTERPOSE_SANITIZERS_H
#define SC_INTERPOSE_SANITIZERS_H

#include "interpose/driver.h"

/* What the run-time asks for before it reads ASAN_OPTIONS, which overrules it: the answer of the
 * next such function behind us, with ours before it. One of the executable's hides this one. Called
 * once, in start-up, before our constructors or behind them. */
SC_EXPORT const char *__asan_default_options(void);

#endif
