/* Attributes and hints for the compiler. */
#ifndef SC_INTERPOSE_BASE_COMPILER_H
#define SC_INTERPOSE_BASE_COMPILER_H

#define SC_EXPORT __attribute__((visibility("default")))
#define sc_likely(condition) __builtin_expect(!!(condition), 1)
#define sc_unlikely(condition) __builtin_expect(!!(condition), 0)

/* Is inlined wherever it is called: for a function that every copy runs through and few call. */
#define SC_INLINED static inline __attribute__((always_inline))

/* In an exported function: the address in the program to which the function returns. */
#define SC_SITE() __builtin_return_address(0)

#endif
