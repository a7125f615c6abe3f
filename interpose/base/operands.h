/* How many bytes of memory a faulting instruction touches.
 *
 * A fault tells only where the touch begins. A load of 8 bytes that begins beside the bytes of a
 * copy may reach into them.
 *
 * x86-64: general, x87, SSE, AVX and AVX-512 instructions with one operand in memory, and string
 * instructions that go upwards. aarch64: loads and stores of one register or a pair, exclusive
 * ones, and those of whole vectors. The reach of masked and gathering instructions, of other
 * segments and on other machines is unknown. So is that of a vector that is compared at once:
 * searches for the end of a text load more than they use. No lock; signal safe; nothing is read but
 * the bytes that the caller gives.
 */
#ifndef SC_INTERPOSE_BASE_OPERANDS_H
#define SC_INTERPOSE_BASE_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* An instruction of unknown reach touches this many bytes at most, except for those that save a
 * processor's state. */
enum { SC_OPERAND_BYTES_MAX = 64 };

/* How many bytes of code from the instruction on the caller should give; fewer will do. */
enum { SC_OPERANDS_CODE_BYTES = 64 };

/* An instruction has faulted at `address`, with the registers in `context`. `bytes` is the code
 * from the instruction on. Returns how many bytes from `address` on it touches; 0: not known. */
size_t sc_operands_reach(const unsigned char *bytes, size_t size_bytes, const ucontext_t *context,
                         uintptr_t address, bool is_write);

#endif
