/* What is said to the compiler. */
#ifndef SC_INTERPOSE_BASE_COMPILER_H
#define SC_INTERPOSE_BASE_COMPILER_H

#define SC_EXPORT __attribute__((visibility("default")))
#define sc_likely(condition) __builtin_expect(!!(condition), 1)
#define sc_unlikely(condition) __builtin_expect(!!(condition), 0)

/* For a function that every copy runs through, and few others call: it is inlined wherever it is
 * called. */
#define SC_INLINED static inline __attribute__((always_inline))

/* In an exported function: where it returns to. */
#define SC_SITE() __builtin_return_address(0)

#endif
