/* Finds how many bytes of memory a faulting instruction touches (its reach).
 *
 * A fault shows only where the touch begins. A load of 8 bytes that begins beside the bytes of a
 * copy may extend into them.
 *
 * x86-64: general, x87, SSE, AVX and AVX-512 instructions with one operand in memory, and string
 * instructions that go upwards. aarch64: loads and stores of one register or a pair, exclusive
 * ones, and those of whole vectors. Unknown is the reach of masked and gathering instructions, with
 * segment prefixes, and on other machines; also that of a vector that is compared right away, since
 * searches for the end of a text load more than they use. No lock; signal-safe; reads only the
 * bytes that the caller passes. */

/* Terms (docs/glossary.md):
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_BASE_OPERANDS_H
#define SC_INTERPOSE_BASE_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* What an instruction of unknown reach touches at most, except for those that save a processor's
 * state. */
enum { SC_OPERAND_BYTES_MAX = 64 };

/* How many bytes of code, from the instruction on, the caller should pass; fewer are allowed. */
enum { SC_OPERANDS_CODE_BYTES = 64 };

/* Returns how many bytes from `address` on an instruction touches that has faulted there, with the
 * registers in `context`; 0: unknown. `bytes`: the code from the instruction on. */
size_t sc_operands_reach(const unsigned char *bytes, size_t size_bytes, const ucontext_t *context,
                         uintptr_t address, bool is_write);

#endif
