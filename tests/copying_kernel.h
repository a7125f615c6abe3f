/* A kernel without a compiler: text for the driver. The simulated GPU knows what copy_bytes does by
 * its name (tests/sim/cuda/kernel.h).
 */
#ifndef SC_TESTS_COPYING_KERNEL_H
#define SC_TESTS_COPYING_KERNEL_H

/* copy_bytes(to, from, count): a thread for each byte. */
static const char copying_kernel_text[] __attribute__((unused)) =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry copy_bytes(\n"
    "    .param .u64 copy_to,\n    .param .u64 copy_from,\n    .param .u32 copy_count)\n"
    "{\n"
    "    .reg .pred %p<2>;\n    .reg .b16 %h<2>;\n    .reg .b32 %r<6>;\n    .reg .b64 %d<6>;\n"
    "    ld.param.u64 %d1, [copy_to];\n"
    "    ld.param.u64 %d2, [copy_from];\n"
    "    ld.param.u32 %r1, [copy_count];\n"
    "    mov.u32 %r2, %ctaid.x;\n"
    "    mov.u32 %r3, %ntid.x;\n"
    "    mov.u32 %r4, %tid.x;\n"
    "    mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "    setp.ge.u32 %p1, %r5, %r1;\n"
    "    @%p1 bra DONE;\n"
    "    cvt.u64.u32 %d3, %r5;\n"
    "    add.u64 %d4, %d2, %d3;\n"
    "    add.u64 %d5, %d1, %d3;\n"
    "    ld.global.u8 %h1, [%d4];\n"
    "    st.global.u8 [%d5], %h1;\n"
    "DONE:\n"
    "    ret;\n"
    "}\n";

#endif
