#include "interpose/guard/reach.h"
#include "interpose/signals/upwards.h"

#include "interpose/base/operands.h"

#include "common/peek.h"

#include "common/poison.h"

/* Returns how many bytes the faulting instruction touches from the fault's address on, by decoding
 * it; 0: unknown. If the code cannot be read as far as an instruction may be long, because it ends
 * with its page, what is left of the page is read. */
size_t sc_reach_of(const struct sc_fault *fault)
{
    enum { SMALLEST_PAGE = 4096 };
    unsigned char code[SC_OPERANDS_CODE_BYTES];
    size_t size_bytes = sizeof code;
    size_t left = SMALLEST_PAGE - fault->pc % SMALLEST_PAGE;
    if (!sc_peek_anyhow(code, fault->pc, size_bytes)) {
        if (left > size_bytes || !sc_peek_anyhow(code, fault->pc, left))
            return 0;
        size_bytes = left;
    }
    return sc_operands_reach(code, size_bytes, fault->context, fault->address, fault->write);
}
