/* A kernel without a compiler that keeps its stream busy. The simulated GPU knows by its name what
 * it does (tests/sim/cuda/kernel.h).
 */
#ifndef SC_TESTS_SPINNING_KERNEL_H
#define SC_TESTS_SPINNING_KERNEL_H

/* spin(ns), of one thread. */
static const char spinning_kernel_text[] __attribute__((unused)) =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry spin(.param .u64 spin_ns)\n"
    "{\n"
    "    .reg .pred %p<2>;\n    .reg .b64 %d<5>;\n"
    "    ld.param.u64 %d1, [spin_ns];\n"
    "    mov.u64 %d2, %globaltimer;\n"
    "AGAIN:\n"
    "    mov.u64 %d3, %globaltimer;\n"
    "    sub.u64 %d4, %d3, %d2;\n"
    "    setp.lt.u64 %p1, %d4, %d1;\n"
    "    @%p1 bra AGAIN;\n"
    "    ret;\n"
    "}\n";

#endif
