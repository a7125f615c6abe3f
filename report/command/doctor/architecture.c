#include "report/command/doctor/architecture.h"

#include <elf.h>

/* Returns the name of an ELF file's processor in words for people. */
const char *sc_architecture_name(struct sc_scratch *scratch, int machine, bool is_64_bit)
{
    switch (machine) {
    case EM_X86_64:
        return is_64_bit ? "x86-64" : "x86-64 with 32-bit pointers";
    case EM_386:
        return "32-bit x86";
    case EM_AARCH64:
        return "aarch64";
    case EM_ARM:
        return "32-bit Arm";
    case EM_PPC64:
        return "ppc64";
    case EM_RISCV:
        return "RISC-V";
    default:
        return sc_scratch_print(scratch, "machine %d", machine);
    }
}

int sc_architecture_own(void)
{
#if defined(__x86_64__)
    return EM_X86_64;
#elif defined(__aarch64__)
    return EM_AARCH64;
#else
    return EM_NONE;
#endif
}
