#include "interpose/driver/exported_doors.h"
#include "interpose/driver/driver.h"

#include "common/poison.h"

#if defined(__x86_64__)
#define JUMP(door) "endbr64\n\tjmp *" door "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(door) "hint #34\n\tadrp x16, " door "\n\tldr x16, [x16, #:lo12:" door "]\n\tbr x16\n"
#else
#error "how does this machine jump through a pointer?"
#endif

#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    _Atomic(void *) sc_door_##symbol = (void *)symbol;                                             \
    __asm__(".pushsection .text\n\t.balign 16\n\t.globl " #symbol "\n\t.type " #symbol             \
            ", %function\n" #symbol ":\n\t.hidden sc_exported_" #symbol                            \
            "\n\t.globl sc_exported_" #symbol "\nsc_exported_" #symbol                             \
            ":\n\t" JUMP("sc_door_" #symbol) ".size " #symbol ", . - " #symbol "\n\t.popsection");
#include "interpose/driver/api.def"
