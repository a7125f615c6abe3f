#include "interpose/guard/reach.h"
#include "interpose/signals/upwards.h"

#include "interpose/base/operands.h"

#include "common/peek.h"

#include "common/poison.h"

/* How many bytes from the fault on the instruction may touch; 0: unknown. Fewer bytes of code are
 * read where the next page cannot be. */
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
