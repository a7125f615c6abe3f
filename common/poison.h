/* Makes calls that the preloaded library must not make fail to compile; include this header last.
 * The library runs inside free(), inside the driver and inside other programs' start-up code, where
 * the allocator, stdio and the loader may be in the middle of a change. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_TOOLS_POISON_H
#define SC_TOOLS_POISON_H

#pragma GCC poison malloc calloc realloc free strdup asprintf
/* common/text.h is used in place of snprintf. */
#pragma GCC poison printf fprintf vfprintf sprintf snprintf vsnprintf puts fputs fopen
#pragma GCC poison system popen

/* syscall() would arrive in a hook of the library; sc_kernel_call of common/kernel.h does not. */
#pragma GCC poison syscall

/* common/objects.h is used instead: a thread that a signal handler stops in dl_iterate_phdr would
 * block every thread that unwinds. */
#pragma GCC poison dl_iterate_phdr

#endif
