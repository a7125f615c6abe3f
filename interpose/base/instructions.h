/* Where machine code goes on, as far as its bytes say: for a look at what a function can do at all.
 *
 * Most instructions go on to the next one, and only their length counts. A comparison of a
 * function's result with a number is recognised where it stands directly behind the call. An
 * unknown instruction ends the look.
 *
 * x86-64 and aarch64; other machines are unknown. No lock; signal safe; it looks at nothing but
 * what it is given.
 */
#ifndef SC_INTERPOSE_BASE_INSTRUCTIONS_H
#define SC_INTERPOSE_BASE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_INSTRUCTION_BYTES_MAX = 15 };

enum sc_instruction_way {
    SC_WAY_UNKNOWN, /* it may wait in the kernel, or go anywhere */
    SC_WAY_ON,
    SC_WAY_CALL,   /* of `target`, and on behind it */
    SC_WAY_JUMP,   /* to `target` */
    SC_WAY_BRANCH, /* to `target`, or on */
    SC_WAY_RETURN,
    SC_WAY_TRAP, /* it does not go on: the program ends there */
};

/* What it does with the register that functions return small numbers in, of 32 bits. */
enum sc_instruction_effect {
    SC_EFFECT_SPOILS, /* nothing is known of it, or of a comparison, behind this one */
    SC_EFFECT_KEEPS,
    SC_EFFECT_SETS,     /* to `number`; of a comparison nothing is known */
    SC_EFFECT_COMPARES, /* with `number` */
    SC_EFFECT_EQUALS,   /* it compares a stack's canary with itself */
};

enum sc_instruction_condition {
    SC_IF_UNKNOWN,
    SC_IF_EQUAL,
    SC_IF_UNEQUAL,
    SC_IF_ZERO, /* the register itself */
    SC_IF_NONZERO,
};

struct sc_instruction {
    enum sc_instruction_way way;
    unsigned length;
    uintptr_t target;
    bool is_pointer; /* the target is where the address lies */
    enum sc_instruction_effect effect;
    int32_t number;
    enum sc_instruction_condition condition;
};

/* The one at `pc`, of which `size_bytes` bytes are given. Two that belong together may be read as
 * one. */
struct sc_instruction sc_instructions_read(const unsigned char *bytes, size_t size_bytes,
                                           uintptr_t pc);

#endif
