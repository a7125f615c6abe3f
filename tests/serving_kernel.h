/* A kernel without a compiler that talks with the host while it runs. The simulated GPU knows by
 * its name what it does (tests/sim/cuda/kernel.h).
 */
#ifndef SC_TESTS_SERVING_KERNEL_H
#define SC_TESTS_SERVING_KERNEL_H

/* serve_words(bell, answer, turns), of one thread: each turn it waits until the host has counted
 * the bell up, and then counts the answer up. */
static const char serving_kernel_text[] __attribute__((unused)) =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry serve_words(\n"
    "    .param .u64 serve_bell,\n    .param .u64 serve_answer,\n    .param .u32 serve_turns)\n"
    "{\n"
    "    .reg .pred %p<3>;\n    .reg .b32 %r<4>;\n    .reg .b64 %d<3>;\n"
    "    ld.param.u64 %d1, [serve_bell];\n"
    "    ld.param.u64 %d2, [serve_answer];\n"
    "    ld.param.u32 %r1, [serve_turns];\n"
    "    ld.volatile.global.u32 %r2, [%d2];\n"
    "TURN:\n"
    "    setp.ge.u32 %p1, %r2, %r1;\n"
    "    @%p1 bra DONE;\n"
    "AGAIN:\n"
    "    ld.volatile.global.u32 %r3, [%d1];\n"
    "    setp.le.u32 %p2, %r3, %r2;\n"
    "    @%p2 bra AGAIN;\n"
    "    add.u32 %r2, %r2, 1;\n"
    "    st.volatile.global.u32 [%d2], %r2;\n"
    "    membar.sys;\n"
    "    bra TURN;\n"
    "DONE:\n"
    "    ret;\n"
    "}\n";

#endif
