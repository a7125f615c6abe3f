/* Attributes and hints for the compiler. */

/* Terms (docs/glossary.md):
 *   site: the address to which a hook or wrapper returns: the program's call
 */

#ifndef SC_INTERPOSE_BASE_COMPILER_H
#define SC_INTERPOSE_BASE_COMPILER_H

#define SC_EXPORT __attribute__((visibility("default")))
#define sc_likely(condition) __builtin_expect(!!(condition), 1)
#define sc_unlikely(condition) __builtin_expect(!!(condition), 0)

/* A function that is always inlined: every copy executes it, and few places call it. */
#define SC_INLINED static inline __attribute__((always_inline))
/* For the definition of a function that a header declares: within its file it is always inlined. */
#define SC_INLINED_HERE inline __attribute__((always_inline))

/* In an exported function: the address in the program to which it returns (its call site). */
#define SC_SITE() __builtin_return_address(0)

#endif
