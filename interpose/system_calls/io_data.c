/* Hooks of the functions that move data. */
#include "interpose/system_calls/io_rows.h"

#include "common/frames.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/guard/loans.h"
#include "interpose/system_calls/prefault.h"

#define NEXT_RECORD SC_NEXT_RECORD
#include "interpose/system_calls/io.def"

/* ---- without a result ---- */

PREFAULT(arc4random_buf, "arc4random_buf", (void *, into, size_t, size), WRITES(into, size))

typedef void random_function(void *into, size_t size);

/* Does what arc4random_buf does, also if the C library lacks it (before 2.36): a program that looks
 * it up finds this library's hook all the same, and must get random bytes from it. */
static void random_bytes(void *into, size_t size)
{
    random_function *real = SC_NEXT(random_function *, "arc4random_buf");
    char *bytes = into;
    for (size_t done = 0; !real && done < size;) {
        ssize_t got = getrandom(bytes + done, size - done, 0);
        if (got < 0 && errno != EINTR)
            abort(); /* as the C library's function does */
        done += got > 0 ? (size_t)got : 0;
    }
    if (real)
        real(into, size);
}

SC_EXPORT void arc4random_buf(void *into, size_t size);
/* The hook of arc4random_buf, in which a system call writes into memory of the program: as it
 * cannot report an error, that is made accessible before, and kept so until the end (a loan). */
void arc4random_buf(void *into, size_t size)
{
    struct sc_loans loans = {.frame = SC_FRAME()};
    bool prefaults = sc_prefault_is_needed();
    if (sc_unlikely(prefaults))
        sc_io_prefault_arc4random_buf(&loans, SC_SITE(), into, size);
    random_bytes(into, size);
    if (sc_unlikely(prefaults))
        sc_loans_end(&loans);
}
