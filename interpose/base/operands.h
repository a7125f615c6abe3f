/* How far the memory goes that an instruction touches.
 *
 * A fault says where it begins. A load of 8 bytes that begins beside the bytes of a copy may reach
 * into them.
 *
 * x86-64: general, x87, SSE, AVX and AVX-512 instructions with one operand in memory, and string
 * instructions that go upwards. aarch64: loads and stores of one register, of pairs, exclusive
 * ones, and those of whole vectors. The reach of masked and gathering ones, of other segments and
 * on other machines is unknown. So is that of a vector which is compared at once: searches for the
 * end of a text load more than they heed. No lock; signal safe; it looks at nothing but what it is
 * given.
 */
#ifndef SC_INTERPOSE_BASE_OPERANDS_H
#define SC_INTERPOSE_BASE_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The most that one touches of which nothing is known, but for those that save a state. */
enum { SC_OPERAND_BYTES_MAX = 64 };

/* So many bytes of code are looked at, of which some may be missing. */
enum { SC_OPERANDS_CODE_BYTES = 64 };

/* The instruction, of which and of the next ones `size_bytes` bytes are given, has faulted at
 * `address`, with the registers in `context`. How many bytes from there on it touches; 0: not
 * known. */
size_t sc_operands_reach(const unsigned char *bytes, size_t size_bytes, const ucontext_t *context,
                         uintptr_t address, bool is_write);

#endif
