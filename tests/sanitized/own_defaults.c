// A program with options of its own for AddressSanitizer: status 43 for what it reports.
#include "tests/sanitized/mistakes.c"

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0:exitcode=43";
}
