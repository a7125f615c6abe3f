/* Decodes machine code just far enough to follow it: how long each instruction is, and where
 * execution continues. plain_functions.h finds out by it whether a host function can wait at all.
 *
 * Most instructions continue with the next one, and only their length matters. A comparison of a
 * function's result with a number is recognised directly after the call. An unknown instruction
 * ends the search.
 *
 * x86-64 and aarch64; on other machines every instruction is unknown. No lock; signal-safe; reads
 * only the bytes that the caller passes. */

/* Terms (docs/glossary.md):
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 */

#ifndef SC_INTERPOSE_BASE_INSTRUCTIONS_H
#define SC_INTERPOSE_BASE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_INSTRUCTION_BYTES_MAX = 15 };

enum sc_instruction_way {
    SC_WAY_UNKNOWN, /* the instruction may be a system call that waits, or continue anywhere */
    SC_WAY_ON,      /* continues with the next instruction */
    SC_WAY_CALL,    /* calls `target`, then continues with the next instruction */
    SC_WAY_JUMP,    /* to `target` */
    SC_WAY_BRANCH,  /* to `target`, or to the next instruction */
    SC_WAY_RETURN,
    SC_WAY_TRAP, /* the program is killed here */
};

/* What the instruction does with the 32-bit register in which functions return small numbers (eax,
 * w0), and with the latest comparison of that register. */
enum sc_instruction_effect {
    SC_EFFECT_SPOILS,   /* neither the register nor the comparison is known afterwards */
    SC_EFFECT_KEEPS,    /* both are unchanged */
    SC_EFFECT_SETS,     /* the register becomes `number`; the comparison is not known */
    SC_EFFECT_COMPARES, /* the register is compared with `number` */
    SC_EFFECT_EQUALS,   /* a comparison that always comes out equal: that of the stack's canary */
};

/* When a branch is taken: by the latest comparison, or by the register itself. */
enum sc_instruction_condition {
    SC_IF_UNKNOWN,
    SC_IF_EQUAL,
    SC_IF_UNEQUAL,
    SC_IF_ZERO, /* the register is 0 */
    SC_IF_NONZERO,
};

struct sc_instruction {
    enum sc_instruction_way way;
    unsigned length;
    uintptr_t target;
    bool is_pointer; /* `target` is where the address of the target lies */
    enum sc_instruction_effect effect;
    int32_t number;
    enum sc_instruction_condition condition;
};

/* Decodes the instruction at `pc`; `bytes` are the `size_bytes` bytes of code from there. Two
 * instructions may be returned as one, with the length of both: a load of the stack's canary with
 * its comparison, and an entry of a linkage table. SC_WAY_UNKNOWN: the bytes are too few, or the
 * instruction is not known. */
struct sc_instruction sc_instructions_read(const unsigned char *bytes, size_t size_bytes,
                                           uintptr_t pc);

#endif
