/* Include this header last: calls that the preloaded object must not make do not compile after it.
 * The object runs inside free(), inside the driver and inside other programs' start-up code, where
 * the allocator, stdio and the loader may be half-way through something. */
#ifndef SC_TOOLS_POISON_H
#define SC_TOOLS_POISON_H

#pragma GCC poison malloc calloc realloc free strdup asprintf
/* common/text.h is used in place of snprintf. */
#pragma GCC poison printf fprintf vfprintf sprintf snprintf vsnprintf puts fputs fopen
#pragma GCC poison system popen

/* syscall() would arrive in a hook of ours; sc_kernel_call of common/kernel.h does not. */
#pragma GCC poison syscall

/* common/objects.h is used instead: a thread that is stopped in dl_iterate_phdr would hold up every
 * thread that unwinds. */
#pragma GCC poison dl_iterate_phdr

#endif
